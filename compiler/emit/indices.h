// Bounds checks of table indices: statements that extend the ranges of the numbers that one particle adds to indices.
#pragma once
#include <array>
#include <string>

#include "compiler/emit/finish.h"
#include "compiler/emit/plan.h"
#include "compiler/passes/prove/table_indices.h"

namespace nbcc {

// The checks whose numbers can be computed from the kernel's columns; the others are moved to `unchecked`. `columns`,
// for the CPU, lists the columns that the checks read.
IndexChecks readable_checks(const TableIndices& indices, const Plan& plan);

// Statements for one particle of each side; `positions`: the name of the variable with the particle's index. The text
// calls note(ranges, range, value, position), which the backend defines.
using IndexText = std::array<std::string, kIndexSides>;
IndexText index_text(const TableIndices& indices, const IndexChecks& checks, const Plan& plan,
                     const ScalarSpelling& spelling, const std::array<const char*, kIndexSides>& positions);

}  // namespace nbcc
