// Pipeline -> its raw operation count. One door: count_operations().
#include "compiler/ir/count_operations.h"

namespace nbcc {
namespace {

int cost(Op op) {
  switch (op) {
    case Op::Neg:
    case Op::Not:
    case Op::Cast:
    case Op::And:
    case Op::Or:
    case Op::Lt:
    case Op::Le:
    case Op::Eq:
    case Op::Select:
      return 0;
    case Op::Fma:
      return 2;
    default:
      return arity(op) == 0 ? 0 : 1;
  }
}

}  // namespace

int count_operations(const Pipeline& pipeline) {
  const std::vector<bool> needed = reachable(pipeline.pair, pipeline.roots());
  int count = int(pipeline.contributions.size());
  for (NodeId id = 0; id < pipeline.pair.size(); ++id) {
    if (needed[std::size_t(id)] && pipeline.pair[id].binding == Binding::Pair) count += cost(pipeline.pair[id].op);
  }
  return count;
}

}  // namespace nbcc
