// Finds pairs that are infinite or NaN where a particle meets itself, by trying: test warn_singular_test.
#pragma once
#include <optional>

#include "compiler/ir/ir.h"
#include "compiler/text/diagnostic.h"

namespace nbcc {
// A warning if an output's contribution is not finite for i == j, although it is for other pairs. Nothing for a
// pipeline whose i and j have no fields in common, such as xi and xj: its sets are of different things.
std::optional<Diagnostic> warn_singular(const Pipeline& pipeline);
}  // namespace nbcc
