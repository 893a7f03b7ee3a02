// Sums of several columns of an input of j, by the interpreter, against the pipeline's own sums for one column each.
#include "compiler/passes/derived/columns.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "compiler/ir/interpret.h"
#include "compiler/ir/text/pipeline_text.h"
#include "compiler/source/parse.h"

namespace nbcc {
namespace {

constexpr const char* kText = R"(
input_i vec3 xi;
input_j vec3 xj;
input_j real q;
input_j real w;
param real rc = 1.5;
output(sum) real other;
output(sum) real s;
output(sum) vec3 v;
vec3 d = xj - xi;
skip_if(dot(d, d) >= rc * rc);
other += w;
real e = q * exp(-dot(d, d));
s += e * w;
if (d.x > 0) s -= 2 * q;
v += e * d;
)";

std::string refusal_of(const std::string& text, const std::string& vector, const std::string& output, int count) {
  try {
    with_columns(parse(Source{"text", text}), vector, output, count);
  } catch (const NoColumns& without) {
    return without.message;
  }
  return "nothing";
}

OracleInput particles(int columns_of_j) {
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
  input.j = fill(std::size_t(columns_of_j), 7);
  input.params = {1.5};
  return input;
}

// `made` has the inputs xj, q[3], w of j.
void expect_columns(const Pipeline& pipeline, const Pipeline& made, int first, int width) {
  const OracleInput input = particles(3 + 3 + 1);
  const OracleOutput all = interpret(made, input);
  for (int k = 0; k < 3; ++k) {
    OracleInput one = input;
    one.j = {input.j[0], input.j[1], input.j[2], input.j[std::size_t(3 + k)], input.j[6]};
    const OracleOutput expected = interpret(pipeline, one);
    for (int c = 0; c < width; ++c)
      for (int i = 0; i < 5; ++i)
        EXPECT_DOUBLE_EQ(all.values[std::size_t(k * width + c)][std::size_t(i)],
                         expected.values[std::size_t(first + c)][std::size_t(i)])
            << k << " " << c << " " << i;
  }
}

TEST(columns, are_the_sums_of_each_column) {
  const Pipeline pipeline = parse(Source{"text", kText});
  for (const auto& [output, first, width] : {std::tuple("s", 1, 1), {"v", 2, 3}}) {
    const Pipeline made = with_columns(pipeline, "q", output, 3);
    expect_columns(pipeline, made, first, width);
    expect_columns(pipeline, parse(Source{"again", pipeline_text(made)}), first, width);
  }
}

TEST(columns, share_what_does_not_depend_on_them) {
  const Pipeline pipeline = parse(Source{"text", kText});
  const int one = count_operations(pipeline);
  const Pipeline made = parse(Source{"again", pipeline_text(with_columns(pipeline, "q", "s", 8))});
  EXPECT_LT(count_operations(made), 3 * one);
}

TEST(columns, are_refused_with_the_reason) {
  EXPECT_EQ(refusal_of(kText, "xj", "s", 4), "pipeline 'text': 'xj' is no real number of each j");
  EXPECT_EQ(refusal_of(kText, "xi", "s", 4), "pipeline 'text': 'xi' is no real number of each j");
  EXPECT_EQ(refusal_of(kText, "q", "rc", 4), "pipeline 'text': 'rc' is no output(sum) of real numbers");
  EXPECT_EQ(refusal_of(kText, "q", "s", 1), "pipeline 'text': expected 2 to 256 columns, got 1");
  EXPECT_EQ(refusal_of(kText, "q", "v", 100), "pipeline 'text': expected 2 to 85 columns, got 100");
  EXPECT_EQ(refusal_of(std::string(kText) + "void finish() { s = 2 * s; }", "q", "s", 4),
            "pipeline 'text': finish() changes 's'");
  EXPECT_EQ(refusal_of(std::string(kText) + "void finish() { s = 2 * s; }", "q", "v", 4), "nothing");
}

}  // namespace
}  // namespace nbcc
