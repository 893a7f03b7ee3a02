// Nearest neighbours without a cutoff, by repeated searches. Applies to pipelines whose outputs are all the min or
// argmin of one value that grows with a distance, or payloads of these argmins (compiler/passes/derived/nearest.h).
// Each search runs the same pipeline with an upper bound for each i as its cutoff: of the minimum, or of the last of
// the least values that an argmin of several indices keeps.
//
// A device whose search finds bounds by itself (Summation::finds_bounds) does one run. On others the first run takes a
// sample of the j, every 8^k-th; the values that it keeps for each i give the first bound. The next run searches eight
// times as many j, every 8^(k-1)-th, within that bound, and gives a smaller bound; the last run searches all j. Each
// search finds about as many j for an i as the one before, even if particles are distributed unevenly: O(N log N) in
// total. Tested by tests/numeric/nearest_test.cpp.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "runtime/sum/plan/derived_sum.h"

namespace nbcc {

class NearestSum {
 public:
  // Both must outlive this object. `sum`: a summation of `kernel`.
  NearestSum(const Kernel& kernel, const Summation& sum) : kernel_(kernel), summation_(sum) {}
  // The pair method "nearest". This object must outlive it.
  PairMethod method();

 private:
  std::optional<Estimate> estimate(const SumRequest& request);
  Estimate survey(const SumRequest& request);
  const DerivedKernels& row();
  DerivedSum* sum();  // null: the device has no kernel for it
  void run(const SumRequest& request);
  SumRequest bind(const SumRequest& request, std::int64_t stride);
  bool are_finite(const SumRequest& request, Role side);
  double pairs_of_one_i();
  double growth(double nj);
  std::int64_t kept();  // the number of neighbours that an output keeps

  const Kernel& kernel_;
  const Summation& summation_;
  const DerivedKernels* row_ = nullptr;    // null: no run has needed it
  std::unique_ptr<DerivedSum> sum_;        // made when a run needs it
  std::unique_ptr<DerivedSum> finite_[2];  // of i, of j: find inputs that are not finite; made when a run needs them
  std::vector<double> bounds_, worst_;     // by i: the bound of the current run; the largest value that it keeps
  std::vector<std::int64_t> j_numbers_;    // by j: its j_index
};

}  // namespace nbcc
