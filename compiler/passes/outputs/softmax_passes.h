// A pipeline with softmax outputs -> two pipelines without, for kernels that only add terms: the first computes the
// logarithm of the sum of weights of each i, the second adds terms whose weights it has divided. Tested by
// tests/numeric/matrix_softmax_test.cpp.
#pragma once
#include <optional>

#include "compiler/ir/ir.h"

namespace nbcc {

struct SoftmaxPasses {
  Pipeline logsumexp;  // the logsumexp outputs, and nbcc_logsumexp
  // The softmax outputs, as sums; reads nbcc_logsumexp as an input of i. Without any pair, which only exclusions can
  // bring about, a sum is 0 in place of NaN.
  Pipeline weighted;
};
// Empty: there is no softmax, an output is neither softmax nor logsumexp, the softmax outputs have several logits or
// guards, or there is a finish().
std::optional<SoftmaxPasses> softmax_passes(const Pipeline& pipeline);

}  // namespace nbcc
