// The emitters' room: an optimized Pipeline -> the text of a kernel, a KernelSource. The plan comes first, the same for
// every backend: which node is computed where, which columns the particles need, what becomes of each output. Then
// `cpu` and `cuda` write statements and put them into the frames of templates/.
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

// How pairs are reduced to one output component, or to an accumulator beside them (accumulators.h).
struct OutputPlan : Contribution {
  Reduction reduction = Reduction::Sum;
  Type type = Type::Real;  // of the value
  bool fused = false;      // the value is a product that is rounded together with the sum that it is added to
  int reference = -1;      // of a Weighted one: the component that holds its reference
  bool of_choice = false;  // it is a part of one of Plan::choices, and not reduced by itself
  // An extreme of whole numbers, or an index chosen by one, is held in 64 bits: a double would round beyond 2^53.
  bool is_whole() const { return type == Type::Index && reduction != Reduction::Sum; }
  // What comes out is then whole; an index that was chosen comes as a double.
  bool results_are_whole() const { return is_whole() && !keeps_index(reduction); }
  double identity() const {
    return is_whole() ? double(nbcc::identity<std::int64_t>(reduction)) : nbcc::identity<double>(reduction);
  }
};

struct Plan {
  Graph graph;                      // the pipeline's of pairs; behind its nodes what any_guard needs beyond them
  std::vector<OutputPlan> outputs;  // per component
  std::vector<Choice> choices;      // of which some of these components are the parts
  SidePlan i, j, listed;            // the last: of the inputs that listed pairs have
  std::vector<NodeId> uniform;      // of constants and params, needed in the pair loop; computed before it
  std::vector<NodeId> pair;         // computed for each pair, in topological order; leaves that must be loaded included
  std::set<NodeId> two_float;       // differences of an input_j and an input_i formed from high and low parts
  // Nodes that are the nearest image of such a difference: it keeps what its own rounding loses for them, and the
  // length has a low part.
  std::map<NodeId, ImageShift> image_shifts;
  // Those differences and lengths; and in mixed precision those of images in cells, which keep what they can as well.
  std::set<NodeId> shifted, shift_lengths;
  bool has_cells = false;   // of three lattice vectors
  bool has_bessel = false;  // functions of that name
  bool has_philox = false;
  bool has_exp2 = false;  // or exponentials
  // What a lookup finds: by the pipeline's number of the table first as the pair loop reads them, then all as the
  // double precision statements do.
  std::vector<PlacedTable> tables;
  const PlacedTable& table(const Node& lookup, bool in_double) const {
    return tables[std::size_t(lookup.payload) + (in_double ? tables.size() / 2 : 0)];
  }
  // CUDA: what a pair's lookup finds, by the same number (cuda/cuda_tables.h).
  std::map<int, PlacedTable> tables_of_pairs;
  // Lookups that find several elements side by side: by which the load is written, for all that find them.
  std::map<NodeId, NodeId> loaded_with;
  // Whether it is a cell or an image of which lower parts are known.
  bool in_mixed_precision = false;
  bool keeps_parts(const Node& n) const { return in_mixed_precision && (n.op == Op::Cell || n.op == Op::Image); }
  NodeId any_guard =
      kNone;  // holds wherever a guard does; kNone unless testing it first, for a whole vector of pairs, pays
  std::set<NodeId> before_guard;  // what any_guard needs
  NodeId within = kNone;          // Pipeline::within
  // What `within` needs for a pair, in topological order, from the columns that the particles have: derived ones are
  // loaded.
  std::vector<NodeId> for_within;
  std::vector<NodeId> scales;  // nodes of scale factors, in topological order (no j among them)
  std::vector<NodeId> place;   // nodes of the place graph that places need, in topological order
  std::vector<NodeId> finish;  // nodes of the finish graph that finish() needs, in topological order
};

Plan make_plan(const Pipeline& pipeline, const Options& options);

Element element_of(Type type, Precision precision);

bool is_uniform(Binding binding);  // the same for all particles
// By node: whether it is a condition that fails for single pairs only, such as a particle and itself. Such conditions
// are made of equalities that must not hold.
std::vector<bool> excludes_single_pairs(const Graph& graph);
// The comparison i_index == j_index, for which kernels keep where in a tile i itself stands.
bool is_self_test(const Graph& graph, const Node& node);

}  // namespace nbcc
