// Plans a run: chooses one of the pair methods. Entry points: plan_run(), reason_of(). Depends on no particular device
// or method.
#include <cmath>
#include <stdexcept>

#include "fmt/format.h"
#include "runtime/error.h"
#include "runtime/sum/plan/capabilities.h"
#include "runtime/sum/plan/pair_method.h"

namespace nbcc {
namespace {

bool is_possible(const std::optional<Estimate>& estimate) { return estimate && estimate->obstacle.empty(); }

// True if pairs = cutoff restricts the choice to methods that search. False if no such method applies to the run, or if
// the obstacles of every such method fall back. Throws UsageError if no such method can do the run, and an obstacle
// does not fall back.
bool searches_only(std::span<const PairMethod> methods, const RunPlan& plan) {
  if (plan.choice != PairChoice::Cutoff) return false;
  std::string obstacle;
  bool falls_back = true;
  for (std::size_t row = 0; row < methods.size(); ++row) {
    if (!methods[row].searches || !plan.estimates[row]) continue;
    const Estimate& estimate = *plan.estimates[row];
    if (estimate.obstacle.empty()) return true;
    obstacle = estimate.obstacle;
    falls_back = falls_back && estimate.falls_back;
  }
  if (!falls_back) throw UsageError(fmt::format("pairs = cutoff: {}", obstacle));
  return false;
}

// Why the method cannot add to the sums of the earlier parts; "": it can.
std::string obstacle_of_parts(const PairMethod& method, const SumRequest& request) {
  if (begins(request.j_part) || (method.keeps_sums ? method.name : "") == request.sums_are_of) return "";
  if (request.sums_are_of.empty()) return "the earlier parts were summed by another method";
  return fmt::format("the earlier parts were summed by the method '{}'", request.sums_are_of);
}

std::optional<std::size_t> cheapest(std::span<const PairMethod> methods, const RunPlan& plan, bool searches_only) {
  std::optional<std::size_t> best;
  for (std::size_t row = 0; row < methods.size(); ++row) {
    if (!is_possible(plan.estimates[row]) || (searches_only && !methods[row].searches)) continue;
    if (!best || plan.estimates[row]->cost < plan.estimates[*best]->cost) best = row;
  }
  return best;
}

}  // namespace

RunPlan plan_run(std::span<const PairMethod> methods, const SumRequest& request, Measure when) {
  RunPlan plan;
  plan.surveyed.resize(methods.size());
  plan.choice = request.pairs;
  plan.asks_for_once = request.symmetric == SymmetricChoice::Always;
  plan.request = request;
  if (request.lists) plan.given = request.lists->what;
  if (request.listed_pairs) plan.given = "listed pairs";
  plan.estimates.reserve(methods.size());
  for (const PairMethod& method : methods) {
    const bool is_for_it = applies(method.name, request) && !(method.searches && request.pairs == PairChoice::All);
    std::optional<Estimate>& estimate =
        plan.estimates.emplace_back(is_for_it ? method.estimate(request) : std::nullopt);
    if (!is_possible(estimate)) continue;
    std::string obstacle(obstacle_of(method.name, request));
    if (obstacle.empty()) obstacle = obstacle_of_parts(method, request);
    if (!obstacle.empty()) estimate->obstacle = obstacle, estimate->falls_back = true;
  }
  for (;;) {
    const std::optional<std::size_t> best = cheapest(methods, plan, searches_only(methods, plan));
    if (!best && !request.sums_are_of.empty())
      throw UsageError(fmt::format(
          "part: the earlier parts were summed by the method '{}', which cannot sum this one: all parts have "
          "the same tolerance, and neither lists nor a choice of pairs",
          request.sums_are_of));
    if (!best) throw std::logic_error("no pair method can do a run");
    const PairMethod& method = methods[*best];
    if (plan.surveyed[*best] || (!method.survey && !method.measure)) {
      plan.method = &method;
      plan.estimate = *plan.estimates[*best];
      if (method.steps) plan.steps = method.steps(plan.request);
      if (plan.steps.empty()) plan.steps.push_back({&method, plan.request, "", plan.estimate.cost});
      return plan;
    }
    plan.surveyed[*best] = true;
    if (method.survey) {
      plan.estimates[*best] = method.survey(plan.request);
    } else if (when == Measure::Now) {
      plan.estimates[*best] = method.measure(plan.request);
    } else {
      const auto [estimate, cost] = method.expected(plan.request);
      plan.estimates[*best] = estimate;
      if (cost > 0) plan.measurements.emplace_back(method.name, cost);
    }
  }
}

std::string detour_of(const RunPlan& plan, std::span<const PairMethod> methods) {
  constexpr double kMuch = 4;
  if (!plan.method) return "";
  const auto is_twice = [](std::string_view why) {
    return fmt::format("{}, so that each pair is computed twice, though symmetric is always", why);
  };
  if (plan.asks_for_once && !plan.estimate.twice.empty()) return is_twice(plan.estimate.twice);
  for (std::size_t row = 0; row < methods.size(); ++row) {
    const std::optional<Estimate>& other = plan.estimates[row];
    if (!other || other->obstacle.empty() || other->of_size) continue;
    const bool is_excluded = plan.choice == PairChoice::Cutoff && !methods[row].searches;  // by the caller
    if (!is_excluded && other->cost > 0 && kMuch * other->cost < plan.estimate.cost)
      return fmt::format("{}, so that the run is {} and not {}, which would take less than a quarter of its time",
                         other->obstacle, plan.method->name, methods[row].name);
    if (other->once && plan.asks_for_once && !plan.estimate.once) return is_twice(other->obstacle);
  }
  return "";
}

std::string reason_of(const RunPlan& plan, std::span<const PairMethod> methods) {
  const auto row = std::size_t(plan.method - methods.data());
  std::string others;
  for (std::size_t other = 0; other < methods.size(); ++other) {
    if (other == row || !plan.estimates[other]) continue;
    const Estimate& estimate = *plan.estimates[other];
    if (!std::isfinite(estimate.cost)) continue;
    if (plan.estimate.once && estimate.once && !estimate.obstacle.empty()) continue;  // it concerns this method alone
    others += fmt::format(
        "{}{}: {}", others.empty() ? "" : "; ", methods[other].name,
        estimate.obstacle.empty() ? fmt::format("costs as much as {:.3g} pairs", estimate.cost) : estimate.obstacle);
  }
  std::string reason = fmt::format("costs as much as {:.3g} pairs", plan.estimate.cost);
  if (plan.choice != PairChoice::Auto) reason = fmt::format("pairs = {}", name(plan.choice));
  if (plan.estimate.once) reason += ", each pair once";
  if (!plan.given.empty()) reason = fmt::format("the {} determine which pairs act", plan.given);
  return others.empty() ? reason : reason + "; " + others;
}

}  // namespace nbcc
