// How many powers are left of those whose exponents differ by whole numbers, and what they are at 0.
#include "compiler/passes/optimize/shared_powers.h"

#include <gtest/gtest.h>

#include <string>

#include "compiler/passes/optimize/optimize.h"
#include "compiler/source/parse.h"

namespace nbcc {
namespace {

int powers(const std::string& term, Math math = Math::Fast) {
  const Pipeline pipeline = optimize(parse({"one.pipe",
                                            "input_i real x; input_j real y; param real p = 6; output(sum) real s;\n"
                                            "real b = x - y; s += " +
                                                term + ";"}),
                                     {.math = math}, {});
  const std::vector<bool> alive = reachable(pipeline.pair, pipeline.roots());
  int found = 0;
  for (NodeId id = 0; id < pipeline.pair.size(); ++id)
    found += alive[std::size_t(id)] && pipeline.pair[id].op == Op::Pow ? 1 : 0;
  return found;
}

TEST(SharedPowers, OfExponentsThatDifferByWholeNumbersOneIsLeft) {
  EXPECT_EQ(powers("pow(b, p) + 2.0 * pow(b, p - 1.0)"), 1);
  EXPECT_EQ(powers("pow(b, p - 1.0) * x + pow(b, p - 3.0) + pow(b, 1.0 + p)"), 1);
  EXPECT_EQ(powers("pow(b, p) + y * grad(pow(b, p), x)"), 1);
  EXPECT_EQ(powers("pow(b, p) + 2.0 * pow(b, p - 1.0)", Math::Precise), 2);
}

TEST(SharedPowers, OthersStay) {
  EXPECT_EQ(powers("pow(b, p) + 2.0 * pow(b, p - 0.5)"), 2);
  EXPECT_EQ(powers("pow(b, p) + 2.0 * pow(y, p - 1.0)"), 2);
  EXPECT_EQ(powers("pow(b, p) + 2.0 * pow(b, p - 9.0)"), 2);
  EXPECT_EQ(powers("pow(b, p) + 2.0 * pow(b, 2.0 * p)"), 2);
}

}  // namespace
}  // namespace nbcc
