// Arithmetic of whole arrays: the results of each text are those of the same text with loops over the elements, bit for
// bit.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "compiler/ir/interpret.h"
#include "compiler/source/parse.h"

namespace nbcc {
namespace {

constexpr const char* kArrayFields = R"(
const int D = 5;
input_i real x[D];
input_j real y[D];
input_j double z[D];
input_j real w;
param real c[D] = {1, 2, 3, 4, 5};
output(sum) real s;
output(sum) real v[D];
output(min) real m[D];
)";

// What two j add to three i, by output component and i.
std::vector<std::vector<double>> sums_of(const std::string& statements, const std::string& fields = kArrayFields) {
  const Pipeline pipeline = parse(Source{"p.pipe", fields + statements});
  std::mt19937 random(1);
  const auto columns = [&](Role role, std::size_t count) {
    std::vector<std::vector<double>> of(std::size_t(pipeline.components(role)), std::vector<double>(count));
    for (auto& column : of)
      for (double& x : column) x = std::uniform_real_distribution<double>(-2, 2)(random);
    return of;
  };
  OracleInput input{.ni = 3, .nj = 2, .i = columns(Role::InputI, 3), .j = columns(Role::InputJ, 2), .params = {}};
  for (const Field& field : pipeline.fields)
    input.params.insert(input.params.end(), field.defaults.begin(), field.defaults.end());
  return interpret(pipeline, input).values;
}

struct ArrayCase {
  const char *arrays, *loops;
};

class ArrayTypes : public testing::TestWithParam<ArrayCase> {};

TEST_P(ArrayTypes, arrays_are_loops_over_their_elements) {
  EXPECT_EQ(sums_of(GetParam().arrays), sums_of(GetParam().loops));
}

#define EACH "for (int k = 0; k < D; ++k) "
INSTANTIATE_TEST_SUITE_P(
    of, ArrayTypes,
    testing::Values(
        ArrayCase{"v += x - y;", EACH "v[k] += x[k] - y[k];"},
        ArrayCase{"v += w * (x + y) / 2.0;", EACH "v[k] += w * (x[k] + y[k]) / 2.0;"},
        ArrayCase{"v += 1.0 / x - w;", EACH "v[k] += 1.0 / x[k] - w;"},
        ArrayCase{"v -= -x * c;", EACH "v[k] -= -x[k] * c[k];"}, ArrayCase{"v += x + z;", EACH "v[k] += x[k] + z[k];"},
        ArrayCase{"real d[D] = x; d += y; d *= w; d -= 1.0; d /= z; v += d;",
                  "real d[D]; " EACH "d[k] = x[k]; " EACH "d[k] += y[k]; " EACH "d[k] *= w; " EACH "d[k] -= 1.0; " EACH
                  "d[k] /= z[k]; " EACH "v[k] += d[k];"},
        ArrayCase{"auto d = x - y; s += d[2] + (x * y)[3];", "s += (x[2] - y[2]) + x[3] * y[3];"},
        ArrayCase{"real d[D], e = w, f[2] = {1, e}; d = x; s += d[1] + f[1];", "s += x[1] + w;"},
        ArrayCase{"v += exp(-abs(x)) + sin(y);", EACH "v[k] += exp(-abs(x[k])) + sin(y[k]);"},
        ArrayCase{"v += pow(abs(x), 2.5) + hypot(x, y);", EACH "v[k] += pow(abs(x[k]), 2.5) + hypot(x[k], y[k]);"},
        ArrayCase{"v += max(x, 0.0) + clamp(y, -1.0, w);", EACH "v[k] += max(x[k], 0.0) + clamp(y[k], -1.0, w);"},
        ArrayCase{"m = min(m, x * y);", EACH "m[k] = min(m[k], x[k] * y[k]);"},
        ArrayCase{"s += sum(x * y);", "real t = x[0] * y[0]; for (int k = 1; k < D; ++k) t += x[k] * y[k]; s += t;"},
        ArrayCase{"s += dot(x - y, c);",
                  "real t = (x[0] - y[0]) * c[0]; for (int k = 1; k < D; ++k) t += (x[k] - y[k]) * c[k]; s += t;"},
        ArrayCase{"s += length(x);", "s += sqrt(dot(x, x));"},
        ArrayCase{"v += normalize(x);", "real r = rsqrt(dot(x, x)); " EACH "v[k] += x[k] * r;"},
        ArrayCase{"v += select(x > y, x, 0.0);", EACH "v[k] += select(x[k] > y[k], x[k], 0.0);"},
        ArrayCase{"v += w > 0.0 ? x : y;", EACH "v[k] += w > 0.0 ? x[k] : y[k];"},
        ArrayCase{
            "if (any(x > 1.0 && !(y <= x))) s += w;",
            "bool a = x[0] > 1.0 && !(y[0] <= x[0]); for (int k = 1; k < D; ++k) a = a || (x[k] > 1.0 && !(y[k] <= "
            "x[k])); if (a) s += w;"},
        ArrayCase{"s += w * sum(x == y);",
                  "int n = int(x[0] == y[0]); for (int k = 1; k < D; ++k) n += int(x[k] == y[k]); "
                  "s += w * n;"},
        ArrayCase{"v += grad(sum(x * x * y), x);", EACH "v[k] += grad(sum(x * x * y), x[k]);"},
        ArrayCase{"real d[D] = x - y; v += ddt(d * d, x, c);",
                  "real d[D] = x - y; " EACH "v[k] += ddt(d[k] * d[k], x, c);"},
        ArrayCase{"float f[D] = {}; f[1] += float(w); s += sum(f);", "s += float(w);"}));
#undef EACH

TEST(array_types, functions_take_and_return_arrays) {
  EXPECT_EQ(sums_of("auto scaled(real a[D], const real b[D]) { real t[D] = a; t *= 2.0; return t + b; }\n"
                    "v += scaled(x, y);"),
            sums_of("for (int k = 0; k < D; ++k) v[k] += x[k] * 2.0 + y[k];"));
}

TEST(array_types, parameters_after_an_array_have_their_own_types) {
  EXPECT_EQ(
      sums_of("real f(real a[3], vec2 b, const real c[2], real d, float e) { return a[2] * b.y + c[1] * d + e; }\n"
              "real a[3] = {1, 2, 3}, one = 1, h[2] = {4, 5}; float two = 2; s += f(a, vec2(w, w), h, one, two);"),
      sums_of("s += 3.0 * w + 5.0 + 2.0;"));
}

TEST(array_types, fields_of_one_declaration_may_be_numbers_and_arrays) {
  const std::string rest = "s += w; v += y - x; v[0] += 1.0;\nvoid finish() { v[1] = 2.0 * v[1] + s; }";
  const std::string alone =
      "input_i real x[3]; input_j real w; input_j real y[3]; output(sum) real s; output(sum) real v[3];";
  const std::string together = "input_i real x[3]; input_j real w, y[3]; output(sum) real s, v[3];";
  EXPECT_EQ(sums_of(rest, together), sums_of(rest, alone));
}

TEST(array_types, a_text_may_name_its_own_sum) {
  EXPECT_EQ(sums_of("real sum(real a[D]) { return a[0]; }\ns += sum(x);"), sums_of("s += x[0];"));
  EXPECT_EQ(sums_of("real total = 0.0; { real sum = x[1]; total += sum; } s += total;"), sums_of("s += x[1];"));
}

TEST(array_types, lengths_may_be_macros_and_expressions) {
  const std::string fields =
      "#define N 3\ninput_i real x[N + 1];\ninput_j real y[2 * (N > 2 ? 2 : 5)];\noutput(sum) real s;\n";
  EXPECT_EQ(sums_of("s += sum(x - y);", fields),
            sums_of("real t = x[0] - y[0]; for (int k = 1; k < 4; ++k) t += x[k] - y[k]; s += t;", fields));
}

TEST(array_types, a_param_that_is_a_length_is_a_constant) {
  const std::string fields = "input_i real x[D];\ninput_j real y[D + 1];\noutput(sum) real s;\n",
                    text = "s += D * sum(x) * y[D];";
  EXPECT_EQ(sums_of(text, "param int D = 3;\n" + fields), sums_of(text, "const int D = 3;\n" + fields));
  const Pipeline pipeline =
      parse(Source{"p.pipe", "param int n = 2;\nparam int D = 3;\n" + fields + "s += n * x[0] * y[0];"});
  EXPECT_EQ(pipeline.components(Role::Param), 1);
  // Indices are no lengths.
  EXPECT_EQ(parse(Source{"p.pipe",
                         "param int n = 1;\nparam real t[4];\ninput_j real y;\noutput(sum) real s;\n"
                         "real f(real x) { return t[n] * x; }\ns += f(y) * t[n + 1];"})
                .components(Role::Param),
            5);
}

TEST(array_types, long_arrays_are_fast_to_parse) {
  const std::string fields =
      "const int D = 1024;\ninput_i real x[D];\ninput_j real y[D];\noutput(sum) real s;\noutput(sum) real v[D];\n";
  EXPECT_EQ(
      sums_of("real q = exp(-dot(x - y, x - y)); s += q; v += q * (x - y);", fields),
      sums_of("real d[D]; for (int k = 0; k < D; ++k) d[k] = x[k] - y[k]; real q = exp(-dot(d, d)); s += q; for (int k "
              "= 0; k < D; ++k) v[k] += q * d[k];",
              fields));
}

}  // namespace
}  // namespace nbcc
