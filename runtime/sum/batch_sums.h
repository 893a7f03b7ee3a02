// Batches of large systems, each summed by a run of its own, which searches for neighbours within the batch. Small
// systems are summed all at once, over lists. Tested by tests/numeric/lists_test.cpp.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/sum/device.h"

namespace nbcc {

class BatchSums {
 public:
  // Both must outlive this object.
  BatchSums(const Kernel& kernel, const Lists& batches) : kernel_(kernel), batches_(batches) {}

  // Whether that is sooner done, or must be. False as well where storing the results of a batch could change what
  // another one has to read. `sum`: any of the kernel.
  bool pays(const SumRequest& request, PairChoice pairs, const Summation& sum) const;
  // Batch by batch. `left_out`: the rows of request.left_out. Batches before one that fails are stored.
  void run(const SumRequest& request, PairChoice pairs, const PairRows* left_out);
  void wait();
  SumStatistics statistics() const;

 private:
  // What a batch keeps from run to run.
  struct Batch {
    std::unique_ptr<Summation> sum;
    std::vector<ArrayView> views;
    std::unique_ptr<const LeftOut> left_out;
    std::int64_t left_out_number = 0;  // of the rows of all
  };
  SumRequest request_of(std::int64_t batch, const SumRequest& all) const;
  bool outputs_lie_apart(const SumRequest& request) const;

  const Kernel& kernel_;
  const Lists& batches_;
  std::vector<Batch> kept_;
};

}  // namespace nbcc
