// A field as nbcc_field. Entry point: describe_field().
#include "runtime/api/handles.h"

namespace nbcc {
namespace {

nbcc_scalar scalar_of(Type type) {
  switch (type) {
    case Type::Bool:
      return NBCC_SCALAR_BOOL;
    case Type::Int:
      return NBCC_SCALAR_INT;
    case Type::Index:
      return NBCC_SCALAR_INDEX;
    case Type::Float:
      return NBCC_SCALAR_FLOAT;
    case Type::Double:
      return NBCC_SCALAR_DOUBLE;
    default:
      return NBCC_SCALAR_REAL;
  }
}

}  // namespace

int describe_field(const std::vector<FieldLayout>& fields, const std::vector<std::string>& types,
                   const std::vector<bool>& is_read, int k, nbcc_field* field) {
  if (!field || k < 0 || k >= int(fields.size())) return -1;
  const FieldLayout& layout = fields[std::size_t(k)];
  *field = {.name = layout.name.c_str(),
            .role = nbcc_role(layout.role),
            .type = types[std::size_t(k)].c_str(),
            .comment = layout.comment.c_str(),
            .components = layout.numbers(),
            .integral = layout.integral(),
            .reduction = nbcc_reduction(layout.is_histogram() ? Reduction::Sum : layout.reduction),
            .default_count = int(layout.defaults.size()),
            .defaults = layout.defaults.data(),
            .total = layout.is_total(),
            .of_pair = layout.is_pair_result(),
            .scalar = scalar_of(layout.type),
            .width = layout.width,
            .is_complex = layout.is_complex,
            .rows = layout.columns > 0 ? layout.length / layout.columns : layout.length,
            .columns = layout.columns,
            .histogram = layout.is_histogram(),
            .table = layout.is_table(),
            .is_read = is_read.empty() || is_read[std::size_t(k)]};
  return 0;
}

}  // namespace nbcc
