// Node -> statement. A statement that fuses several nodes reads the arguments of the inner nodes.
#include "compiler/emit/cuda/pair/cuda_statement.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "compiler/emit/cuda/pair/cuda_tables.h"
#include "compiler/emit/spelling.h"
#include "compiler/passes/optimize/coincident.h"
#include "compiler/passes/optimize/element_loops.h"

namespace nbcc {

bool loops_read(const Plan& plan, const std::vector<NodeId>& loops, Op element) {
  return std::ranges::any_of(loops, [&](NodeId id) {
    return std::ranges::any_of(nodes_of_loop(plan.graph, plan.in_loop, plan.graph[id].args[0]),
                               [&](NodeId one) { return plan.graph[one].op == element; });
  });
}

std::string CudaStatements::statement(NodeId id, const std::string& value) const {
  return fmt::format("const {} t{} = {};\n", cuda_type(graph_[id].type, scalars_), id, value);
}

std::string CudaStatements::computed(NodeId id) const {
  const Node& n = graph_[id];
  std::string before;
  if (plan_.shifted.count(id))
    before = fmt::format("const float t{0}s = t{1} - t{2}, t{0}e = lost(t{1}, t{2}, t{0}s) + (t{1}l - t{2}l);\n", id,
                         n.args[0], n.args[1]);
  if (const auto first = plan_.loaded_with.find(id); first != plan_.loaded_with.end() && first->second == id)
    before = fmt::format("const auto t{}s = {};\n", id, loaded_by_pair(id));
  const std::string text = before + statement(id, expression(id));
  if (!plan_.shift_lengths.count(id)) return text;
  return text + fmt::format("const float t{}l = {};\n", id, lower_part_of_length(graph_, id, arguments_));
}

std::string CudaStatements::element(NodeId id) const {
  const Node& n = graph_[id];
  if (n.op == Op::ElementOfParam)
    return fmt::format("({}){}param[{} + k]", cuda_type(n.type, scalars_), arguments_, n.payload);
  const char letter = n.op == Op::ElementOfI ? 'i' : 'j';
  return cuda_from_loaded(fmt::format("component<{0}>(a.{1}[{2} + k], {1})", loaded_type(id), letter, n.payload),
                          n.type);
}

const char* CudaStatements::loaded_type(NodeId element) const {
  return c_name(element_of(graph_[element].type, options_.precision));
}

// In mixed precision, the operands of a difference of elements have lower parts.
std::string CudaStatements::elements(NodeId term) const {
  std::string text;
  for (const NodeId id : nodes_of_loop(graph_, plan_.in_loop, term)) {
    const Node& n = graph_[id];
    const bool in_parts = std::ranges::any_of(plan_.two_float, [&](NodeId difference) {
      return graph_[difference].args[0] == id || graph_[difference].args[1] == id;
    });
    if (is_element(n.op) && in_parts)
      text += fmt::format(
          "const double w{0} = component<double>(a.{1}[{2} + k], {1});\nconst float t{0} = (float)w{0}, t{0}l = "
          "lower_part(w{0});\n",
          id, n.op == Op::ElementOfI ? 'i' : 'j', n.payload);
    else
      text += is_element(n.op) ? statement(id, element(id)) : computed(id);
  }
  return text;
}

std::string CudaStatements::with_term(const Node& loop, const std::string& sum) const {
  const Node& term = graph_[loop.args[0]];
  if (loop.op == Op::MinOfElements) return fmt::format("minimum({}, t{})", sum, loop.args[0]);
  if (loop.op == Op::MaxOfElements) return fmt::format("maximum({}, t{})", sum, loop.args[0]);
  if (plan_.fuses_products && term.op == Op::Mul && term.binding == Binding::Pair && is_floating(term.type))
    return fmt::format("{}(t{}, t{}, {})", scalars_.resolved(term.type) == Type::Float ? "fmaf" : "fma", term.args[0],
                       term.args[1], sum);
  return fmt::format("{} + t{}", sum, loop.args[0]);
}

std::string cuda_loop_identity(const Node& loop, const CudaScalars& scalars) {
  if (loop.op == Op::SumOfElements) return "0";
  const bool least = loop.op == Op::MinOfElements;
  if (loop.type == Type::Int) return least ? "0x7fffffff" : "-0x7fffffff - 1";
  if (loop.type == Type::Index)
    return whole_literal(double(identity<std::int64_t>(least ? Reduction::Min : Reduction::Max)));
  const std::string infinite = scalars.resolved(loop.type) == Type::Float ? "infinite_float()" : "infinite()";
  return least ? infinite : "-" + infinite;
}

// A tiled loop has been computed by the frame, for the r-th i and the u-th j of the thread. Any other loop of a pair
// reads the caller's arrays.
std::string CudaStatements::loop(NodeId id) const {
  const Node& n = graph_[id];
  if (std::ranges::find(plan_.tiled_loops, id) != plan_.tiled_loops.end()) return fmt::format("loop{}[r][u]", id);
  const Elements range = elements_of(n.payload);
  std::string particles;
  if (n.binding == Binding::Pair && loops_read(plan_, {id}, Op::ElementOfI))
    particles += "const index i = own[r].i - a.i_offset;\n";
  if (n.binding == Binding::Pair && loops_read(plan_, {id}, Op::ElementOfJ))
    particles += fmt::format("const index j = {};\n", pair_j_);
  // NVRTC 13.0 would unroll all rounds, and compile for minutes.
  return fmt::format("[&] {{\n{}{} sum = {};\n{}for (int k = {}; k < {}; ++k) {{\n{}sum = {};\n}}\nreturn sum;\n}}()",
                     particles, cuda_type(n.type, scalars_), cuda_loop_identity(n, scalars_),
                     n.binding == Binding::Pair ? "#pragma unroll 4\n" : "", range.first, range.first + range.count,
                     elements(n.args[0]), with_term(n, "sum"));
}

std::vector<NodeId> CudaStatements::reads(NodeId id) const {
  const Node& n = graph_[id];
  if (is_loop(n.op)) return read_by_loop(graph_, plan_.in_loop, n.args[0]);
  if (is_self_test(graph_, n)) return {};
  if (const std::vector<NodeId> tested = differences_tested(graph_, id); !tested.empty()) return tested;
  std::vector<NodeId> nodes;
  for (NodeId arg : rounds_product(n) ? graph_[n.args[0]].args : n.args)
    if (arg != kNone) nodes.push_back(arg);
  if (const auto first = plan_.loaded_with.find(id); first != plan_.loaded_with.end()) nodes.push_back(first->second);
  return nodes;
}

std::string CudaStatements::expression(NodeId id) const {
  const Node& n = graph_[id];
  if (n.op == Op::Const) return cuda_literal(graph_.constant_value(id), n.type, scalars_);
  if (n.op == Op::Param) return fmt::format("({}){}param[{}]", cuda_type(n.type, scalars_), arguments_, n.payload);
  if (const auto first = plan_.loaded_with.find(id); first != plan_.loaded_with.end()) {
    return fmt::format("t{}s{}", first->second, member_of_load(id));
  }
  if (is_loop(n.op)) return loop(id);
  if (n.op == Op::Lookup && n.binding == Binding::Pair) return loaded_by_pair(id) + member_of_load(id);
  if (n.op == Op::Lookup)
    return fmt::format("__ldg(&{})",
                       table_element(plan_.table(n, false), "a.", fmt::format("t{} + t{}", n.args[0], n.args[1])));
  if (plan_.shifted.count(id)) return fmt::format("t{0}s + t{0}e", id);
  if (const auto shift = plan_.image_shifts.find(id); shift != plan_.image_shifts.end()) {
    const auto& [difference, whole, length, added] = shift->second;
    return fmt::format("fmaf({0}t{1}, t{2}, t{3}s) + fmaf({0}t{1}, t{2}l, t{3}e)", added ? "" : "-", whole, length,
                       difference);
  }
  if (const auto copy = plan_.copy_shifts.find(id); copy != plan_.copy_shifts.end())
    return copy_with_parts(fmt::format("t{}", copy->second.difference), fmt::format("t{}", copy->second.shift));
  if (plan_.keeps_parts(n)) return vectors_with_parts(plan_, n, [](NodeId arg) { return fmt::format("t{}", arg); });
  if (plan_.two_float.count(id)) return fmt::format("(t{0} - t{1}) + (t{0}l - t{1}l)", n.args[0], n.args[1]);
  if (rounds_product(n)) {
    const Node& product = graph_[n.args[0]];
    return fmt::format("nearest_integer_product(t{}, t{})", product.args[0], product.args[1]);
  }
  if (rounds(n)) return fmt::format("nearest_integer(t{})", n.args[0]);
  if (const std::vector<NodeId> tested = differences_tested(graph_, id); !tested.empty())
    return fmt::format("all_zero(t{})", fmt::join(tested, ", t"));
  std::array<std::string, 3> args;
  for (int k = 0; k < arity(n.op); ++k) args[std::size_t(k)] = fmt::format("t{}", n.args[std::size_t(k)]);
  return cuda_operation(graph_, n, args, scalars_);
}

// The member of a vector load that is the lookup's element; empty if the load is of one element.
std::string CudaStatements::member_of_load(NodeId id) const {
  const PlacedTable& table = plan_.tables_of_pairs.at(int(graph_[id].payload));
  const std::int64_t size = size_of(table.element);
  return table.step == size ? "" : fmt::format(".{}", "xyzw"[table.offset % table.step / size]);
}

// A vector load of the interleaved elements at one index; it belongs to the first lookup that reads one of them.
std::string CudaStatements::loaded_by_pair(NodeId id) const {
  const Node& n = graph_[id];
  const PlacedTable& table = plan_.tables_of_pairs.at(int(n.payload));
  const std::int64_t first = table.offset / table.step * table.step, count = table.step / size_of(table.element);
  const std::string type =
      count == 1 ? c_name(table.element)
                 : fmt::format("{}{}", table.element == Element::Int64 ? "longlong" : c_name(table.element), count);
  const std::string offset = fmt::format("(t{} + t{})", n.args[0], n.args[1]);
  if (shared_tables_)
    return fmt::format("*(const {}*)(tables + {} + {})", type, first - range_of_pairs(plan_).begin, offset);
  return fmt::format("__ldg((const {}*)((const char*)a.tables + {} + {}))", type, first, offset);
}

// rounds(): the node rounds to the nearest integer. rounds_product(): its argument is a product, which is fused into
// it.
bool CudaStatements::rounds(const Node& n) const {
  return n.op == Op::Rint && options_.math == Math::Fast && scalars_.resolved(n.type) == Type::Float;
}
bool CudaStatements::rounds_product(const Node& n) const {
  return rounds(n) && graph_[n.args[0]].op == Op::Mul && graph_[n.args[0]].binding == Binding::Pair;
}

bool CudaStatements::is_larger(NodeId id) const {
  const Node& n = graph_[id];
  if (n.op != Op::Select || n.binding != Binding::Pair || scalars_.resolved(n.type) != Type::Float) return false;
  const Node& test = graph_[n.args[0]];
  return test.op == Op::Lt && test.args[0] == n.args[2] && test.args[1] == n.args[1];
}
std::string CudaStatements::computed_larger(NodeId id) const {
  return statement(id, fmt::format("larger(t{}, t{})", graph_[id].args[1], graph_[id].args[2]));
}

}  // namespace nbcc
