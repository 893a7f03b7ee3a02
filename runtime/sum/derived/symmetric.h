// Sums over the pairs of one set of particles that compute each pair once, by the kernel with reactions
// (compiler/passes/derived/reactions.h). Tested by tests/numeric/symmetric_test.cpp.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "runtime/sum/plan/derived_sum.h"

namespace nbcc {

// The least number of particles for which each pair is computed once, unless the caller asks for it. It does not depend
// on the machine or its number of threads, so that results do not either.
inline constexpr std::int64_t kMinParticlesForOnce = 4096;

class SymmetricSum {
 public:
  // Both must outlive this object. `sum`: a summation of `kernel`.
  SymmetricSum(const Kernel& kernel, const Summation& sum) : kernel_(kernel), summation_(sum) {}
  // The pair method "symmetric", over all pairs. This object must outlive it.
  PairMethod method();
  // The device's search, with each pair once where that costs less. This object must outlive it.
  PairMethod search(PairMethod both_ends);
  // Counts and times of all runs, with each pair once or from both ends; the pairs within reach of the last run.
  SumStatistics statistics(const RunPlan& last) const;

 private:
  std::optional<Estimate> estimate(const SumRequest& request);
  Estimate survey(const SumRequest& request);
  Estimate survey_search(SumRequest& request);
  bool may_search_once(const SumRequest& request);
  std::string obstacle_of(const SumRequest& request);
  bool are_one_set(const SumRequest& request);
  const ArrayView& view(const SumRequest& request, std::string_view field) const;
  const DerivedKernels& row();
  const SymmetricFacts& facts() { return row().as<SymmetricFacts>(); }
  DerivedSum* sum();  // null: the device has no symmetric kernels
  SumRequest bind(const SumRequest& request);
  void run(const SumRequest& request);

  const Kernel& kernel_;
  const Summation& summation_;
  const DerivedKernels* row_ = nullptr;  // null: no run has needed it
  std::unique_ptr<DerivedSum> sum_;      // made when a run needs it
  PairMethod both_ends_;                 // the device's search
  RunPlan search_;  // of the surveyed search with each pair once; without a method: the device's search does the run
};

}  // namespace nbcc
