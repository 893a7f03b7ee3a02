// What a CPU kernel does with pairs of particles, as statements: load, compute, guard, accumulate, reduce. They know of
// no loop. The frames do, such as cpu_all_pairs.h: they say in which order the pairs come. Part of emit_cpu.
// What may stand in the statements is tested by tests/unit/emit_cpu_test.cpp.
#pragma once
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "compiler/emit/cpu/cpu_expression.h"
#include "compiler/emit/plan.h"

namespace nbcc {

// The vector that holds what the r-th i has of output component k.
std::string cpu_accumulator(std::size_t k, int r);

// The statements find in the frame: `a`, the kernel's arguments; the i-particles at hand, i, i_1, i_2 ..., as indices
// into the columns; `numbered`, whether they have numbers of their own; `j`, the first of a vector of j-particles;
// `live`, which lanes of it there are, and `but`, whether some pairs are left out; `first_j`, from which on j is
// counted since the accumulators were cleared. Statements of several i-particles are written breadth first (t7_0, t7_1,
// then t8_0, t8_1): independent work stands side by side, and the compiler keeps it so.
class CpuPairBody {
 public:
  CpuPairBody(const Plan& plan, const CpuVectors& vectors, CpuExpressions& expressions);
  // The same with so many i-particles at hand.
  CpuPairBody(const Plan& plan, const CpuVectors& vectors, CpuExpressions& expressions, int i_block);

  int i_block() const { return i_block_; }  // i-particles at hand
  static std::string i_name(int r);         // r from 0 to before i_block()

  // The columns that depend on one particle alone, of a vector of particles at `letter`, which is i or j; and what they
  // need that is the same for all.
  std::string prepare_uniform(const SidePlan& side);
  std::string prepare(const SidePlan& side, char letter);

  std::string uniform() { return uniform(plan_.uniform); }
  std::string load_i() const { return load_i(plan_.pair); }
  std::string clear() const;
  std::string pair();               // one vector of j against all i at hand, into the accumulators
  std::string reduce(int r) const;  // the accumulators of the r-th i to the rows of results
  // Of one i at hand: what Plan::within needs before the loop over j, and in it the mask of a vector's pairs.
  std::string before_within() { return uniform(plan_.for_within) + load_i(plan_.for_within); }
  std::string within();
  std::string functions();  // that these statements call and not every kernel has

 private:
  static int choose_block(const Plan& plan, const CpuVectors& vectors);
  bool per_i(NodeId id) const { return graph_[id].binding == Binding::I || graph_[id].binding == Binding::Pair; }
  int copies(NodeId id) const { return per_i(id) ? i_block_ : 1; }
  std::string node_name(NodeId id, int r) const;
  std::string expression(NodeId id, int r);
  std::string uniform(const std::vector<NodeId>& nodes);
  std::string load_i(const std::vector<NodeId>& nodes) const;
  std::string vector_load(const SidePlan& side, char letter, NodeId id, const std::string& numbered) const;
  std::string listed_load(NodeId id) const;
  std::string loaded(const SidePlan& side, NodeId id, int r, const std::function<std::string(int column)>& read,
                     const std::string& index) const;
  std::string computed(NodeId id, int r);
  std::string pair_statement(NodeId id);
  std::string counted_pairs() const;
  std::string accumulate_all() const;
  std::string accumulate(std::size_t k, int r, bool every_pair_counts) const;
  std::string counted(const OutputPlan& output, int r, bool every_pair_counts) const;
  std::vector<std::size_t> weighed_by(std::size_t reference) const;
  std::string accumulate_weighted(std::size_t reference, int r, bool every_pair_counts) const;
  std::string reduce_weighted(std::size_t reference, int r) const;
  std::string clear_choice(const Choice& choice) const;
  std::string choose(const Choice& choice, int r, bool every_pair_counts) const;

  const Plan& plan_;
  const CpuVectors vectors_;
  const Graph& graph_ = plan_.graph;
  CpuExpressions& expressions_;
  const int i_block_;
  const std::set<NodeId> exclusions_;  // guards that fail for single pairs only
};

}  // namespace nbcc
