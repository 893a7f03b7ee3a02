#include "tests/support/random_pipeline.h"

#include <gtest/gtest.h>

#include <cmath>

#include "compiler/ir/interpret.h"
#include "compiler/ir/verify.h"
#include "compiler/passes/passes.h"
#include "compiler/source/parse.h"
#include "tests/support/random_source.h"

namespace nbcc::test {
namespace {

constexpr std::uint64_t kSeeds = 150;

Pipeline parsed(std::uint64_t seed) { return parse(Source{"random.pipe", random_pipeline_text(seed)}); }

TEST(random_pipeline, numbers_are_those_of_splitmix64) {
  RandomSource random(0);
  EXPECT_EQ(random.next(), 0xe220a8397b1dcdafu);
  EXPECT_EQ(random.next(), 0x6e789e6aa1b965f4u);
}

TEST(random_pipeline, every_text_is_in_the_language) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) EXPECT_NO_THROW(verify(parsed(seed), "parse")) << "seed " << seed;
}

TEST(random_pipeline, terms_are_finite_and_at_least_one) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    Pipeline p = parsed(seed);
    p.finished.clear();
    const OracleOutput out = interpret(p, random_pipeline_input(p, 5, 1, seed));
    for (std::size_t c = 0; c < out.values.size(); ++c) {
      if (p.field_of(Role::Output, int(c)).reduction != Reduction::Sum) continue;
      // A guarded pair contributes nothing.
      for (double m : out.magnitudes[c]) EXPECT_TRUE(m == 0 || (m >= 1 && std::isfinite(m))) << "seed " << seed;
    }
  }
}

TEST(random_pipeline, passes_keep_the_oracles_answer) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const Pipeline before = parsed(seed);
    Pipeline after = before;
    fold(after);
    cse(after);
    verify(after, "cse");
    const OracleInput input = random_pipeline_input(before, 5, 9, seed);
    const OracleOutput expected = interpret(before, input), got = interpret(after, input);
    for (std::size_t c = 0; c < expected.values.size(); ++c) {
      for (std::size_t i = 0; i < expected.values[c].size(); ++i) {
        const double want = expected.values[c][i], bound = 1e-14 * (expected.magnitudes[c][i] + std::fabs(want));
        const double is = got.values[c][i];
        const bool both_nan = std::isnan(is) && std::isnan(want);
        EXPECT_TRUE(is == want || both_nan || std::fabs(is - want) <= bound)
            << "seed " << seed << ": " << is << ", not " << want;
      }
    }
  }
}

}  // namespace
}  // namespace nbcc::test
