#include "compiler/passes/prove/reach.h"

#include <gtest/gtest.h>

#include "compiler/ir/text/expression_text.h"
#include "compiler/source/parse.h"
#include "tests/support/hand_made.h"

namespace nbcc {
namespace {

// The reach that is not less than the value of the output to a power, say "max(hi | hj)".
std::string reach_of(const std::string& value, double exponent) {
  Pipeline p = parse({"p.pipe",
                      "input_i real hi; input_i real gi; input_j real hj; input_j real gj; param real s = 1;\n"
                      "output(sum) real o; o += " +
                          value + ";"});
  Signs signs(p.pair);
  const auto reach = Reaches(p.pair, signs).power_above(p.contributions[0].value, exponent);
  if (!reach) return "none";
  const auto text = [&](NodeId id) { return expression_text(p.fields, p.pair, id); };
  switch (reach->kind) {
    case Reach::Kind::Uniform:
      return text(reach->uniform);
    case Reach::Kind::OfI:
      return text(reach->of_i);
    case Reach::Kind::OfJ:
      return text(reach->of_j);
    case Reach::Kind::Max:
      return "max(" + text(reach->of_i) + " | " + text(reach->of_j) + ")";
    case Reach::Kind::Min:
      return "min(" + text(reach->of_i) + " | " + text(reach->of_j) + ")";
    case Reach::Kind::Sum:
      return text(reach->of_i) + " | + | " + text(reach->of_j);
  }
  return {};
}

struct ReachCase {
  const char* value;
  const char* reach;
};

TEST(reach, is_made_of_one_number_of_each_side) {
  constexpr ReachCase table[] = {
      {"2", "2"},
      {"s * s", "s * s"},
      {"hi + s", "hi + s"},
      {"exp(hj) / 3", "exp(hj) / 3"},
      {"max(hi, hj)", "max(hi | hj)"},
      {"max(hi, s) + max(gi, s)", "max(hi, s) + max(gi, s)"},
      {"max(max(hi, hj), s)", "max(max(hi, s) | hj)"},
      {"max(min(hi, hj), s)", "min(max(hi, s) | max(hj, s))"},
      {"min(max(hi, hj), s)", "max(min(hi, s) | min(hj, s))"},
      {"min(hi, hj) + s", "min(hi + s | hj + s)"},
      {"2 * min(hi, hj)", "min(2 * hi | 2 * hj)"},
      // A factor of which the sign is not known turns the smaller into the larger one.
      {"s * min(hi, hj)", "max(s * hi | s * hj)"},
      {"-min(hi, hj)", "max(-hi | -hj)"},
      {"-max(hi, hj)", "max(-hi | -hj)"},
      {"hi - hj", "hi | + | -hj"},
      {"s * (hi + hj)", "s * hi | + | s * hj"},
      {"max(hi, hj) + hi", "max(hi, 0) + hi | + | max(hj, 0)"},
      {"max(hi + hj, s)", "max(hi, s * 0.5) | + | max(hj, s * 0.5)"},
      {"max(hi + hj, gi)", "max(hi, gi) | + | max(hj, 0)"},
      {"min(hi + hj, gi)", "gi"},
      {"hi > hj ? gi : gj", "max(gi | gj)"},
      {"abs(hi + hj)", "abs(hi) | + | abs(hj)"},
      {"abs(min(hi, hj))", "max(abs(hi) | abs(hj))"},
      {"hi * hj", "none"},
      {"exp(hi + hj)", "none"},
      {"1 / max(hi, hj)", "none"},
  };
  for (const ReachCase& c : table) EXPECT_EQ(reach_of(c.value, 1), c.reach) << c.value;
}

TEST(reach, of_a_square_is_the_size_of_its_root) {
  constexpr ReachCase table[] = {
      {"4.0", "2"},
      {"s", "sqrt(max(s, 0))"},
      {"s * s", "abs(s)"},
      {"4 * hi * hi", "2 * abs(hi)"},
      {"hi * hi * hi", "sqrt(max(hi * hi * hi, 0))"},
      {"s * s / (gi * gi)", "abs(s) / abs(gi)"},
      {"max(hi * hi, hj * hj)", "max(abs(hi) | abs(hj))"},
      {"min(hi * hi, hj * hj)", "min(abs(hi) | abs(hj))"},
      {"max(hi, hj) * max(hi, hj)", "max(abs(hi) | abs(hj))"},
      {"(hi + hj) * (hi + hj)", "abs(hi) | + | abs(hj)"},
      {"hi * hj", "abs(hi) * 0.5 | + | abs(hj) * 0.5"},
      {"hi + hj", "max(sqrt(max(hi * 2, 0)) | sqrt(max(hj * 2, 0)))"},
      {"hi * (hi + hj)", "none"},
  };
  for (const ReachCase& c : table) EXPECT_EQ(reach_of(c.value, 0.5), c.reach) << c.value;
}

TEST(reach, of_what_is_shared_without_end_is_not_sought) {
  Graph graph;
  const NodeId hi = test::input_i(graph, 0), hj = test::input_j(graph, 0);
  NodeId sum = graph.binary(Op::Max, hi, hj);
  for (int k = 0; k < 200; ++k)
    sum = graph.binary(Op::Max, graph.binary(Op::Add, sum, hi), graph.binary(Op::Add, sum, hj));
  Signs signs(graph);
  EXPECT_FALSE(Reaches(graph, signs).power_above(sum, 1));
}

}  // namespace
}  // namespace nbcc
