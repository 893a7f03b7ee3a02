// A field as nbcc_field. Entry point: describe_field().
#include <string_view>
#include <utility>

#include "runtime/api/handles.h"

namespace nbcc {
namespace {

nbcc_scalar scalar_of(std::string_view type) {
  constexpr std::pair<std::string_view, nbcc_scalar> kScalars[] = {
      {"float", NBCC_SCALAR_FLOAT}, {"double", NBCC_SCALAR_DOUBLE}, {"int", NBCC_SCALAR_INT},
      {"index", NBCC_SCALAR_INDEX}, {"bool", NBCC_SCALAR_BOOL},
  };
  const std::string_view element = type.substr(0, type.find('['));
  for (const auto& [name, scalar] : kScalars)
    if (element == name) return scalar;
  return NBCC_SCALAR_REAL;
}

}  // namespace

int describe_field(const std::vector<FieldLayout>& fields, const std::vector<bool>& is_read, int k, nbcc_field* field) {
  if (!field || k < 0 || k >= int(fields.size())) return -1;
  const FieldLayout& layout = fields[std::size_t(k)];
  *field = {.name = layout.name.c_str(),
            .role = nbcc_role(layout.role),
            .type = layout.type.c_str(),
            .comment = layout.comment.c_str(),
            .components = layout.numbers(),
            .integral = layout.integral,
            .reduction = nbcc_reduction(layout.bins > 0 ? Reduction::Sum : layout.reduction),
            .default_count = int(layout.defaults.size()),
            .defaults = layout.defaults.data(),
            .total = layout.total,
            .of_pair = layout.of_pair,
            .scalar = scalar_of(layout.type),
            .width = layout.width,
            .is_complex = layout.is_complex,
            .rows = layout.bins > 0      ? layout.bins
                    : layout.columns > 0 ? layout.length / layout.columns
                                         : layout.length,
            .columns = layout.columns,
            .histogram = layout.bins > 0,
            .table = layout.is_table,
            .is_read = is_read.empty() || is_read[std::size_t(k)]};
  return 0;
}

}  // namespace nbcc
