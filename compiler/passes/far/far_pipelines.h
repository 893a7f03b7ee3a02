// The terms of a far field -> the pipelines that compute it, from which kernels are made. FarKernels (far_kernels.h)
// says what each of them computes. Tested by tests/unit/runtime/far/far_field_test.cpp.
#pragma once
#include <optional>

#include "compiler/passes/far/far_terms.h"

namespace nbcc {

struct FarPipelines {
  Pipeline sources, targets, distant, near, excluded, sample, finish;
  std::optional<Pipeline> means;
};
FarPipelines far_pipelines(const Pipeline& pipeline, const FarTerms& terms);

}  // namespace nbcc
