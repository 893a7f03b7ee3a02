// Bessel functions of the orders 0 and 1 in double precision, as the interpreter has them: by their definitions, summed
// in long double. Obvious rather than fast; kernels have functions of their own (templates/bessel.h.in), which are held
// against these. Tested by tests/unit/bessel_test.cpp.
#pragma once

namespace nbcc {

// The C library's.
double bessel_j0(double x);
double bessel_j1(double x);
// +infinity at 0, NaN below.
double bessel_k0(double x);
double bessel_k1(double x);
double bessel_i0(double x);
double bessel_i1(double x);

}  // namespace nbcc
