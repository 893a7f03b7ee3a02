// The force of softened bodies in mixed precision, against the library's pipeline in double.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "examples/support/open_sum.h"
#include "examples/support/plummer.h"

namespace examples {
namespace {

constexpr std::int64_t kCount = 300;
// Terms of single precision: what is left of differences in two parts, a root and its cube, a fused sum over a tile.
constexpr double kTolerance = 16 * 0x1p-24;

struct Forces {
  std::vector<double> acc = std::vector<double>(3 * kCount), jerk = acc, pot = std::vector<double>(kCount);
};

Forces forces(const char* pipeline, nbcc_precision precision, const Bodies& bodies) {
  Forces found;
  nbcc::Sum sum = open_sum(nbcc::Device("cpu"), pipeline, precision);
  sum.bind("xi", bodies.x).bind("vi", bodies.v).bind("xj", bodies.x).bind("vj", bodies.v).bind("mj", bodies.mass);
  if (precision == NBCC_MIXED) sum.bind("mi", bodies.mass);
  sum.bind("acc", found.acc).bind("jerk", found.jerk).bind("pot", found.pot).set("eps2", 1.0 / 65536).run();
  return found;
}

double largest(const std::vector<double>& of) {
  double most = 0;
  for (const double x : of) most = std::max(most, std::fabs(x));
  return most;
}

class JerkMixedTest : public testing::Test {
 protected:
  const Bodies bodies_ = plummer(kCount, 1);
  const Forces got_ = forces("examples/hermite/jerk_mixed.pipe", NBCC_MIXED, bodies_);
  const Forces expected_ = forces("pipelines/gravity_jerk.pipe", NBCC_DOUBLE, bodies_);
};

TEST_F(JerkMixedTest, PotentialsAreWithoutThatOfTheParticleItself) {
  const double scale = largest(expected_.pot) + std::sqrt(65536.0) / kCount;
  for (std::size_t k = 0; k < kCount; ++k) EXPECT_NEAR(got_.pot[k], expected_.pot[k], kTolerance * scale);
}

TEST_F(JerkMixedTest, AccelerationsAreThoseOfTheLibrarysPipeline) {
  const double scale = largest(expected_.acc);
  for (std::size_t k = 0; k < 3 * kCount; ++k) EXPECT_NEAR(got_.acc[k], expected_.acc[k], kTolerance * scale);
}

TEST_F(JerkMixedTest, JerksAreThoseOfTheLibrarysPipeline) {
  const double scale = largest(expected_.jerk);
  for (std::size_t k = 0; k < 3 * kCount; ++k) EXPECT_NEAR(got_.jerk[k], expected_.jerk[k], kTolerance * scale);
}

TEST_F(JerkMixedTest, NearBodiesFarFromTheOriginAreToldApart) {
  Bodies pair{{0.5, 0.5}, {1000, 0, 0, 1000.001, 0, 0}, {0, 0, 0, 0, 1, 0}};
  std::vector<double> acc(6);
  nbcc::Sum sum = open_sum(nbcc::Device("cpu"), "examples/hermite/jerk_mixed.pipe", NBCC_MIXED);
  sum.bind("xi", pair.x).bind("vi", pair.v).bind("mi", pair.mass);
  sum.bind("xj", pair.x).bind("vj", pair.v).bind("mj", pair.mass);
  sum.bind("acc", acc).ignore("jerk").ignore("pot").set("eps2", 1e-12).run();
  const double r = pair.x[3] - pair.x[0], expected = 0.5 * r / std::pow(r * r + 1e-12, 1.5);
  EXPECT_NEAR(acc[0], expected, 1e-6 * expected);
}

}  // namespace
}  // namespace examples
