// Chooses order, leaf and separation, so that a sample of i keeps the tolerance at the least cost. Entry point:
// set_tolerance().
//
// A choice holds as long as params, numbers of particles and tolerance stay the same. The error of a sample is measured
// in the run that chooses, in the second, fourth, eighth ... run after it, when many
// particles have moved far, and whenever that takes less than some 3% of the time of the runs since.
#include "runtime/far/far_field.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <limits>
#include <memory>

#include "fmt/format.h"
#include "runtime/error.h"
#include "runtime/far/far_run.h"

namespace nbcc {
namespace {

constexpr double kSafety = 0.7;              // of the tolerance: an error of a sample is found to within some 15%
constexpr double kShareOfChecks = 1.0 / 30;  // of the time of runs
constexpr double kExactPair = 5;             // the time of a pair of an exact sum, in near pairs
constexpr int kMinOrder = 2, kMaxOrder = 13;
constexpr int kMinLeaf = 32, kMaxLeaf = 512, kFirstLeaf = 128;
constexpr int kTrials = 5;            // limits that are tried for one order
constexpr double kCloseLimits = 1.3;  // with a smaller ratio the costs are nearly the same
// Beyond so many times the cost of all pairs no other order or leaf will be cheaper than all pairs; beyond so many
// times that, no other limit either.
constexpr double kHopeless = 1.3, kGuess = 3;
constexpr double kMostRounding = 1e-4;   // rounding errors are smaller
constexpr double kShareOfMemory = 0.95;  // that a far field may use
// All pairs in a raised precision are preferred to all pairs in the precision of the pipeline by this factor.
constexpr double kPreferred = 0.99;

// Rounding errors of single precision are some 3e-7 of the terms, of mixed precision some 3e-8.
Precision precision_for(double tolerance) {
  return tolerance >= 2e-6 ? Precision::Single : tolerance >= 1e-7 ? Precision::Mixed : Precision::Double;
}

double rounding_of(Precision precision) {
  return precision == Precision::Single ? 3e-7 : precision == Precision::Mixed ? 3e-8 : 1e-15;
}

class FarField {
 public:
  FarField(const Kernel& kernel, const Summation& summation, double tolerance, const FarChoice& choice)
      : kernel_(kernel), summation_(summation), tolerance_(tolerance), choice_(choice) {
    set_precision(precision_for(tolerance));
    is_raised_ = run_->kernels().raised;
  }

  std::optional<Estimate> estimate(const SumRequest& request) const;
  Estimate survey(const SumRequest& request);
  void run(const SumRequest& request);
  void wait() { run_->wait(); }
  FarMemory memory(const SumRequest& request) const;
  SumStatistics statistics() {
    SumStatistics all;
    all.far = run_->statistics();
    all.far.seconds.particles += seconds_of_preparation_.particles;
    all.far.seconds.tree += seconds_of_preparation_.tree;
    all.far.seconds.first = seconds_of_choice_;
    all.far.tolerance = tolerance_;
    if (!has_sample_) all.far.error = all.far.largest = all.far.error_of_sum = 0, all.far.sampled = 0;
    return all;
  }

 private:
  // What a choice depends on, besides the particles themselves.
  struct Case {
    std::int64_t ni = 0, nj = 0, i_count = 0;
    std::vector<double> params;
    bool operator==(const Case&) const = default;
  };
  static Case case_of(const SumRequest& request) {
    return {request.ni, request.nj, request.i_count, {request.params.begin(), request.params.end()}};
  }
  struct Choice {
    FarSetting setting;
    double cost = 0;   // in near pairs
    double error = 0;  // of the sample; 0: not measured
  };

  std::unique_ptr<FarSteps> make_steps(Precision precision) const {
    std::unique_ptr<FarSteps> steps = summation_.far_steps(precision);
    return steps ? std::move(steps) : std::make_unique<FarRun>(kernel_, summation_, precision);
  }
  void set_precision(Precision precision) {
    run_ = make_steps(precision);
    precision_ = precision;
  }
  bool is_experiment() const { return choice_.order > 0 || choice_.leaf > 0 || choice_.separation > 0; }
  std::string choose(const SumRequest& request);
  bool fits(const SumRequest& request, const FarSetting& setting) {
    const FarMemory memory = run_->memory(request, setting);
    const bool fits = double(memory.needed) <= kShareOfMemory * double(memory.available);
    if (!fits) too_large_ = memory;
    return fits;
  }
  // In near pairs; infinite if the memory does not suffice.
  double cost(const SumRequest& request, const FarSetting& setting) {
    return fits(request, setting) ? run_->cost(setting) : std::numeric_limits<double>::infinity();
  }
  void require_memory(const SumRequest& request);
  [[noreturn]] void refuse_memory(const SumRequest& request) const;
  std::optional<Choice> cheapest(const SumRequest& request);
  std::optional<Choice> fit(const SumRequest& request, int order, int leaf, double limit, double most_cost);
  // The limit that should have half of the tolerance as its error, after one that had `error`; a little more from near.
  double next_limit(double limit, double error) const {
    const double wanted = (error < 1.5 * tolerance_ ? 0.6 : 0.5) * tolerance_;
    return limit * std::clamp(std::pow(wanted / std::max(error, 1e-300), 1.3), 0.02, 30.0);
  }
  // One that usually suits the tolerance.
  int first_order() const {
    if (choice_.order > 0) return choice_.order;
    return std::clamp(int(std::lround(1.3 - 0.9 * std::log10(tolerance_))), kMinOrder + 1, kMaxOrder - 1);
  }
  double first_limit(int order) const { return std::min(1.0, tolerance_ * std::pow(10, 1 + 0.45 * order)); }

  const Kernel& kernel_;
  const Summation& summation_;
  const double tolerance_;
  const FarChoice choice_;
  Precision precision_ = Precision::Single;
  bool is_raised_ = false;              // the tolerance requires a higher precision than the pipeline has
  std::optional<FarMemory> too_large_;  // for which the memory does not suffice
  std::unique_ptr<FarSteps> run_;
  std::optional<Case> case_;  // of the choice or the refusal; nothing: neither is made
  Choice chosen_;
  std::string refusal_;                            // why this case has no far field; "": it has one
  bool takes_all_pairs_ = false;                   // in a raised precision
  unsigned runs_ = 0;                              // since the choice
  double work_since_check_ = 0;                    // in near pairs
  FarStatistics::Seconds seconds_of_preparation_;  // before a choice
  double seconds_of_choice_ = 0;
  bool has_totals_ = false;  // of the particles of this survey
  bool has_sample_ = false;
};

std::optional<Estimate> FarField::estimate(const SumRequest& request) const {
  if (request.lists || request.listed_pairs || request.pairs != PairChoice::Auto) return {};
  Estimate found;
  if (request.exclusions) found.obstacle = "pairs are excluded";
  if (request.j_part != JPart::Whole) found.obstacle = "the j come in parts";
  if (request.nj == 0) found.obstacle = "there are no j";
  if (std::max(request.ni, request.nj) > std::numeric_limits<std::int32_t>::max() / 2)
    found.obstacle = "there are more particles than lists can index";
  if (is_experiment()) return found;  // at any cost
  if (!found.obstacle.empty() && request.nj > 0 && is_raised_)
    throw UsageError(fmt::format(
        "tolerance: {} needs {} precision, but {}, so that all pairs run in that of pipeline '{}': compile it in {} "
        "precision",
        tolerance_, run_->kernels().precision, found.obstacle, kernel_.source.pipeline, run_->kernels().precision));
  if (case_ == case_of(request)) {
    if (!refusal_.empty()) found.obstacle = refusal_;
    found.cost = chosen_.cost;
    return found;
  }
  // The least number of pairs of each i that any pipeline and distribution of particles needed.
  const double pairs = 1000 * std::pow(std::max(1.0, -std::log10(tolerance_)), 1.6);
  found.cost = double(request.i_count) * pairs + 50 * double(request.nj);
  // All pairs in the precision of the pipeline would not keep the tolerance.
  if (is_raised_) found.cost = std::min(found.cost, kPreferred * pairs_of(request));
  return found;
}

Estimate FarField::survey(const SumRequest& request) {
  Estimate found = *estimate(request);
  if (!found.obstacle.empty()) return found;
  run_->reset_seconds();
  seconds_of_preparation_ = {};
  seconds_of_choice_ = 0;
  has_totals_ = false;
  const bool is_known = case_ == case_of(request);
  if (!is_known) {
    if (precision_ != precision_for(tolerance_)) set_precision(precision_for(tolerance_));
    require_memory(request);
  }
  int leaf = choice_.leaf > 0 ? choice_.leaf : kFirstLeaf;
  if (is_known && chosen_.setting.leaf > 0) leaf = chosen_.setting.leaf;
  found.obstacle = run_->prepare(request, leaf);
  if (!found.obstacle.empty()) {
    if (!is_raised_) return found;
    case_.reset();
    takes_all_pairs_ = true;
    has_sample_ = false;
    return {"", kPreferred * pairs_of(request)};
  }
  const double cost_of_check = kExactPair * double(FarSteps::kSampled) * double(request.nj);
  ++runs_;
  const auto is_due = [&] {
    return std::has_single_bit(runs_) || work_since_check_ * kShareOfChecks > cost_of_check || run_->has_moved_far();
  };
  if (!is_known || (!takes_all_pairs_ && is_due())) {
    const FarStatistics::Seconds prepared = run_->statistics().seconds;
    const auto start = std::chrono::steady_clock::now();
    case_.reset();
    bool is_kept = false;
    refusal_ = run_->draw_sample(request);
    has_sample_ = refusal_.empty();
    if (has_sample_) {
      if (is_known) {
        run_->compute(request, chosen_.setting, FarSteps::Of::All);
        is_kept = has_totals_ = run_->error_of_sample() <= tolerance_ || choice_.separation > 0;
      }
      if (!is_kept) {
        refusal_ = choose(request);
        runs_ = 1;
      }
      case_ = case_of(request);
    }
    takes_all_pairs_ = false;
    const double all_pairs = pairs_of(request);
    if (is_raised_ && !is_experiment() && (!refusal_.empty() || chosen_.cost >= all_pairs)) {
      // All pairs in the precision of the pipeline would not keep the tolerance either.
      takes_all_pairs_ = true;
      refusal_.clear();
      chosen_.cost = kPreferred * all_pairs;
    }
    work_since_check_ = 0;
    if (!is_kept) {
      run_->reset_seconds();
      seconds_of_preparation_ = prepared;
      seconds_of_choice_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    }
  }
  found.obstacle = refusal_;
  found.cost = is_experiment() ? 0 : chosen_.cost;
  return found;
}

void FarField::require_memory(const SumRequest& request) {
  if (!fits(request, {first_order(), choice_.leaf > 0 ? choice_.leaf : kMaxLeaf})) refuse_memory(request);
}

void FarField::refuse_memory(const SumRequest& request) const {
  const FarMemory& memory = *too_large_;
  throw DeviceError(fmt::format(
      "tolerance: a far field of {} i and {} j needs about {:.2g} GB of memory, but {} has {:.2g} GB for it",
      request.ni, request.nj, 1e-9 * double(memory.needed), memory.device,
      1e-9 * kShareOfMemory * double(memory.available)));
}

// Returns why the tolerance cannot be kept, or "".
std::string FarField::choose(const SumRequest& request) {
  for (;;) {
    run_->forget_lists();
    too_large_.reset();
    const std::optional<Choice> found = cheapest(request);
    if (too_large_ && !(found && std::isfinite(found->cost))) refuse_memory(request);
    if (found) {
      chosen_ = *found;
      return "";
    }
    if (precision_ == Precision::Double)
      return fmt::format("no order up to {} keeps the tolerance: the error of the sample is {:.2g}", kMaxOrder,
                         run_->statistics().error);
    set_precision(precision_ == Precision::Single ? Precision::Mixed : Precision::Double);
    if (const std::string obstacle = run_->prepare(request, kFirstLeaf); !obstacle.empty()) return obstacle;
    if (const std::string obstacle = run_->draw_sample(request); !obstacle.empty()) return obstacle;
  }
}

// Climbs from an order that usually suits the tolerance to neighbouring orders, then to neighbouring sizes of leaves,
// as long as the cost falls. A choice that is sure to cost more than all pairs need not keep the tolerance, since all
// pairs will run.
std::optional<FarField::Choice> FarField::cheapest(const SumRequest& request) {
  const double all_pairs = pairs_of(request);
  const int first = first_order();
  int leaf = choice_.leaf > 0 ? choice_.leaf : kFirstLeaf;
  while (choice_.leaf == 0 && leaf < kMaxLeaf && !fits(request, {first, leaf})) leaf *= 2;
  const double infinite = std::numeric_limits<double>::infinity();
  std::optional<Choice> best = fit(request, first, leaf, first_limit(first), infinite);
  if (is_experiment() || (best && best->cost > kHopeless * all_pairs)) return best;
  for (const int step : {1, -1}) {
    bool has_improved = false;
    for (int order = first + step; order >= kMinOrder && order <= kMaxOrder; order += step) {
      const double most = best ? best->cost : infinite;
      // What suited one order suits its neighbour, as much more or less as it usually is.
      const double scale = best ? next_limit(best->setting.limit, best->error) / first_limit(best->setting.order) : 1;
      const std::optional<Choice> next = fit(request, order, leaf, scale * first_limit(order), most);
      if (!next || next->cost >= most) break;
      best = next;
      has_improved = true;
    }
    if (has_improved) break;
  }
  if (!best || best->cost >= all_pairs) return best;  // all pairs will run
  const Choice of_leaf = *best;
  for (const bool larger : {false, true}) {
    Choice next = *best;
    for (;;) {
      next.setting.leaf = larger ? next.setting.leaf * 2 : next.setting.leaf / 2;
      if (next.setting.leaf < kMinLeaf || next.setting.leaf > kMaxLeaf) break;
      next.cost = cost(request, next.setting);
      if (next.cost > 0.97 * best->cost) break;
      best = next;
    }
    if (best->cost < of_leaf.cost) break;
  }
  if (best->setting.leaf == leaf) return best;
  const std::optional<Choice> again =
      fit(request, best->setting.order, best->setting.leaf, best->setting.limit, of_leaf.cost);
  return again ? again : of_leaf;
}

// The largest limit, to some tens of percent, with which the sample keeps the tolerance. Nothing: none that costs less
// than most_cost, or none at all.
std::optional<FarField::Choice> FarField::fit(const SumRequest& request, int order, int leaf, double limit,
                                              double most_cost) {
  const double all_pairs = pairs_of(request);
  std::optional<Choice> best;
  double too_large = std::numeric_limits<double>::infinity();
  for (int trial = 0; trial < kTrials; ++trial) {
    const FarSetting setting{order, leaf, limit, choice_.separation};
    const double cost = this->cost(request, setting);
    // More exact only costs more.
    if (cost > most_cost || (best && cost >= 0.99 * best->cost)) break;
    // The first limit is a guess, which may be far too strict. Later limits are too costly because errors of
    // interpolation or of rounding are too large.
    if (!is_experiment() && !best && cost > (trial == 0 ? kGuess * kHopeless : kHopeless) * all_pairs) {
      if (trial > 0 && precision_ != Precision::Double && run_->statistics().error < kMostRounding) break;
      return Choice{setting, cost};
    }
    run_->compute(request, setting, FarSteps::Of::Sampled);
    const double error = run_->error_of_sample();
    if (choice_.separation > 0) return Choice{setting, cost};  // an experiment reports its error
    const bool is_kept = error <= tolerance_ * (run_->sampled_all() ? 1 : kSafety);
    if (is_kept) best = Choice{setting, cost, error};
    if (is_kept && error > 0.35 * tolerance_) break;
    // Errors that are only roundings say nothing: the sample may lack the few i to which a grid served.
    if (is_kept && error <= rounding_of(precision_)) break;
    if (!is_kept) too_large = std::min(too_large, limit);
    limit = std::min(next_limit(limit, error), 2.0);
    if (best && too_large < std::max(limit, best->setting.limit) / 0.9) {
      if (too_large < kCloseLimits * best->setting.limit) break;
      limit = std::sqrt(best->setting.limit * too_large);
    }
  }
  return best;
}

void FarField::run(const SumRequest& request) {
  if (takes_all_pairs_)
    run_->compute_all_pairs(request);
  else if (!has_totals_)
    run_->compute(request, chosen_.setting, FarSteps::Of::All);
  has_totals_ = false;
  if (work_since_check_ == 0 && has_sample_) run_->error_of_sample();
  work_since_check_ += chosen_.cost;
  run_->finish(request);
}

// Before a choice: with an order for the tolerance, and the leaves that take the least memory.
FarMemory FarField::memory(const SumRequest& request) const {
  FarSetting setting = chosen_.setting;
  if (!case_ || setting.order == 0) setting = {first_order(), choice_.leaf > 0 ? choice_.leaf : kMaxLeaf};
  return run_->memory(request, setting);
}

}  // namespace

void set_tolerance(SumState& sum, double tolerance, const FarChoice& choice) {
  if (tolerance == 0) return sum.remove_method("far field");
  if (!(tolerance >= 1e-14 && tolerance <= 1))
    throw UsageError(fmt::format("tolerance: it must be 0 (none) or from 1e-14 to 1, got {}", tolerance));
  if (!sum.kernel().source.far_kernels)
    throw UsageError(fmt::format("tolerance: pipeline '{}' is from a compiled library, which has no far field",
                                 sum.kernel().source.pipeline));
  const auto field = std::make_shared<FarField>(sum.kernel(), sum.summation(), tolerance, choice);
  PairMethod method;
  method.name = "far field";
  method.estimate = [field](const SumRequest& request) { return field->estimate(request); };
  method.survey = [field](const SumRequest& request) { return field->survey(request); };
  method.work = [field](const SumRequest& request) {
    const FarMemory memory = field->memory(request);
    return std::vector<DeviceWork>{{memory.device, 0, memory.needed}};
  };
  method.enqueue = [field](const SumRequest& request) { field->run(request); };
  method.statistics = [field] { return field->statistics(); };
  method.wait = [field](Progress*) { field->wait(); };
  sum.add_method(std::move(method));
}

}  // namespace nbcc
