// Finds, by trials, pipelines that are infinite or NaN for a pair of a particle with itself. Tested by
// tests/unit/compiler/source/warn_singular_test.cpp.
#pragma once
#include <optional>

#include "compiler/passes/derived/adjoint.h"
#include "compiler/text/diagnostic.h"

namespace nbcc {
// A warning if an output's contribution is not finite for i == j although it is finite for other pairs. None for a
// pipeline whose i and j have no corresponding fields, such as xi and xj: i and j then are not the same particles.
std::optional<Diagnostic> warn_singular(const Pipeline& pipeline);
// A warning of a singular derivative in an adjoint pipeline. The location is the declaration of the field by which the
// derivative is taken, in the text of the pipeline that was differentiated.
std::optional<Diagnostic> warn_singular(const Adjoint& adjoint);
}  // namespace nbcc
