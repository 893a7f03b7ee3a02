// compiler/emit: an optimized Pipeline -> the source of a kernel, a KernelSource. The plan is the same for every
// backend: where each node is computed (once, per i, per j, per pair), which columns the particles need, how each
// output is reduced. From the plan `cpu` and `cuda` write statements and fill them into the frames of templates/.
#pragma once
#include <map>
#include <set>
#include <vector>

#include "compiler/ir/ir.h"
#include "compiler/kernel_source.h"
#include "compiler/options.h"
#include "compiler/passes/facts/image_shift.h"

namespace nbcc {

// The columns (SoA arrays) of one side: first those packed from inputs, then derived ones, in the order of
// KernelSource.
struct SidePlan {
  std::vector<Column> columns;
  std::map<int, int> whole;       // component -> column; if `low` has the component, the column of its upper part
  std::map<int, int> low;         // component -> column of its lower part (mixed precision)
  std::map<NodeId, int> derived;  // node computed once per particle -> column
  std::vector<NodeId> prepare;    // nodes that prepare computes, in topological order, including leaves
};

// How pairs are reduced to one output component, or to an additional accumulator (accumulators.h).
struct OutputPlan : Contribution {
  Reduction reduction = Reduction::Sum;
  Type type = Type::Real;      // type of the value
  bool fused = false;          // the value is a product, added to the sum by a fused multiply-add
  int reference = -1;          // Weighted: the component with its reference
  int histogram = -1;          // Histogram: its number in KernelSource::histograms
  std::int64_t row_words = 0;  // of a histogram of each i: HistogramLayout::row_words(); 0: a total
  bool of_choice = false;      // it belongs to one of Plan::choices and is not reduced on its own
  bool of_array = false;       // it belongs to one of Plan::arrays
  bool of_pair = false;        // a result of the pair, which is stored: acc[component][j] of nbcc_kernel_arguments
  bool of_j = false;           // a reaction: its terms are added to j
  // True if the terms of a pair are added to it one by one.
  bool is_alone() const { return !of_choice && !of_array; }
  // An extreme of integers, or an index selected by one, is held as int64: a double would round beyond 2^53.
  bool is_whole() const { return type == Type::Index && reduction != Reduction::Sum; }
  // True if the result is an int64, too; a selected index (argmin, argmax) is a double.
  bool results_are_integers() const { return is_whole() && !keeps_index(reduction); }
  // True if a vector accumulates the terms of a pair, or one for each of several i.
  bool has_vector() const { return is_alone() && histogram < 0 && !of_j && !of_pair; }
  double identity() const {
    return is_whole() ? double(nbcc::identity<std::int64_t>(reduction)) : nbcc::identity<double>(reduction);
  }
};

// Output components first + k for elements k of a loop, which have one value.
struct OutputArray {
  int first = 0;
  Elements elements;
  NodeId value = kNone, guard = kNone;
};

struct Plan {
  Graph graph;                      // Pipeline::pair, followed by additional nodes of any_guard
  std::vector<OutputPlan> outputs;  // by output component
  std::vector<Choice> choices;      // argmin and argmax with several slots; their components have OutputPlan::of_choice
  SidePlan i, j, listed;            // listed: inputs of listed pairs
  // Loops over elements (passes/optimize/element_loops.h). Nodes in loops are not among those below.
  std::vector<bool> in_loop;  // [node]
  std::vector<OutputArray> arrays;
  bool fuses_products = false;  // a product that is added to a sum of elements is fused with the sum
  // True if the frame computes tiled_loops for all pairs of a tile, before the other statements of its pairs, and adds
  // the terms of `arrays` after them. All other loops in `pair` are statements of a pair.
  bool tiles_loops = false;
  std::vector<NodeId> tiled_loops;
  std::vector<NodeId> uniform;  // nodes of constants and params alone, computed before the pair loop
  std::vector<NodeId> pair;     // computed for each pair, in topological order, including leaves to be loaded
  std::set<NodeId> two_float;   // differences of an input_j and an input_i, formed from upper and lower parts
  // Minimum images of two_float differences. The difference keeps its rounding error, and the length has a lower part.
  std::map<NodeId, ImageShift> image_shifts;
  // Displacements of copies in mixed precision: two_float differences plus shifts, which have lower parts too.
  std::map<NodeId, CopyShift> copy_shifts;
  // Differences of image_shifts, of copy_shifts, and of images in cells in mixed precision; lengths of image_shifts,
  // and of cells.
  std::set<NodeId> shifted, shift_lengths;
  bool has_cells = false;   // cells of three lattice vectors
  bool has_bessel = false;  // Bessel functions
  bool has_philox = false;
  bool has_exp2 = false;    // exp2 or exp
  bool has_powers = false;  // powers of whole_exponents.h
  // By the pipeline's number of the table: first all tables as the pair loop reads them, then all tables as the
  // double precision statements read them.
  std::vector<PlacedTable> tables;
  const PlacedTable& table(const Node& lookup, bool in_double) const {
    return tables[std::size_t(lookup.payload) + (in_double ? tables.size() / 2 : 0)];
  }
  // CUDA: the tables of pair lookups, by the same number (cuda/pair/cuda_tables.h).
  std::map<int, PlacedTable> tables_of_pairs;
  // CUDA: lookup -> the lookup whose vector load reads the elements of both, which are adjacent.
  std::map<NodeId, NodeId> loaded_with;
  // True if the node is a cell or an image with lower parts.
  bool in_mixed_precision = false;
  bool keeps_parts(const Node& n) const { return in_mixed_precision && (n.op == Op::Cell || n.op == Op::Image); }
  NodeId any_guard =
      kNone;  // true wherever any guard is; kNone unless it pays to test it first, for an entire vector of pairs
  std::set<NodeId> before_guard;  // nodes that any_guard depends on
  NodeId within = kNone;          // Pipeline::within
  // Nodes that `within` depends on, in topological order. Derived nodes are loaded from columns.
  std::vector<NodeId> for_within;
  std::vector<NodeId> scales;  // nodes of scale factors, in topological order (no j among them)
  std::vector<NodeId>
      position_nodes;          // nodes of Pipeline::position_graph that Pipeline::positions need, in topological order
  std::vector<NodeId> finish;  // nodes of Pipeline::finish that finish() needs, in topological order
};

// `tiles_loops`: the kernel may have a frame that computes loops for tiles of pairs.
Plan make_plan(const Pipeline& pipeline, const Options& options, bool tiles_loops = true);

Element element_of(Type type, Precision precision);

// The layout of a histogram, except its field, whose elements are computed in `type`.
HistogramLayout histogram_layout(const FieldLayout& field, Type type, Precision precision);

bool is_uniform(Binding binding);  // true if the value is the same for all particles
// [node] true for an exclusion guard: a condition that fails for single pairs only, such as a particle with itself. It
// is built of negated equalities.
std::vector<bool> excludes_single_pairs(const Graph& graph);
// True for the comparison i_index == j_index. Kernels test it by the index of i itself in a tile.
bool is_self_test(const Graph& graph, const Node& node);

}  // namespace nbcc
