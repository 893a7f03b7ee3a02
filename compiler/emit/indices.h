// What the checks of table indices ask of a kernel's text: statements that widen the ranges of one particle's numbers.
#pragma once
#include <array>
#include <string>

#include "compiler/emit/finish.h"
#include "compiler/emit/plan.h"
#include "compiler/passes/table_indices.h"

namespace nbcc {

// The checks whose numbers the kernel's columns tell; the others become unchecked ones. On the CPU `columns` says which
// columns these are.
IndexChecks readable_checks(const TableIndices& indices, const Plan& plan);

// Statements for one particle of each side, whose position is the variable of this name. The text calls
// note(ranges, number, value, position), which the backend defines.
using IndexText = std::array<std::string, kIndexSides>;
IndexText index_text(const TableIndices& indices, const IndexChecks& checks, const Plan& plan,
                     const ScalarSpelling& spelling, const std::array<const char*, kIndexSides>& positions);

}  // namespace nbcc
