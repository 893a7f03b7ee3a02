// Searches for the best launch configuration. Entry point: search_tuning(). Compiles and measures nothing itself.
//
// 1. Coordinate search over the numbers that a kernel is compiled for; the model chooses j_splits. From the best start,
//    change one number at a time, as long as the rate does not fall; then change two numbers at once whose effects on
//    the block size cancel. Repeat until there is no gain.
// 2. For the best few kernels try all j_splits, which need no other kernel.
//
// Fewer than fifty of a thousand kernels are measured.
#include "cli/sum/tune_search.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <utility>

#include "runtime/round_up.h"

namespace nbcc {
namespace {

// A configuration replaces the best one only if it is faster by this factor, so that noise does not lead the search.
constexpr double kMinSpeedup = 1.005;
// A walk along one number ends when the rate falls below this fraction of the best rate.
constexpr double kWalkTolerance = 0.97;
// The fraction of the time that step 1 may take.
constexpr double kKernelTimeFraction = 0.75;
constexpr std::size_t kKernelsForSplits = 3;

using Member = int LaunchConfig::*;

struct Axis {
  Member member;
  std::vector<int> values;  // ascending
};

const std::array<Axis, 5>& axes() {
  static const std::array<Axis, 5> all{{{&LaunchConfig::i_per_thread, {1, 2, 4, 8}},
                                        {&LaunchConfig::threads, {64, 128, 256, 512}},
                                        {&LaunchConfig::j_slices, {1, 2, 4, 8, 16, 32}},
                                        {&LaunchConfig::unroll, {4, 8, 16, 32}},
                                        {&LaunchConfig::j_tile, {64, 128, 256, 512}}}};
  return all;
}

// A step along two numbers: index steps in the values of each axis.
struct DoubleStep {
  Member first;
  int step_first;
  Member second;
  int step_second;
};
constexpr DoubleStep kDoubleSteps[] = {
    {&LaunchConfig::i_per_thread, 1, &LaunchConfig::threads, -1},
    {&LaunchConfig::i_per_thread, -1, &LaunchConfig::threads, 1},
    {&LaunchConfig::i_per_thread, 1, &LaunchConfig::j_slices, 1},
    {&LaunchConfig::i_per_thread, -1, &LaunchConfig::j_slices, -1},
    {&LaunchConfig::threads, 1, &LaunchConfig::j_slices, 1},
    {&LaunchConfig::threads, -1, &LaunchConfig::j_slices, -1},
    {&LaunchConfig::j_tile, 1, &LaunchConfig::j_slices, 1},
    {&LaunchConfig::j_tile, -1, &LaunchConfig::j_slices, -1},
    {&LaunchConfig::i_per_thread, 1, &LaunchConfig::unroll, -1},
    {&LaunchConfig::i_per_thread, -1, &LaunchConfig::unroll, 1},
};

constexpr int kSplits[] = {1, 2, 3, 4, 6, 8, 12, 16, 20, 24, 32, 48, 64, 96, 128, 192, 256};

class Search {
 public:
  explicit Search(const TuneSearch& search) : search_(search) {}

  TuneResult run() {
    for (const LaunchConfig& start : search_.starts) consider(start, 1);
    if (best_) {
      while (!is_over(kKernelTimeFraction) && improve_kernel()) {
      }
      try_splits();
    }
    TuneResult result;
    if (best_) result.best = *best_, result.rate = rate_;
    result.measured = int(rates_.size());
    result.out_of_time = out_of_time_;
    return result;
  }

 private:
  bool is_over(double share) {
    if (search_.spent() < share) return false;
    out_of_time_ = true;
    return true;
  }

  // Measures each configuration only once. Nothing: not possible.
  std::optional<double> rate_of(const LaunchConfig& config) {
    const auto [at, added] = rates_.try_emplace(config);
    if (added) at->second = search_.rate(config);
    return at->second;
  }

  // Measures a configuration and makes it the best one if it is faster by the factor. Returns the rate, or nothing.
  std::optional<double> consider(const LaunchConfig& config, double faster = kMinSpeedup) {
    const std::optional<double> rate = rate_of(config);
    if (rate && (!best_ || *rate > rate_ * faster)) {
      best_ = config;
      rate_ = *rate;
    }
    return rate;
  }

  bool allowed(const LaunchConfig& config) const {
    return config.j_slices <= config.threads && config.j_slices <= config.j_tile &&
           config.j_tile <= config.j_slices * search_.max_terms_per_slice;
  }

  // Moves `member` by `step` indices of its axis; nothing beyond the ends of the axis.
  static std::optional<LaunchConfig> stepped(LaunchConfig config, Member member, int step) {
    const auto axis = std::ranges::find(axes(), member, &Axis::member);
    const auto here = std::ranges::lower_bound(axis->values, config.*member);
    // A start value may lie between two values of the axis; then `here` is already the next larger value.
    if (step > 0 && here != axis->values.end() && *here != config.*member) --step;
    const std::ptrdiff_t index = here - axis->values.begin() + step;
    if (index < 0 || index >= std::ssize(axis->values)) return {};
    config.*member = axis->values[std::size_t(index)];
    return config;
  }

  bool improve_kernel() {
    const LaunchConfig before = *best_;
    for (const Axis& axis : axes()) {
      const LaunchConfig from = *best_;
      for (const int direction : {1, -1}) walk(from, axis.member, direction);
    }
    const LaunchConfig from = *best_;
    for (const DoubleStep& step : kDoubleSteps) {
      const std::optional<LaunchConfig> first = stepped(from, step.first, step.step_first);
      const std::optional<LaunchConfig> both = first ? stepped(*first, step.second, step.step_second) : std::nullopt;
      if (!both || !allowed(*both)) continue;
      if (is_over(kKernelTimeFraction)) return false;
      consider(*both);
    }
    return *best_ != before;
  }

  void walk(const LaunchConfig& from, Member member, int direction) {
    for (int step = direction;; step += direction) {
      const std::optional<LaunchConfig> next = stepped(from, member, step);
      if (!next || is_over(kKernelTimeFraction)) return;
      if (!allowed(*next)) continue;
      const std::optional<double> rate = consider(*next);
      if (rate && *rate < kWalkTolerance * rate_) return;
    }
  }

  void try_splits() {
    std::vector<std::pair<double, LaunchConfig>> kernels;
    for (const auto& [config, rate] : rates_) {
      if (rate) kernels.emplace_back(*rate, config);
    }
    std::ranges::sort(kernels, std::greater<>());
    kernels.resize(std::min(kernels.size(), kKernelsForSplits));
    for (auto& [ignored, config] : kernels) {
      const std::int64_t tiles = ceil_div(search_.nj, config.j_tile);
      for (const int splits : kSplits) {
        if (splits > tiles) break;
        if (is_over(1)) return;
        config.j_splits = splits;
        consider(config);
      }
    }
  }

  const TuneSearch& search_;
  std::map<LaunchConfig, std::optional<double>> rates_;
  std::optional<LaunchConfig> best_;
  double rate_ = 0;
  bool out_of_time_ = false;
};

}  // namespace

TuneResult search_tuning(const TuneSearch& search) { return Search(search).run(); }

}  // namespace nbcc
