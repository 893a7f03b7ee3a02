#include "compiler/ir/bessel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <span>

#include "tests/support/bessel_values.h"

namespace nbcc {
namespace {

using test::BesselValue;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Function {
  const char* name;
  double (*value)(double);
  bool oscillates;
  std::span<const BesselValue> values, wide;
};
const Function kFunctions[] = {{"j0", bessel_j0, true, test::kJ0, {}},
                               {"j1", bessel_j1, true, test::kJ1, {}},
                               {"k0", bessel_k0, false, test::kK0, test::kWideK0},
                               {"k1", bessel_k1, false, test::kK1, test::kWideK1},
                               {"i0", bessel_i0, false, test::kI0, test::kWideI0},
                               {"i1", bessel_i1, false, test::kI1, test::kWideI1}};

// Rounded once; the C library's J0 and J1 within 2 ulp of the amplitude.
TEST(bessel, values) {
  for (const Function& f : kFunctions) {
    for (const std::span<const BesselValue> values : {f.values, f.wide}) {
      for (const auto& [x, exact] : values) {
        const long double amplitude = std::sqrt(2 / (std::numbers::pi_v<long double> * std::fabs((long double)x)));
        const long double size =
            f.oscillates && std::fabs(x) > 1 ? std::max(amplitude, std::fabs(exact)) : std::fabs(exact);
        const long double ulp = std::ldexp(1.0L, std::ilogb(size) - 52);
        EXPECT_LE(std::fabs((long double)f.value(x) - exact) / ulp, f.oscillates ? 2 : 0.51)
            << f.name << "(" << x << ")";
      }
    }
  }
}

TEST(bessel, ends_and_what_is_no_number) {
  for (const double x : {0.0, -0.0}) {
    EXPECT_EQ(bessel_k0(x), kInfinity);
    EXPECT_EQ(bessel_k1(x), kInfinity);
    EXPECT_EQ(bessel_i0(x), 1);
    EXPECT_EQ(bessel_i1(x), 0);
  }
  for (const double x : {713.99, 1e10, kInfinity}) {
    EXPECT_EQ(bessel_i0(x), kInfinity);
    EXPECT_EQ(bessel_i0(-x), kInfinity);
    EXPECT_EQ(bessel_i1(-x), -kInfinity);
    EXPECT_EQ(bessel_k0(x + 40), 0);
    EXPECT_TRUE(std::isnan(bessel_k1(-x)));
  }
  EXPECT_EQ(bessel_k1(1e-320), kInfinity);
  EXPECT_NEAR(bessel_k0(5e-324), 744.5560034374, 1e-9);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const Function& f : kFunctions) EXPECT_TRUE(std::isnan(f.value(nan))) << f.name;
}

}  // namespace
}  // namespace nbcc
