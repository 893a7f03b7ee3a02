// Constant arithmetic, x+0, x*1, x-(-y), select of a constant, double negation: what holds for every x, NaN and
// infinity included. +0 and -0 are not told apart: x+0 becomes x although -0+0 is +0. x*0 stays (x may be NaN or
// infinite), and so does a constant operation whose result is not finite, so that no emitter meets such a literal that
// the user did not write. Tested by tests/unit/fold_test.cpp.
#pragma once
#include "compiler/ir/ir.h"

namespace nbcc {
void fold(Pipeline& pipeline);

// The rule of the pass, for one node: what `node` with the arguments `args` (ids in `target`) is, after folding.
// Lowering applies it as it builds, so that loop bounds and array indices are constants when they are needed.
NodeId fold_node(Graph& target, const Node& node, std::array<NodeId, 3> args);
}  // namespace nbcc
