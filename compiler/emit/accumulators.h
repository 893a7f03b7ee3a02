// Accumulators of logsumexp and softmax, which kernels sum in one pass and without overflow: the sum of the weights
// exp(logit - reference), where the reference is near the largest logit so far, and for softmax the weighted sums of
// the values. Outputs with the same logit and guard share a weight, so that a pair computes it once.
#pragma once
#include "compiler/ir/ir.h"

namespace nbcc {

// Appends to the outputs, for each logit and guard, a Reference, and for softmax its denominator, a Weighted sum of
// ones. finish() begins by computing the outputs from these. A pipeline without such outputs is returned unchanged.
Pipeline with_accumulators(Pipeline pipeline);

}  // namespace nbcc
