#include "compiler/ir/text/expression_text.h"

#include <gtest/gtest.h>

#include "compiler/source/parse.h"

namespace nbcc {
namespace {

std::string written(const std::string& value, Sizes sizes = Sizes::AsAbs) {
  const Pipeline p = parse({"p.pipe",
                            "input_i vec3 xi; input_i real a[2]; input_j real hj; param real s = 1;\n"
                            "output(sum) real o; o += " +
                                value + ";"});
  return expression_text(p.fields, p.pair, p.contributions[0].value, sizes);
}

TEST(expression_text, is_what_was_written) {
  for (const char* text : {"xi.y", "a[1] * hj", "2.5 * (hj + s)", "hj - (s - a[0])", "s / (hj * hj)", "max(hj, s + 1)",
                           "-hj", "sqrt(hj) * abs(s)"})
    EXPECT_EQ(written(text), text);
}

TEST(expression_text, leaves_sizes_bare_on_request) { EXPECT_EQ(written("2.0 * abs(hj)", Sizes::Bare), "2 * hj"); }

TEST(expression_text, of_much_is_cut_short) {
  std::string sum = "hj";
  for (int k = 1; k < 100; ++k) sum = "sqrt(" + sum + " + " + std::to_string(k) + ".0)";
  EXPECT_LE(written(sum).size(), 80U);
  EXPECT_NE(written(sum).find("..."), std::string::npos);
}

}  // namespace
}  // namespace nbcc
