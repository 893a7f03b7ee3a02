// A cutoff as an unsigned expression whose highest bit is 1 if the pair is rejected. Part of emit_cuda.
// Tested by tests/unit/compiler/emit/cuda/pair/cuda_cutoff_test.cpp.
#pragma once
#include <set>
#include <string>

#include "compiler/emit/cuda/pair/cuda_expression.h"
#include "compiler/emit/plan.h"
#include "compiler/ir/ir.h"

namespace nbcc {

struct RejectBit {
  std::string text;        // the expression: its highest bit is 0 wherever the cutoff holds
  std::set<NodeId> reads;  // nodes that the expression names
};

// `cutoff`: comparisons joined by And, Or and Not. At equality the bit may be 0 although the cutoff does not hold.
RejectBit find_reject_bit(const Graph& graph, const Plan& plan, NodeId cutoff, const CudaScalars& scalars);

}  // namespace nbcc
