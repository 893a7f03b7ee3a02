// Sizes of the vectors whose squared differences are computed as products: rounding errors of products grow with the
// squared distances of vectors from their centre (compiler/passes/outputs/centred_products.h). A pass over the arrays
// of the host. Tested by tests/unit/runtime/tolerance/vector_norms_test.cpp.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "compiler/derived_kernels.h"
#include "runtime/sum/plan/device.h"
#include "runtime/sum/request/sum_request.h"

namespace nbcc {

struct VectorNorms {
  // [centre]: |x_i - c|^2 + |x_j - c|^2, of the largest and of the means of the chosen i and of all j. NaN and infinity
  // stay.
  std::vector<double> largest, mean;
  std::vector<std::int64_t> farthest;  // the i with the largest |x_i - c|^2, some of each centre, ascending

  // No norm is NaN, or near the largest number of its precision.
  bool are_finite(double largest_number) const;
  // True if rounding errors may be larger than those that were measured with the norms `measured`.
  bool exceed(const VectorNorms& measured) const;
};

// The mean of a few vectors of j. Any centre is right; a good one leaves the least rounding errors.
std::vector<double> centre_of(const Centre& centre, const KernelSource& source, const SumRequest& request);

// `source`: the caller's kernel, whose fields the centres name. `wanted`: farthest i of each centre. `request` has i
// and j. Uses the threads of `summation`.
VectorNorms vector_norms(std::span<const Centre> centres, const KernelSource& source, const SumRequest& request,
                         const Summation& summation, std::size_t wanted);

}  // namespace nbcc
