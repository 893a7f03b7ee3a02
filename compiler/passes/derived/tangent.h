// Forward-mode differentiation of pipelines (Jacobian-vector products): a pipeline -> the pipeline of the rates of its
// outputs when inputs and params change at given rates. Part of adjoint.cpp, whose saved results it takes as inputs.
#pragma once
#include "compiler/passes/derived/exchange.h"

namespace nbcc {

Adjoint tangent_pipeline(const Pipeline& pipeline, const AdjointChoice& choice);

}  // namespace nbcc
