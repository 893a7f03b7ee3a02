// What a loop over elements (passes/optimize/element_loops.h) reads. Independent of backends.
#pragma once
#include <functional>
#include <vector>

#include "compiler/emit/plan.h"

namespace nbcc {

// A value that the innermost statements of a loop read. In the loop it has a value for each element, of i, of j or of
// params alone; outside of it, it is a value of i, of j or of the pair.
struct LoopOperand {
  NodeId id = kNone;
  Binding binding = Binding::Constant;
  bool in_loop = false;
  bool of_pair() const { return binding == Binding::Pair; }
  bool of_i() const { return binding == Binding::I; }
  bool of_j() const { return binding == Binding::J; }
};

// The nodes that must be computed for each element and pair, in topological order. Conditions are among them: copies of
// one side's values are numbers.
std::vector<NodeId> inner_nodes(const Plan& plan, NodeId term);
// The values that inner_nodes() read, or the term itself if there are no inner nodes; without constants and params that
// are no elements.
std::vector<LoopOperand> loop_operands(const Plan& plan, NodeId term);
// The values outside of the loop that one side's operand in it is computed from, except constants and params.
std::vector<NodeId> read_outside(const Plan& plan, NodeId operand);

// What a kernel can do with loops.
struct LoopFrames {
  bool fused = false;                      // Target::fused
  std::function<bool(const Plan&)> tiles;  // false: the kernel cannot have a frame that computes loops for tiles
  bool arrays_of_pairs = false;            // output arrays are added to by the statements of a pair
};
// The plan of a kernel. Loops that the kernel cannot have are written out in `pipeline`, too, and products fused with
// sums as optimize() does.
Plan plan_loops(Pipeline& pipeline, const Options& options, const LoopFrames& frames);

}  // namespace nbcc
