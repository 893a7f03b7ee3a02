// Evaluates formulas of params and inputs (Formula in kernel_source.h). Tested by
// tests/unit/runtime/sum/run/image_warning_test.cpp.
#pragma once
#include <span>

#include "compiler/kernel_source.h"

namespace nbcc {

// `inputs`: the inputs of one particle, by component; not read by a formula of params alone. The formula must have at
// least one step.
double evaluate(const Formula& formula, std::span<const double> params, std::span<const double> inputs = {});

// The same for `count` particles: columns[component][particle]; null where the formula does not read the component.
void evaluate(const Formula& formula, std::span<const double> params, std::span<const double* const> columns,
              std::int64_t count, double* results);

}  // namespace nbcc
