// Chooses order, leaf and separation, so that a sample of i keeps the tolerance at the least cost. Entry points:
// FarField::measure(), FarField::run().
//
// A choice holds as long as params, numbers of particles and tolerance stay the same. The error of a sample is measured
// in the run that chooses, in the second, fourth, eighth ... run after it, when many particles have moved far or
// weights have changed by more than a factor, and whenever that takes less than some 3% of the time of the runs since.
// The error of all pairs is measured in such runs, too, but not because particles have moved or weights have changed.
#include "runtime/far/far_field.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <limits>

#include "fmt/format.h"
#include "runtime/error.h"
#include "runtime/sum/plan/capabilities.h"
#include "runtime/sum/request/far_peers.h"

namespace nbcc {
namespace {

constexpr double kSafety = 0.7;  // of the tolerance: an error of a sample is found to within some 15%
constexpr int kMinLeaf = 32, kMaxLeaf = 512;
constexpr int kTrials = 5;            // limits that are tried for one order
constexpr double kCloseLimits = 1.3;  // with a smaller ratio the costs are nearly the same
// Beyond so many times the cost of all pairs no other order or leaf will be cheaper than all pairs; beyond so many
// times that, no other limit either.
constexpr double kHopeless = 1.3, kGuess = 3;
// A trial takes about as long as a run with its setting: another setting is tried if its runs take less than this share
// of the best one's, so that ten runs make up for the trial.
constexpr double kWorthATrial = 0.91;
// If the first limit of the first order has more than kTooInexact times the tolerance as its error, the next order is
// tried instead of smaller limits, if it would cost less than kNextOrder times as much.
constexpr double kTooInexact = 5, kNextOrder = 0.8;
constexpr double kMostRounding = 1e-4;   // rounding errors are smaller
constexpr double kShareOfMemory = 0.95;  // that a far field may use

Precision higher(Precision precision) { return precision == Precision::Single ? Precision::Mixed : Precision::Double; }

double rounding_of(Precision precision) {
  return precision == Precision::Single ? 3e-7 : precision == Precision::Mixed ? 3e-8 : 1e-15;
}

}  // namespace

// Rounding errors of single precision are some 3e-7 of the terms, of mixed precision some 3e-8.
Precision FarField::precision_for(double tolerance) {
  return tolerance >= 2e-6 ? Precision::Single : tolerance >= 1e-7 ? Precision::Mixed : Precision::Double;
}

// A cell that breathes, as under constant pressure, is one case: its lengths count in steps of some 4 percent.
FarField::Case FarField::case_of(const SumRequest& request) const {
  constexpr double kSteps = 25;
  Case found{request.ni, request.nj, request.i_count, {request.params.begin(), request.params.end()}};
  for (std::size_t param = 0; param < found.params.size(); ++param) {
    double& value = found.params[param];
    if (run_->is_of_cell(param) && value != 0 && std::isfinite(value))
      value = std::copysign(1, value) * std::exp2(std::round(kSteps * std::log(std::fabs(value))));
  }
  return found;
}

// i whose errors are measured for a far field, at least.
std::int64_t FarField::sample_size(const SumRequest& request) const {
  constexpr double kPairs = 1 << 26;  // that take little time
  return std::max(run_->least_sampled(), std::int64_t(kPairs / (run_->images() * std::max(1.0, number_of_j(request)))));
}

FarField::FarField(const Kernel& kernel, const Summation& summation, double tolerance, const FarChoice& choice,
                   std::unique_ptr<FarRanks> ranks)
    : kernel_(kernel), summation_(summation), tolerance_(tolerance), choice_(choice), ranks_(std::move(ranks)) {
  set_precision(precision_for(tolerance));
  is_raised_ = run_->kernels().raised;
}

SumStatistics FarField::statistics() {
  SumStatistics all;
  all.far = run_->statistics();
  all.far.seconds.particles += seconds_of_preparation_.particles;
  all.far.seconds.tree += seconds_of_preparation_.tree;
  all.far.seconds.first = seconds_of_choice_;
  all.far.tolerance = tolerance_;
  if (!why_all_j_.empty()) all.far.ranks = "each rank has the j of all ranks, because " + why_all_j_;
  all.far.runs_since_error = has_sample_ ? runs_since_error_ : 0;
  if (!has_sample_) all.far.error = all.far.largest = all.far.error_of_sum = 0, all.far.sampled = 0;
  if (errors_of_all_) {
    all.far.error = errors_of_all_->error;
    all.far.largest = errors_of_all_->largest;
    all.far.error_of_sum = errors_of_all_->error_of_sum;
    all.far.sampled = errors_of_all_->sampled;
  }
  return all;
}

void FarField::set_precision(Precision precision) {
  std::vector<int> orders{first_order()};
  if (choice_.order == 0) orders.insert(orders.end(), {first_order() - 1, first_order() + 1});
  run_ = std::make_unique<FarRun>(kernel_, summation_, precision, tolerance_, orders, ranks_.get());
  precision_ = precision;
}

std::string FarField::use_precision(const SumRequest& request, Precision precision) {
  if (precision_ == precision) return "";
  set_precision(precision);
  return run_->prepare(request, kFirstLeaf);
}

bool FarField::fits(const SumRequest& request, const FarSetting& setting) {
  const FarMemory memory = run_->memory(request, setting);
  const bool fits = double(memory.needed) <= kShareOfMemory * double(memory.available);
  if (!fits) too_large_ = memory;
  return fits;
}

double FarField::next_limit(double limit, double error) const {
  const double wanted = (error < 1.5 * tolerance_ ? 0.6 : 0.5) * tolerance_;
  return limit * std::clamp(std::pow(wanted / std::max(error, 1e-300), 1.3), 0.02, 30.0);
}

int FarField::first_order() const {
  if (choice_.order > 0) return choice_.order;
  return std::clamp(int(std::lround(1.3 - 0.9 * std::log10(tolerance_))), kMinFarOrder + 1, kMaxFarOrder - 1);
}

std::optional<Estimate> FarField::estimate(const SumRequest& request) const {
  if (run_->is_periodic() && request.excluded_rows && !request.excluded_rows->images.empty())
    throw UsageError(
        fmt::format("exclusions: the periodic sum of pipeline '{}' excludes the nearest image of each pair; single "
                    "images cannot be named",
                    kernel_.source.pipeline));
  if (run_->is_periodic() && request.pairs != PairChoice::Auto)
    throw UsageError(
        fmt::format("pairs = {}: the periodic sum of pipeline '{}' chooses its pairs itself; expected auto",
                    name(request.pairs), kernel_.source.pipeline));
  if (request.pairs != PairChoice::Auto) return {};
  Estimate found;
  found.obstacle = obstacle_of("far field", request);
  if (request.j_part == JPart::Whole && request.nj == 0 && !run_->is_periodic())
    found.obstacle = "there are no j", found.falls_back = true;
  if (!begins(request.j_part) && (!sums_of_parts_ || ni_of_parts_ != request.ni))
    found.obstacle = "the earlier parts were not summed to this tolerance for these i", found.falls_back = true;
  if (!found.obstacle.empty()) found.cost = least_cost(request);
  if (std::max(request.ni, request.nj) > std::numeric_limits<std::int32_t>::max() / 2)
    found.obstacle = "there are more particles than lists can index", found.of_size = true;
  if (is_experiment()) return found;  // at any cost
  if (!found.obstacle.empty() && request.nj > 0) require_precision(found.obstacle);
  return found;  // measure() is called, because it costs nothing
}

void FarField::require_precision(std::string_view obstacle) const {
  if (!is_raised_) return;
  throw UsageError(fmt::format(
      "tolerance: {} needs {} precision, but {}, so that all pairs run in that of pipeline '{}': compile it in {} "
      "precision",
      tolerance_, run_->kernels().precision, obstacle, kernel_.source.pipeline, run_->kernels().precision));
}

// The least number of pairs of each i that any pipeline and distribution of particles needed.
double FarField::least_cost(const SumRequest& request) const {
  const double pairs = 1000 * std::pow(std::max(1.0, -std::log10(tolerance_)), 1.6);
  return number_of_i(request) * pairs + 50 * number_of_j(request);
}

Estimate FarField::answer(const SumRequest& request) const {
  if (takes_all_pairs_) return {"", kPreferred * all_pairs(request)};
  if (is_far_) return {"", is_experiment() ? 0 : chosen_.cost};
  // All parts of a run are added up here: those that are worth no far field, too.
  if (request.j_part != JPart::Whole) return {"", kPreferred * all_pairs(request)};
  return {refusal_.empty() ? fmt::format("costs as much as {:.3g} pairs", chosen_.cost) : refusal_, chosen_.cost};
}

std::pair<Estimate, double> FarField::expected(const SumRequest& request) {
  const Estimate found = *estimate(request);
  if (!found.obstacle.empty() || request.nj == 0) return {found, 0};
  if (case_ == case_of(request)) return {answer(request), 0};
  const bool tries = may_be_far(request);
  if (tries) require_memory(request);
  const double sampled = double(std::min(tries ? sample_size(request) : run_->least_sampled(), request.i_count));
  // Of equal costs this method would be the first.
  const double otherwise = (is_raised_ ? kPreferred : 1 / kPreferred) * all_pairs(request);
  return {{.cost = tries ? least_cost(request) : otherwise},
          kExactPair * sampled * run_->images_of_sample(request.nj) * double(request.nj)};
}

Estimate FarField::measure(const SumRequest& request) {
  why_all_j_ = request.peers ? request.peers->why_all_j() : "";
  if (!ranks_) {
    const Estimate found = *estimate(request);
    if (!found.obstacle.empty() || request.nj == 0) return found;
  }
  if (summation_.is_captured(request.stream))
    throw DeviceError("a far field cannot be captured: the host reads the tree of its particles");
  run_->reset_seconds();
  seconds_of_preparation_ = {};
  seconds_of_choice_ = 0;
  has_totals_ = is_measured_ = has_no_i_ = false;
  const bool is_known = case_ == case_of(request);
  ++runs_, ++runs_since_error_;
  if (!ranks_) work_since_check_ += is_known && is_far_ ? chosen_.cost : all_pairs(request);
  if (request.peers) return ranks_ ? measure_among_ranks(request) : measure_together(request);
  const bool is_whole = request.j_part == JPart::Whole;
  if (is_known && is_whole && !is_far_ && !takes_all_pairs_ && !is_obstructed_ && !is_due(request))
    return answer(request);
  if (!is_known) {
    if (precision_ != precision_for(tolerance_)) set_precision(precision_for(tolerance_));
    if (may_be_far(request)) require_memory(request);
  }
  int leaf = choice_.leaf > 0 ? choice_.leaf : kFirstLeaf;
  if (is_known && chosen_.setting.leaf > 0) leaf = chosen_.setting.leaf;
  const std::string obstacle = run_->prepare(request, leaf);
  const bool is_other = is_obstructed_ != !obstacle.empty();
  is_obstructed_ = !obstacle.empty();
  if (is_obstructed_) {
    if (!is_known || is_other || is_due(request)) {
      if (!is_known || is_other) runs_ = 1;
      is_far_ = false;
      case_.reset();
      draw(request, run_->least_sampled());
      fit_all_pairs(request);
      case_ = case_of(request);
    }
    refusal_ = obstacle;
  } else if (!is_known || is_other || is_due(request)) {
    // A measurement that an interrupt ends is made again.
    case_.reset();
    if (measure_sample(request, is_known && !is_other)) case_ = case_of(request);
  }
  return answer(request);
}

// The numbers of i and j are those of the request, and its particles are prepared if there is a far field.
bool FarField::is_due(const SumRequest& request) {
  if (!is_far_ && run_->kernels().precision == name(Precision::Double)) return false;
  if (exclusions_ != number_of_exclusions(request)) return true;
  const double sampled = double(std::min(run_->least_sampled(), request.i_count));
  const double cost =
      kExactPair * sampled * run_->images_of_sample(request.nj) * double(request.nj) + run_->cost_of_exclusions();
  if (std::has_single_bit(runs_) || work_since_check_ * kShareOfChecks > cost) return true;
  // The error grows at most as the norms of some weights grow beside those of others.
  return is_far_ &&
         (run_->has_moved_far() || run_->have_values_changed(std::clamp(tolerance_ / error_, 1.0, kMaxSpread)));
}

void FarField::draw(const SumRequest& request, std::int64_t wanted) {
  refusal_ = run_->draw_sample(request, wanted);
  has_sample_ = refusal_.empty();
  is_measured_ = has_sample_ || request.peers;
  if (!request.peers) errors_of_all_.reset();
  if (!has_sample_) return;
  exclusions_ = number_of_exclusions(request);
  runs_since_error_ = 0;
  work_since_check_ = 0;
}

// is_known: what was chosen for this case is measured, and kept if it keeps the tolerance. Returns false if the next
// run must measure again.
bool FarField::measure_sample(const SumRequest& request, bool is_known) {
  if (!is_known) use_precision(request, precision_for(tolerance_));
  const FarStatistics::Seconds prepared = run_->statistics().seconds;
  const auto start = std::chrono::steady_clock::now();
  const bool takes_far = is_known ? is_far_ : may_be_far(request);
  const std::string last_refusal = refusal_;
  draw(request, takes_far ? sample_size(request) : run_->least_sampled());
  if (is_known && !is_far_) {
    if (has_sample_) refusal_ = last_refusal;
    fit_all_pairs(request);
    return has_sample_;
  }
  if (is_known && has_sample_) {
    run_->compute(request, chosen_.setting, FarRun::Of::All);
    error_ = run_->error_of_sample();
    has_totals_ = error_ <= tolerance_ || choice_.separation > 0;
    if (has_totals_) return true;
  }
  const auto choose_in_time = [&](bool tries_all) {
    tries_all_ = tries_all;
    const bool is_chosen = choose_again(request);
    run_->reset_seconds();
    seconds_of_preparation_ = prepared;
    seconds_of_choice_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return is_chosen;
  };
  const bool is_chosen = choose_in_time(false);
  if (!run_->tries_some() || request.peers) return is_chosen;
  if (!is_far_) return refusal_.empty() ? is_chosen : choose_in_time(true);
  // The errors of some sampled i have decided: all sampled i must confirm the choice. The caller gets this run's sums.
  run_->compute(request, chosen_.setting, FarRun::Of::All);
  error_ = run_->error_of_sample();
  has_totals_ = error_ <= tolerance_ || choice_.separation > 0;
  return has_totals_ ? is_chosen : choose_in_time(true);
}

bool FarField::choose_again(const SumRequest& request) {
  is_far_ = takes_all_pairs_ = false;
  runs_ = 1;
  chosen_ = {{}, least_cost(request), 0};
  bool has_table = true;
  if (has_sample_ && may_be_far(request)) {
    refusal_ = run_->begin_table(request);
    has_table = refusal_.empty();
    if (has_table) refusal_ = choose(request);
    is_far_ = refusal_.empty() && (is_experiment() || chosen_.cost < all_pairs(request));
    error_ = chosen_.error;
  }
  if (is_far_) return true;
  if (ranks_) return false;  // another kind of run will sum over all pairs
  // Where no order keeps the tolerance, the precision was raised in vain.
  if (precision_ != precision_for(tolerance_)) {
    const std::string refusal = refusal_;
    use_precision(request, precision_for(tolerance_));
    draw(request, run_->least_sampled());
    refusal_ = refusal;
  }
  fit_all_pairs(request);
  return has_sample_ && has_table;
}

// Raises the precision until all pairs keep the tolerance. In the precision of the pipeline its own kernel sums them.
void FarField::fit_all_pairs(const SumRequest& request) {
  const std::string refusal = refusal_;
  while (has_sample_) {
    run_->compute_all_pairs(request, FarRun::Of::Sampled);
    error_ = run_->error_of_sample();
    if (error_ <= tolerance_ || precision_ == Precision::Double) break;
    use_precision(request, higher(precision_));
    draw(request, run_->least_sampled());
    refusal_ = refusal;
  }
  takes_all_pairs_ = run_->kernels().raised || run_->is_periodic();
}

void FarField::require_memory(const SumRequest& request) {
  if (!fits(request, {first_order(), choice_.leaf > 0 ? choice_.leaf : kMaxLeaf})) refuse_memory(request);
}

void FarField::refuse_memory(const SumRequest& request) const {
  const FarMemory& memory = *too_large_;
  throw DeviceError(fmt::format(
      "tolerance: a far field of {:.0f} i and {:.0f} j needs about {:.2g} GB of memory, but {} has {:.2g} GB for it",
      number_of_i(request), number_of_j(request), 1e-9 * double(memory.needed), memory.device,
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
      return fmt::format("no order up to {} keeps the tolerance: the error of the sample is {:.2g}", kMaxFarOrder,
                         run_->statistics().error);
    if (const std::string obstacle = use_precision(request, higher(precision_)); !obstacle.empty()) return obstacle;
    if (const std::string obstacle = run_->draw_sample(request, sample_size(request)); !obstacle.empty())
      return obstacle;
    if (const std::string obstacle = run_->begin_table(request); !obstacle.empty()) return obstacle;
  }
}

// Climbs from an order that usually suits the tolerance to neighbouring orders, then to neighbouring sizes of leaves,
// as long as the cost falls. A choice that is sure to cost more than all pairs need not keep the tolerance, since all
// pairs will run.
std::optional<FarField::Choice> FarField::cheapest(const SumRequest& request) {
  const double all_pairs = this->all_pairs(request);
  const int first = first_order();
  int leaf = choice_.leaf > 0 ? choice_.leaf : kFirstLeaf;
  while (choice_.leaf == 0 && leaf < kMaxLeaf && !fits(request, {first, leaf})) leaf *= 2;
  const double infinite = std::numeric_limits<double>::infinity();
  std::optional<Choice> best = fit(request, first, leaf, first_limit(first), infinite, !is_experiment());
  if (is_experiment() || (best && best->cost > kHopeless * all_pairs)) return best;
  const bool is_first_left = !best;  // the next order promised more, or no limit suited
  for (const int step : {1, -1}) {
    bool has_improved = false;
    for (int order = first + step; order >= kMinFarOrder && order <= kMaxFarOrder; order += step) {
      const double most = best ? best->cost : infinite;
      // What suited one order suits its neighbour, as much more or less as it usually is.
      const double scale = best ? next_limit(best->setting.limit, best->error) / first_limit(best->setting.order) : 1;
      const std::optional<Choice> next = fit(request, order, leaf, scale * first_limit(order), most, false);
      if (!next || next->cost >= most) break;
      best = next;
      has_improved = true;
    }
    if (has_improved) break;
  }
  if (is_first_left && !(best && best->cost < all_pairs)) {
    // The next order has not kept its promise: smaller limits of the first, as if there were no other.
    const std::optional<Choice> of_first = fit(request, first, leaf, first_limit(first), infinite, false);
    if (of_first && (!best || of_first->cost < best->cost)) best = of_first;
  }
  if (!best || best->cost >= all_pairs) return best;  // all pairs will run
  const Choice of_leaf = *best;
  for (const bool larger : {false, true}) {
    Choice next = *best;
    for (;;) {
      next.setting.leaf = larger ? next.setting.leaf * 2 : next.setting.leaf / 2;
      if (next.setting.leaf < kMinLeaf || next.setting.leaf > kMaxLeaf) break;
      next.cost = cost(request, next.setting);
      if (next.cost > kWorthATrial * best->cost) break;
      best = next;
    }
    if (best->cost < of_leaf.cost) break;
  }
  if (best->setting.leaf == leaf) return best;
  const std::optional<Choice> again =
      fit(request, best->setting.order, best->setting.leaf, best->setting.limit, of_leaf.cost, false);
  return again ? again : of_leaf;
}

// The largest limit, to some tens of percent, with which the sample keeps the tolerance. Nothing: none that costs less
// than most_cost to be worth a trial, none at all, or with may_rise one that promises less than the next order.
std::optional<FarField::Choice> FarField::fit(const SumRequest& request, int order, int leaf, double limit,
                                              double most_cost, bool may_rise) {
  const double all_pairs = this->all_pairs(request);
  std::optional<Choice> best;
  double too_large = std::numeric_limits<double>::infinity();
  for (int trial = 0; trial < kTrials; ++trial) {
    const FarSetting setting{order, leaf, limit, choice_.separation};
    const double cost = this->cost(request, setting);
    // More exact only costs more.
    if (cost > kWorthATrial * (best ? std::min(best->cost, most_cost) : most_cost)) break;
    // The first limit is a guess, which may be far too strict. Later limits are too costly because errors of
    // interpolation or of rounding are too large.
    if (!is_experiment() && !best && cost > (trial == 0 ? kGuess * kHopeless : kHopeless) * all_pairs) {
      if (trial > 0 && precision_ != Precision::Double && run_->statistics().error < kMostRounding) break;
      return Choice{setting, cost};
    }
    const FarRun::Of tried = tries_all_ ? FarRun::Of::Sampled : FarRun::Of::Tried;
    run_->compute(request, setting, tried);
    const double error = run_->error_of_sample(tried);
    if (choice_.separation > 0) return Choice{setting, cost};  // an experiment reports its error
    const bool is_of_all = run_->sampled_all() && (tries_all_ || !run_->tries_some());
    const bool is_kept = error <= tolerance_ * (is_of_all ? 1 : kSafety);
    if (is_kept) best = Choice{setting, cost, error};
    if (is_kept && error > 0.35 * tolerance_) break;
    // Errors that are only roundings say nothing: the sample may lack the few i to which a grid served.
    if (is_kept && error <= rounding_of(precision_)) break;
    if (!is_kept) too_large = std::min(too_large, limit);
    limit = std::min(next_limit(limit, error), 2.0);
    if (may_rise && trial == 0 && order < kMaxFarOrder && error > kTooInexact * tolerance_ &&
        this->cost(request, {order + 1, leaf, first_limit(order + 1)}) <
            kNextOrder * this->cost(request, {order, leaf, limit}))
      return {};
    if (best && too_large < std::max(limit, best->setting.limit) / 0.9) {
      if (too_large < kCloseLimits * best->setting.limit) break;
      limit = std::sqrt(best->setting.limit * too_large);
    }
  }
  return best;
}

void FarField::run(const SumRequest& request) {
  if (ranks_) return run_among_ranks(request);
  if (request.nj > 0) {
    if (!is_far_ || has_no_i_)
      run_->compute_all_pairs(request, FarRun::Of::All);
    else if (!has_totals_)
      run_->compute(request, chosen_.setting, FarRun::Of::All);
    has_totals_ = false;
    if (is_measured_) {
      if (has_sample_) run_->error_of_sample();
      if (request.peers) exchange_errors(request);
    }
  }
  if (request.nj == 0 && run_->is_periodic()) {
    std::shared_ptr<double> nothing;
    run_->add_part(request, nothing);
    return run_->finish(request);
  }
  if (request.j_part != JPart::Whole) {
    if (begins(request.j_part)) sums_of_parts_.reset();
    ni_of_parts_ = request.ni;
    run_->add_part(request, sums_of_parts_);
  }
  if (ends(request.j_part)) run_->finish(request);
}

// Before a choice: with an order for the tolerance, and the leaves that take the least memory.
FarMemory FarField::memory(const SumRequest& request) const {
  FarSetting setting = chosen_.setting;
  if (!case_ || setting.order == 0) setting = {first_order(), choice_.leaf > 0 ? choice_.leaf : kMaxLeaf};
  return run_->memory(request, setting);
}

}  // namespace nbcc
