// Sums dominated by a function, as plain loops of scalar libm calls in single precision: what one has without any
// effort.
#pragma once
#include <cstdint>

namespace nbcc::bench {

// Columns in the order in which the pipeline declares its components.
struct ScalarProblem {
  std::int64_t ni, nj;
  const float* const* i;
  const float* const* j;
  const float* param;
  double* const* sum;  // [output component][particle]
};

void gaussian_rbf(const ScalarProblem& p);
void ewald_real(const ScalarProblem& p);
void hologram(const ScalarProblem& p);

}  // namespace nbcc::bench
