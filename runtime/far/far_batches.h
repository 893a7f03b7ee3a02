// Sums to a tolerance over batches: each batch that is worth it has a far field of its own, all others are summed
// together by one run over lists. The pair method "far batches". Tested by tests/numeric/far_batches_test.cpp.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "runtime/far/far_field.h"
#include "runtime/sum/plan/batch_sums.h"

namespace nbcc {

class FarBatches {
 public:
  // Kernel and summation must outlive this object. `all`: a summation of `kernel`; it sums over the batches without a
  // far field. `single`: of the same tolerance; it decides what a batch is worth.
  FarBatches(const Kernel& kernel, const Summation& all, std::shared_ptr<const FarField> single, double tolerance,
             const FarChoice& choice)
      : kernel_(kernel), all_(all), single_(std::move(single)), tolerance_(tolerance), choice_(choice) {}
  static PairMethod method(const std::shared_ptr<FarBatches>& batches);

 private:
  struct Particles {
    std::int64_t i_begin = 0, i_end = 0, j_begin = 0, j_end = 0;
    bool operator==(const Particles&) const = default;
  };
  struct Batch {
    std::int64_t number = 0;
    Particles particles;
    BatchInputs inputs;
    std::unique_ptr<FarField> field;
    PairMethod row;
    std::vector<std::int64_t> chosen;  // its chosen i, counted from its first
    bool is_far = false;               // a far field, or all pairs in a raised precision
    double cost = 0;                   // in pairs
  };
  std::optional<Estimate> estimate(const SumRequest& request);
  Estimate measure(const SumRequest& request);
  std::pair<Estimate, double> expected(const SumRequest& request);
  std::vector<RunStep> steps(const SumRequest& request);
  SumStatistics statistics() const;

  void find_candidates(const SumRequest& request);
  std::unique_ptr<Batch> make_batch(const Particles& particles) const;
  SumRequest request_of(Batch& batch, const SumRequest& all) const;
  // The chosen i that are of no candidate for which `takes` is true; those of a candidate become its own.
  template <typename Takes>
  std::vector<std::int64_t> divide_i(const SumRequest& request, const Takes& takes);
  template <typename Ask>
  double cost_of(const SumRequest& request, const Ask& ask);

  const Kernel& kernel_;
  const Summation& all_;
  const std::shared_ptr<const FarField> single_;
  const double tolerance_;
  const FarChoice choice_;
  std::int64_t number_ = 0;  // Lists::number of the candidates; 0: none are found yet
  std::vector<std::unique_ptr<Batch>> candidates_;
  ChosenLists rest_;
};

}  // namespace nbcc
