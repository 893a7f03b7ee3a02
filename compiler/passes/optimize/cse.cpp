// Sorts the arguments of commutative operations, so that hash-consing makes equal values one node; rewrite() drops
// unused nodes. Products and sums keep their roundings; chains are not reassociated. Entry point: cse().
#include <utility>

#include "compiler/ir/rewrite.h"
#include "compiler/passes/passes.h"

namespace nbcc {

void cse(Pipeline& pipeline) {
  rewrite(pipeline, [](Graph& target, const Node& old, std::array<NodeId, 3> args) {
    // A constant comes second, where other passes expect it.
    const auto rank = [&](NodeId id) { return std::pair(target.is_constant(id), id); };
    if (facts(old.op).commutes && rank(args[1]) < rank(args[0])) std::swap(args[0], args[1]);
    return copy_node(target, old, args);
  });
}

}  // namespace nbcc
