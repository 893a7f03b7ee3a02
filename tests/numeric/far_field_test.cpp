// Sums with a far field against sums over all pairs in double precision: the error of all i is within the tolerance.
// NBCC_FAR_CASES=N runs N random cases of each pipeline and precision, and prints how the errors are distributed.
// NBCC_FAR_SEED=S draws other cases.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "runtime/far/far_run.h"
#include "runtime/tolerance/tolerance.h"
#include "tests/support/far_trial.h"

namespace nbcc::test {
namespace {

constexpr const char* kSmoothPipelines[] = {"gravity",          "gravity_acc",    "gravity_jerk", "gravity_snap",
                                            "potential",        "stokeslet",      "biot_savart",  "bem_single_layer",
                                            "bem_double_layer", "laplace_log_2d", "gaussian_rbf", "matern",
                                            "cunbody_gravity"};
constexpr const char* kShapes[] = {"uniform", "plummer", "clumps", "line", "plane", "coincident", "far body", "apart"};
constexpr double kTolerances[] = {1e-2, 1e-4, 1e-6, 1e-8, 1e-10};
constexpr Precision kPrecisions[] = {Precision::Single, Precision::Mixed, Precision::Double};

// There are more particles than are compared.
TEST(FarField, KnowsWhetherManyParticlesHaveMoved) {
  constexpr std::int64_t kCount = 9000;
  for (const bool one_set : {true, false}) {
    SCOPED_TRACE(one_set);
    FarTrial trial(FarTrial::library("gravity"), Precision::Single);
    trial.fill("uniform", kCount, kCount, one_set, 9);
    FarRun run(trial.sum.kernel(), trial.sum.summation(), Precision::Single, 1e-3);
    const auto is_far_after_move_of_every = [&](std::int64_t stride, double distance) {
      for (const char* const name : {"xi", "xj"})
        for (std::int64_t k = 0; k < kCount && (one_set || name[1] == 'i'); k += stride)
          trial.arrays[name][std::size_t(3 * k)] += distance;
      EXPECT_EQ(run.prepare(trial.sum.plan().request, 64), "");
      return run.has_moved_far();
    };
    EXPECT_EQ(run.prepare(trial.sum.plan().request, 64), "");
    EXPECT_EQ(run.draw_sample(trial.sum.plan().request, 8), "");
    EXPECT_FALSE(is_far_after_move_of_every(1, 1e-3));
    EXPECT_FALSE(is_far_after_move_of_every(100, 0.3));
    EXPECT_TRUE(is_far_after_move_of_every(7, 0.3));
    EXPECT_EQ(run.draw_sample(trial.sum.plan().request, 8), "");
    EXPECT_FALSE(run.has_moved_far());
  }
}

TEST(FarField, KeepsTheTolerance) {
  const char* const wide = std::getenv("NBCC_FAR_CASES");
  const int cases = wide ? std::atoi(wide) : 2;
  std::vector<double> errors;  // of runs with a far field, in tolerances
  int runs = 0;
  const char* const seed = std::getenv("NBCC_FAR_SEED");
  std::mt19937_64 random(seed ? std::strtoull(seed, nullptr, 10) : 41);
  for (const char* const name : kSmoothPipelines)
    for (const Precision precision : kPrecisions) {
      // The compiler takes most of the time of a short test.
      if (!wide && (random() % 3) != 0 && std::string(name) != "gravity") continue;
      FarTrial trial(FarTrial::library(name), precision);
      for (int k = 0; k < cases; ++k) {
        const std::string shape = kShapes[random() % std::size(kShapes)];
        const double tolerance = kTolerances[random() % std::size(kTolerances)];
        const auto few = random() % 8;
        const std::int64_t n = few == 0   ? std::array<std::int64_t, 3>{1, 2, 27}[random() % 3]
                               : few == 1 ? (wide ? 20'000 : 8000)
                                          : (wide ? 3000 : 1500) + std::int64_t(random() % 2000);
        const bool one_set = random() % 3 != 0, is_free = few == 1 || random() % 8 == 0;
        const FarChoice choice{.leaf = is_free ? 0 : 8 << random() % 3};
        SCOPED_TRACE(std::string(name) + ", " + std::string(nbcc::name(precision)) + ", " + shape + ", n " +
                     std::to_string(n) + (one_set ? ", one set" : ", two sets") + ", tolerance " +
                     std::to_string(-std::log10(tolerance)) + " digits, leaf " + std::to_string(choice.leaf));
        trial.fill(shape, n, one_set ? n : std::max<std::int64_t>(n / 2, 1), one_set, unsigned(random()));
        set_tolerance(trial.sum, tolerance, choice);
        trial.run();
        ++runs;
        const double error = trial.error();
        EXPECT_LE(error, tolerance) << trial.sum.statistics().far.error << ", " << trial.sum.statistics().reason;
        if (trial.was_far()) errors.push_back(error / tolerance);
        if (n > 5000) continue;  // exact sums take most of the time
        std::string history = "weights";
        for (int later = 0; later < (wide ? 4 : 2); ++later) {
          const unsigned weights = random() % kFarWeights;
          history += " " + std::to_string(weights);
          SCOPED_TRACE(history);
          trial.reweigh(FarWeights(weights), random);
          trial.run();
          EXPECT_LE(trial.error(), tolerance)
              << trial.sum.statistics().far.error << ", " << trial.sum.statistics().reason;
        }
      }
    }
  std::ranges::sort(errors);
  ASSERT_FALSE(errors.empty());
  if (wide)
    std::printf("%zu of %d runs had a far field; error / tolerance: %.2g to %.2g, median %.2g\n", errors.size(), runs,
                errors.front(), errors.back(), errors[errors.size() / 2]);
  EXPECT_GT(errors.size(), std::size_t(runs / 2));
  // Not far more exact than asked, as a rule.
  EXPECT_GT(errors[errors.size() / 2], 1e-3);
}

TEST(FarField, KeepsTheToleranceAtTheLeastCost) {
  FarTrial trial(FarTrial::library("gravity"), Precision::Single, 2);
  trial.fill("plummer", 20'000, 20'000, true, 3);
  set_tolerance(trial.sum, 1e-3);
  trial.run();
  ASSERT_TRUE(trial.was_far()) << trial.sum.statistics().reason;
  EXPECT_LE(trial.error(), 1e-3);
  const FarStatistics found = trial.sum.statistics().far;
  EXPECT_LE(found.error, 1e-3);
  EXPECT_GE(found.sampled, 256);
  EXPECT_LT(found.pairs_per_i, 10'000);
  // The sample's error is that of all i, but for the spread of a sample.
  EXPECT_LT(found.error, 2 * trial.error());
  EXPECT_GT(found.error, 0.5 * trial.error());
}

TEST(FarField, NeedsNoParams) {
  CpuDevice device(2, detect_isa(), test::cpu_toolchain(), "", "");
  SumState sum(device.load(
      build_cpu_kernel(read_source(test::source_folder() + "/pipelines/bem_single_layer.pipe"), {}, detect_isa(), "")));
  const std::int64_t n = 20'000;
  std::mt19937_64 random(4);
  std::normal_distribution<double> normal;
  std::vector<double> x(std::size_t(3 * n)), w(std::size_t(n), 1.0 / double(n)), sigma(std::size_t(n), 0.0),
      pot(std::size_t(n), 0.0);
  for (double& value : x) value = normal(random);
  for (double& value : sigma) value = normal(random);
  for (const char* position : {"xi", "xj"}) sum.bind(position, {x.data(), Element::Double, n, 24, 8});
  sum.bind("wj", {w.data(), Element::Double, n, 8, 8});
  sum.bind("sigmaj", {sigma.data(), Element::Double, n, 8, 8});
  sum.bind("pot", {pot.data(), Element::Double, n, 8, 8});
  set_tolerance(sum, 1e-3);
  sum.run();
  EXPECT_EQ(sum.statistics().method, "far field");
  EXPECT_LE(sum.statistics().far.error, 1e-3);
}

}  // namespace
}  // namespace nbcc::test
