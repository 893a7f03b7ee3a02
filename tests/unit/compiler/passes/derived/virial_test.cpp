// The virial that is added to a pipeline, by the interpreter, against a loop over the pairs.
#include "compiler/passes/derived/virial.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "compiler/ir/interpret.h"
#include "compiler/ir/text/pipeline_text.h"
#include "compiler/passes/prove/neighbourhood.h"
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

// The force of a spring between positions whose difference a text makes `dx` of.
std::string pull(const std::string& dx) {
  return "input_i vec3 xi;\ninput_j vec3 xj;\nparam vec3 box = vec3(2, 3, 2.5);\n"
         "param vec3 a = vec3(2, 0, 0); param vec3 b = vec3(0.5, 3, 0); param vec3 c = vec3(0.25, 0.5, 2.5);\n"
         "output(sum) vec3 force;\n" +
         dx + "force += dot(dx, dx) * dx;\n";
}

// The virial is half of minus the nearest image times the force of each pair, whichever way the image is formed.
void expect_images(const std::string& text, bool cell = false, int open_axis = -1) {
  const Pipeline made = parse(Source{"pull", pipeline_text(with_virial(parse(Source{"pull", text}), {}))});
  OracleInput input;
  input.ni = 1, input.nj = 1;
  input.i = {{0.1}, {0.2}, {0.15}};
  input.j = {{1.9}, {2.7}, {2.3}};
  for (const Field& field : made.fields)
    if (field.role == Role::Param)
      input.params.insert(input.params.end(), field.defaults.begin(), field.defaults.end());
  const OracleOutput out = interpret(made, input);
  double d[3] = {1.9 - 0.1 - 2, 2.7 - 0.2 - 3, 2.3 - 0.15 - 2.5};
  if (open_axis >= 0) d[open_axis] += std::vector<double>{2, 3, 2.5}[std::size_t(open_axis)];
  if (cell) {  // the shortest of the copies, by trying them
    double best = 1e9, shortest[3] = {};
    for (int k = -2; k <= 2; ++k)
      for (int l = -2; l <= 2; ++l)
        for (int m = -2; m <= 2; ++m) {
          const double x = 1.8 + 2 * k + 0.5 * l + 0.25 * m, y = 2.5 + 3 * l + 0.5 * m, z = 2.15 + 2.5 * m;
          if (x * x + y * y + z * z < best)
            best = x * x + y * y + z * z, shortest[0] = x, shortest[1] = y, shortest[2] = z;
        }
    std::copy(shortest, shortest + 3, d);
  }
  const double d2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
  constexpr int kComponents[6][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}};
  for (std::size_t k = 0; k < 6; ++k) {
    const double expected = -0.5 * d2 * d[kComponents[k][0]] * d[kComponents[k][1]];
    EXPECT_NEAR(out.values[3 + k][0], expected, 1e-12) << text << " component " << k;
  }
}

TEST(virial, takes_the_nearest_image_that_the_force_takes) {
  expect_images(pull("vec3 dx = nearest_image(xj - xi, box);\n"));
  expect_images(pull("vec3 dx = -nearest_image(xi - xj, box);\n"));
  expect_images(pull("vec3 d = xj - xi; vec3 dx = d - box * round(d / box);\n"));
  expect_images(pull("vec3 d = xj - xi; vec3 dx = d - box * floor(d / box + vec3(0.5));\n"));
  expect_images(pull("vec3 s = (xj - xi) / box; s = s - floor(s + vec3(0.5)); vec3 dx = s * box;\n"));
  expect_images(pull("vec3 dx = nearest_image(xj - xi, a, b, c);\n"), true);
  expect_images(pull("vec3 dx = -nearest_image(xi - xj, a, b, c);\n"), true);
  expect_images(
      pull(
          "vec3 dx = xj - xi; dx.x = dx.x - box.x * round(dx.x / box.x); dx.y = dx.y - box.y * round(dx.y / box.y);\n"),
      false, 2);
}

TEST(virial, is_refused_where_images_are_not_known) {
  const auto of = [](const std::string& dx) { return refusal(parse(Source{"pull", pull(dx)}), {}); };
  const std::string unknown =
      "pipeline 'pull' has no virial: 'force' takes images of the difference of 'xi' and 'xj' in a form that is not "
      "recognised as a nearest image; write nearest_image()";
  EXPECT_EQ(of("vec3 dx = xj - xi; if (dx.x > 0.5 * box.x) dx.x -= box.x;\n"), unknown);
  EXPECT_EQ(of("vec3 d = xj - xi; vec3 dx = d - box * trunc(d / box);\n"), unknown);
  for (const char* const shifted :
       {"vec3 dx = xj - xi + a;\n", "vec3 dx = xj - xi; dx.x += 10.0;\n",
        "vec3 dx = xj - xi; real s = dx.x > 5 ? 10.0 : (dx.x < -5 ? -10.0 : 0.0); dx.x -= s;\n",
        "vec3 dx = xj - xi; dx.x -= 10 * (dx.x > 5) - 10 * (dx.x < -5);\n",
        "vec3 dx = xj - xi; dx.x = min(abs(dx.x), 10 - abs(dx.x));\n"})
    EXPECT_EQ(of(shifted), unknown) << shifted;
  EXPECT_EQ(of("vec3 d = xj - xi; vec3 dx = nearest_image(xj - xi, box); dx.x += d.x;\n"),
            "pipeline 'pull' has no virial: 'force' takes the nearest image of the difference of 'xi' and 'xj' in some "
            "terms of the force, and the plain difference in others");
  EXPECT_EQ(of("vec3 dx = nearest_image(xj - xi, box) + nearest_image(xj - xi, a);\n"),
            "pipeline 'pull' has no virial: 'force' takes nearest images of 'xi' and 'xj' in different boxes");
}

TEST(virial, says_what_has_none) {
  EXPECT_EQ(refusal(springs(), {.force = "acc"}), "pipeline 'springs' has no output 'acc'");
  EXPECT_EQ(refusal(springs(), {.place_i = "xj"}), "pipeline 'springs' has no input_i 'xj'");
  EXPECT_EQ(refusal(springs(), {.place_j = "kj"}), "pipeline 'springs': 'kj' must be a vec3 to have a virial");
  EXPECT_EQ(refusal(springs("void finish() { force.x = 2 * force.x; }"), {}),
            "pipeline 'springs': output 'force' is not a plain sum over pairs: a result of finish() has no virial");
  EXPECT_EQ(refusal(with_virial(springs(), {}), {}), "pipeline 'springs' has a 'force_virial' already");
}

}  // namespace
}  // namespace nbcc
