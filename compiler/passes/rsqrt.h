// Roots, reciprocals and powers: products are read as monomials, so that 1/(r*r*r), pow(r2, -1.5) and 1/sqrt(r2)/r2
// are one thing, and r2^(-n/2) is made of the hardware's estimate with the Newton correction fused into the power:
//   y = estimate(x), e = 1 - x y^2:  x^(-n/2) = y^n (1-e)^(-n/2) = y^n (1 + n/2 e + n/2 (n/2+1)/2 e^2 + ...)
// For Math::Fast only. Tested by tests/unit/rsqrt_test.cpp.
//
// Where several odd powers of one x are needed, y is refined once and multiplied up. Where sqrt(x) itself is needed
// too, square root and division are used for both, so that sqrt(0) is 0 and 1/0 infinite. In the other cases x = 0
// and x = infinity give NaN where IEEE arithmetic gives infinity and 0.
#pragma once
#include "compiler/ir/ir.h"
#include "compiler/options.h"
#include "compiler/target.h"

namespace nbcc {
void rsqrt(Pipeline& pipeline, const Options& options, const Target& target);
}  // namespace nbcc
