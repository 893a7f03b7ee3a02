// Batches of which some are large systems behind a cutoff: each of these is summed by a run of its own, which searches
// for neighbours within it, and all others at once over lists. Tested by tests/numeric/lists_test.cpp.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "runtime/sum/device.h"

namespace nbcc {

class BatchSums {
 public:
  // Both must outlive this object. `all`: of the kernel; it sums over the batches that are not searched.
  BatchSums(const Kernel& kernel, const Summation& all) : kernel_(kernel), all_(all) {}
  // The row of such sums. This object must outlive it. Batches are stored one after the other: if one fails, which only
  // a device without memory does, others may be stored.
  PairMethod method();
  void wait(Progress* progress);
  // Other lists take the place of the batches that were searched.
  void forget();

 private:
  struct Searched {
    std::int64_t batch = 0;
    std::unique_ptr<Summation> sum;
    std::vector<ArrayView> views;
    std::unique_ptr<const LeftOut> left_out;
    std::int64_t left_out_number = 0;  // of the rows of all batches
  };
  std::optional<Estimate> estimate(const SumRequest& request);
  SumRequest request_of(std::int64_t batch, const SumRequest& all) const;
  void choose(const SumRequest& request);
  void run(const SumRequest& request);
  void run(Searched& one, const SumRequest& all) const;
  SumStatistics statistics() const;  // of the searches

  const Kernel& kernel_;
  const Summation& all_;
  std::int64_t number_ = 0;  // Lists::number of the batches chosen among; 0: none
  PairChoice choice_ = PairChoice::Auto;
  double cost_ = 0;
  std::vector<Searched> searched_;
  std::optional<Lists> rest_;  // all groups; those that are searched have no j
};

}  // namespace nbcc
