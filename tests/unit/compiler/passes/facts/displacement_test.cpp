#include "compiler/passes/facts/displacement.h"

#include <gtest/gtest.h>

#include "compiler/ir/text/expression_text.h"
#include "compiler/source/parse.h"

namespace nbcc {
namespace {

// "xj - xi, L" of the axis that the value of the output is, or "none".
std::string axis_of(const std::string& value) {
  Pipeline p =
      parse({"p.pipe",
             "input_i real xi; input_i real vi; input_i real hi; input_j real xj; input_j real vj; param real dt = 1;\n"
             "param real L = 1; param real M = 1; output(sum) real o;\nreal d = xj - xi;\no += " +
                 value + ";"});
  const auto axis = read_axis(p.pair, p.contributions[0].value);
  if (!axis) return "none";
  const auto text = [&](NodeId id) { return id == kNone ? "open" : expression_text(p.fields, p.pair, id); };
  return text(axis->of_j) + " | " + text(axis->of_i) + " | " + text(axis->length);
}

struct DisplacementCase {
  const char* value;
  const char* axis;
};

TEST(displacement, is_a_number_of_j_less_one_of_i) {
  constexpr DisplacementCase table[] = {
      {"xj - xi", "xj | xi | open"},
      {"xi - xj", "xj | xi | open"},
      {"-(xi - xj)", "xj | xi | open"},
      {"xj - xi + L", "xj + L | xi | open"},
      {"(xj + dt * vj) - (xi + dt * vi)", "xj + dt * vj | xi + dt * vi | open"},
      {"d + dt * (vj - vi)", "xj + vj * dt | xi + vi * dt | open"},
      {"d * dt", "xj * dt | xi * dt | open"},
      {"d / 4", "xj * 0.25 | xi * 0.25 | open"},
      {"xj + xi", "none"},
      {"-2 * xi - 2 * xj", "none"},
      {"d * hi", "none"},
      {"d * d", "none"},
      {"xj - L", "none"},
      {"abs(d)", "none"},
  };
  for (const DisplacementCase& c : table) EXPECT_EQ(axis_of(c.value), c.axis) << c.value;
}

TEST(displacement, may_be_a_nearest_image) {
  constexpr DisplacementCase table[] = {
      {"nearest_image(d, L)", "xj | xi | L"},
      {"nearest_image(-d, 2.0)", "xj | xi | 2"},
      {"d - L * round(d / L)", "xj | xi | L"},
      {"d - round(d * (1 / L)) * L", "xj | xi | L"},
      {"d - L * floor(d / L + 0.5)", "xj | xi | L"},
      {"d - round(d)", "xj | xi | 1"},
      {"fma(-L, round(d / L), d)", "xj | xi | L"},
      {"M * nearest_image(d, 1.0)", "xj * M | xi * M | M"},
      {"d - M * round(d / L)", "none"},
      {"d - L * round(d * L)", "none"},
      {"d + L * round(d / L)", "none"},
      {"d - L * floor(d / L)", "none"},
      {"d - L * round((xj - vi) / L)", "none"},
      {"nearest_image(d, hi)", "none"},
      {"nearest_image(nearest_image(d, L), M)", "none"},
  };
  for (const DisplacementCase& c : table) EXPECT_EQ(axis_of(c.value), c.axis) << c.value;
}

// "cell, component" of the axis that the value is, or "none".
TEST(displacement, may_be_a_component_of_an_image_in_a_cell) {
  const auto axis_in_cell = [](const std::string& value) -> std::string {
    Pipeline p = parse({"p.pipe",
                        "input_i vec3 xi; input_j vec3 xj; param vec3 a; param vec3 b; param vec3 c;\n"
                        "output(sum) real o;\no += " +
                            value + ";"});
    const auto axis = read_axis(p.pair, p.contributions[0].value);
    if (!axis || axis->cell == kNone) return axis ? "no cell" : "none";
    std::string vectors;
    for (const NodeId vector : p.pair[axis->cell].args)
      vectors += expression_text(p.fields, p.pair, p.pair[vector].args[0]) + " ";
    return expression_text(p.fields, p.pair, axis->of_j) + " " + vectors + std::to_string(axis->component);
  };
  constexpr DisplacementCase table[] = {
      {"nearest_image(xj - xi, a, b, c).x", "xj.x a.x b.x c.x 0"},
      {"nearest_image(xi - xj, a, b, c).y", "xj.y a.x b.x c.x 1"},
      {"2 * nearest_image(xj - xi, a, b, c).z", "xj.z * 2 a.x * 2 b.x * 2 c.x * 2 2"},
      {"nearest_image(xj + xi, a, b, c).z", "none"},
      {"nearest_image(vec3(xj.x - xi.x, xi.y - xj.y, xj.z - xi.z), a, b, c).x", "none"},
      {"nearest_image(vec3(xj.x - xi.x, xi.y - xj.y, 0), a, b, c).x", "none"},
  };
  for (const DisplacementCase& c : table) EXPECT_EQ(axis_in_cell(c.value), c.axis) << c.value;
}

}  // namespace
}  // namespace nbcc
