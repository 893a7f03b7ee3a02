// The virial that is added to a pipeline, by the interpreter, against a loop over the pairs.
#include "compiler/passes/virial.h"

#include <gtest/gtest.h>

#include <random>

#include "compiler/ir/interpret.h"
#include "compiler/ir/pipeline_text.h"
#include "compiler/passes/neighbourhood.h"
#include "compiler/source/parse.h"

namespace nbcc {
namespace {

constexpr const char* kSprings = R"(
input_i vec3 xi;
input_j vec3 xj;
input_j real kj;
param real rc = 1.5;
output(sum) real energy;
output(sum) vec3 force;
vec3 dx = xj - xi;
skip_if(dot(dx, dx) >= rc * rc);
force += kj * dx;
force.y += 2 * kj;
energy += 0.5 * kj;
)";

Pipeline springs(const std::string& behind = "") { return parse(Source{"springs", kSprings + behind}); }

std::string refusal(const Pipeline& pipeline, const VirialChoice& choice) {
  try {
    with_virial(pipeline, choice);
  } catch (const NoVirial& without) {
    return without.message;
  }
  return "nothing";
}

// Outputs are in the order energy, force, force_virial.
void expect_sums_over_pairs(const Pipeline& made) {
  ASSERT_EQ(made.components(Role::Output), 10);
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> any(0, 2);
  OracleInput input;
  input.ni = 5, input.nj = 7;
  const auto fill = [&](std::size_t columns, std::size_t count) {
    std::vector<std::vector<double>> filled(columns, std::vector<double>(count));
    for (auto& column : filled)
      for (double& value : column) value = any(random);
    return filled;
  };
  input.i = fill(3, 5);
  input.j = fill(4, 7);
  input.params = {1.5};
  const OracleOutput out = interpret(made, input);
  constexpr int kComponents[6][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}};
  int acting = 0;
  for (std::size_t i = 0; i < 5; ++i) {
    double expected[6] = {};
    for (std::size_t j = 0; j < 7; ++j) {
      double dx[3], r2 = 0;
      for (std::size_t a = 0; a < 3; ++a) dx[a] = input.j[a][j] - input.i[a][i], r2 += dx[a] * dx[a];
      if (r2 >= 1.5 * 1.5) continue;
      ++acting;
      const double k = input.j[3][j], force[3] = {k * dx[0], k * dx[1] + 2 * k, k * dx[2]};
      for (int c = 0; c < 6; ++c) expected[c] += 0.5 * -dx[kComponents[c][0]] * force[kComponents[c][1]];
    }
    for (std::size_t c = 0; c < 6; ++c) EXPECT_NEAR(out.values[4 + c][i], expected[c], 1e-13) << "i " << i << ", " << c;
  }
  EXPECT_GT(acting, 5);
  EXPECT_LT(acting, 35);
}

TEST(virial, is_half_of_the_difference_times_the_force) { expect_sums_over_pairs(with_virial(springs(), {})); }

TEST(virial, is_written_down_with_its_cutoff) {
  const Pipeline again = parse(Source{"again", pipeline_text(with_virial(springs(), {}))});
  expect_sums_over_pairs(again);
  EXPECT_TRUE(prove_neighbourhood(again).neighbourhood);
}

TEST(virial, stays_beside_finish_of_other_outputs) {
  expect_sums_over_pairs(with_virial(springs("void finish() { energy = 2 * energy; }"), {}));
}

TEST(virial, says_what_has_none) {
  EXPECT_EQ(refusal(springs(), {.force = "acc"}), "pipeline 'springs' has no output 'acc'");
  EXPECT_EQ(refusal(springs(), {.place_i = "xj"}), "pipeline 'springs' has no input_i 'xj'");
  EXPECT_EQ(refusal(springs(), {.place_j = "kj"}), "pipeline 'springs': 'kj' must be a vec3 to have a virial");
  EXPECT_EQ(refusal(springs("void finish() { force.x = 2 * force.x; }"), {}),
            "pipeline 'springs': output 'force' is no plain sum over pairs: what finish() makes of it has no virial");
  EXPECT_EQ(refusal(with_virial(springs(), {}), {}), "pipeline 'springs' has a 'force_virial' already");
}

}  // namespace
}  // namespace nbcc
