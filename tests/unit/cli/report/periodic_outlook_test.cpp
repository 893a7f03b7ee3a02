// What `nbcc check` says of a periodic sum is what a run says of it, and what it cannot know it says.
#include "cli/report/periodic_outlook.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "compiler/source/parse.h"
#include "tests/support/periodic_trial.h"

namespace nbcc::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

PeriodicOutlook outlook_of(const std::string& text) {
  const Pipeline pipeline = parse({"periodic.pipe", text});
  return periodic_outlook(pipeline, read_periodic_terms(pipeline));
}

// Terms of weights qj in a box.
std::string text_of(const std::string& terms, const std::string& params = "param vec3 box;") {
  return "input_i vec3 xi; input_j vec3 xj; input_j real qj; output(sum) real s;\n" + params +
         "\nvec3 d = every_image(xj - xi, box); skip_if(self_pair); real r = length(d);\n" + terms + "\n";
}

TEST(PeriodicOutlook, IsWhatARunSays) {
  const PeriodicOutlook found = outlook_of(kCharges);
  EXPECT_THAT(found.lines,
              ElementsAre("pot: decay 1, degree 2 fitted, mean zero (tinfoil); weights need not be neutral (uniform "
                          "background)",
                          "field: decay 2, degree 1 fitted, mean zero (tinfoil); weights need not be neutral (uniform "
                          "background)"));
  EXPECT_THAT(found.when, HasSubstr("a cell with periods of 1"));
  PeriodicTrial trial(kCharges, Precision::Double, 1);
  trial.set_cell(kCube);
  trial.arrays["qj"] = {1, -1};
  set_tolerance(trial.sum, 1e-4);
  trial.run({{0.1, 0.2, 0.3}, {0.4, 0.1, 0.8}});
  EXPECT_EQ(trial.sum.statistics().far.convention, found.lines[0] + "; " + found.lines[1]);
}

TEST(PeriodicOutlook, HasEachConvention) {
  const auto line = [](const std::string& terms) {
    const PeriodicOutlook found = outlook_of(text_of(terms));
    return found.lines.empty() ? found.reason : found.lines[0];
  };
  EXPECT_EQ(line("s += qj / (r * r * r * r * r * r);"), "s: decay 6, converges absolutely");
  EXPECT_EQ(line("s += qj * exp(-r) / r;"), "s: decay faster than any power, converges absolutely");
  EXPECT_EQ(line("s += qj / (r * r * r);"), "s: decay 3, weights must be neutral");
  EXPECT_EQ(line("s += qj * (1.0 / r + 1.0 / (r * r * r * r * r * r));"),
            "s: decay 1, degree 2 fitted, weights must be neutral");
  EXPECT_EQ(line("s += qj * (3.0 * d.x * d.x / (r * r) - 1.0) / (r * r * r);"),
            "s: decay 3, growing spheres (vacuum outside)");
}

TEST(PeriodicOutlook, OfASlabAndOfDefaultPeriods) {
  const PeriodicOutlook slab = outlook_of(text_of("s += qj / r;", "param vec3 box = vec3(2.0, 3.0, 0.0);"));
  EXPECT_THAT(slab.lines, ElementsAre("s: decay 1, degree 1 fitted, without a constant, which matters only if weights "
                                      "are not neutral"));
  EXPECT_THAT(slab.when, HasSubstr("of the default periods"));
}

TEST(PeriodicOutlook, SaysWhatItCannotKnow) {
  EXPECT_EQ(outlook_of(text_of("s += qj * exp(-k * r) / r;", "param vec3 box; param real k;")).reason,
            "decay and convention depend on params without defaults (k); a run measures them");
  EXPECT_THAT(outlook_of(text_of("s += qj * exp(-k * r) / r;", "param vec3 box; param real k = 2;")).lines,
              ElementsAre("s: decay faster than any power, converges absolutely"));
  EXPECT_THAT(outlook_of(text_of("s += qj * r * r;")).reason,
              HasSubstr("output 's' has no periodic sum: it grows with distance"));
  EXPECT_THAT(outlook_of(text_of("s += qj * (1.0 + 1.0 / r);")).reason,
              HasSubstr("output 's' has no periodic sum: its terms do not fall off, but become the constant 1"));
}

}  // namespace
}  // namespace nbcc::test
