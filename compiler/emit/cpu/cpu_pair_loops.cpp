// Loops over the elements of arrays in the statements of a pair: member functions of CpuPairBody.
#include <fmt/core.h>

#include <algorithm>

#include "compiler/emit/cpu/cpu_pair_body.h"
#include "compiler/emit/spelling.h"
#include "compiler/passes/optimize/element_loops.h"
#include "compiler/text/fill_template.h"

namespace nbcc {

std::string cpu_identity(const Node& loop) {
  if (loop.op == Op::SumOfElements) return "0";
  const auto reduction = loop.op == Op::MinOfElements ? Reduction::Min : Reduction::Max;
  if (loop.type == Type::Int) return reduction == Reduction::Min ? "0x7fffffff" : "-0x7fffffff - 1";
  if (loop.type == Type::Index) return whole_literal(double(identity<std::int64_t>(reduction)));
  return reduction == Reduction::Min ? "__builtin_inf()" : "-__builtin_inf()";
}

// The columns of consecutive elements follow one another; in mixed precision each may be followed by its lower part.
std::string CpuPairBody::element(NodeId id, Elements range, bool a_vector, int r) const {
  const Node& n = graph_[id];
  const std::string type = cpu_type(n.type, true), name = node_name(id, r);
  if (n.op == Op::ElementOfParam)
    return fmt::format("const {0} {1} = ({0})(a->param[{2} + k]);\n", type, name, n.payload);
  const bool of_i = n.op == Op::ElementOfI;
  const SidePlan& side = of_i ? plan_.i : plan_.j;
  const char letter = of_i ? 'i' : 'j';
  const int component = int(n.payload + range.first), column = side.whole.at(component);
  const Element element = side.columns[std::size_t(column)].element;
  const bool in_parts = side.low.contains(component);
  const auto read = [&](std::int64_t first) {
    const std::string at = fmt::format("(({}*)a->{}[{} + k{}])", c_name(element), letter,
                                       first - range.first * (in_parts ? 2 : 1), in_parts ? " * 2" : "");
    if (a_vector || !of_i) return fmt::format("*(v{}*)({} + {})", c_name(element), at, letter);
    return fmt::format("(v{})({}[{}])", c_name(element), at, i_name(r));
  };
  std::string text = fmt::format("const {} {} = {};\n", type, name, read(column));
  if (in_parts) text += fmt::format("const {} {}l = {};\n", type, name, read(column + 1));
  return text;
}

std::string CpuPairBody::elements(NodeId term, Elements range, bool a_vector, int r) {
  std::string text;
  for (const NodeId id : nodes_of_loop(graph_, plan_.in_loop, term))
    text += is_element(graph_[id].op) ? element(id, range, a_vector, r) : computed(id, r);
  return text;
}

std::string CpuPairBody::with_term(const Node& loop, const std::string& sum, int r) const {
  const Node& term = graph_[loop.args[0]];
  const std::string value = node_name(loop.args[0], r);
  if (loop.op == Op::MinOfElements) return fmt::format("minimum({}, {})", sum, value);
  if (loop.op == Op::MaxOfElements) return fmt::format("maximum({}, {})", sum, value);
  if (plan_.fuses_products && term.op == Op::Mul && term.binding == Binding::Pair && is_floating(term.type))
    return fmt::format("fused({}, {}, {})", node_name(term.args[0], r), node_name(term.args[1], r), sum);
  return fmt::format("{} + {}", sum, value);
}

// A tiled loop has been computed for a block of pairs (cpu_element_loops.h). Any other is computed here, for a vector
// of pairs or of particles. Four sums of pairs hide the latency of an addition.
std::string CpuPairBody::loop(NodeId id, int r) {
  const Node& n = graph_[id];
  const Elements range = elements_of(n.payload);
  const std::string type = cpu_type(n.type, true);
  if (n.binding != Binding::Pair)
    return fmt::format(
        "[&] {{\n{0} sum = ({0})({1});\nfor (index k = {2}; k < {3}; ++k) {{\n{4}sum = {5};\n}}\n"
        "return sum;\n}}()",
        type, cpu_identity(n), range.first, range.first + range.count, elements(n.args[0], range, true),
        with_term(n, "sum"));
  if (std::ranges::find(plan_.tiled_loops, id) != plan_.tiled_loops.end())
    return fmt::format("loop{}[i_row][j_vector]", id);
  const bool any_order = plan_.fuses_products || n.op != Op::SumOfElements || !is_floating(n.type);
  const int sums = any_order ? 4 : 1;
  return fill_template("cpu_pair_loop.cpp", {{"type", type},
                                             {"identity", cpu_identity(n)},
                                             {"first", std::to_string(range.first)},
                                             {"end", std::to_string(range.first + range.count)},
                                             {"sums", std::to_string(sums)},
                                             {"elements", elements(n.args[0], range, false, r)},
                                             {"with_term", with_term(n, "sum", r)},
                                             {"combined", n.op == Op::SumOfElements   ? "all + sum[s]"
                                                          : n.op == Op::MinOfElements ? "minimum(all, sum[s])"
                                                                                      : "maximum(all, sum[s])"}});
}

std::string CpuPairBody::array_name(const OutputArray& array, int r) const {
  return fmt::format("array{}_{}", array.first + array.elements.first, r);
}

// In a kernel without tiles: a loop over the elements of an output array, which adds the terms of one vector of pairs
// to the element's sums in memory. For an output(pair) the loop stores the elements of each pair instead.
std::string CpuPairBody::accumulate_array(const OutputArray& array, int r, bool every_pair_counts) {
  const Node& value = graph_[array.value];
  Node sum;
  sum.op = Op::SumOfElements;
  sum.type = value.type;
  sum.args[0] = array.value;
  const Elements range = array.elements;
  const std::string counts = mask_of(every_pair_counts, array.guard, "live", r);
  if (is_of_pair(array))
    return fmt::format(
        "for (index k = {}; k < {}; ++k) {{\n{}{}}}\n", range.first, range.first + range.count,
        elements(array.value, range, false, r),
        store_pair_result(fmt::format("{} + k", array.first), value.type, counts, node_name(array.value, r)));
  const std::string at = fmt::format("{}[k - {}]", array_name(array, r), range.first);
  return fmt::format("for (index k = {0}; k < {1}; ++k) {{\n{2}{3} = choose({4}, {5}, {3});\n}}\n", range.first,
                     range.first + range.count, elements(array.value, range, false, r), at, counts,
                     with_term(sum, at, r));
}

}  // namespace nbcc
