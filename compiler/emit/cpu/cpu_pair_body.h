// Statements of a CPU kernel for pairs of particles: load, compute, guard, accumulate, reduce. They contain no loop
// over particles; the frames, such as cpu_all_pairs.h, loop over the pairs. Part of emit_cpu. Tested by
// tests/unit/compiler/emit/cpu/emit_cpu_test.cpp.
#pragma once
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compiler/emit/cpu/cpu_expression.h"
#include "compiler/emit/plan.h"

namespace nbcc {

// Operations of a pair: several times the number of the largest pipeline in pipelines/. More are not computed for
// several i at once.
inline constexpr std::size_t kMaxOperationsToBlock = 500;

// The name of the vector that accumulates output component k for the r-th i.
std::string cpu_accumulator(std::size_t k, int r);

// The value of a loop over elements before its first term.
std::string cpu_identity(const Node& loop);

// The terms that a body accumulates.
enum class CpuTerms : std::uint8_t {
  OfI,    // terms of i; reactions are skipped
  OfBoth  // terms of i, and reactions, which are accumulated in vectors of j
};

// Variables that the frame defines:
//   a                 the kernel's arguments
//   i, i_1, i_2 ...   the i-particles of the block, as indices into the columns
//   numbered          particles have indices of their own, a->i_number and a->j_number
//   j, live           the first of a vector of j-particles; mask of its lanes that exist
//   exclusions        some pairs are excluded
//   first_j           the j at which the accumulators were cleared; unless `numbered`, argmin and argmax count from it
//   j_vector, all_i   with reactions: the number of the vector of j; whether all i of the block exist, below chunk_end
//   images            with reactions: see set_optional()
//   may_be_i          with reactions: whether the vector holds the i of the block. Then its earlier particles do not
//                     count, the pair of i with itself has no reaction, and the columns of j begin with particle
//                     i_begin
// Statements of several i-particles are written breadth first (t7_0, t7_1, then t8_0, t8_1), so that independent
// operations are adjacent; the compiler keeps this order.
class CpuPairBody {
 public:
  CpuPairBody(const Plan& plan, const CpuVectors& vectors, CpuExpressions& expressions);
  CpuPairBody(const Plan& plan, const CpuVectors& vectors, CpuExpressions& expressions, CpuTerms terms);
  // The same with `i_block` given.
  CpuPairBody(const Plan& plan, const CpuVectors& vectors, CpuExpressions& expressions, int i_block,
              CpuTerms terms = CpuTerms::OfI);

  // For a frame with the variable `images`: if it is false, the images are their differences. image -> difference.
  void set_optional(std::map<NodeId, NodeId> images) { optional_images_ = std::move(images); }
  int i_block() const { return i_block_; }  // i-particles of a block, which share the loads of j
  static std::string i_name(int r);         // 0 <= r < i_block()
  static std::string i_index(int r);        // i_index of the pipeline

  // Computes the derived columns of a vector of particles from `letter` on, which is i or j. prepare_uniform(): the
  // nodes of constants and params that they need.
  std::string prepare_uniform(const SidePlan& side);
  std::string prepare(const SidePlan& side, char letter);

  std::string uniform() { return uniform(plan_.uniform); }
  std::string load_i() const { return load_i(plan_.pair); }
  std::string clear() const;
  std::string pair();               // accumulates one vector of j against all i of the block
  std::string reduce(int r) const;  // adds the accumulators of the r-th i to the rows of results
  // Arrays of `vectors` vectors of j; identities of the reductions, in the frame's first j_vectors of them; adds one
  // vector to the rows of results, or sets it if `numbered`.
  std::string declare_reactions(int vectors) const;
  std::string clear_reactions() const;
  std::string add_reactions() const;
  // For one i: the nodes that Plan::within needs before the loop over j; in the loop, the mask of a vector's pairs.
  std::string before_within() { return uniform(plan_.for_within) + load_i(plan_.for_within); }
  std::string within();
  std::string functions();  // functions that these statements call and that not every kernel has

  // Loops over elements, where k is the element. `a_vector`: of particles from i or j on; otherwise of the r-th i.
  std::string node_name(NodeId id, int r) const;
  std::string computed(NodeId id, int r);
  // Computes the nodes in the loop with this term.
  std::string elements(NodeId term, Elements range, bool a_vector, int r = 0);
  std::string with_term(const Node& loop, const std::string& sum, int r = 0) const;  // `sum` with the loop's term
  std::string loaded_once(NodeId id) const;  // loads a value of i or j that is no element

 private:
  static int choose_block(const Plan& plan, const CpuVectors& vectors, CpuTerms terms);
  bool per_i(NodeId id) const { return graph_[id].binding == Binding::I || graph_[id].binding == Binding::Pair; }
  int copies(NodeId id) const { return per_i(id) ? i_block_ : 1; }
  std::string expression(NodeId id, int r);
  std::string always_expression(NodeId id, int r);  // without set_optional()
  std::string element(NodeId id, Elements range, bool a_vector, int r) const;
  std::string loop(NodeId id, int r);
  bool adds_to_arrays() const { return !plan_.tiles_loops && !plan_.arrays.empty(); }
  std::string array_name(const OutputArray& array, int r) const;
  std::string accumulate_array(const OutputArray& array, int r, bool every_pair_counts);
  std::string uniform(const std::vector<NodeId>& nodes);
  std::string load_i(const std::vector<NodeId>& nodes) const;
  std::string vector_load(const SidePlan& side, char letter, NodeId id, const std::string& numbered) const;
  std::string listed_load(NodeId id) const;
  std::string loaded(const SidePlan& side, NodeId id, int r, const std::function<std::string(int column)>& read,
                     const std::string& index) const;
  std::string pair_statement(NodeId id);
  std::string counted_pairs() const;
  bool is_accumulated(const OutputPlan& output) const { return !output.of_j || terms_ == CpuTerms::OfBoth; }
  std::string load_reactions() const;
  std::string store_reactions() const;
  std::string accumulate_all();
  std::string accumulate(std::size_t k, int r, bool every_pair_counts) const;
  std::string mask_of(bool every_pair_counts, NodeId guard, const std::string& live, int r) const;
  bool is_of_pair(const OutputArray& array) const { return plan_.outputs[std::size_t(array.first)].of_pair; }
  std::string store_pair_result(const std::string& component, Type type, const std::string& counts,
                                const std::string& value) const;
  std::string clear_pair_results() const;
  std::string add_to_histogram(const OutputPlan& output, int r, const std::string& counts) const;
  std::string counted(const OutputPlan& output, int r, bool every_pair_counts) const;
  std::vector<std::size_t> weighed_by(std::size_t reference) const;
  std::string accumulate_weighted(std::size_t reference, int r, bool every_pair_counts) const;
  std::string reduce_weighted(std::size_t reference, int r) const;
  std::string clear_choice(const Choice& choice) const;
  std::string choose(const Choice& choice, int r, bool every_pair_counts) const;
  std::string store_choice(const Choice& choice, int r) const;

  const Plan& plan_;
  const CpuVectors vectors_;
  const Graph& graph_ = plan_.graph;
  CpuExpressions& expressions_;
  const int i_block_;
  const CpuTerms terms_;
  std::map<NodeId, NodeId> optional_images_;  // see set_optional()
  const std::set<NodeId> exclusions_;         // exclusion guards: they fail for single pairs only
};

}  // namespace nbcc
