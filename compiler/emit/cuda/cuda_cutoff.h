// A cutoff as a word of bits, of which the highest tells whether a pair misses it. Part of emit_cuda.
// Tested by tests/unit/cuda_cutoff_test.cpp.
#pragma once
#include <set>
#include <string>

#include "compiler/emit/cuda/cuda_expression.h"
#include "compiler/emit/plan.h"
#include "compiler/ir/ir.h"

namespace nbcc {

struct RejectBit {
  std::string text;        // an unsigned expression: the highest bit is 0 wherever the cutoff holds
  std::set<NodeId> reads;  // nodes that the text names
};

// `cutoff` is made of comparisons by And, Or and Not. The bit may be 0 where the cutoff does not hold, at equality.
RejectBit find_reject_bit(const Graph& graph, const Plan& plan, NodeId cutoff, const CudaScalars& scalars);

}  // namespace nbcc
