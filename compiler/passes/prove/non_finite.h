// Particles with a non-finite position, i.e. a coordinate that is NaN or infinite. In a pipeline with a neighbourhood
// they do not affect other particles, whether a run sums over all pairs or over the pairs that a search has found:
// pairs with such a particle are excluded, and an i with a non-finite position gets NaN, or -1 from argmin and argmax.
// Tested by tests/unit/compiler/passes/prove/non_finite_test.cpp.
#pragma once
#include "compiler/ir/ir.h"
#include "compiler/passes/prove/neighbourhood.h"

namespace nbcc {

// A comparison with NaN is false; so guards are written as conditions that must hold, `r2 < rc2` instead of
// `not r2 >= rc2`. Without NaN nothing changes.
void exclude_non_finite(Pipeline& pipeline, const Neighbourhood& neighbourhood);

}  // namespace nbcc
