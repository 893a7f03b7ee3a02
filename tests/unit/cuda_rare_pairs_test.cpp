#include "compiler/emit/cuda/cuda_rare_pairs.h"

#include <gtest/gtest.h>

#include <string>

#include "compiler/emit/cuda/emit_cuda.h"
#include "compiler/passes/optimize.h"
#include "compiler/source/parse.h"

namespace nbcc {
namespace {

struct Found {
  Pipeline pipeline;
  RarePairs rare;
};

// In a pipeline whose terms are `term` where `skipped` does not hold.
Found find(const std::string& skipped, const std::string& term = "wj * rsqrt(d2 + 1)", const Options& options = {}) {
  Found found{optimize(parse({"test.pipe",
                              "input_i vec3 xi; input_i vec2 yi; input_j vec3 xj; input_j vec2 yj; input_j real wj;\n"
                              "output(sum) real out;\n"
                              "vec3 dx = xj - xi; real d2 = dot(dx, dx); vec2 dy = yi - yj; real e2 = dot(dy, dy);\n"
                              "skip_if(" +
                                  skipped + ");\nout += " + term + ";\n"}),
                       options, cuda_target()),
              {}};
  const Plan plan = make_plan(found.pipeline, options);
  found.rare = find_rare_pairs(found.pipeline, plan);
  return found;
}

TEST(CudaRarePairs, AreAParticleAndItself) {
  const RarePairs rare = find("i_index == j_index").rare;
  EXPECT_TRUE(rare.self);
  EXPECT_TRUE(rare.differences.empty());
  EXPECT_EQ(rare.guards.size(), 1u);
}

TEST(CudaRarePairs, AreParticlesAtTheSamePlace) {
  const Found found = find("d2 == 0");
  EXPECT_FALSE(found.rare.self);
  ASSERT_EQ(found.rare.differences.size(), 3u);
  EXPECT_EQ(found.rare.guards.size(), 1u);
  Pipeline pipeline = found.pipeline;
  const Plan plan = make_plan(pipeline, {});
  EXPECT_EQ(hash_of_place(pipeline.pair, found.rare, plan.i, Op::InputI, "own[r]"),
            "hashed(hashed(hashed(0, own[r].c0), own[r].c1), own[r].c2)");
  EXPECT_EQ(find("e2 == 0").rare.differences.size(), 2u);
}

TEST(CudaRarePairs, AreThoseThatOneOfSeveralTestsFinds) {
  const RarePairs either = find("i_index == j_index || d2 == 0").rare;
  EXPECT_TRUE(either.self);
  EXPECT_EQ(either.differences.size(), 3u);
  // Rare whatever the rest of it says.
  EXPECT_EQ(find("d2 == 0 && wj > 2").rare.differences.size(), 3u);
  EXPECT_TRUE(find("wj > 2 && i_index == j_index").rare.self);
}

TEST(CudaRarePairs, AreNotLookedForInVain) {
  for (const char* often : {"wj > 2", "d2 == 0 || wj > 2", "d2 != 0", "i_index != j_index", "dx.x == 0"})
    EXPECT_TRUE(find(often).rare.guards.empty()) << often;
  // Two kinds of place are more than there is room for.
  EXPECT_TRUE(find("d2 == 0 || e2 == 0").rare.guards.empty());
  // The squares are what the user wants to have tested.
  EXPECT_TRUE(find("d2 == 0", "wj * rsqrt(d2 + 1)", {.math = Math::Precise}).rare.guards.empty());
  // The sum of two differences may be 0 where neither is.
  EXPECT_TRUE(find("d2 == 0", "wj * rsqrt(d2 + 1)", {Precision::Mixed}).rare.guards.empty());
  EXPECT_FALSE(find("i_index == j_index", "wj * rsqrt(d2 + 1)", {Precision::Mixed}).rare.guards.empty());
}

TEST(CudaRarePairs, AreTestedAsBeforeWhereTheTestIsLittleOfAll) {
  EXPECT_TRUE(find("d2 == 0", "wj * log(d2)").rare.guards.empty());
  std::string chain = "wj";
  for (int k = 1; k < 30; ++k) chain = "(" + chain + " * d2 + " + std::to_string(k) + ")";
  EXPECT_FALSE(find("d2 == 0", chain).rare.guards.empty());
  for (int k = 30; k < 60; ++k) chain = "(" + chain + " * d2 + " + std::to_string(k) + ")";
  EXPECT_TRUE(find("d2 == 0", chain).rare.guards.empty());
}

}  // namespace
}  // namespace nbcc
