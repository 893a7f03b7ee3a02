#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "runtime/cpu/cpu_device.h"
#include "runtime/error.h"
#include "runtime/sum/run/sum.h"
#include "tests/support/fake_toolchain.h"

namespace nbcc {
namespace {

using testing::HasSubstr;

PairMethod row(std::string_view name, double cost, bool searches = false, const std::string& obstacle = "",
               bool falls_back = false) {
  PairMethod method;
  method.name = name;
  method.searches = searches;
  method.estimate = [=](const SumRequest&) { return std::optional(Estimate{obstacle, cost, falls_back}); };
  return method;
}

std::string_view chosen(const std::vector<PairMethod>& methods, PairChoice choice = PairChoice::Auto) {
  SumRequest request;
  request.pairs = choice;
  return plan_run(methods, request, Measure::Now).method->name;
}

TEST(RunPlan, TheMethodThatCostsLeastIsTaken) {
  EXPECT_EQ(chosen({row("a", 3), row("b", 2), row("c", 4)}), "b");
  EXPECT_EQ(chosen({row("a", 2), row("b", 2)}), "a");
  EXPECT_EQ(chosen({row("a", 1, false, "it cannot"), row("b", 2)}), "b");
}

TEST(RunPlan, ThePairsThatAreAskedForDecide) {
  const std::vector<PairMethod> methods{row("search", 9, true), row("all", 2)};
  EXPECT_EQ(chosen(methods, PairChoice::Cutoff), "search");
  EXPECT_EQ(chosen({row("search", 1, true), row("all", 2)}, PairChoice::All), "all");
}

TEST(RunPlan, ASearchThatCannotBeDoneIsAnErrorOrFallsBack) {
  try {
    chosen({row("search", 1, true, "nothing is proved"), row("all", 2)}, PairChoice::Cutoff);
    FAIL() << "a search was not asked for";
  } catch (const UsageError& e) {
    EXPECT_STREQ(e.what(), "pairs = cutoff: nothing is proved");
  }
  EXPECT_EQ(chosen({row("search", 1, true, "no position is finite", true), row("all", 2)}, PairChoice::Cutoff), "all");
}

// Only the method that costs least so far reads the particles.
TEST(RunPlan, ASurveyMayRaiseTheCost) {
  int surveys = 0;
  const auto with_survey = [&](PairMethod method, double cost) {
    method.survey = [&surveys, cost](SumRequest&) { return ++surveys, Estimate{.cost = cost}; };
    return method;
  };
  EXPECT_EQ(chosen({with_survey(row("a", 1), 5), with_survey(row("b", 2), 2), with_survey(row("c", 3), 3)}), "b");
  EXPECT_EQ(surveys, 2);
}

TEST(RunPlan, TheReasonNamesCostsAndObstacles) {
  const std::vector<PairMethod> methods{row("search", 1, true, "nothing is proved"), row("all", 2000)};
  EXPECT_EQ(reason_of(plan_run(methods, {}, Measure::Now), methods),
            "costs as much as 2e+03 pairs; search: nothing is proved");
  SumRequest all;
  all.pairs = PairChoice::All;
  EXPECT_EQ(reason_of(plan_run(methods, all, Measure::Now), methods), "pairs = all");
}

// A run that costs much more than another would have, had nothing stood in its way, says so; size is no news.
TEST(RunPlan, ADetourIsSaid) {
  const auto detour = [](double cost, bool of_size) {
    PairMethod search = row("search", cost, true);
    search.estimate = [=](const SumRequest&) {
      return std::optional(
          Estimate{.obstacle = "pairs are excluded", .cost = cost, .falls_back = true, .of_size = of_size});
    };
    const std::vector<PairMethod> methods{search, row("all", 2000)};
    return detour_of(plan_run(methods, {}, Measure::Now), methods);
  };
  EXPECT_EQ(
      detour(400, false),
      "pairs are excluded, so that the run is all and not search, which would take less than a quarter of its time");
  EXPECT_EQ(detour(600, false), "");
  EXPECT_EQ(detour(400, true), "");
  SumRequest searched;
  searched.pairs = PairChoice::Cutoff;
  PairMethod symmetric = row("symmetric", 1);
  symmetric.estimate = [](const SumRequest&) { return std::optional(Estimate{.obstacle = "some reason", .cost = 1}); };
  const std::vector<PairMethod> methods{symmetric, row("search", 2000, true)};
  EXPECT_EQ(detour_of(plan_run(methods, searched, Measure::Now), methods), "");  // the caller has excluded it
  EXPECT_EQ(detour_of({}, {}), "");
}

TEST(RunPlan, PairsThatAreComputedTwiceAreSaidWhereOnceIsAskedFor) {
  PairMethod once = row("symmetric", 1000);
  once.estimate = [](const SumRequest&) {
    return std::optional(Estimate{.obstacle = "some i are chosen", .cost = 1000, .once = true});
  };
  const std::vector<PairMethod> methods{once, row("all", 2000)};
  SumRequest request;
  EXPECT_EQ(detour_of(plan_run(methods, request, Measure::Now), methods), "");
  request.symmetric = SymmetricChoice::Always;
  EXPECT_EQ(detour_of(plan_run(methods, request, Measure::Now), methods),
            "some i are chosen, so that each pair is computed twice, though symmetric is always");
  PairMethod search = row("search", 10);
  search.survey = [](SumRequest&) { return Estimate{.cost = 10, .twice = "the search has excluded pairs"}; };
  const std::vector<PairMethod> searched{search, row("all", 2000)};
  EXPECT_EQ(detour_of(plan_run(searched, request, Measure::Now), searched),
            "the search has excluded pairs, so that each pair is computed twice, though symmetric is always");
}

// What must be measured is measured by the run: a plan has the cost alone.
TEST(RunPlan, APlanMeasuresNothing) {
  int measured = 0;
  PairMethod far = row("far", 0);
  far.measure = [&](const SumRequest&) { return ++measured, Estimate{.cost = 5000}; };
  far.expected = [](const SumRequest&) { return std::pair(Estimate{.cost = 100}, 77.0); };
  const std::vector<PairMethod> methods{far, row("all", 2000)};
  const RunPlan plan = plan_run(methods, {}, Measure::Later);
  EXPECT_EQ(plan.method->name, "far");
  ASSERT_EQ(plan.measurements.size(), 1u);
  EXPECT_EQ(plan.measurements[0], (std::pair<std::string_view, double>("far", 77)));
  EXPECT_EQ(measured, 0);
  EXPECT_EQ(plan_run(methods, {}, Measure::Now).method->name, "all");
  EXPECT_EQ(measured, 1);
}

// A pair method that this file alone knows: the j in two halves, which add to the same accumulators.
class TwoHalves {
 public:
  explicit TwoHalves(const Kernel& kernel) : kernel_(kernel), sum_(kernel.start()) {}
  PairMethod method() {
    PairMethod row;
    row.name = "two halves";
    row.estimate = [](const SumRequest& request) -> std::optional<Estimate> {
      if (request.j_part != JPart::Whole) return Estimate{.obstacle = "the j come in parts"};
      return Estimate{.cost = pairs_of(request) / 2};
    };
    row.work = [](const SumRequest&) { return std::vector<DeviceWork>{{"cpu", 0, 0}}; };
    row.enqueue = [this](const SumRequest& request) {
      add(request, 0, request.nj / 2, JPart::First);
      add(request, request.nj / 2, request.nj, JPart::Last);
    };
    return row;
  }

 private:
  void add(SumRequest request, std::int64_t begin, std::int64_t end, JPart part) {
    std::vector<ArrayView> views(request.views.begin(), request.views.end());
    for (std::size_t f = 0; f < views.size(); ++f) {
      if (kernel_.source.fields[f].role != Role::InputJ) continue;
      views[f].data = static_cast<std::byte*>(views[f].data) + begin * views[f].stride;
      views[f].count = end - begin;
    }
    request.views = views;
    request.nj = end - begin;
    request.j_offset += begin;
    request.j_part = part;
    std::ranges::find(sum_->methods(), "all pairs", &PairMethod::name)->enqueue(request);
  }

  const Kernel& kernel_;
  std::unique_ptr<Summation> sum_;
};

struct Outputs {
  std::vector<double> acc, pot, seen;
  std::vector<std::int64_t> near;
  auto operator<=>(const Outputs&) const = default;
};

Outputs outputs_of(SumState& sum, std::int64_t n) {
  std::vector<double> x(std::size_t(3 * n)), m(std::size_t(n), 1.0);
  for (std::size_t k = 0; k < x.size(); ++k) x[k] = double((k * 7919) % 1009);
  const auto size = std::size_t(n);
  Outputs out{std::vector<double>(3 * size), std::vector<double>(size), std::vector<double>(size),
              std::vector<std::int64_t>(size)};
  for (const char* field : {"xi", "xj"}) sum.bind(field, {x.data(), Element::Double, n, 24, 8});
  sum.bind("mj", {m.data(), Element::Double, n, 8, 8});
  const std::vector<double> eps2{1};
  sum.set_param("eps2", eps2);
  sum.bind("acc", {out.acc.data(), Element::Double, n, 24, 8});
  sum.bind("pot", {out.pot.data(), Element::Double, n, 8, 8});
  sum.bind("seen", {out.seen.data(), Element::Double, n, 8, 8});
  sum.bind("near", {out.near.data(), Element::Int64, n, 8, 8});
  sum.run();
  return out;
}

TEST(RunPlan, ANewMethodIsARowAndNothingElse) {
  CpuDevice device(1, detect_isa(), std::make_shared<test::FakeToolchain>(), "", "");
  const std::shared_ptr<const Kernel> kernel = device.load(test::fake_source());
  TwoHalves halves(*kernel);
  SumState plain(kernel), extended(kernel);
  extended.add_method(halves.method());
  const Outputs expected = outputs_of(plain, 101), got = outputs_of(extended, 101);
  for (std::size_t k = 0; k < expected.acc.size(); ++k) EXPECT_NEAR(got.acc[k], expected.acc[k], 1e-9) << k;
  for (std::size_t k = 0; k < expected.pot.size(); ++k) EXPECT_NEAR(got.pot[k], expected.pot[k], 1e-9) << k;
  EXPECT_EQ(got.near, expected.near);
  EXPECT_EQ(got.seen, expected.seen);
  EXPECT_EQ(plain.statistics().method, "all pairs");
  EXPECT_EQ(extended.statistics().method, "two halves");
  EXPECT_THAT(extended.statistics().reason, HasSubstr("all pairs: costs as much as 1.02e+04 pairs"));
  EXPECT_EQ(extended.plan().method->name, "two halves");
}

}  // namespace
}  // namespace nbcc
