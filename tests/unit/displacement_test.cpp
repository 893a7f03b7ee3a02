#include "compiler/passes/displacement.h"

#include <gtest/gtest.h>

#include "compiler/ir/expression_text.h"
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

struct Case {
  const char* value;
  const char* axis;
};

TEST(displacement, is_a_number_of_j_less_one_of_i) {
  constexpr Case table[] = {
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
  for (const Case& c : table) EXPECT_EQ(axis_of(c.value), c.axis) << c.value;
}

TEST(displacement, may_be_a_nearest_image) {
  constexpr Case table[] = {
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
  for (const Case& c : table) EXPECT_EQ(axis_of(c.value), c.axis) << c.value;
}

}  // namespace
}  // namespace nbcc
