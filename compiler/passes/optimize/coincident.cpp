// x == 0 -> all differences == 0, where x is a sum of their squares. Entry points: test_differences(),
// differences_tested().
#include "compiler/passes/optimize/coincident.h"

#include "compiler/ir/rewrite.h"
#include "compiler/passes/facts/image_shift.h"

namespace nbcc {
namespace {

constexpr std::size_t kMaxAxes = 3;

// Maps the operands of a tree of `op` by `operand`. Empty unless `operand` maps every operand, and there are two or
// three of them. Does not descend further: sums and conditions may be chains of thousands, and each link calls this.
template <typename Operand>
std::vector<NodeId> operands(const Graph& graph, NodeId id, Op op, const Operand& operand,
                             std::size_t depth = kMaxAxes - 1) {
  const Node& n = graph[id];
  if (n.op != op || depth == 0) return {};
  std::vector<NodeId> all;
  for (const NodeId arg : {n.args[0], n.args[1]}) {
    const NodeId found = operand(arg);
    const std::vector<NodeId> more = found != kNone ? std::vector{found} : operands(graph, arg, op, operand, depth - 1);
    if (more.empty() || all.size() + more.size() > kMaxAxes) return {};
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

NodeId compared_with_zero(const Graph& graph, Op op, NodeId a, NodeId b) {
  if (op != Op::Eq) return kNone;
  return graph.is_constant(b, 0) ? a : graph.is_constant(a, 0) ? b : kNone;
}

}  // namespace

void test_differences(Pipeline& pipeline) {
  rewrite(pipeline, [](Graph& target, const Node& old, std::array<NodeId, 3> args) {
    const auto squared = [&target](NodeId id) {
      const Node& n = target[id];
      return n.op == Op::Mul && n.args[0] == n.args[1] && is_input_difference(target, n.args[0]) ? n.args[0] : kNone;
    };
    NodeId test = kNone;
    if (const NodeId x = compared_with_zero(target, old.op, args[0], args[1]); x != kNone)
      for (const NodeId d : operands(target, x, Op::Add, squared)) {
        const NodeId zero = target.constant(0, target[d].type), is_zero = target.binary(Op::Eq, d, zero, old.where);
        test = test == kNone ? is_zero : target.binary(Op::And, test, is_zero, old.where);
      }
    return test == kNone ? copy_node(target, old, args) : test;
  });
}

std::vector<NodeId> differences_tested(const Graph& graph, NodeId id) {
  return operands(graph, id, Op::And, [&graph](NodeId test) {
    const NodeId x = compared_with_zero(graph, graph[test].op, graph[test].args[0], graph[test].args[1]);
    return x != kNone && is_input_difference(graph, x) ? x : kNone;
  });
}

}  // namespace nbcc
