// Sums over batches with a cutoff. Each large batch is summed by a separate run with a neighbour search within the
// batch; all other batches are summed together by one run over lists. With every_image() each batch is a separate run,
// since its particles have images in its own cell. Tested by tests/numeric/lists_test.cpp.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "runtime/sum/plan/chosen_lists.h"
#include "runtime/sum/plan/device.h"

namespace nbcc {

// The request of all i of one batch of a run over batches, in which particles are counted from the first of the batch.
// It has neither views nor exclusions.
SumRequest request_of_batch(const KernelSource& source, std::int64_t batch, const SumRequest& all);

// The params, views and exclusions of one batch.
class BatchInputs {
 public:
  // Sets those of `request`, the request of the batch; they are valid until the next call.
  void bind(SumRequest& request, const KernelSource& source, std::int64_t batch, const SumRequest& all);

 private:
  std::vector<double> params_;  // values of its own, then of tables
  std::vector<ArrayView> views_;
  PairRows excluded_;
  std::unique_ptr<const Exclusions> exclusions_;
  std::int64_t exclusion_number_ = 0;  // PairRows::number of all exclusions that these are a part of
};

// The chosen i of a run over batches: those of some batches, counted from the first of their batch, and all others.
struct ChosenOfBatches {
  std::vector<std::vector<std::int64_t>> of_batch;  // parallel to `batches`
  std::vector<std::int64_t> others;
};
ChosenOfBatches divide_chosen(const SumRequest& all, const Summation& sum, std::span<const std::int64_t> batches);

class BatchSums {
 public:
  // Both must outlive this object. `all`: a summation of `kernel`; it sums over the batches that are not searched.
  BatchSums(const Kernel& kernel, const Summation& all) : kernel_(kernel), all_(all) {}
  // The pair method "batches". This object must outlive it. Results are stored batch by batch: if one batch fails,
  // which happens only when a device runs out of memory, results of other batches may have been stored.
  PairMethod method();
  void wait(Progress* progress);
  // Discards the searches: the caller's lists have changed.
  void forget();

 private:
  struct Searched {
    std::int64_t batch = 0;
    std::unique_ptr<Summation> sum;
    BatchInputs inputs;
    std::vector<std::int64_t> chosen;  // its chosen i, counted from its first
  };
  std::optional<Estimate> estimate(const SumRequest& request);
  const PairMethod& search() const;
  void choose(const SumRequest& request);
  std::vector<RunStep> steps(const SumRequest& request);
  Summation& sum_of(Searched& one, const SumRequest& all);
  RunPlan plan_of(Searched& one, const SumRequest& all);
  SumStatistics statistics() const;  // summed over the searched batches

  const Kernel& kernel_;
  const Summation& all_;
  std::int64_t number_ = 0;  // Lists::number for which choose() was done; 0: not done
  PairChoice choice_ = PairChoice::Auto;
  double cost_ = 0;
  std::vector<Searched> searched_;
  std::unique_ptr<Summation> of_all_;  // with every_image(): for all batches, one after the other
  bool has_rest_ = false;              // some batches are not searched
  ChosenLists rest_;
};

}  // namespace nbcc
