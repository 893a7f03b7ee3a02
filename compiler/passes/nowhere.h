// Particles that are nowhere: of which a coordinate is NaN or infinite. In a pipeline with a neighbourhood they disturb
// nobody else, whether all pairs are summed over or those that a search has found: pairs with them are left out, and an
// i that is nowhere gets NaN, or -1 from argmin and argmax. Tested by tests/unit/nowhere_test.cpp.
#pragma once
#include "compiler/ir/ir.h"
#include "compiler/passes/neighbourhood.h"

namespace nbcc {

// A comparison with NaN is false: so guards are written as what must hold, `r2 < rc2` in place of `not r2 >= rc2`. For
// numbers nothing changes.
void leave_out_nowhere(Pipeline& pipeline, const Neighbourhood& neighbourhood);

}  // namespace nbcc
