// The interpreter's Bessel functions of orders 0 and 1 in double precision, summed in long double from their
// definitions. Simple rather than fast: the kernels' own functions (templates/math/bessel.h.in) are tested against
// them. Tested by tests/unit/compiler/ir/bessel_test.cpp.
#pragma once

namespace nbcc {

// From the C library.
double bessel_j0(double x);
double bessel_j1(double x);
// +infinity at 0, NaN for negative x.
double bessel_k0(double x);
double bessel_k1(double x);
double bessel_i0(double x);
double bessel_i1(double x);

}  // namespace nbcc
