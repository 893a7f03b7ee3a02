// The terms of a far field -> the pipelines that compute it, from which kernels are made. FarKernels (far_kernels.h)
// says what each of them computes. Tested by tests/unit/runtime/far/far_field_test.cpp.
#pragma once
#include <optional>

#include "compiler/passes/derived/every_image.h"
#include "compiler/passes/far/far_terms.h"

namespace nbcc {

struct FarPipelines {
  Pipeline sources, targets, distant, near, excluded, sample, finish;
  std::optional<Pipeline> means;
};
FarPipelines far_pipelines(const Pipeline& pipeline, const FarTerms& terms);

// The same of a pipeline with every_image(), for ImageShifts::OfRanges. `near`, `excluded`, `sample` and `distant` have
// places (made_inputs.h), to which ranges of j add the shift of an image; `sources` and `targets` compute positions.
FarPipelines far_pipelines(const CopiesPipeline& copies, const FarTerms& terms);

// Used wherever sums are compared with exact ones: the pipeline without finish(); and that with one more output for
// each output NAME that is no index: nbcc_size_NAME, to which errors are relative. Of a sum it is the sum of the terms'
// magnitudes (for vectors, of their lengths), of a minimum, maximum or payload the largest magnitude of a term, of a
// logsumexp 1.
Pipeline without_finish(Pipeline pipeline);
Pipeline sample_pipeline(const Pipeline& pipeline);

}  // namespace nbcc
