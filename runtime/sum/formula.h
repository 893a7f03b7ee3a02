// Formulas of params and inputs (kernel_source.h) -> numbers. Tested by tests/unit/image_warning_test.cpp.
#pragma once
#include <span>

#include "compiler/kernel_source.h"

namespace nbcc {

// `inputs`: of one particle, by component; not read by a formula of params alone. The formula has a step at least.
double evaluate(const Formula& formula, std::span<const double> params, std::span<const double> inputs = {});

}  // namespace nbcc
