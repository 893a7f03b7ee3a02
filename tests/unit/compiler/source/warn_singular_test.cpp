#include "compiler/source/warn_singular.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <tuple>

#include "compiler/source/parse.h"
#include "tests/support/folders.h"

namespace nbcc {
namespace {

bool warns(const std::string& text) { return warn_singular(parse(Source{"p.pipe", text})).has_value(); }

const std::string kFields =
    "input_i vec3 xi;\ninput_j vec3 xj;\nparam real eps2 = 0;\nparam real soft = 0.01;\n"
    "output(sum) real s;\nvec3 d = xj - xi;\nreal r2 = dot(d, d);\n";

TEST(warn_singular, of_a_bare_inverse_distance) { EXPECT_TRUE(warns(kFields + "s += rsqrt(r2);")); }
TEST(warn_singular, of_nan_as_of_infinity) { EXPECT_TRUE(warns(kFields + "s += d.x / sqrt(r2);")); }
TEST(warn_singular, of_a_softening_that_is_zero) { EXPECT_TRUE(warns(kFields + "s += rsqrt(r2 + eps2);")); }
TEST(warn_singular, not_of_a_softened_pair) { EXPECT_FALSE(warns(kFields + "s += rsqrt(r2 + soft);")); }
TEST(warn_singular, not_if_the_self_pair_is_skipped) {
  EXPECT_FALSE(warns(kFields + "skip_if(i_index == j_index);\ns += rsqrt(r2);"));
}
TEST(warn_singular, not_if_the_distance_guards) { EXPECT_FALSE(warns(kFields + "if (r2 > 0) s += rsqrt(r2);")); }
TEST(warn_singular, not_if_a_select_guards) { EXPECT_FALSE(warns(kFields + "s += r2 > 0 ? rsqrt(r2) : 0;")); }

TEST(warn_singular, not_of_sets_of_different_things) {
  EXPECT_FALSE(
      warns("input_i vec3 grid;\ninput_j vec3 xj;\noutput(sum) real s;\nvec3 d = xj - grid;\ns += rsqrt(dot(d, d));"));
}

TEST(warn_singular, not_of_listed_pairs) {
  EXPECT_FALSE(warns("input_pair real k;\n" + kFields + "s += k * rsqrt(r2);"));
}

TEST(warn_singular, names_the_output) {
  const auto warning = warn_singular(parse(Source{"p.pipe", kFields + "s += rsqrt(r2);"}));
  ASSERT_TRUE(warning);
  EXPECT_EQ(warning->where, (Location{5, 18}));
  EXPECT_EQ(
      warning->message,
      "the pair is singular at i == j: 's' is infinite or NaN there; soften it, or write skip_if(i_index == j_index)");
}

TEST(warn_singular, no_pipeline_of_the_library_is_singular) {
  for (const auto& entry : std::filesystem::directory_iterator(test::source_folder() + "/pipelines"))
    EXPECT_FALSE(warn_singular(parse(read_source(entry.path().string())))) << entry.path();
}

std::optional<Diagnostic> warning_of_derivative(const std::string& text, const char* by, AdjointSide side) {
  return warn_singular(adjoint_pipeline(parse(Source{"p.pipe", text}), {{}, {by}}, side));
}

TEST(warn_singular, of_a_derivative_names_the_input) {
  const std::string text =
      "input_i vec3 xi;\ninput_j vec3 xj;\ninput_j real mj;\noutput(sum) real s;\n"
      "vec3 d = xj - xi;\ns += mj * exp(-sqrt(dot(d, d)));";
  EXPECT_FALSE(warns(text));
  for (const auto& [by, side, line] :
       {std::tuple{"xi", AdjointSide::I, 1}, {"xj", AdjointSide::J, 2}, {"xi", AdjointSide::OneSet, 1}}) {
    const auto warning = warning_of_derivative(text, by, side);
    ASSERT_TRUE(warning) << by;
    EXPECT_EQ(warning->where.line, line);
    EXPECT_EQ(warning->message, std::string("the derivative by '") + by +
                                    "' is singular at i == j: it is infinite or NaN there; soften the pair, or write "
                                    "skip_if(i_index == j_index)");
  }
  EXPECT_FALSE(warning_of_derivative(text, "mj", AdjointSide::J));
  EXPECT_FALSE(warning_of_derivative("skip_if(i_index == j_index);\n" + text, "xi", AdjointSide::I));
}

TEST(warn_singular, no_derivative_of_the_library_is_singular) {
  int derivatives = 0;
  for (const auto& entry : std::filesystem::directory_iterator(test::source_folder() + "/pipelines"))
    for (const AdjointSide side : {AdjointSide::I, AdjointSide::J, AdjointSide::OneSet}) {
      const Pipeline pipeline = parse(read_source(entry.path().string()));
      Adjoint adjoint;
      try {
        adjoint = adjoint_pipeline(pipeline, {}, side);
      } catch (const InvalidAdjoint&) {
        continue;
      }
      ++derivatives;
      const auto warning = warn_singular(adjoint);
      EXPECT_FALSE(warning) << entry.path() << ": " << warning->message;
    }
  EXPECT_GT(derivatives, 90);
}

}  // namespace
}  // namespace nbcc
