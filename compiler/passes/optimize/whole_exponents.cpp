// Reads which exponents consist of params and table elements. Entry point: whole_exponents().
#include "compiler/passes/optimize/whole_exponents.h"

#include "compiler/ir/rewrite.h"

namespace nbcc {
namespace {

// Operations between an exponent and the elements and params that it consists of; longer exponents are not marked.
constexpr int kMaxDepth = 6;

// Indices of elements may depend on particles, as types do.
bool is_set_by_caller(const Graph& graph, NodeId id, int depth = 0) {
  const Node& node = graph[id];
  if (node.op == Op::Lookup || node.binding == Binding::Constant || node.binding == Binding::Param) return true;
  if (depth == kMaxDepth) return false;
  if (node.op != Op::Cast && node.op != Op::Neg && node.op != Op::Add && node.op != Op::Sub && node.op != Op::Mul)
    return false;
  for (const NodeId arg : node.args)
    if (arg != kNone && !is_set_by_caller(graph, arg, depth + 1)) return false;
  return true;
}

}  // namespace

void whole_exponents(Pipeline& pipeline) {
  rewrite(pipeline, [](Graph& target, const Node& old, std::array<NodeId, 3> args) {
    const bool is_marked = old.op == Op::Pow && !target.is_constant(args[1]) && is_set_by_caller(target, args[1]);
    return is_marked ? target.make(old.op, old.type, args, old.where, kMayBeWhole) : copy_node(target, old, args);
  });
}

}  // namespace nbcc
