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
  // Both must outlive this object.
  BatchSums(const Kernel& kernel, const Lists& batches) : kernel_(kernel), batches_(batches) {}

  // Whether any batch is searched: under `cutoff` all are, else those large enough. Chosen once. `over_lists`: who sums
  // over all batches otherwise. False as well where results of some could change what others have yet to read; under
  // `cutoff` that throws UsageError.
  bool searches_any(const SumRequest& request, PairChoice pairs, const Summation& over_lists);
  // `left_out`: the rows of request.left_out. Batches are stored one after the other: if one fails, which only a device
  // without memory does, others may be stored.
  void run(const SumRequest& request, PairChoice pairs, const PairRows* left_out, Summation& over_lists);
  void wait(Progress* progress);
  SumStatistics statistics() const;  // of the searches

 private:
  struct Searched {
    std::int64_t batch = 0;
    std::unique_ptr<Summation> sum;
    std::vector<ArrayView> views;
    std::unique_ptr<const LeftOut> left_out;
    std::int64_t left_out_number = 0;  // of the rows of all batches
  };
  SumRequest request_of(std::int64_t batch, const SumRequest& all) const;
  void choose(const SumRequest& request, PairChoice pairs, const Summation& over_lists);
  void run(Searched& one, const SumRequest& all, PairChoice pairs, const PairRows* left_out) const;

  const Kernel& kernel_;
  const Lists& batches_;
  bool chosen_ = false;
  std::vector<Searched> searched_;
  std::optional<Lists> rest_;  // all groups, but those that are searched have no j
};

}  // namespace nbcc
