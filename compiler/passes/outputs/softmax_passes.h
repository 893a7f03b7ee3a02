// A pipeline with softmax outputs -> two pipelines without, for kernels that only add terms: the first computes the
// logarithm of the sum of weights of each i, the second adds terms whose weights it has divided. Tested by
// tests/unit/compiler/passes/outputs/one_choice_test.cpp and tests/numeric/matrix_softmax_test.cpp.
#pragma once
#include <optional>

#include "compiler/ir/ir.h"

namespace nbcc {

struct SoftmaxPasses {
  Pipeline logsumexp;  // the output nbcc_logsumexp alone
  // The softmax outputs, as sums, and the logsumexp outputs, as maxima of one number for each i; reads nbcc_logsumexp
  // as an input of i. Without any pair, which only exclusions can bring about, a sum is 0 in place of NaN.
  Pipeline weighted;
  Pipeline means;  // the same without the maxima
};
// Empty: there is no softmax, an output is neither softmax nor logsumexp, the outputs have several logits or guards, or
// there is a finish().
std::optional<SoftmaxPasses> softmax_passes(const Pipeline& pipeline);

}  // namespace nbcc
