// A node as a statement of the CUDA source: const float t7 = t0 - t3; Part of emit_cuda. Tested by
// tests/unit/compiler/emit/cuda/emit_cuda_test.cpp.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "compiler/emit/cuda/pair/cuda_expression.h"
#include "compiler/emit/plan.h"
#include "compiler/ir/ir.h"
#include "compiler/options.h"

namespace nbcc {

// The value of a loop over elements before its first term.
std::string cuda_loop_identity(const Node& loop, const CudaScalars& scalars);

// True if one of the loops reads elements of this kind, ElementOfI or ElementOfJ.
bool loops_read(const Plan& plan, const std::vector<NodeId>& loops, Op element);

class CudaStatements {
 public:
  // `arguments`: prefix of the params, "a." or empty if the frame has a pointer `param`. `shared_tables`: the tables of
  // pair lookups are in shared memory, at `tables`. `pair_j`: in the statements of a pair, the index of j in the
  // caller's arrays; that of i is own[r].i, less the offset.
  CudaStatements(const Graph& graph, const Plan& plan, const Options& options, const CudaScalars& scalars,
                 const char* arguments, bool shared_tables, std::string pair_j = "")
      : graph_(graph),
        plan_(plan),
        options_(options),
        scalars_(scalars),
        arguments_(arguments),
        shared_tables_(shared_tables),
        pair_j_(std::move(pair_j)) {}

  std::string computed(NodeId id) const;
  std::string expression(NodeId id) const;
  std::string statement(NodeId id, const std::string& value) const;
  // The statements in the loop with this term, for element k of particle i or j; and `sum` with the term.
  std::string elements(NodeId term) const;
  std::string with_term(const Node& loop, const std::string& sum) const;
  std::string element(NodeId id) const;
  const char* loaded_type(NodeId element) const;  // of an element of i or j, before its conversion
  // The nodes that computed() names; none for i_index == j_index, which the frame tests.
  std::vector<NodeId> reads(NodeId id) const;

  // True if the node selects the larger of two floats; then reads() are the two and the condition. In a prepass, whose
  // hits are tested again, computed_larger() may replace it: one instruction, which gives NaN if either float is NaN.
  bool is_larger(NodeId id) const;
  std::string computed_larger(NodeId id) const;

 private:
  std::string loaded_by_pair(NodeId id) const;
  std::string member_of_load(NodeId id) const;
  std::string loop(NodeId id) const;
  bool rounds(const Node& node) const;
  bool rounds_product(const Node& node) const;

  const Graph& graph_;
  const Plan& plan_;
  const Options& options_;
  const CudaScalars& scalars_;
  const char* const arguments_;
  const bool shared_tables_;
  const std::string pair_j_;
};

}  // namespace nbcc
