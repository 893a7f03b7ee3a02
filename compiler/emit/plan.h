// Which node is computed where, and which columns the particles need: what every backend must decide before it
// writes a line. Read off the bindings; nothing is rewritten here.
#pragma once
#include <map>
#include <set>
#include <vector>

#include "compiler/ir/ir.h"
#include "compiler/kernel_source.h"
#include "compiler/options.h"
#include "compiler/passes/image_shift.h"

namespace nbcc {

// The columns of one side: packed ones first, then derived ones, in the order of KernelSource.
struct SidePlan {
  std::vector<Column> columns;
  std::map<int, int> whole;       // component -> column (in mixed precision this is High where Low exists too)
  std::map<int, int> low;         // component -> column
  std::map<NodeId, int> derived;  // node computed once per particle -> column
  std::vector<NodeId> prepare;    // nodes that prepare computes, in topological order (leaves included)
};

struct Plan {
  SidePlan i, j;
  std::vector<NodeId> uniform;  // of constants and params, needed in the pair loop; computed before it
  std::vector<NodeId> pair;     // computed for each pair, in topological order; leaves that must be loaded included
  std::set<NodeId> two_float;   // differences of an input_j and an input_i formed from high and low parts
  // Nodes that are the nearest image of such a difference: it keeps what its own rounding loses for them, and the
  // length has a low part.
  std::map<NodeId, ImageShift> image_shifts;
  std::set<NodeId> shifted, shift_lengths;  // those differences and lengths
  NodeId any_guard =
      kNone;  // holds wherever a guard does; kNone unless testing it first, for a whole vector of pairs, pays
  std::set<NodeId> before_guard;  // what any_guard needs
  std::vector<NodeId> scales;     // nodes of scale factors, in topological order (no j among them)
  std::vector<NodeId> finish;     // nodes of the finish graph that finish() needs, in topological order
};

Plan make_plan(Pipeline& pipeline, const Options& options);

Element element_of(Type type, Precision precision);
FieldLayout layout_of(const Field& field);

bool is_uniform(Binding binding);  // the same for all particles
// By node: whether it is a condition that fails for single pairs only, such as a particle and itself. Such conditions
// are made of equalities that must not hold.
std::vector<bool> sets_pairs_apart(const Graph& graph);
// The comparison i_index == j_index, for which kernels keep where in a tile i itself stands.
bool is_self_test(const Graph& graph, const Node& node);

}  // namespace nbcc
