// A node as a statement of the CUDA text: const float t7 = t0 - t3; Part of emit_cuda.
// What may stand in it is tested by tests/unit/emit_cuda_test.cpp.
#pragma once
#include <string>
#include <vector>

#include "compiler/emit/cuda/cuda_expression.h"
#include "compiler/emit/plan.h"
#include "compiler/ir/ir.h"
#include "compiler/options.h"

namespace nbcc {

class CudaStatements {
 public:
  // `arguments` stands in front of the params: "a.", or nothing where a frame has them apart. `shared_tables`: pairs
  // find theirs in shared memory, as `tables`.
  CudaStatements(const Graph& graph, const Plan& plan, const Options& options, const CudaScalars& scalars,
                 const char* arguments, bool shared_tables)
      : graph_(graph),
        plan_(plan),
        options_(options),
        scalars_(scalars),
        arguments_(arguments),
        shared_tables_(shared_tables) {}

  std::string computed(NodeId id) const;
  std::string expression(NodeId id) const;
  std::string statement(NodeId id, const std::string& value) const;
  // The nodes that computed() names; none for a comparison of i with j, which the text keeps track of itself.
  std::vector<NodeId> reads(NodeId id) const;

  // Whether the node is the larger of two floats, as `max` means it; then reads() are these two and the condition.
  // Where NaN only has to be noticed there is one instruction for it, computed_larger().
  bool is_larger(NodeId id) const;
  std::string computed_larger(NodeId id) const;

 private:
  std::string loaded_by_pair(NodeId id) const;
  bool rounds(const Node& node) const;
  bool rounds_product(const Node& node) const;

  const Graph& graph_;
  const Plan& plan_;
  const Options& options_;
  const CudaScalars& scalars_;
  const char* const arguments_;
  const bool shared_tables_;
};

}  // namespace nbcc
