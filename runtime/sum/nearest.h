// Nearest neighbours without a guard, by searches: a run of a pipeline whose outputs are all a min or argmin of one
// number that grows with a distance (compiler/passes/nearest.h) -> runs of the same with a bound for each i.
//
// First every i meets a few j, every 8^k-th of them all, and the least number that it meets is a bound. Behind that bound
// a search meets eight times as many j, every 8^(k-1)-th, and so on; the last one meets all. However unevenly particles
// stand, each search finds about as many j for an i as the one before: O(N log N) in all.
// Tested by tests/numeric/nearest_test.cpp.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "runtime/sum/sum.h"

namespace nbcc {

class NearestSum {
 public:
  // Of KernelSource::nearest.
  explicit NearestSum(std::shared_ptr<const Kernel> bounded) : sum_(std::move(bounded)) {}

  // `fields`, `views` and `params` are those of the pipeline itself. All outputs of the chosen i are stored by the last
  // of the runs.
  void run(const std::vector<FieldLayout>& fields, const SumRequest& request, const RunChoice& choice, std::int64_t ni);
  SumStatistics statistics() const { return sum_.statistics(); }

 private:
  void bind(const std::vector<FieldLayout>& fields, const SumRequest& request, std::int64_t stride);

  SumState sum_;
  std::vector<double> bounds_, least_;
  std::vector<std::int64_t> numbers_;  // of j
};

}  // namespace nbcc
