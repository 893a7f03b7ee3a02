// The sum over all far images as a series of Chebyshev polynomials, by a recursion over lattices of 1, 3, 9, ...
// periods. Used by periodic_tables.cpp.
#pragma once
#include <array>
#include <vector>

#include "runtime/far/periodic/chebyshev_series.h"
#include "runtime/far/periodic/kernel_samples.h"

namespace nbcc {

// Points along each row: of the table for the cell's own lattice, and of those for coarser lattices.
struct SeriesOrders {
  std::array<int, 3> first{1, 1, 1}, level{1, 1, 1};
};

struct FarSeries {
  ChebyshevSeries far;  // coefficients that the lattice sum leaves open are 0
  // Of each component: the coefficient of degree 0 where the sum converges absolutely, which `far` lacks; else 0.
  std::vector<double> constants;
  // The degree of the polynomial that fit_periodic() adds; at most 0: none.
  std::vector<int> fitted_degrees;
  int levels = 0, evaluated_levels = 0;
};

// Throws UsageError if the series does not settle, or if it has no end along open directions.
FarSeries make_far_series(KernelSampler& sampler, const KernelFacts& facts, const SeriesOrders& orders,
                          double tolerance);

// Adds to each component the polynomial of its degree with which near + far images are periodic. Its constant is 0.
void fit_periodic(KernelSampler& sampler, FarSeries& series);

// What F lacks to be periodic: rms over displacements of the cell's double / near scale; the largest of all groups.
double measure_mismatch(KernelSampler& sampler, const KernelFacts& facts, const ChebyshevSeries& far, int samples);

// Sets all of each component.
void set_constants(KernelSampler& sampler, const KernelFacts& facts, const FarSeries& series, double tolerance,
                   std::vector<PeriodicComponent>& components);

}  // namespace nbcc
