// Pairs with particles that are nowhere are left out wherever a neighbourhood is proved, however the guard is written.
#include "compiler/passes/prove/non_finite.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "compiler/ir/interpret.h"
#include "compiler/source/parse.h"

namespace nbcc {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN(), kInfinity = std::numeric_limits<double>::infinity();

// Places of five on a line, 1 apart, of which two are nowhere; the sum, the extreme and the index of `text`.
std::vector<std::vector<double>> results(const std::string& text) {
  const Pipeline pipeline =
      parse({"nowhere.pipe",
             "input_i real xi; input_j real xj; param real rc = 1.5; output(sum) real s; output(min) real m; "
             "output(argmin) index a;\nreal r = abs(xj - xi);\n" +
                 text});
  OracleInput input;
  input.ni = input.nj = 5;
  input.i = input.j = {{0, 1, kNan, 3, kInfinity}};
  input.params = {1.5};
  return interpret(pipeline, input, {}).values;
}

class Nowhere : public testing::TestWithParam<const char*> {};

TEST_P(Nowhere, DisturbsNobodyElse) {
  const std::vector<std::vector<double>> values = results(GetParam());
  const double sums[] = {2, 2, kNan, 1, kNan}, least[] = {0, 0, kNan, 0, kNan}, chosen[] = {0, 1, -1, 3, -1};
  for (std::size_t i = 0; i < 5; ++i) {
    SCOPED_TRACE(i);
    const auto expect = [&](double got, double want) {
      EXPECT_TRUE(got == want || (std::isnan(got) && std::isnan(want))) << got << ", not " << want;
    };
    expect(values[0][i], sums[i]);
    expect(values[1][i], least[i]);
    expect(values[2][i], chosen[i]);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Spellings, Nowhere,
    testing::Values("skip_if(r >= rc); s += 1.0; m = min(m, r); a = argmin(a, r);",
                    "skip_if(!(r < rc)); s += 1.0; m = min(m, r); a = argmin(a, r);",
                    "skip_if(r * r > rc * rc || !(r <= 100.0)); s += 1.0; m = min(m, r); a = argmin(a, r);",
                    "if (!(r > rc)) { s += 1.0; m = min(m, r); a = argmin(a, r); }",
                    "if (r >= rc) { } else { s += 1.0; m = min(m, r); a = argmin(a, r); }",
                    "if (r < rc) { s += 1.0; m = min(m, r); a = argmin(a, r); }",
                    "s += r >= rc ? 0.0 : 1.0; if (!(r >= rc)) { m = min(m, r); a = argmin(a, r); }",
                    "s -= 2.0 * (r >= rc ? 0.0 : -0.5); if (!(rc <= r)) { m = min(m, r); a = argmin(a, r); }"));

// Where nothing is proved everything stays as it is written.
TEST(nowhere, counts_where_no_distance_is_bounded) {
  const Pipeline pipeline = parse(
      {"far.pipe", "input_i real xi; input_j real xj; output(sum) real s; skip_if(abs(xj - xi) < 1.0); s += 1.0;"});
  OracleInput input;
  input.ni = input.nj = 2;
  input.i = input.j = {{0, kNan}};
  EXPECT_EQ(interpret(pipeline, input, {}).values[0], (std::vector<double>{1, 2}));
}

}  // namespace
}  // namespace nbcc
