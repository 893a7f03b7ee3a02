// A logsumexp or a softmax as kernels hold it, in one pass and without overflow: the sum of exp(logit - reference),
// with a reference near the largest logit so far, and for softmax the sums of the values with the same weights. Outputs
// that have logit and guard in common share the weights, of which each pair then makes one.
#pragma once
#include "compiler/ir/ir.h"

namespace nbcc {

// Behind the outputs, for each logit and guard, a Reference and where a softmax divides by it a Weighted sum of ones;
// finish() begins by making the outputs of these. A pipeline without such outputs stays as it is.
Pipeline with_accumulators(Pipeline pipeline);

}  // namespace nbcc
