// The raw operation count of an interaction, as the user wrote it.
#pragma once
#include "compiler/ir/ir.h"

namespace nbcc {
// Arithmetic operations and functions that each pair needs, equal expressions once: a function counts as one, Fma as
// two, each component's reduction as one; negations, comparisons, selections and conversions as none. What depends on
// i, j or params alone is not counted.
int count_operations(const Pipeline& pipeline);
}  // namespace nbcc
