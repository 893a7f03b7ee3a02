// A sum with a far field as a pair method: whether it is worth it, and with which numbers. Used by set_tolerance().
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/far/far_run.h"
#include "runtime/sum/request/far_choice.h"

namespace nbcc {

class FarField {
 public:
  // Both must outlive this object. Throws UsageError if the pipeline has no far field. `ranks`: for runs of processes
  // that have their own j alone, and for no others.
  FarField(const Kernel& kernel, const Summation& summation, double tolerance, const FarChoice& choice,
           std::unique_ptr<FarRanks> ranks = nullptr);

  std::optional<Estimate> estimate(const SumRequest& request) const;
  // Chooses for this case, or measures again whether the choice keeps the tolerance, where that is due.
  Estimate measure(const SumRequest& request);
  // The same from what is known, and the cost of measuring the rest.
  std::pair<Estimate, double> expected(const SumRequest& request);
  double least_cost(const SumRequest& request) const;
  // True unless a far field is sure to cost more than all pairs.
  bool may_be_far(const SumRequest& request) const {
    return is_experiment() || least_cost(request) < all_pairs(request);
  }
  bool is_periodic() const { return run_->is_periodic(); }
  // Throws UsageError if all pairs would have a lower precision than the tolerance requires, because of the obstacle.
  void require_precision(std::string_view obstacle) const;
  void run(const SumRequest& request);
  void wait() { run_->wait(); }
  FarMemory memory(const SumRequest& request) const;
  SumStatistics statistics();

 private:
  // What a choice depends on, besides the particles themselves.
  struct Case {
    std::int64_t ni = 0, nj = 0, i_count = 0;
    std::vector<double> params;
    bool operator==(const Case&) const = default;
  };
  Case case_of(const SumRequest& request) const;
  static std::int64_t number_of_exclusions(const SumRequest& request) {
    return request.excluded_rows ? request.excluded_rows->number : 0;
  }
  struct Choice {
    FarSetting setting;
    double cost = 0;   // in near pairs
    double error = 0;  // of the sample; 0: not measured
  };

  void set_precision(Precision precision);
  static Precision precision_for(double tolerance);
  // Returns what prepare() returns.
  std::string use_precision(const SumRequest& request, Precision precision);
  std::int64_t sample_size(const SumRequest& request) const;
  double all_pairs(const SumRequest& request) const {
    return ranks_ ? images_of_ranks_ * i_of_ranks_ * j_of_ranks_ : run_->images() * pairs_of(request);
  }
  double number_of_i(const SumRequest& request) const { return ranks_ ? i_of_ranks_ : double(request.i_count); }
  double number_of_j(const SumRequest& request) const { return ranks_ ? j_of_ranks_ : double(request.nj); }
  bool is_experiment() const { return choice_.order > 0 || choice_.leaf > 0 || choice_.separation > 0; }
  Estimate answer(const SumRequest& request) const;
  bool is_due(const SumRequest& request);
  void draw(const SumRequest& request, std::int64_t wanted);
  bool measure_sample(const SumRequest& request, bool is_known);
  bool choose_again(const SumRequest& request);
  void fit_all_pairs(const SumRequest& request);
  std::string choose(const SumRequest& request);
  bool fits(const SumRequest& request, const FarSetting& setting);
  // In near pairs; infinite if the memory does not suffice.
  double cost(const SumRequest& request, const FarSetting& setting) {
    return fits(request, setting) ? run_->cost(setting) : std::numeric_limits<double>::infinity();
  }
  void require_memory(const SumRequest& request);
  [[noreturn]] void refuse_memory(const SumRequest& request) const;
  // With SumRequest::peers, in far_together.cpp.
  struct ErrorsOfAll {
    double error = 0, largest = 0, error_of_sum = 0;  // as in FarStatistics
    std::int64_t sampled = 0;
  };
  void require_one_choice(const std::vector<std::vector<double>>& all, std::size_t first) const;
  Estimate measure_together(const SumRequest& request);
  Estimate answer_together(const SumRequest& request) const;
  bool keeps_together(const SumRequest& request);
  void choose_together(const SumRequest& request, const std::string& obstacle);
  bool fit_together(const SumRequest& request);
  void fit_all_pairs_together(const SumRequest& request);
  double error_of_all(const SumRequest& request);
  void exchange_errors(const SumRequest& request);
  // With FarRanks, in far_together.cpp.
  Estimate measure_among_ranks(const SumRequest& request);
  bool is_due_among_ranks();
  void run_among_ranks(const SumRequest& request);
  std::optional<Choice> cheapest(const SumRequest& request);
  std::optional<Choice> fit(const SumRequest& request, int order, int leaf, double limit, double most_cost,
                            bool may_rise);
  // The limit that should have half of the tolerance as its error, after one that had `error`; a little more from near.
  double next_limit(double limit, double error) const;
  // One that usually suits the tolerance.
  int first_order() const;
  double first_limit(int order) const { return std::min(1.0, tolerance_ * std::pow(10, 1 + 0.45 * order)); }

  static constexpr int kFirstLeaf = 128;
  static constexpr double kShareOfChecks = 1.0 / 30;  // of the time of runs
  static constexpr double kExactPair = 5;             // the time of a pair of an exact sum, in near pairs
  static constexpr double kMaxSpread = 2;             // of the norms of weights between two measurements
  // All pairs in a raised precision are preferred to all pairs in the precision of the pipeline by this factor.
  static constexpr double kPreferred = 0.99;

  const Kernel& kernel_;
  const Summation& summation_;
  const double tolerance_;
  const FarChoice choice_;
  Precision precision_ = Precision::Single;
  bool is_raised_ = false;                  // the tolerance requires a higher precision than the pipeline has
  std::optional<FarMemory> too_large_;      // for which the memory does not suffice
  std::unique_ptr<FarRanks> ranks_;         // null: this process has all j
  double i_of_ranks_ = 0, j_of_ranks_ = 0;  // of all processes
  double images_of_ranks_ = 1;              // the largest number of near images that a process knows
  SumRequest moved_;                        // of FarRun::move() in this run
  std::string why_all_j_;                   // of the last run of all j
  std::shared_ptr<double> sums_of_parts_;   // of a run in parts that has begun: [output][i]
  std::int64_t ni_of_parts_ = 0;
  std::unique_ptr<FarRun> run_;
  std::optional<Case> case_;     // of the choice or the refusal; nothing: neither is made
  std::int64_t exclusions_ = 0;  // number_of_exclusions() of the last sample
  Choice chosen_;
  std::string refusal_;           // why this case has no far field; "": it has one
  bool is_far_ = false;           // the far field is the cheapest
  bool takes_all_pairs_ = false;  // in a raised precision
  bool tries_all_ = false;        // trials sum all sampled i
  bool is_obstructed_ = false;    // the particles of the last survey cannot have a far field
  bool has_no_i_ = false;         // with SumRequest::peers: no chosen i of this process has a finite position
  double error_ = 0;              // of the last sample, as FarRun::error_of_sample() returns it
  unsigned runs_ = 0;             // since the choice
  std::int64_t runs_since_error_ = 0;
  double work_since_check_ = 0;                    // in near pairs
  FarStatistics::Seconds seconds_of_preparation_;  // before a choice
  double seconds_of_choice_ = 0;
  bool has_totals_ = false;                   // of the particles of this survey
  bool is_measured_ = false;                  // this survey has drawn a sample, or that of another process has
  bool has_sample_ = false;                   // the statistics have the error of a run of this case
  std::vector<double> i_of_peers_;            // [process]: the number of its chosen i; 0: it does not take part
  std::optional<ErrorsOfAll> errors_of_all_;  // of the i of all processes, in place of those of this process
};

}  // namespace nbcc
