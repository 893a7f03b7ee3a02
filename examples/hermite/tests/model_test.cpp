// Formulas from measurements.
#include "examples/hermite/model.h"

#include <gtest/gtest.h>

namespace examples {
namespace {

TEST(FitPowerLaw, FindsThePowerThatPointsLieOn) {
  const PowerLaw law = fit_power_law({{256, 3 * 64}, {1024, 3 * 181.01933598375618}, {4096, 3 * 512}});
  EXPECT_NEAR(law.exponent, 0.75, 1e-12);
  EXPECT_NEAR(law.factor, 3, 1e-11);
  EXPECT_NEAR(law.farthest, 0, 1e-12);
}

TEST(FitPowerLaw, TellsHowFarTheFarthestPointIs) {
  // Symmetric about y = 10 in the logarithm.
  const PowerLaw law = fit_power_law({{1, 10}, {10, 20}, {100, 5}, {1000, 10}});
  EXPECT_LT(law.exponent, 0);
  EXPECT_GT(law.farthest, 0.5);
}

TEST(FitModel, FindsTheCostsThatTimesWereMadeOf) {
  std::vector<Statistics> runs;
  for (const int count : {100, 1000}) {
    Statistics& run = runs.emplace_back(count);
    for (const int n : {1, 5, 60}) {
      Seconds took;
      took.host = 1e-6 + 2e-8 * n;
      took.list = 3e-6;
      took.force = 4e-6 + 1e-9 * n * count;
      run.add(std::size_t(n), took);
    }
  }
  const Model model = fit_model(runs);
  EXPECT_NEAR(model.host.per_i, 2e-8, 1e-13);
  EXPECT_NEAR(model.communication.each, 3e-6, 1e-11);
  EXPECT_NEAR(model.calculation.per_pair, 1e-9, 1e-14);
  const Seconds modelled = model.of(runs.back()), measured = runs.back().seconds();
  EXPECT_NEAR(modelled.host / measured.host, 1, 1e-5);
  EXPECT_NEAR(modelled.communication() / measured.communication(), 1, 1e-5);
  EXPECT_NEAR(modelled.calculation() / measured.calculation(), 1, 1e-5);
}

}  // namespace
}  // namespace examples
