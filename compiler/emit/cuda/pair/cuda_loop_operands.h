// The statements that compute what a loop over elements reads of one particle, for one element. Part of emit_cuda, used
// by the frames that compute loops for tiles of pairs. Tested by tests/numeric/element_loops_test.cpp.
#pragma once
#include <string>
#include <vector>

#include "compiler/emit/cuda/pair/cuda_statement.h"
#include "compiler/emit/plan.h"

namespace nbcc {

class CudaLoopOperands {
 public:
  // Both must outlive this object.
  CudaLoopOperands(const Plan& plan, const CudaStatements& statements)
      : plan_(plan), graph_(plan.graph), statements_(statements) {}

  // The nodes that one side's operand is computed from, without constants and params that are no elements.
  std::vector<NodeId> closure(NodeId operand) const;
  // Computes an operand of particle i or j, for element k, as variable t<operand>. `loaded`: a format with the number
  // of an element's node, for its value if that is known.
  std::string computed(NodeId operand, const std::string& loaded = "") const;

 private:
  const Plan& plan_;
  const Graph& graph_;
  const CudaStatements& statements_;
};

}  // namespace nbcc
