// Sums with a kernel and the caller's arrays. SumState checks the bound arrays and makes a request (sum_request.h),
// plan_run() chooses the pair method (pair_method.h), and the method executes the request without further checks.
// Tested by tests/unit/runtime/sum/run/sum_test.cpp.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/sum/plan/capabilities.h"
#include "runtime/sum/plan/kernel_sum.h"
#include "runtime/sum/run/pair_space.h"
#include "runtime/sum/run/run_result.h"

namespace nbcc {

class HistogramWords;
class Totals;

// The options of one run.
struct RunChoice {
  std::int64_t i_begin = 0, i_count = -1;  // i_count < 0: all i-particles from i_begin on
  const std::int64_t* i_list = nullptr;    // i_count indices of i-particles, each at most once; null: a range
  bool accumulate = false;                 // combine the results with the values in the outputs
  bool clamp = false;                      // clamp indices outside of a table to its nearest end; else an error
  void* stream = nullptr;                  // GPU: CUDA stream
  JPart part = JPart::Whole;
  Progress* progress = nullptr;  // polled during the run; null: no progress and no interrupt
  FarPeers* peers = nullptr;     // as SumRequest::peers
};

// Functions with a Progress throw Interrupted if it asks for an interrupt; the state is then as after a failed run.
// Every function may throw UsageError; the message names the field, what was expected and what was given.
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
  // Launch configurations of GPUs; other devices ignore them.
  void set_launch(const LaunchConfig& overrides);
  LaunchConfig launch_for(std::int64_t ni, std::int64_t nj);
  void set_pairs(PairChoice choice);
  void set_symmetric(SymmetricChoice choice) { request_.symmetric = choice; }
  void set_skin(double skin);
  // Set the lists of later runs: lists, batches or listed pairs; each replaces the previous one. An empty optional
  // removes the lists. The arrays are copied.
  void set_lists(const std::optional<ListArrays>& arrays);
  void set_batches(std::int64_t batches, std::int64_t ni, const std::int64_t* i_batch, std::int64_t nj,
                   const std::int64_t* j_batch);
  void set_listed_pairs(std::int64_t ni, const std::int64_t* first, std::int64_t count, const std::int64_t* j);
  // Lists that the caller has made in the memory of the sum's GPU; they are not copied.
  void set_device_lists(const DeviceLists& lists);
  void clear_lists();
  // Sets the values of a param for each group of the lists or each batch: values[group][component].
  void set_param_of_groups(std::string_view name, std::span<const double> values);
  // Sets the excluded pairs. Exclusions are independent of lists and batches. `first` null: none. `images`, of
  // pipelines with every_image(): [count][3] the image of j that is excluded, as image_index() says it; null: all
  // images.
  void set_exclusions(std::int64_t ni, const std::int64_t* first, std::int64_t count, const std::int64_t* j,
                      const std::int64_t* images = nullptr);
  // Which setting needs all j in one run, as the caller knows it, such as "batches"; "": the j may come in parts.
  std::string_view needs_all_j() const;
  // True if this setting is a tolerance, and no other one: set_pairs() or lists may take its place.
  bool is_to_tolerance() const;
  bool has_lists() const { return lists_ || listed_pairs_ || exclusions_; }
  SumStatistics statistics() const;
  // PairMethod::name of the last run, a string of the program; "" before the first run.
  std::string_view method() const { return sum_.last_plan().method ? sum_.last_plan().method->name : ""; }
  void add_method(PairMethod method) { sum_.add_method(std::move(method)); }  // as in KernelSum
  void remove_method(std::string_view name) { sum_.remove_method(name); }
  // Adds a kind of result to all later runs.
  void add_result(std::unique_ptr<RunResult> result) { results_.push_back(std::move(result)); }
  // A tolerance may need a higher precision than the symmetric kernel has: with pairs = auto it is not chosen.
  void needs_both_ends(bool needs) { needs_both_ends_ = needs; }
  // Plans a run without executing it; a survey may read particles. Like a run, a plan ends a sum in parts that has
  // begun.
  RunPlan plan(const RunChoice& choice = {});
  // Throws what run() throws because of the choice, the arrays or the settings. As plan(), it ends a sum in parts.
  void check(const RunChoice& choice) { prepare(choice, std::exchange(i_of_parts_, std::nullopt)); }
  std::string reason_of(const RunPlan& plan) const { return nbcc::reason_of(plan, sum_.methods()); }
  PairSpace pair_space() const;
  FoundPairs find_pairs(Progress* progress = nullptr, bool without_self = false);
  void run(const RunChoice& choice = {});
  void wait(Progress* progress = nullptr);  // waits for the work of all runs
  // Warnings of the last run or search, one sentence each. A warning that applies to the next run as well keeps its
  // text, so that a caller who prints only new texts prints it once.
  const std::vector<std::string>& warnings() const { return warnings_; }
  // Warnings of the next run have the numbers of that run.
  void forget_warnings() { image_warning_.reset(); }

  ArrayView bound(std::string_view name) const { return views_[find(name)]; }
  std::span<const double> params() const { return params_; }
  // [component] of a param for the next run; empty: it is not set, or has values for each batch or group.
  std::span<const double> values_of(std::string_view param) const;
  std::pair<std::int64_t, std::int64_t> offsets() const { return {request_.i_offset, request_.j_offset}; }
  const Kernel& kernel() const { return sum_.kernel(); }
  const KernelSource& source() const { return kernel().source; }
  const Summation& summation() const { return sum_.summation(); }
  std::pair<std::int64_t, std::int64_t> counts() const { return {count_of_i(), count_of_j()}; }  // of i and of j
  const std::vector<FieldLayout>& fields() const { return kernel().source.fields; }

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
  void check_lists(Feature feature) const;
  SumRequest request_of(const RunChoice& choice, std::int64_t ni, std::int64_t nj) const;
  void check_listed(const RunChoice& choice, std::int64_t ni, std::int64_t nj) const;
  // The i of a sum in parts that has begun: a range, or a list.
  struct IOfParts {
    std::int64_t begin = 0, count = 0;
    std::vector<std::int64_t> list;
    bool is_known = true;     // false: the host cannot read the list
    bool over_lists = false;  // the first part is over lists or batches
  };
  IOfParts i_of_part(const SumRequest& request) const;
  std::string_view setting_of_all_j() const;  // as needs_all_j(), without a tolerance
  bool may_be_to_tolerance() const;           // unless another setting chooses the pairs
  SumRequest prepare(const RunChoice& choice, const std::optional<IOfParts>& begun);
  void make_table_of_params();
  void make_tables_of_groups();
  std::size_t row_of_group(std::size_t group) const;
  template <typename T>
  Fetch<T> fetch() const;
  void check_accumulate() const;
  void check_choice(const RunChoice& choice, std::int64_t ni) const;
  void check_part(const SumRequest& request, const std::optional<IOfParts>& begun) const;
  void forget_j(JReuse at_most);
  void check_splines(std::size_t field, std::span<const double> params) const;
  void make_tables();
  void check_indices(SumRequest& request);
  // Histograms of each i are summed for so many i at a time as have rows in memory, and stored.
  void sum(const SumRequest& request);
  void sum_for_totals(const SumRequest& request);
  void store_results(const SumRequest& request);
  void warn_of(const SumRequest& request);

  KernelSum sum_;
  std::vector<Given> given_;  // this and the next are parallel to the kernel's fields
  std::vector<ArrayView> views_;
  std::vector<double> params_;
  std::unique_ptr<const Tables> tables_;  // made from params_; null: not made yet, or the kernel has none
  std::optional<std::int64_t> ni_, nj_;
  std::unique_ptr<const Lists> lists_;
  std::optional<PairRows> listed_pairs_, exclusion_rows_;
  std::optional<ListedParticles> listed_particles_;  // of lists_ or listed_pairs_; made when indices are checked
  std::unique_ptr<const Exclusions> exclusions_;
  std::unique_ptr<HistogramWords> histograms_;       // null: the pipeline has none
  std::vector<std::unique_ptr<RunResult>> results_;  // totals and histograms, and those that were added
  Totals* totals_ = nullptr;                         // among results_; null: the pipeline has none
  bool needs_both_ends_ = false;
  std::optional<IOfParts> i_of_parts_;                           // empty: no sum in parts has begun
  std::map<std::size_t, std::vector<double>> params_of_groups_;  // by field: [group][component]
  std::vector<double> table_of_params_;                          // [group][param]; empty: all groups have params_
  std::vector<TablesOfGroups> tables_of_groups_;                 // empty: all groups have tables_
  SumRequest request_;                                           // settings that later runs inherit
  std::optional<std::string> image_warning_;                     // keeps its text as long as it applies
  std::vector<std::string> warnings_;                            // of the last run
};

}  // namespace nbcc
