// A kernel and the caller's arrays -> sums: what is bound is checked and becomes a request (sum_request.h), plan_run()
// chooses the pair method (pair_method.h), and the method carries it out without checking.
// Tested by tests/unit/sum_test.cpp.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/sum/device.h"

namespace nbcc {

class BatchSums;
class NearestSum;

// Which i-particles, and what becomes of what the outputs hold.
struct RunChoice {
  std::int64_t i_begin = 0, i_count = -1;  // i_count < 0: all from i_begin on
  const std::int64_t* i_list = nullptr;    // i_count indices, each at most once
  bool accumulate = false;
  bool clamp = false;      // indices that lead out of a table find its nearest end; else they are errors
  void* stream = nullptr;  // of a GPU
  JPart part = JPart::Whole;
  Progress* progress = nullptr;  // asked while the run is under way; null: nobody is
};

// Where a Progress is asked, Interrupted is thrown when it says so; the next run is then as after one that failed.
// Every function throws UsageError; the message names the field, what was expected and what came.
class SumState {
 public:
  explicit SumState(std::shared_ptr<const Kernel> kernel);
  ~SumState();
  SumState(SumState&&) noexcept;

  void set_param(std::string_view name, std::span<const double> values);
  void bind(std::string_view name, const ArrayView& view);
  void ignore(std::string_view name);
  void set_offsets(std::int64_t i_offset, std::int64_t j_offset);
  void set_counts(std::int64_t ni, std::int64_t nj);
  void keep_j(bool keep);
  void j_changed();
  // Of a GPU; other devices have nothing to choose.
  void set_launch(const LaunchConfig& overrides);
  LaunchConfig launch_for(std::int64_t ni, std::int64_t nj);
  void set_pairs(PairChoice choice);
  void set_skin(double skin);
  // Which pairs the runs from now on are over, as the caller lists them. Each takes the place of the others; nothing is
  // asked for by an empty optional. What is given is copied.
  void set_lists(const std::optional<ListArrays>& arrays);
  void set_batches(std::int64_t batches, std::int64_t ni, const std::int64_t* i_batch, std::int64_t nj,
                   const std::int64_t* j_batch);
  void set_listed_pairs(std::int64_t ni, const std::int64_t* first, std::int64_t count, const std::int64_t* j);
  void forget_lists();
  // Values of a param for each group of the lists, or each batch.
  void set_param_of_groups(std::string_view name, std::span<const double> values);
  // Pairs that do not act, whatever the others are. `first` null: there are none.
  void set_left_out(std::int64_t ni, const std::int64_t* first, std::int64_t count, const std::int64_t* j);
  bool has_lists() const { return lists_ || listed_pairs_ || left_out_; }
  SumStatistics statistics() const;
  // Rows of this sum alone, which must outlive it, before those of the device.
  void add_method(PairMethod method);
  // The plan of such a run, which is not carried out; particles are read where a row's survey does. As a run, a plan
  // ends a sum in parts that has begun.
  RunPlan plan(const RunChoice& choice = {});
  std::string reason_of(const RunPlan& plan) const { return nbcc::reason_of(plan, methods_); }
  FoundPairs find_pairs(Progress* progress = nullptr);
  void run(const RunChoice& choice = {});
  void wait(Progress* progress = nullptr);  // for the work of all runs
  // What the last run or search has to say of its results: a sentence each. A warning that holds in the next run as
  // well keeps its text, so that who shows new texts shows it once.
  const std::vector<std::string>& warnings() const { return warnings_; }

  ArrayView bound(std::string_view name) const { return views_[find(name)]; }
  std::pair<std::int64_t, std::int64_t> counts() const { return {count_of_i(), count_of_j()}; }  // of i and of j
  const std::vector<FieldLayout>& fields() const { return kernel_->source.fields; }

 private:
  enum class Given : std::uint8_t { No, Yes, Ignored };
  std::size_t find(std::string_view name) const;
  std::string quoted(std::size_t field) const;
  std::int64_t count_of_i() const;
  std::int64_t count_of_j() const;
  std::optional<std::int64_t> shared_count(std::span<const Role> roles, std::string_view all,
                                           std::string_view one) const;
  std::int64_t count_of_side(char side, std::optional<std::int64_t> bound, std::optional<std::int64_t> set) const;
  void check_params() const;
  void check_neighbours(std::string_view what) const;
  void check_lists(std::string_view what) const;
  SumRequest request_of(const RunChoice& choice, std::int64_t ni, std::int64_t nj) const;
  void check_listed(const RunChoice& choice, std::int64_t ni, std::int64_t nj) const;
  SumRequest prepare(const RunChoice& choice, std::optional<std::int64_t> begun);
  void make_table_of_params();
  template <typename T>
  Fetch<T> fetch() const;
  void check_accumulate() const;
  void check_choice(const RunChoice& choice, std::int64_t ni) const;
  void check_part(const RunChoice& choice, std::optional<std::int64_t> begun, std::int64_t i_count) const;
  void forget_j(JReuse at_most);
  void check_splines(std::size_t field, std::span<const double> params) const;
  void make_tables();
  void check_indices(SumRequest& request);
  void warn_of(const SumRequest& request);

  std::shared_ptr<const Kernel> kernel_;
  std::unique_ptr<Summation> summation_;
  std::vector<Given> given_;  // this and the next are parallel to the kernel's fields
  std::vector<ArrayView> views_;
  std::vector<double> params_;
  std::unique_ptr<const Tables> tables_;  // of these; null: not made yet, or none
  std::optional<std::int64_t> ni_, nj_;
  std::unique_ptr<const Lists> lists_;
  std::optional<PairRows> listed_pairs_, left_out_rows_;
  std::optional<ListedParticles> listed_particles_;  // of these or the lists, when indices have been checked
  std::unique_ptr<const LeftOut> left_out_;
  std::unique_ptr<NearestSum> nearest_;
  std::unique_ptr<BatchSums> batch_sums_;
  std::vector<PairMethod> methods_;         // added rows, those of the two sums above, those of the device
  RunPlan last_plan_;                       // of the last run, without its request
  std::optional<std::int64_t> i_in_parts_;  // of a sum in parts that has begun: the chosen i
  std::map<std::size_t, std::vector<double>> params_of_groups_;  // by field: [group][component]
  std::vector<double> table_of_params_;                          // [group][param]; empty: all have those of the run
  SumRequest request_;                                           // what the next run has from before
  std::vector<std::string> warnings_;
};

// Nearest neighbours without a guard, by searches: a run of a pipeline whose outputs are all a min or argmin of one
// number that grows with a distance (compiler/passes/nearest.h) -> runs of the same with a bound for each i.
//
// First every i meets a few j, every 8^k-th of them all, and the least number that it meets is a bound. Behind that
// bound a search meets eight times as many j, every 8^(k-1)-th, and so on; the last one meets all. However unevenly
// particles are distributed, each search finds about as many j for an i as the one before: O(N log N) in all. Tested by
// tests/numeric/nearest_test.cpp.
class NearestSum {
 public:
  // Both must outlive this object. `sum`: of the kernel.
  NearestSum(const Kernel& kernel, const Summation& sum) : kernel_(kernel), of_kernel_(sum) {}
  // The row of such sums. This object must outlive it.
  PairMethod method();

 private:
  std::optional<Estimate> estimate(const SumRequest& request) const;
  Estimate survey(const SumRequest& request) const;
  void run(const SumRequest& request);
  void bind(const SumRequest& request, std::int64_t stride);

  const Kernel& kernel_;
  const Summation& of_kernel_;
  std::optional<SumState> sum_;  // of KernelSource::nearest; made when a run needs it
  std::vector<double> bounds_, least_;
  std::vector<std::int64_t> numbers_;  // of j
};

}  // namespace nbcc
