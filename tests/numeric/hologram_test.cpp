// Light of point sources on a hologram: the rings of one source, and the phase that single precision must keep.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "tests/support/experiment.h"
#include "tests/support/tolerance.h"

namespace nbcc::test {
namespace {

constexpr double kLambda = 633e-9, kDistance = 0.1;

// One source of amplitude 1 above the middle of the hologram.
Particles rings(const std::vector<double>& radii) {
  Particles p{.ni = std::int64_t(radii.size()), .nj = 1};
  for (const double r : radii) p.fields["xi"].insert(p.fields["xi"].end(), {0.6 * r, 0.8 * r, 0});
  p.fields["xj"] = {0, 0, kDistance};
  p.fields["aj"] = {1};
  p.params = {{"lambda", {kLambda}}, {"z0", {kDistance}}};
  return p;
}

// The real (0) or the imaginary parts (1) of the light.
std::vector<double> parts(const Values& out, std::size_t part) {
  std::vector<double> result;
  for (std::size_t k = part; k < out.at("light").size(); k += 2) result.push_back(out.at("light")[k]);
  return result;
}

// Where the path is `cycles` wavelengths longer than on the axis.
double ring(double cycles) {
  const double path = cycles * kLambda;
  return std::sqrt(path * (2 * kDistance + path));
}

// Published to 12 decimals of a millimetre.
TEST(Hologram, BrightRingsLieWhereTheyWerePublished) {
  const Values out = sum("hologram", rings({0, 0.355809500560e-3, 0.503191417609e-3, 1.125184459944e-3}));
  for (const double re : parts(out, 0)) EXPECT_NEAR(re, 1, 1e-12);
  // The rings' own last digit turns the phase by 2 pi r dr / (z lambda).
  for (const double im : parts(out, 1)) EXPECT_NEAR(im, 0, 1e-7);
}

TEST(Hologram, DarkAndGreyRingsLieBetween) {
  const Values out = sum("hologram", rings({ring(0.25), ring(0.5), ring(7.75), ring(150.5)}));
  expect_within(parts(out, 0), {0, -1, 0, -1}, 1e-9, "re");
  expect_within(parts(out, 1), {1, 0, -1, 0}, 1e-9, "im");
}

// Sources off the reference distance are turned by 2 pi (z - z0)/lambda more.
TEST(Hologram, DistancesCountFromTheReference) {
  Particles p = rings({0});
  p.fields["xj"][2] = kDistance + 1000.25 * kLambda;
  const Values out = sum("hologram", p);
  EXPECT_NEAR(parts(out, 0)[0], 0, 1e-9);
  EXPECT_NEAR(parts(out, 1)[0], 1, 1e-9);
}

// Pixels 8 micrometres apart out to 8 mm, numbers of which single precision holds the same values as the check: the
// naive phase would be wrong by 0.1, a path formed without cancellation keeps 2 pi * 500 cycles * epsilon.
TEST(Hologram, SinglePrecisionKeepsThePhase) {
  Particles p = rings({});
  p.ni = 1001;
  p.nj = 3;
  for (int k = 0; k < p.ni; ++k) p.fields["xi"].insert(p.fields["xi"].end(), {float(8e-6 * k), float(3e-6 * k), 0});
  p.fields["xj"] = {0, 0, float(0.1), float(1e-3), float(-2e-3), float(0.1001), float(-1e-3), 0, float(0.0998)};
  p.fields["aj"] = {1, 0.5, 0.25};
  const long double z0 = float(kDistance), lambda = float(kLambda);
  p.params = {{"lambda", {double(lambda)}}, {"z0", {double(z0)}}};
  std::vector<double> re, im;
  for (std::size_t i = 0; i < std::size_t(p.ni); ++i) {
    long double sum_re = 0, sum_im = 0;
    for (std::size_t j = 0; j < 3; ++j) {
      long double r2 = 0;
      for (std::size_t c = 0; c < 3; ++c) {
        const long double d = (long double)(p.fields["xj"][3 * j + c]) - p.fields["xi"][3 * i + c];
        r2 += d * d;
      }
      const long double phase = 2 * std::numbers::pi_v<long double> * ((std::sqrt(r2) - z0) / lambda);
      sum_re += p.fields["aj"][j] * std::cos(phase);
      sum_im += p.fields["aj"][j] * std::sin(phase);
    }
    re.push_back(double(sum_re));
    im.push_back(double(sum_im));
  }
  const double cycles = 500;
  for (const nbcc_precision precision : {NBCC_SINGLE, NBCC_MIXED, NBCC_DOUBLE}) {
    const Values out = sum("hologram", p, {.precision = precision});
    const double bound = 2 * std::numbers::pi * cycles * 4 * epsilon(precision) * 1.75;
    expect_within(parts(out, 0), re, bound, "re");
    expect_within(parts(out, 1), im, bound, "im");
  }
}

}  // namespace
}  // namespace nbcc::test
