// The choice of several processes that share a sum to a tolerance (far_peers.h). Entry point:
// FarField::measure_together().
//
//   every process          one process, with the most i     every process
//   is a choice due? ----> order, leaf, limit, precision --> error of its own sample --> limit is smaller, until the
//                                                                                        error of all i is kept
//
// Each decision depends on exchanged numbers alone, so that all processes take the same. The error of all is the root
// mean square over the i of all processes.
//
// Where each process has its own j alone (FarRanks), measure_among_ranks() chooses as one process does: all processes
// take the same steps at the same time, with costs, samples and errors of all. Where they need all j it throws
// NeedsAllJ, on all processes.
#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "fmt/format.h"
#include "runtime/error.h"
#include "runtime/far/far_field.h"
#include "runtime/sum/request/far_peers.h"

namespace nbcc {
namespace {

// Below, moving the particles takes longer than all pairs.
constexpr double kShareOfAllPairs = 0.5;
constexpr int kTrialsTogether = 6;  // limits that are tried, each smaller than the one before

using Numbers = std::vector<std::vector<double>>;

bool has_any(const Numbers& all, std::size_t number) {
  return std::ranges::any_of(all, [&](const auto& one) { return !one.empty() && one[number] != 0; });
}

// Of {error, weight} of each process.
double rms_of(const Numbers& all) {
  double squares = 0, weight = 0;
  for (const auto& one : all) {
    if (one.empty() || one[1] == 0) continue;
    squares += one[1] * one[0] * one[0];
    weight += one[1];
  }
  return weight == 0 ? 0 : std::sqrt(squares / weight);
}

}  // namespace

// The choice in the numbers `first` to first + 2 of each process: another choice would take other steps.
void FarField::require_one_choice(const std::vector<std::vector<double>>& all, std::size_t first) const {
  const auto text = [](double order, double leaf, double separation) {
    return fmt::format("order {}, leaf {}, separation {}", order, leaf, separation);
  };
  for (std::size_t peer = 0; peer < all.size(); ++peer) {
    if (all[peer].empty()) continue;
    const std::span its = std::span(all[peer]).subspan(first, 3);
    if (its[0] != choice_.order || its[1] != choice_.leaf || its[2] != choice_.separation)
      throw UsageError(
          fmt::format("tolerance: this rank's nbcc_far_choice has {}, rank {}'s has {}: expected one choice "
                      "on all ranks",
                      text(choice_.order, choice_.leaf, choice_.separation), peer, text(its[0], its[1], its[2])));
  }
}

double FarField::error_of_all(const SumRequest& request) {
  const double mine = has_sample_ ? run_->error_of_sample() : 0;
  return rms_of(request.peers->exchange({mine, has_sample_ ? double(request.i_count) : 0}));
}

// What is known of this case decides, without its particles, or these decide.
Estimate FarField::measure_together(const SumRequest& request) {
  const bool is_known = case_ == case_of(request);
  const bool is_due_at_once = !is_known || (!is_far_ && is_due(request));
  const Numbers asked =
      request.peers->exchange({tolerance_, double(request.i_count), double(is_known), double(is_due_at_once),
                               double(choice_.order), double(choice_.leaf), choice_.separation});
  for (std::size_t peer = 0; peer < asked.size(); ++peer)
    if (!asked[peer].empty() && asked[peer][0] != tolerance_)
      throw UsageError(fmt::format("tolerance: this rank has {}, rank {} has {}: expected one tolerance on all ranks",
                                   tolerance_, peer, asked[peer][0]));
  require_one_choice(asked, 4);
  i_of_peers_ = {};
  for (const auto& one : asked) i_of_peers_.push_back(one.empty() ? 0 : one[1]);
  bool is_new = has_any(asked, 3);
  if (!is_new && !is_far_ && !takes_all_pairs_ && !is_obstructed_) return answer_together(request);
  if (!is_known && precision_ != precision_for(tolerance_)) set_precision(precision_for(tolerance_));
  if (!is_known && may_be_far(request)) require_memory(request);
  int leaf = choice_.leaf > 0 ? choice_.leaf : kFirstLeaf;
  if (is_known && chosen_.setting.leaf > 0) leaf = chosen_.setting.leaf;
  const std::string obstacle = run_->prepare(request, leaf);
  const bool was_obstructed = is_obstructed_;
  has_no_i_ = !run_->has_i();
  const Numbers prepared = request.peers->exchange({double(!obstacle.empty() && !has_no_i_),
                                                    double(is_known && is_far_ && obstacle.empty() && is_due(request)),
                                                    double(is_known && is_far_), double(has_no_i_)});
  const bool any_has_i = std::ranges::any_of(prepared, [](const auto& one) { return !one.empty() && one[3] == 0; });
  is_obstructed_ = has_any(prepared, 0) || !any_has_i;
  is_new = is_new || has_any(prepared, 1) || is_obstructed_ != was_obstructed;
  if (!is_new) return answer_together(request);
  case_.reset();
  const bool all_are_far =
      std::ranges::all_of(prepared, [](const auto& one) { return one.empty() || one[2] != 0; }) && !is_obstructed_;
  const FarStatistics::Seconds seconds = run_->statistics().seconds;
  const auto start = std::chrono::steady_clock::now();
  if (!all_are_far || !keeps_together(request)) choose_together(request, obstacle);
  run_->reset_seconds();
  seconds_of_preparation_ = seconds;
  seconds_of_choice_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  case_ = case_of(request);
  // Another method will do the run, so that run() does not exchange them.
  if (!is_far_ && !takes_all_pairs_) exchange_errors(request);
  return answer_together(request);
}

// The processes with few i take the method of the others, whatever it costs them.
Estimate FarField::answer_together(const SumRequest& request) const {
  Estimate found = answer(request);
  if (is_far_ || takes_all_pairs_) found.cost = std::min(found.cost, kPreferred * all_pairs(request));
  return found;
}

// Whether the earlier choice keeps the tolerance of these particles.
bool FarField::keeps_together(const SumRequest& request) {
  draw(request, sample_size(request));
  if (!has_no_i_) run_->compute(request, chosen_.setting, FarRun::Of::All);
  error_ = error_of_all(request);
  return has_totals_ = error_ <= tolerance_;
}

void FarField::choose_together(const SumRequest& request, const std::string& obstacle) {
  runs_ = 1;
  refusal_ = "";
  is_far_ = takes_all_pairs_ = false;
  use_precision(request, precision_for(tolerance_));
  draw(request, may_be_far(request) ? sample_size(request) : run_->least_sampled());
  // A process without finite positions or terms has nothing to choose by; the others do not mind it.
  const Numbers drawn = request.peers->exchange({double(has_sample_)});
  for (std::size_t peer = 0; peer < drawn.size(); ++peer)
    if (has_any(drawn, 0) && !drawn[peer].empty() && drawn[peer][0] == 0) i_of_peers_[peer] = 0;
  const auto leader = std::size_t(std::ranges::max_element(i_of_peers_) - i_of_peers_.begin());
  if (std::size_t(request.peers->own()) == leader && !is_obstructed_) choose_again(request);
  const FarSetting& mine = chosen_.setting;
  const Numbers all = request.peers->exchange({double(is_far_), double(precision_), double(mine.order),
                                               double(mine.leaf), mine.limit, mine.separation, chosen_.cost});
  // Not an error of this process.
  if (all[leader].empty())
    throw Interrupted(fmt::format("tolerance: rank {}, which chooses for all, has failed", leader));
  const std::vector<double>& chosen = all[leader];
  is_far_ = chosen[0] != 0;
  const auto precision = Precision(int(chosen[1]));
  if (precision != precision_) {
    use_precision(request, precision);
    draw(request, is_far_ ? sample_size(request) : run_->least_sampled());
  }
  if (is_far_) {
    chosen_ = {{int(chosen[2]), int(chosen[3]), chosen[4], chosen[5]}, chosen[6], 0};
    chosen_.cost *= double(request.i_count) / i_of_peers_[leader];
    if (fit_together(request)) return;
    refusal_ = fmt::format("no separation keeps the tolerance for the i of all ranks: their error is {:.2g}", error_);
  } else if (is_obstructed_) {
    refusal_ = obstacle.empty() ? "the particles of another rank have no far field" : obstacle;
  } else if (refusal_.empty()) {
    refusal_ =
        fmt::format("the far field of rank {}, which has the most i, costs as much as {:.3g} pairs", leader, chosen[6]);
  }
  is_far_ = false;
  fit_all_pairs_together(request);
}

// Makes the limit smaller until the samples of all keep the tolerance. False: none of the limits did.
bool FarField::fit_together(const SumRequest& request) {
  run_->forget_lists();
  // Without weights there are neither errors nor limits of this process.
  const bool has_table = has_sample_ && run_->begin_table(request).empty();
  for (int trial = 0; trial < kTrialsTogether; ++trial) {
    if (has_table) run_->compute(request, chosen_.setting, FarRun::Of::Sampled);
    error_ = has_table ? error_of_all(request) : rms_of(request.peers->exchange({0, 0}));
    chosen_.error = error_;
    if (error_ <= tolerance_ * (trial == 0 ? 1 : 0.85) || chosen_.setting.separation > 0) return true;
    chosen_.setting.limit = next_limit(chosen_.setting.limit, error_);
  }
  return false;
}

// As fit_all_pairs(), with the error of all.
void FarField::fit_all_pairs_together(const SumRequest& request) {
  for (;;) {
    if (has_sample_) run_->compute_all_pairs(request, FarRun::Of::Sampled);
    error_ = error_of_all(request);
    if (error_ <= tolerance_ || precision_ == Precision::Double) break;
    const std::string refusal = refusal_;
    use_precision(request, precision_ == Precision::Single ? Precision::Mixed : Precision::Double);
    draw(request, run_->least_sampled());
    refusal_ = refusal;
  }
  takes_all_pairs_ = run_->kernels().raised || run_->is_periodic();
}

// The errors of the last run, of the i of all processes.
void FarField::exchange_errors(const SumRequest& request) {
  const FarStatistics own = run_->statistics();
  const Numbers all = request.peers->exchange(
      {own.error, has_sample_ ? double(request.i_count) : 0, own.largest, own.error_of_sum, double(own.sampled)});
  ErrorsOfAll of_all;
  of_all.error = rms_of(all);
  double squares = 0, weight = 0;
  for (const auto& one : all) {
    if (one.empty() || one[1] == 0) continue;
    of_all.largest = std::max(of_all.largest, one[2]);
    squares += one[1] * one[3] * one[3];
    weight += one[1];
    of_all.sampled += std::int64_t(one[4]);
  }
  if (weight > 0) of_all.error_of_sum = std::sqrt(squares / weight);
  errors_of_all_ = of_all;
}

// ---- each process has its own j alone -------------------------------------------------------------------------------

Estimate FarField::measure_among_ranks(const SumRequest& request) {
  ranks_->begin_run(*request.peers);
  const double params = hash_of(request.params);
  const Numbers all =
      ranks_->exchange({double(request.i_count), double(request.nj), double(case_ == case_of(request)), i_of_ranks_,
                        j_of_ranks_, double(choice_.order), double(choice_.leaf), choice_.separation, params,
                        double(std::has_single_bit(runs_)), run_->images()});
  require_one_choice(all, 5);
  for (std::size_t peer = 0; peer < all.size(); ++peer)
    if (all[peer][8] != params)
      throw UsageError(
          fmt::format("params: this rank's values are not those of rank {}: expected one value of each "
                      "param on all ranks",
                      peer));
  i_of_ranks_ = j_of_ranks_ = images_of_ranks_ = 0;
  for (const auto& one : all) {
    i_of_ranks_ += one[0];
    j_of_ranks_ += one[1];
    images_of_ranks_ = std::max(images_of_ranks_, one[10]);  // a process whose first run failed knows none yet
  }
  const bool is_known = std::ranges::all_of(
      all, [&](const auto& one) { return one[2] != 0 && one[3] == i_of_ranks_ && one[4] == j_of_ranks_; });
  if (i_of_ranks_ == 0 || j_of_ranks_ == 0) throw NeedsAllJ("there are no i or no j");
  if (!is_experiment() && least_cost(request) > kShareOfAllPairs * all_pairs(request))
    throw NeedsAllJ(fmt::format("all pairs of {:.0f} i and {:.0f} j cost little", i_of_ranks_, j_of_ranks_));
  // Particles that had no far field may have one now.
  const bool is_refused = is_known && !is_far_, tries_again = has_any(all, 9);
  if (is_refused && !tries_again) throw NeedsAllJ(refusal_);
  const unsigned runs = runs_;
  const bool is_kept = is_known && is_far_;
  if (!is_kept) case_.reset();
  if (!is_kept && precision_ != precision_for(tolerance_)) set_precision(precision_for(tolerance_));
  work_since_check_ += is_kept ? chosen_.cost : all_pairs(request);
  const auto refuse = [&](const std::string& why) {
    refusal_ = why;
    runs_ = is_refused ? runs : 1;
    case_ = case_of(request);
    throw NeedsAllJ(refusal_);
  };
  moved_ = run_->move(request);
  if (ranks_->any(std::max(moved_.ni, moved_.nj) > std::numeric_limits<std::int32_t>::max() / 2))
    throw NeedsAllJ("a rank has more particles than lists can index");
  if (!is_kept) require_memory(moved_);
  int leaf = choice_.leaf > 0 ? choice_.leaf : kFirstLeaf;
  if (is_kept && chosen_.setting.leaf > 0) leaf = chosen_.setting.leaf;
  if (const std::string obstacle = run_->prepare(moved_, leaf); !obstacle.empty()) {
    is_far_ = false;
    refuse(obstacle);
  }
  if (is_kept && !is_due_among_ranks()) return {"", chosen_.cost};
  case_.reset();
  const bool is_chosen = measure_sample(moved_, is_kept);
  if (!is_chosen)
    refuse(refusal_.empty() ? fmt::format("a far field costs as much as {:.3g} pairs", chosen_.cost) : refusal_);
  case_ = case_of(request);
  return {"", chosen_.cost};
}

bool FarField::is_due_among_ranks() {
  const double exact_pairs = std::min(double(run_->least_sampled()), i_of_ranks_) * j_of_ranks_ *
                             run_->images_of_sample(std::int64_t(j_of_ranks_));
  // Collective, whatever else this process has to say.
  const bool has_changed = run_->have_values_changed(std::clamp(tolerance_ / error_, 1.0, kMaxSpread));
  return ranks_->any(has_changed || std::has_single_bit(runs_) || run_->has_moved_far() ||
                     work_since_check_ * kShareOfChecks > kExactPair * exact_pairs);
}

void FarField::run_among_ranks(const SumRequest& request) {
  if (!has_totals_) run_->compute(moved_, chosen_.setting, FarRun::Of::All);
  has_totals_ = false;
  if (is_measured_) run_->error_of_sample();
  run_->finish(request);
}

}  // namespace nbcc
