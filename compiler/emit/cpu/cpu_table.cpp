// A table lookup over vectors: one load if all lanes read the same element; a permutation of registers if they read one
// short row, as in a table by types of atoms; otherwise a load for each lane.
#include "compiler/emit/cpu/cpu_table.h"

#include <fmt/core.h>

#include "compiler/emit/plan.h"
#include "compiler/emit/spelling.h"
#include "compiler/text/fill_template.h"

namespace nbcc {
namespace {

// Elements of the working precision in two registers, if the processor can permute them; otherwise 0.
int longest_row(const CpuVectors& vectors) {
  return facts(vectors.isa).table_template.empty() ? 0 : 2 * vectors.lanes();
}

}  // namespace

std::string cpu_tables(const CpuVectors& vectors) {
  const std::string_view of_isa = facts(vectors.isa).table_template;
  return fill_template("cpu_tables.h", {}) + (of_isa.empty() ? "" : fill_template(of_isa, {}));
}

std::string cpu_lookup(const Graph& graph, const Node& node, const PlacedTable& table, const CpuVectors& vectors,
                       const std::string& row, const std::string& column) {
  const std::string address = "&" + table_element(table, "a->", "0"), type = cpu_type(node.type, true);
  const Binding of_row = graph[node.args[0]].binding;
  // Outside pair nodes the lanes are i-particles, so that a row number of i differs between lanes.
  const bool one_row = is_uniform(of_row) || (of_row == Binding::I && node.binding == Binding::Pair);
  if (is_uniform(node.binding)) return fmt::format("({})(({})[{}[0] + {}[0]])", type, address, row, column);
  const bool short_row = (table.columns > 0 ? table.columns : table.count) <= longest_row(vectors);
  const bool is_real = table.element == (vectors.precision == Precision::Double ? Element::Double : Element::Float);
  if (one_row && short_row && is_real) return fmt::format("of_row({} + {}[0], {})", address, row, column);
  return fmt::format("looked_up<{}>({}, {} + {})", type, address, row, column);
}

}  // namespace nbcc
