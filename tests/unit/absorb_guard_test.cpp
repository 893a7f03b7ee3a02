#include "compiler/absorb_guard.h"

#include <gtest/gtest.h>

#include "compiler/interpret.h"
#include "compiler/optimize.h"
#include "compiler/parse.h"

namespace nbcc {
namespace {

Pipeline absorbed(const std::string& rest) {
  Pipeline p = parse({"t.pipe",
                      "input_i vec3 xi; input_j vec3 xj; input_j real mj; param real rc = 2.0; output(sum) real s; "
                      "output(sum) vec3 a;\n"
                      "vec3 dx = xj - xi; real r2 = dot(dx, dx);\n" +
                          rest});
  absorb_guard(p);
  return p;
}

TEST(AbsorbGuard, CoincidenceBecomesOneZero) {
  for (const char* skip : {"skip_if(r2 == 0.0);", "skip_if(i_index == j_index);", "if (r2 != 0.0) {",
                           "skip_if(i_index == j_index || r2 == 0.0);"}) {
    const Pipeline p = absorbed(std::string(skip) + " real y = rsqrt(r2); s += mj * y; a += mj * y * y * y * dx;" +
                                (skip[0] == 'i' ? "}" : ""));
    for (const Contribution& c : p.contributions) EXPECT_EQ(c.guard, kNone) << skip;
  }
}

TEST(AbsorbGuard, KeepsTheOraclesAnswerWhereTheGuardFails) {
  const std::string text = "skip_if(r2 == 0.0); real y = rsqrt(r2); s += mj * y; a += mj * y * y * y * dx;";
  const OracleInput input{1, 2, {{1}, {2}, {3}}, {{1, 2}, {2, 2}, {3, 3}, {5, 7}}, {2}};
  EXPECT_EQ(interpret(absorbed(text), input).values[0][0], 7);
}

TEST(AbsorbGuard, ACutoffStays) {
  EXPECT_NE(absorbed("skip_if(r2 > rc * rc); s += mj * rsqrt(r2); a += mj * rsqrt(r2) * dx;").contributions[0].guard,
            kNone);
  EXPECT_NE(
      absorbed("skip_if(r2 == 0.0 || r2 > rc); s += mj * rsqrt(r2); a += mj * rsqrt(r2) * dx;").contributions[0].guard,
      kNone);
}

TEST(AbsorbGuard, ATermWithoutTheReciprocalStaysGuarded) {
  EXPECT_NE(absorbed("skip_if(r2 == 0.0); s += mj; a += mj * rsqrt(r2) * dx;").contributions[0].guard, kNone);
}

TEST(AbsorbGuard, ASecondSingularOperationStaysGuarded) {
  EXPECT_NE(absorbed("skip_if(r2 == 0.0); real y = rsqrt(r2); s += y * log(r2); a += y * dx;").contributions[0].guard,
            kNone);
}

TEST(AbsorbGuard, TheOppositeConditionStays) {
  EXPECT_NE(
      absorbed("skip_if(r2 != 0.0); s += mj * rsqrt(r2 + rc); a += mj * rsqrt(r2 + rc) * dx;").contributions[0].guard,
      kNone);
}

}  // namespace
}  // namespace nbcc
