// Runs with a far field beyond the plain sum: subsets of i, accumulation, params, positions and weights that change,
// input that is not finite, particles for which far fields of others were wrong, and the same bits from run to run.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "runtime/error.h"
#include "tests/support/expect_far_measured.h"
#include "tests/support/far_trial.h"

namespace nbcc::test {
namespace {

constexpr std::int64_t kParticles = 3000;
constexpr FarChoice kSmallLeaves{.leaf = 16};
const double kNaN = std::numeric_limits<double>::quiet_NaN();

// A pipeline of the library whose next run has a far field.
FarTrial far_trial(const std::string& name, double tolerance, const std::string& shape = "plummer", bool one_set = true,
                   Precision precision = Precision::Single, int threads = 1) {
  FarTrial trial(FarTrial::library(name), precision, threads);
  trial.fill(shape, kParticles, one_set ? kParticles : kParticles / 2, one_set, 7);
  set_tolerance(trial.sum, tolerance, kSmallLeaves);
  return trial;
}

void expect_far(FarTrial& trial, double tolerance, const std::vector<std::int64_t>& which = {}) {
  EXPECT_TRUE(trial.was_far()) << trial.sum.statistics().reason;
  EXPECT_LE(trial.error(which), tolerance);
  EXPECT_GT(trial.error(which), 0);
}

TEST(FarRuns, ComputeSubsetsOfI) {
  for (const char* const name : {"gravity", "cunbody_gravity"}) {
    FarTrial trial = far_trial(name, 1e-3);
    for (const FieldLayout& field : trial.sum.fields())
      if (field.role == Role::Output) std::ranges::fill(trial.arrays[field.name], -7);
    std::vector<std::int64_t> range, list;
    for (std::int64_t i = 500; i < 1500; ++i) range.push_back(i);
    trial.run({.i_begin = 500, .i_count = 1000});
    expect_far(trial, 1e-3, range);
    for (const FieldLayout& field : trial.sum.fields())
      if (field.role == Role::Output)
        for (const std::size_t i : {0, 499, 1500, 2999})
          EXPECT_EQ(trial.arrays[field.name][i * std::size_t(field.components())], -7);
    for (std::int64_t i = kParticles - 1; i > 0; i -= 7) list.push_back(i);
    trial.run({.i_count = std::int64_t(list.size()), .i_list = list.data()});
    expect_far(trial, 1e-3, list);
    trial.run();
    expect_far(trial, 1e-3);
  }
}

TEST(FarRuns, SubsetsOfIKnowTheirIndices) {
  const Source source{"index.pipe",
                      "input_i vec3 xi; input_j vec3 xj; input_j real mj; output(sum) real pot;\n"
                      "vec3 d = xj - xi; skip_if(i_index == j_index); pot += mj * rsqrt(dot(d, d) + 1e-6);\n"};
  FarTrial trial(source, Precision::Double);
  trial.fill("uniform", kParticles, kParticles, true, 3);
  set_tolerance(trial.sum, 1e-4, kSmallLeaves);
  trial.run();
  expect_far(trial, 1e-4);
  std::vector<std::int64_t> range;
  for (std::int64_t i = 1000; i < 3000; ++i) range.push_back(i);
  trial.run({.i_begin = 1000, .i_count = 2000});
  expect_far(trial, 1e-4, range);
  // Two sets of the same numbers: the text excludes pairs that do not coincide.
  trial.fill("uniform", kParticles, kParticles, false, 4);
  trial.run();
  EXPECT_FALSE(trial.was_far());
  EXPECT_NE(trial.sum.statistics().reason.find("are not the same particles"), std::string::npos)
      << trial.sum.statistics().reason;
}

TEST(FarRuns, Accumulate) {
  FarTrial trial = far_trial("gravity", 1e-4, "uniform", true, Precision::Double);
  trial.run();
  const auto once = trial.arrays;
  trial.run({.accumulate = true});
  EXPECT_TRUE(trial.was_far()) << trial.sum.statistics().reason;
  for (const char* const output : {"acc", "pot"})
    for (std::size_t k = 0; k < once.at(output).size(); ++k)
      EXPECT_DOUBLE_EQ(trial.arrays[output][k], 2 * once.at(output)[k]);
}

TEST(FarRuns, FollowParams) {
  FarTrial trial = far_trial("gravity", 1e-3);
  for (const double eps2 : {1e-4, 1e-2, 4.0, 1e-6}) {
    trial.set_param("eps2", {eps2});
    trial.run();
    expect_far(trial, 1e-3);
  }
  FarTrial matern = far_trial("matern", 1e-4, "uniform");
  for (const double ell : {1.0, 0.1, 10.0})
    for (const double nu : {1.0, 5.0}) {
      matern.set_param("ell", {ell});
      matern.set_param("twice_nu", {nu});
      matern.run();
      expect_far(matern, 1e-4);
    }
}

TEST(FarRuns, FollowPositionsAndWeights) {
  for (const bool one_set : {true, false}) {
    FarTrial trial = far_trial("gravity", 1e-3, "plummer", one_set);
    trial.run();
    expect_far(trial, 1e-3);
    // New positions of the same distribution.
    for (int step = 0; step < 3; ++step) {
      trial.fill("plummer", kParticles, one_set ? kParticles : kParticles / 2, one_set, unsigned(20 + step));
      trial.run();
      expect_far(trial, 1e-3);
    }
    // The same positions, new weights.
    for (int step = 1; step < 4; ++step) {
      for (std::size_t j = 0; j < trial.arrays["mj"].size(); ++j)
        trial.arrays["mj"][j] = 1 + std::sin(double(j) * step);
      trial.run();
      expect_far(trial, 1e-3);
    }
    // One set becomes two whose i are moved, and their tree with them.
    for (double& x : trial.arrays["xi"]) x += 0.25;
    trial.run();
    expect_far(trial, 1e-3);
    for (double& x : trial.arrays["xi"]) x -= 0.25;
    trial.run();
    expect_far(trial, 1e-3);
  }
}

TEST(FarRuns, ReadFloatArrays) {
  FarTrial trial = far_trial("gravity", 1e-3);
  std::vector<float> x, m, pot(kParticles), acc(3 * kParticles);
  for (double& value : trial.arrays["xj"]) x.push_back(float(value)), value = x.back();
  for (double& value : trial.arrays["mj"]) m.push_back(float(value)), value = m.back();
  trial.arrays["xi"] = trial.arrays["xj"];
  for (const char* const position : {"xi", "xj"})
    trial.sum.bind(position, {x.data(), Element::Float, kParticles, 12, 4});
  trial.sum.bind("mj", {m.data(), Element::Float, kParticles, 4, 4});
  trial.sum.bind("acc", {acc.data(), Element::Float, kParticles, 12, 4});
  trial.sum.bind("pot", {pot.data(), Element::Float, kParticles, 4, 4});
  trial.run();
  std::ranges::copy(acc, trial.arrays["acc"].begin());
  std::ranges::copy(pot, trial.arrays["pot"].begin());
  expect_far(trial, 1e-3);
  // An output that is not asked for.
  trial.sum.ignore("pot");
  std::ranges::fill(acc, 0.0F);
  trial.run();
  std::ranges::copy(acc, trial.arrays["acc"].begin());
  expect_far(trial, 1e-3);
}

TEST(FarRuns, AnIWithoutPositionIsNaNAndDisturbsNoOther) {
  FarTrial trial = far_trial("gravity", 1e-3, "plummer", false);
  const std::vector<double> x = trial.arrays["xi"];
  trial.arrays["xi"][3 * 100 + 1] = kNaN;
  trial.arrays["xi"][3 * 2000] = std::numeric_limits<double>::infinity();
  trial.run();
  std::vector<std::int64_t> others;
  for (std::int64_t i = 0; i < kParticles; ++i)
    if (i != 100 && i != 2000) others.push_back(i);
  expect_far(trial, 1e-3, others);
  for (const std::size_t i : {100U, 2000U}) {
    EXPECT_TRUE(std::isnan(trial.arrays["pot"][i]));
    for (std::size_t axis = 0; axis < 3; ++axis) EXPECT_TRUE(std::isnan(trial.arrays["acc"][3 * i + axis]));
  }
  trial.arrays["xi"] = x;
  trial.bind();
  trial.run();
  expect_far(trial, 1e-3);
}

TEST(FarRuns, AVelocityOfIThatIsNaNDisturbsNoOther) {
  FarTrial trial = far_trial("gravity_jerk", 1e-3, "plummer", false);
  trial.arrays["vi"][3 * 100 + 1] = kNaN;
  trial.run();
  std::vector<std::int64_t> others;
  for (std::int64_t i = 0; i < kParticles; ++i)
    if (i != 100) others.push_back(i);
  expect_far(trial, 1e-3, others);
  EXPECT_TRUE(std::isnan(trial.arrays["jerk"][3 * 100 + 1]));
  EXPECT_FALSE(std::isnan(trial.arrays["acc"][3 * 100 + 1]));
}

TEST(FarRuns, AJThatIsNotFiniteMakesAllPairsRun) {
  FarTrial trial = far_trial("gravity", 1e-3, "plummer", false);
  const double x = trial.arrays["xj"][30], m = trial.arrays["mj"][10];
  const auto expect_all_pairs = [&](const std::string& reason) {
    trial.run();
    EXPECT_FALSE(trial.was_far());
    EXPECT_NE(trial.sum.statistics().reason.find(reason), std::string::npos) << trial.sum.statistics().reason;
  };
  trial.arrays["xj"][30] = kNaN;
  expect_all_pairs("a j has a position that is not finite");
  trial.arrays["xj"][30] = x;
  trial.run();
  expect_far(trial, 1e-3);
  for (const double weight :
       {std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity(), kNaN}) {
    trial.arrays["mj"][10] = weight;
    expect_all_pairs("a weight is not finite");
  }
  trial.arrays["mj"][10] = m;
  trial.run();
  expect_far(trial, 1e-3);
}

// All pairs cost less, but in the precision of the pipeline they do not keep the tolerance.
TEST(FarRuns, FewParticlesKeepSmallTolerances) {
  for (const double tolerance : {1e-7, 1e-9, 1e-12})
    for (const std::int64_t n : {1, 2, 60, 500}) {
      SCOPED_TRACE(std::to_string(n) + " to " + std::to_string(tolerance));
      FarTrial trial(FarTrial::library("gravity"), Precision::Single);
      trial.fill("plummer", n, n, true, 3);
      set_tolerance(trial.sum, tolerance, {});
      trial.run();
      EXPECT_LE(trial.error(), tolerance) << trial.sum.statistics().method << ": " << trial.sum.statistics().reason;
      EXPECT_EQ(trial.sum.statistics().far.precision, tolerance < 1e-7 ? "double" : "mixed");
      trial.arrays["mj"][0] = kNaN;  // no far field, but the precision stays
      trial.run();
      EXPECT_TRUE(trial.was_far());
    }
}

// Coordinates of 1e7 have no digits for distances of 0.1 in single precision, which distant pairs take.
TEST(FarRuns, MixedPrecisionHasItsDigitsFarFromTheOrigin) {
  FarTrial trial(FarTrial::library("gravity"), Precision::Single);
  for (const char* const shape : {"plummer", "far body", "thin"}) {
    SCOPED_TRACE(shape);
    trial.fill(shape, 6000, 6000, true, 7);
    for (const char* const name : {"xi", "xj"})
      for (double& x : trial.arrays[name]) x += 1e7;
    set_tolerance(trial.sum, 1e-6, {.order = 7, .leaf = 64});
    trial.run();
    const SumStatistics statistics = trial.sum.statistics();
    EXPECT_LE(trial.error(), 1e-6) << statistics.reason;
    EXPECT_EQ(statistics.far.precision, "mixed");
    EXPECT_EQ(statistics.far.order, 7);
  }
}

TEST(FarRuns, ToleranceThatAllPairsCannotKeepIsAnError) {
  FarTrial trial(FarTrial::library("gravity"), Precision::Single);
  trial.fill("plummer", 300, 300, true, 3);
  set_tolerance(trial.sum, 1e-9, {});
  const std::vector<std::int64_t> one_batch(300);
  trial.set_batches(1, one_batch, one_batch);
  try {
    trial.sum.run();
    FAIL() << "it ran";
  } catch (const UsageError& e) {
    EXPECT_STREQ(e.what(),
                 "tolerance: 1e-09 needs double precision, but some batches are too small for a far field, so that all "
                 "pairs run in that of pipeline 'gravity': compile it in double precision");
  }
  set_tolerance(trial.sum, 1e-3, {});
  trial.sum.run();
  EXPECT_FALSE(trial.was_far());
}

// A value of i that makes its own sum NaN is not a reason for later runs.
TEST(FarRuns, ASumThatIsNotFiniteIsForgotten) {
  FarTrial trial = far_trial("cunbody_gravity", 1e-3, "plummer", false);
  const std::vector<double> i = trial.arrays["INPUT_I"];
  for (std::size_t k = 3; k < i.size(); k += 4) trial.arrays["INPUT_I"][k] = kNaN;
  trial.run();
  EXPECT_FALSE(trial.was_far());
  trial.arrays["INPUT_I"] = i;
  trial.bind();
  trial.run();
  expect_far(trial, 1e-3);
}

TEST(FarRuns, ACommonVelocityCostsNoMoreDigitsThanInAllPairs) {
  for (const char* const name : {"gravity_jerk", "gravity_snap"})
    for (const Precision precision : {Precision::Single, Precision::Double}) {
      const double tolerance = precision == Precision::Single ? 1e-3 : 1e-6;
      FarTrial trial = far_trial(name, tolerance, "plummer", true, precision);
      trial.run();
      const double at_rest = trial.error();
      for (const char* const velocity : {"vi", "vj"})
        for (double& v : trial.arrays[velocity]) v += 1e4;
      trial.run();
      expect_far(trial, tolerance);
      // Velocities of order one lose four digits of the seven of single precision when 1e4 is added to them.
      EXPECT_LE(trial.error(), 2 * at_rest + (precision == Precision::Single ? 2e-3 : 1e-11)) << name;
    }
}

TEST(FarRuns, GiveTheSameBitsAgainAndOnAnyNumberOfThreads) {
  for (const char* const name : {"gravity_jerk", "cunbody_gravity"}) {
    FarTrial one = far_trial(name, 1e-4), two = far_trial(name, 1e-4, "plummer", true, Precision::Single, 2);
    one.run(), two.run();
    expect_far(one, 1e-4);
    const auto first = one.arrays;
    EXPECT_EQ(two.arrays, first);
    one.run(), two.run();
    EXPECT_EQ(one.arrays, first);
    EXPECT_EQ(two.arrays, first);
    FarTrial again = far_trial(name, 1e-4);
    again.run();
    EXPECT_EQ(again.arrays, first);
  }
}

// A kink at d.x = 0 lies in cells that are distant along another axis. Cells beyond it are smooth.
TEST(FarRuns, KinksAreSeenInTheSample) {
  const Source source{"kink.pipe",
                      "input_i vec3 xi; input_j vec3 xj; input_j real mj; output(sum) real pot;\n"
                      "vec3 d = xj - xi; pot += mj * abs(d.x) / (dot(d, d) + 1e-4);\n"};
  for (const double tolerance : {1e-2, 1e-4, 1e-6}) {
    FarTrial trial(source, Precision::Double);
    trial.fill("uniform", kParticles, kParticles, true, 5);
    set_tolerance(trial.sum, tolerance, kSmallLeaves);
    trial.run();
    EXPECT_LE(trial.error(), tolerance) << trial.sum.statistics().reason;
  }
}

TEST(FarRuns, JumpsAreSeenInTheSample) {
  const Source source{"jump.pipe",
                      "input_i vec3 xi; input_j vec3 xj; input_j real mj; output(sum) real pot;\n"
                      "vec3 d = xj - xi; pot += mj * (d.x > 0.31 ? 2.0 : 1.0) / (dot(d, d) + 1e-4);\n"};
  for (const double tolerance : {1e-2, 1e-4}) {
    FarTrial trial(source, Precision::Double);
    trial.fill("uniform", kParticles, kParticles, true, 5);
    set_tolerance(trial.sum, tolerance, kSmallLeaves);
    trial.run();
    EXPECT_LE(trial.error(), tolerance) << trial.sum.statistics().reason;
  }
}

TEST(FarRuns, ForcesThatNearlyCancel) {
  // A lattice of equal masses, and charges of alternating sign.
  for (const char* const name : {"gravity", "laplace_log_2d"})
    for (const double tolerance : {1e-3, 1e-6}) {
      FarTrial trial(FarTrial::library(name), Precision::Double);
      trial.fill("lattice", 4096, 4096, true, 3);
      std::vector<double>& weights = trial.arrays[std::string(name) == "gravity" ? "mj" : "qj"];
      for (std::size_t j = 0; j < weights.size(); ++j)
        weights[j] = std::string(name) == "gravity" ? 1 : (j + j / 16) % 2 == 0 ? 1 : -1;
      trial.bind();
      set_tolerance(trial.sum, tolerance, kSmallLeaves);
      trial.run();
      EXPECT_LE(trial.error(), tolerance) << trial.sum.statistics().reason;
    }
}

TEST(FarRuns, SofteningLargerThanCells) {
  FarTrial trial = far_trial("gravity", 1e-5, "uniform", true, Precision::Double);
  for (const double eps2 : {1.0, 100.0, 0.01}) {
    trial.set_param("eps2", {eps2});
    trial.run();
    expect_far(trial, 1e-5);
  }
}

TEST(FarRuns, LongThinCells) {
  for (const char* const name : {"gravity", "stokeslet", "cunbody_gravity"}) {
    FarTrial trial = far_trial(name, 1e-4, "thin", true, Precision::Double);
    trial.run();
    expect_far(trial, 1e-4);
  }
}

// Squares of large distances overflow, and so do radii of large cells, but not of small ones; all terms but one are 0.
TEST(FarRuns, HugeCoordinatesAreSummed) {
  FarTrial trial = far_trial("gaussian_rbf", 1e-4, "plummer", true, Precision::Double);
  for (const char* const name : {"xi", "xj"})
    for (double& x : trial.arrays[name]) x *= 2e153;
  trial.run();
  EXPECT_EQ(trial.arrays["s"], trial.exact["s"]);
  EXPECT_TRUE(trial.was_far()) << trial.sum.statistics().reason;
}

// Few of many j have a weight: weights that are drawn at random may all be 0.
TEST(FarRuns, FewWeightsThatAreNotZero) {
  FarTrial trial = far_trial("gravity", 1e-4, "uniform", true, Precision::Double);
  std::ranges::fill(trial.arrays["mj"], 0);
  trial.arrays["mj"][1234] = 1;
  trial.arrays["mj"][17] = 2;
  trial.run();
  EXPECT_LE(trial.error(), 1e-4) << trial.sum.statistics().reason;
  std::ranges::fill(trial.arrays["mj"], 0);
  trial.run();
  EXPECT_EQ(trial.error(), 0);
}

// One of so many j has a weight that drawing at random does not find it.
TEST(FarRuns, OneWeightThatIsNotZero) {
  FarTrial trial(FarTrial::library("gravity_acc"), Precision::Single);
  trial.fill("uniform", 64, 1'500'000, false, 7);
  std::ranges::fill(trial.arrays["mj"], 0);
  trial.arrays["mj"][1'234'567] = 1;
  set_tolerance(trial.sum, 1e-3, {.order = 4});
  trial.run();
  EXPECT_TRUE(trial.was_far()) << trial.sum.statistics().reason;
  EXPECT_LE(trial.error(), 1e-3);
}

// An iterative solver begins with weights that are all 0.
TEST(FarRuns, NothingIsLearnedFromWeightsThatAreAllZero) {
  FarTrial trial = far_trial("stokeslet", 1e-4, "uniform", true, Precision::Double);
  const std::vector<double> weights = trial.arrays["fj"];
  std::ranges::fill(trial.arrays["fj"], 0);
  trial.run();
  EXPECT_EQ(trial.error(), 0);
  std::ranges::copy(weights, trial.arrays["fj"].begin());
  trial.run();
  expect_far(trial, 1e-4);
}

// A run that is refused reads positions, but makes no trees of them.
TEST(FarRuns, ARefusedRunLeavesNoTrees) {
  FarTrial trial = far_trial("gravity", 1e-3, "plummer", false);
  trial.run();
  trial.fill("uniform", kParticles, kParticles / 2, false, 9);
  const double weight = trial.arrays["mj"][5];
  trial.arrays["mj"][5] = kNaN;
  trial.run();
  EXPECT_FALSE(trial.was_far());
  trial.arrays["mj"][5] = weight;
  trial.run();
  expect_far(trial, 1e-3);
}

TEST(FarRuns, ChangedWeightsAreMeasured) {
  FarTrial trial(gaussians(), Precision::Single);
  expect_errors_of_changed_weights(trial, 3000, false);
}

TEST(FarRuns, ChangedFactorsAreMeasured) {
  const Source source{"factors.pipe",
                      "input_i vec3 xi; input_i real hi; input_j vec3 xj; input_j real mj; output(sum) real u;\n"
                      "vec3 d = xj - xi; u += mj * pow(dot(d, d) + 0.01, -hi);\n"};
  FarTrial trial(source, Precision::Double);
  trial.fill("uniform", kParticles, kParticles, true, 5);
  set_tolerance(trial.sum, 1e-3, kSmallLeaves);
  for (const double exponent : {0.2, 0.2, 4.0, 4.0, 0.5}) {  // the 3rd and 5th are no power of two
    std::ranges::fill(trial.arrays["hi"], exponent);
    trial.run();
    EXPECT_LE(trial.error(), 1e-3) << exponent << ": " << trial.sum.statistics().reason;
  }
}

TEST(FarRuns, TermsTooSmallForSinglePrecision) {
  for (const Precision precision : {Precision::Single, Precision::Mixed}) {
    FarTrial trial(FarTrial::library("gaussian_rbf"), precision);
    expect_all_pairs_of_tiny_terms(trial);
  }
}

// The 1st, 2nd, 4th ... of many runs.
TEST(FarRuns, AllPairsAreMeasuredInFewRuns) {
  FarTrial trial(FarTrial::library("gravity"), Precision::Single);
  trial.fill("plummer", 300, 300, true, 5);
  set_tolerance(trial.sum, 1e-3);
  for (const std::int64_t since : {0, 0, 1, 0, 1, 2, 3, 0}) {
    trial.run();
    EXPECT_EQ(trial.sum.statistics().method, "all pairs");
    const FarStatistics found = trial.sum.statistics().far;
    EXPECT_EQ(found.runs_since_error, since);
    EXPECT_EQ(found.sampled, 256);
    EXPECT_GT(found.error, 0);
    EXPECT_LT(found.error, 1e-6);
    EXPECT_EQ(found.precision, "single");
  }
}

TEST(FarRuns, OneHeavyParticle) {
  FarTrial trial = far_trial("gravity", 1e-4, "plummer", true, Precision::Double);
  trial.arrays["mj"][1234] = 1e6;
  trial.run();
  EXPECT_LE(trial.error(), 1e-4) << trial.sum.statistics().reason;
}

TEST(FarRuns, TolerancesThatAreRefused) {
  FarTrial trial = far_trial("gravity", 1e-3);
  for (const double tolerance : {-1e-3, 2.0, 1e-15, kNaN, std::numeric_limits<double>::infinity()})
    EXPECT_THROW(set_tolerance(trial.sum, tolerance), UsageError);
  trial.run();
  expect_far(trial, 1e-3);
  set_tolerance(trial.sum, 0);
  trial.run();
  EXPECT_FALSE(trial.was_far());
}

}  // namespace
}  // namespace nbcc::test
