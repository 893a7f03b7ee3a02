// Plan -> PairLoop. Entry point: analyse().
#include "compiler/emit/cuda/pair/cuda_pair_loop.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "compiler/passes/optimize/coincident.h"
#include "compiler/passes/optimize/element_loops.h"

namespace nbcc {
namespace {

std::set<NodeId> with_arguments(const Plan& plan, const CudaStatements& statements, std::set<NodeId> nodes,
                                bool prepass) {
  for (auto id = plan.pair.rbegin(); id != plan.pair.rend(); ++id) {
    if (!nodes.count(*id) || plan.i.derived.count(*id) || plan.j.derived.count(*id)) continue;
    const auto [a, b, c] = plan.graph[*id].args;
    const bool larger = prepass && statements.is_larger(*id);
    const std::vector<NodeId> read = larger ? std::vector{b, c} : statements.reads(*id);
    nodes.insert(read.begin(), read.end());
  }
  return nodes;
}

// A product that only a fused sum reads needs no statement, nor does an index that is only compared with the other
// index.
std::set<NodeId> find_needed(const Plan& plan, const CudaStatements& statements, bool has_prepass) {
  std::set<NodeId> roots;
  if (has_prepass) roots.insert(plan.any_guard);
  for (const OutputPlan& output : plan.outputs) {
    if (output.guard != kNone) roots.insert(output.guard);
    if (output.of_array) continue;
    if (output.fused)
      roots.insert({plan.graph[output.value].args[0], plan.graph[output.value].args[1]});
    else
      roots.insert(output.value);
    if (output.histogram >= 0) roots.insert(output.logit);
  }
  const auto add_read = [&](NodeId term) {
    for (const NodeId id : read_by_loop(plan.graph, plan.in_loop, term)) roots.insert(id);
  };
  for (const NodeId id : plan.tiled_loops) add_read(plan.graph[id].args[0]);
  for (const OutputArray& array : plan.arrays) add_read(array.value);
  return with_arguments(plan, statements, std::move(roots), /*prepass=*/false);
}

// A loop that is a statement of a pair, not of the frame.
bool is_own_loop(const Plan& plan, NodeId id) {
  return is_loop(plan.graph[id].op) && plan.graph[id].binding == Binding::Pair &&
         std::ranges::find(plan.tiled_loops, id) == plan.tiled_loops.end();
}

// A second loop does not pay in a long body or with functions: logarithms in two dimensions take 10% more time.
bool is_worth_two_loops(const Plan& plan) {
  constexpr int kMaxPairNodes = 48;
  int pairs = 0;
  return std::ranges::none_of(plan.pair, [&](NodeId id) {
    const Node& n = plan.graph[id];
    return n.binding == Binding::Pair && (facts(n.op).is_function || is_own_loop(plan, id) || ++pairs > kMaxPairNodes);
  });
}

}  // namespace

std::set<int> columns_of(const Graph& graph, const SidePlan& side, Op leaf, const std::set<NodeId>& nodes) {
  std::set<int> columns;
  for (NodeId id : nodes) {
    if (const auto derived = side.derived.find(id); derived != side.derived.end()) columns.insert(derived->second);
    if (graph[id].op != leaf) continue;
    columns.insert(side.whole.at(int(graph[id].payload)));
    if (const auto low = side.low.find(int(graph[id].payload)); low != side.low.end()) columns.insert(low->second);
  }
  return columns;
}

PairLoop analyse(const Plan& plan, const CudaStatements& statements, const CudaScalars& scalars, bool tiled) {
  const Graph& graph = plan.graph;
  PairLoop loop;
  loop.has_prepass = plan.any_guard != kNone && tiled && !plan.tiles_loops;
  loop.needed = find_needed(plan, statements, loop.has_prepass);
  const auto needs = [&](const auto& kind) { return std::ranges::any_of(loop.needed, kind); };
  loop.tests_self = needs([&](NodeId id) { return is_self_test(graph, graph[id]); });
  loop.two_loops = loop.tests_self && tiled && !loop.has_prepass && is_worth_two_loops(plan);
  std::vector<NodeId> own_loops;
  for (const NodeId id : loop.needed)
    if (is_own_loop(plan, id)) own_loops.push_back(id);
  loop.i_index = needs([&](NodeId id) { return graph[id].op == Op::IIndex; }) ||
                 loops_read(plan, own_loops, Op::ElementOfI) ||
                 std::ranges::any_of(plan.outputs, [](const OutputPlan& output) { return output.row_words > 0; });
  const bool j_index =
      loop.tests_self || needs([&](NodeId id) { return graph[id].op == Op::JIndex; }) ||
      loops_read(plan, own_loops, Op::ElementOfJ) ||
      std::ranges::any_of(plan.outputs, [](const OutputPlan& output) { return keeps_index(output.reduction); });
  loop.j_number = j_index && !tiled;
  for (const NodeId id : loop.needed)
    for (const NodeId difference : differences_tested(graph, id)) loop.minuends.insert(graph[difference].args[0]);
  if (loop.has_prepass) {
    loop.reject = find_reject_bit(graph, plan, plan.any_guard, scalars);
    loop.prepass = with_arguments(plan, statements, loop.reject.reads, /*prepass=*/true);
  }
  loop.j_members = columns_of(graph, plan.j, Op::InputJ, loop.needed);
  const std::set<int> hot = columns_of(graph, plan.i, Op::InputI, loop.prepass);
  for (const int column : columns_of(graph, plan.i, Op::InputI, loop.needed))
    (loop.has_prepass && !hot.count(column) ? loop.i_cold : loop.i_members).insert(column);
  return loop;
}

}  // namespace nbcc
