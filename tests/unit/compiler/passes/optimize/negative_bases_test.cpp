// Fast mathematics and the signs of bases: what is NaN as the text is written stays NaN, what is finite stays finite.
#include "compiler/passes/optimize/negative_bases.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "compiler/emit/cpu/emit_cpu.h"
#include "compiler/emit/cuda/emit_cuda.h"
#include "compiler/ir/interpret.h"
#include "compiler/ir/print.h"
#include "compiler/passes/optimize/optimize.h"
#include "compiler/source/parse.h"
#include "particles/error_bounds/error_bound.h"
#include "tests/support/random_signed.h"

namespace nbcc {
namespace {

constexpr Options kDouble{.precision = Precision::Double};

// Where the results of the optimized pipeline are others than the text's; "": nowhere.
std::string difference(const Pipeline& pipeline, const Pipeline& optimized, const OracleInput& input,
                       const Target& target) {
  const std::int64_t first = 0;
  const Expectation expected = expect(pipeline, input, {&first, 1}, kDouble, target);
  const OracleOutput got = interpret(optimized, input);
  for (std::size_t c = 0; c < got.values.size(); ++c) {
    const double is = got.values[c][0], want = expected.values[c][0];
    if (is == want || (std::isnan(is) && std::isnan(want)) || std::fabs(is - want) <= expected.bound[c][0]) continue;
    return "output " + std::to_string(c) + " at y = " + std::to_string(input.j[0][0]) +
           ", z = " + std::to_string(input.j[1][0]) + " is " + std::to_string(is) + ", not " + std::to_string(want);
  }
  return "";
}

TEST(negative_bases, random_terms_keep_their_domain) {
  int wrong = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    const std::string text = test::random_signed_text(seed);
    const Pipeline pipeline = parse({"signed.pipe", text});
    for (const Target& target : {facts(Isa::Avx2).target, facts(Isa::Avx512).target, cuda_target()})
      for (const Precision precision : {Precision::Single, Precision::Double}) {
        const Pipeline optimized = optimize(pipeline, {.precision = precision}, target);
        for (const OracleInput& input : test::signed_pairs()) {
          const std::string found = difference(pipeline, optimized, input, target);
          if (found.empty()) continue;
          ++wrong;
          if (wrong <= 5) ADD_FAILURE() << "seed " << seed << ": " << found << "\n" << text << print(optimized);
          break;
        }
      }
  }
  EXPECT_EQ(wrong, 0);
}

int count(const std::string& statements, Op op) {
  const Pipeline pipeline =
      optimize(parse({"p.pipe",
                      "input_i vec3 xi; input_j vec3 xj; input_j real m; param real e; output(sum) real a;\n"
                      "output(sum) real b;\nvec3 d = xj - xi; real r2 = dot(d, d), x = r2 + e;\n" +
                          statements}),
               {}, facts(Isa::Avx2).target);
  const std::vector<bool> needed = reachable(pipeline.pair, pipeline.roots());
  int found = 0;
  for (NodeId id = 0; id < pipeline.pair.size(); ++id) found += needed[std::size_t(id)] && pipeline.pair[id].op == op;
  return found;
}
int divisions(const std::string& statements) { return count(statements, Op::Div); }

// Who can be shown that a base is not negative, or that nobody sees it, is spared the division.
TEST(negative_bases, even_powers_are_made_of_a_root_where_no_result_can_tell) {
  EXPECT_EQ(divisions("a += rsqrt(x); b += 1.0 / x;"), 1);
  EXPECT_EQ(divisions("a += rsqrt(r2); b += 1.0 / r2;"), 0);                // a sum of squares
  EXPECT_EQ(divisions("x = r2 + e * e; a += rsqrt(x); b += 1.0 / x;"), 0);  // softened
  EXPECT_EQ(divisions("a += rsqrt(x) + m / x; b += m;"), 0);                // NaN anyway
  EXPECT_EQ(divisions("a += (rsqrt(x) + m / x) * exp(m / x); b += m;"), 0);
  EXPECT_EQ(divisions("a += rsqrt(x) + m / x; b += m / x;"), 1);
  EXPECT_EQ(divisions("real q = m / x; a += rsqrt(x) + (q < 1.0 ? q : 1.0); b += m;"), 0);
  EXPECT_EQ(divisions("real q = m / x; a += m + (q < 1.0 ? rsqrt(x) : 1.0); b += m;"),
            1);  // the condition depends on q
  EXPECT_EQ(divisions("if (x > 0.0) { a += rsqrt(x); b += 1.0 / x; }"), 0);
  EXPECT_EQ(divisions("if (x > 0.0) a += rsqrt(x); b += 1.0 / x;"), 1);
  EXPECT_EQ(divisions("a += m > 1.0 && x >= 0.5 ? rsqrt(x) : 1.0; b += x >= 0.5 ? 1.0 / x : 0.0;"), 0);
  EXPECT_EQ(divisions("a += x > 0.0 ? rsqrt(x) : 1.0 / x; b += m;"), 1);
  EXPECT_EQ(divisions("a += !(x <= 0.0) ? rsqrt(x) + 1.0 / x : 0.0; b += x > 0.0 ? 1.0 / x : 0.0;"), 0);
  EXPECT_EQ(divisions("if (r2 < e) { real y = e - r2; a += rsqrt(y); b += 1.0 / y; }"), 0);
  EXPECT_EQ(divisions("if (x > m || x > 0.0) { a += rsqrt(x); b += 1.0 / x; }"), 1);
}

// A whole power that is made of roots is NaN where these are.
TEST(negative_bases, whole_powers_of_roots_keep_the_root_where_a_result_can_tell) {
  EXPECT_EQ(count("a += sqrt(x) * sqrt(x); b += m;", Op::Sqrt), 1);
  EXPECT_EQ(count("a += sqrt(r2) * sqrt(r2); b += m;", Op::Sqrt), 0);
  EXPECT_EQ(count("if (x > 0.0) a += sqrt(x) * sqrt(x); b += m;", Op::Sqrt), 0);
  EXPECT_EQ(count("a += sqrt(x) * sqrt(x) + m * rsqrt(x); b += m;", Op::Sqrt), 0);
  // Neither is relied on for the other.
  EXPECT_EQ(count("a += sqrt(x) * sqrt(x) + m / sqrt(x) / sqrt(x); b += m;", Op::Sqrt), 1);
}

}  // namespace
}  // namespace nbcc
