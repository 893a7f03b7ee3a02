// Sums to a tolerance through nbcc.h and nbcc.hpp.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "runtime/api/nbcc.hpp"
#include "tests/support/folders.h"

namespace nbcc {
namespace {

constexpr std::int64_t kCount = 20'000;

struct Cloud {
  std::vector<double> x = std::vector<double>(3 * kCount), m = std::vector<double>(kCount, 1.0 / kCount),
                      acc = std::vector<double>(3 * kCount), pot = std::vector<double>(kCount);
  Cloud() {
    std::mt19937_64 random(5);
    std::normal_distribution<double> normal;
    for (double& value : x) value = normal(random);
  }
};

std::string pipeline_file(const std::string& name) { return test::source_folder() + "/pipelines/" + name + ".pipe"; }

Sum bound(const Pipeline& pipeline, Cloud& cloud) {
  Sum sum(pipeline);
  sum.set("eps2", 1e-4).bind("xi", cloud.x).bind("xj", cloud.x).bind("mj", cloud.m);
  sum.bind("acc", cloud.acc).bind("pot", cloud.pot);
  return sum;
}

// The potential is a sum of terms of one sign, so that its relative error is that of the tolerance.
double error_of(const std::vector<double>& pot, const std::vector<double>& exact) {
  double squares = 0;
  for (std::size_t i = 0; i < pot.size(); ++i) squares += std::pow((pot[i] - exact[i]) / exact[i], 2);
  return std::sqrt(squares / double(pot.size()));
}

TEST(FarInterface, SumsToATolerance) {
  const Device device("cpu");
  const Pipeline pipeline = Pipeline::from_file(device, pipeline_file("gravity"), {.precision = NBCC_DOUBLE});
  Cloud cloud;
  Sum sum = bound(pipeline, cloud);
  sum.run();
  const std::vector<double> exact = cloud.pot;
  for (const double tolerance : {1e-2, 1e-5}) {
    const nbcc_statistics found = sum.tolerance(tolerance).run().statistics();
    EXPECT_STREQ(found.method, "far field");
    EXPECT_EQ(found.tolerance, tolerance);
    EXPECT_GT(found.error, 0);
    EXPECT_LE(found.error, tolerance);
    EXPECT_GE(found.largest_error, found.error);
    EXPECT_GT(found.error_of_sum, 0);
    EXPECT_GE(found.sampled, 256);
    EXPECT_LT(found.pairs_per_i, kCount);
    EXPECT_GE(found.order, 2);
    EXPECT_GE(found.leaf, 1);
    EXPECT_GT(found.separation, 0);
    EXPECT_LT(found.separation, 1);
    EXPECT_STREQ(found.precision, "double");
    for (const double seconds : {found.seconds_particles, found.seconds_tree, found.seconds_first})
      EXPECT_GT(seconds, 0);
    EXPECT_LE(error_of(cloud.pot, exact), 1.5 * tolerance);
    EXPECT_GT(error_of(cloud.pot, exact), 0);
  }
  EXPECT_STREQ(sum.tolerance(0).run().statistics().method, "symmetric");
  EXPECT_EQ(sum.statistics().tolerance, 0);
  EXPECT_EQ(cloud.pot, exact);
}

TEST(FarInterface, APairChoiceTakesPrecedence) {
  const Device device("cpu");
  const Pipeline pipeline = Pipeline::from_file(device, pipeline_file("gravity"));
  Cloud cloud;
  Sum sum = bound(pipeline, cloud);
  sum.run();
  const std::vector<double> exact = cloud.pot;
  sum.tolerance(1e-2).pairs(NBCC_PAIRS_ALL).run();
  EXPECT_STREQ(sum.statistics().method, "symmetric");
  EXPECT_EQ(cloud.pot, exact);
  const std::vector<std::int64_t> first(kCount + 1), none;
  sum.pairs(NBCC_PAIRS_AUTO).listed_pairs(first, none).run();
  EXPECT_STREQ(sum.statistics().method, "listed pairs");
}

TEST(FarInterface, AnExperimentChoosesTheNumbers) {
  const Device device("cpu");
  const Pipeline pipeline = Pipeline::from_file(device, pipeline_file("gravity"));
  Cloud cloud;
  Sum sum = bound(pipeline, cloud);
  const nbcc_far_choice choice{sizeof choice, 3, 64, 0.5};
  ASSERT_EQ(nbcc_sum_set_tolerance(sum.get(), 1e-3, &choice, nullptr), NBCC_OK);
  const nbcc_statistics found = sum.run().statistics();
  EXPECT_STREQ(found.method, "far field");
  EXPECT_EQ(found.order, 3);
  EXPECT_EQ(found.leaf, 64);
  EXPECT_LE(found.separation, 0.5);
  EXPECT_GT(found.separation, 0.4);
  EXPECT_GT(found.error, 0);
}

TEST(FarInterface, APipelineWithoutAFarFieldIsRefusedWithTheReason) {
  const Device device("cpu");
  Sum sum(Pipeline::from_file(device, pipeline_file("lennard_jones")));
  try {
    sum.tolerance(1e-3);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), NBCC_ERROR_USAGE);
    EXPECT_EQ(std::string(error.what())
                  .find("tolerance: pipeline 'lennard_jones' has no far field: a cutoff: pairs are found by search"),
              0U)
        << error.what();
  }
}

}  // namespace
}  // namespace nbcc
