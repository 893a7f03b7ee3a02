// One family of texts for each construct of the language, in three sizes n, 2n and 4n: the nodes that parsing makes and
// the memory that each step asks for grow at most as n^1.2. Memory that is asked for counts copies of lists, which the
// number of nodes does not.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>
#include <ostream>
#include <string>
#include <vector>

#include "compiler/ir/text/pipeline_text.h"
#include "compiler/passes/derived/adjoint.h"
#include "compiler/source/parse.h"
#include "compiler/text/diagnostic.h"
#include "jit/build_kernel.h"
#include "tests/growth/counted_memory.h"

namespace nbcc::test {
namespace {

struct Family {
  std::string name;
  std::function<std::string(int)> text;  // with a loop of that many rounds, or as many statements
  bool has_adjoint = true, has_text = true, counts_memory = true;
  int n = 100;  // the least of the three sizes
};
void PrintTo(const Family& family, std::ostream* stream) { *stream << family.name; }

constexpr const char* kFields =
    "input_i real xi; input_i vec3 ri; input_j real xj; input_j vec3 rj; param real a; param real t[16] = {1, 2, 3, 4, "
    "5, "
    "6, 7, 8, 9, 8, 7, 6, 5, 4, 3, 2};\nreal x = xj - xi; vec3 d = rj - ri;\n";

// A text of `before`, a loop of n rounds of `body`, of which k is the number, and a sum of `result`.
Family loop(const std::string& name, const std::string& before, const std::string& body, const std::string& result) {
  return {name, [=](int n) {
            return fmt::format("{}output(sum) real o;\n{}\nfor (int k = 1; k <= {}; ++k) {{ {} }}\no += {};\n", kFields,
                               before, n, body, result);
          }};
}

// Loops whose last value is summed, and its derivatives: by what all rounds have in common, of the derivative again,
// and forwards.
std::vector<Family> with_derivatives() {
  const std::vector<std::array<const char*, 4>> loops{
      {"sums of products", "real s = 0;", "s = s + sin(x * k) * s + a;", "s"},
      {"sums", "real s = 0;", "s = s + sin(x * k);", "s"},
      {"polynomials", "real s = x;", "s = s * a + x;", "s"},
      {"polynomials of numbers", "real s = x;", "s = s * 0.5 + x;", "s"},
      {"products", "real s = 1;", "s = s * (x + k);", "s"},
      {"products by one number", "real s = x;", "s = s * a;", "s"},
      {"quotients", "real s = 1;", "s = s / (x + k);", "s"},
      {"quotients by one number", "real s = x;", "s = s / a;", "s"},
      {"continued fractions", "real s = x;", "s = k + x / s;", "s"},
      {"sums of powers", "real s = 0;", "s = s + pow(x + k, 1.5);", "s"},
      {"powers of powers", "real s = x + 2;", "s = pow(s, 1.25);", "s"},
      {"whole powers", "real s = x;", "s = pow(s, 3) + a;", "s"},
      {"powers of two numbers", "real s = x + 2;", "s = pow(s, x);", "s"},
      {"roots", "real s = x;", "s = sqrt(s * s + x * x);", "s"},
      {"reciprocal roots", "real s = x;", "s = rsqrt(s * s + x * x);", "s"},
      {"functions of functions", "real s = x;", "s = sin(s);", "s"},
      {"exponentials", "real s = x;", "s = exp(-s);", "s"},
      {"sums of exponentials", "real s = 0;", "s = s + exp(-k * x * x);", "s"},
      {"logarithms of sums", "real s = x;", "s = log(exp(s) + exp(x * k));", "s"},
      {"smooth steps", "real s = x;", "s = 1 / (1 + exp(-s * k));", "s"},
      {"conditions", "real s = 0;", "if (x > k) s = s + x * k;", "s"},
      {"conditions with two branches", "real s = x;", "if (x > k) s = sin(s); else s = s * x;", "s"},
      {"selections", "real s = x;", "s = x > k ? s * a : x * k;", "s"},
      {"minima", "real s = x;", "s = min(s, x * k);", "s"},
      {"maxima of functions", "real s = x;", "s = max(sin(s), x * k);", "s"},
      {"absolute values", "real s = x;", "s = abs(s - k);", "s"},
      {"lookups in a row", "real s = x;", "s = table(t, s);", "s"},
      {"splines in a row", "real s = x;", "s = spline(t, s);", "s"},
      {"sums of lookups", "real s = 0;", "s = s + table(t, x * k);", "s"},
      {"indices of lookups", "real s = x;", "s = t[int(s * 3) & 15] * x;", "s"},
      {"vectors", "vec3 r = d;", "r = r * a + d * x;", "dot(r, r)"},
      {"cross products", "vec3 r = d * x;", "r = cross(r, d) + d;", "dot(r, r)"},
      {"norms", "vec3 r = d; real s = 0;", "r = r + d * x; s = s + 1 / sqrt(dot(r, r) + k);", "s"},
      {"matrices", "mat3 m = outer(d, d); vec3 r = d * x;", "r = m * r + d;", "dot(r, d)"},
      {"functions", "real f(real y, real z) { return sin(y) * z + y; } real s = x;", "s = f(s, x);", "s"},
  };
  std::vector<Family> families;
  for (const auto& [name, before, body, result] : loops) {
    const std::string by = fmt::format("grad({}, x)", result);
    families.push_back(loop(name, before, body, result));
    families.push_back(loop(std::string(name) + ", derivatives", before, body, by));
    families.back().has_adjoint = false;
    families.push_back(loop(std::string(name) + ", rates", before, body, fmt::format("ddt({}, x, a)", result)));
    families.back().has_adjoint = false;
    families.push_back(loop(std::string(name) + ", second derivatives", before, body, fmt::format("grad({}, x)", by)));
    families.back().has_adjoint = false;
  }
  for (Family& family : families) {
    if (family.name == "polynomials of numbers" || family.name == "products") family.n = 400;
    // The signs of the bases of up to 4096 powers are found 64 at a time, by walks through the whole graph; and the
    // proof of neighbours reads each comparison with a sum of n numbers as a cutoff. Nodes are few all the same.
    if (family.name.starts_with("powers of powers") || family.name.starts_with("absolute values"))
      family.counts_memory = false;
  }
  // Nothing is differentiated by a table that splines interpolate, and their coefficients cannot be written.
  for (Family& family : families)
    if (family.name.starts_with("splines")) family.has_adjoint = family.has_text = false;
  return families;
}

std::vector<Family> others() {
  const auto statements = [](std::string fields, std::string each, std::string after = "") {
    return [=](int n) {
      std::string text = kFields + fmt::format(fmt::runtime(fields), n) + "\n";
      for (int k = 0; k < n; ++k) text += fmt::format(fmt::runtime(each), k, k + 1) + "\n";
      return text + fmt::format(fmt::runtime(after), n);
    };
  };
  std::vector<Family> families{
      loop("derivatives in a loop", "real s = 0;", "s = s + grad(sin(x * k), x);", "s"),
      loop("derivatives by variables in a loop", "real s = 0;", "real y = x * k; s = s + grad(sin(y) * y, y);", "s"),
      loop("contributions", "", "o += sin(x * k);", "x"),
      loop("guarded contributions", "", "if (x > k) o += sin(x * k);", "x"),
      loop("exclusions", "", "skip_if(x == k);", "x"),
      loop("nested conditions", "real s = 0; bool b = x > 0;", "b = b && x * x > k; if (b) s = s + x;", "s"),
      loop("random numbers", "real s = 0;", "s = s + random(i_index, j_index, k);", "s"),
      loop("whole numbers", "int s = i_index & 15;", "s = (s * 5 + k) & 15;", "t[s] * x"),
      {"elements of arrays", statements("real v[{0} + 1] = {{x}}; output(sum) real o;", "v[{1}] = v[{0}] * a + x;",
                                        "o += v[{0}] + grad(v[{0}], x);\n")},
      {"outputs", statements("output(sum) real o[{0}];", "o[{0}] += sin(x * {1}) * a;")},
      {"functions that call each other",
       statements("real f0(real y) {{ return y; }}\n", "real f{1}(real y) {{ return sin(f{0}(y)); }}",
                  "output(sum) real o; o += f{0}(x);")},
      {"finish", statements("output(sum) real o; o += x;\nvoid finish() {{ real y = o;",
                            "y = sin(y) * xi + grad(y * y, y);", "o = y; }}\n")},
      {"logsumexp", statements("output(logsumexp) real o;", "o = logsumexp(o, x * {0});")},
      {"softmax", statements("output(softmax) real o;", "if (x > {0}) o = softmax(o, x * {0}, sin(x) * {1});")},
      {"extremes", statements("output(max) real o;", "o = max(o, sin(x * {0}));")},
      {"forces", statements("output(sum) vec3 o; real r2 = dot(d, d) + 1, u = 0;", "u = u + {0} / (r2 + {1});",
                            "o += grad(u, d);\n")},
  };
  // Adjoints of n such results take n nodes, and memory as n^2.
  for (Family& family : families)
    if (family.name == "logsumexp" || family.name == "softmax") family.counts_memory = false;
  return families;
}

class Growth : public testing::TestWithParam<Family> {};

std::map<std::string, double> costs(const Family& family, int n) {
  std::map<std::string, double> costs;
  const auto count = [&](const std::string& what, const auto& action) {
    const std::uint64_t before = bytes_asked_for();
    action();
    costs["bytes of " + what] = double(bytes_asked_for() - before);
  };
  Pipeline pipeline;
  count("parse", [&] { pipeline = parse({"family.pipe", family.text(n)}); });
  costs["nodes"] = double(pipeline.pair.size() + pipeline.finish.size());
  count("the kernel for CPUs", [&] {
    const KernelSource source = build_cpu_kernel(pipeline, {}, Isa::Avx2, "");
    costs["characters of its text"] = double(source.first().source.size());
  });
  count("the kernel for GPUs", [&] { build_cuda_kernel(pipeline, {}, ""); });
  if (family.has_text) count("its text", [&] { pipeline_text(pipeline); });
  if (family.has_adjoint)
    count("its adjoint", [&] {
      const Adjoint adjoint = adjoint_pipeline(pipeline, {}, AdjointSide::I);
      costs["nodes of its adjoint"] = double(adjoint.pipeline.pair.size());
    });
  return costs;
}

TEST_P(Growth, IsAlmostLinear) {
  const int n = GetParam().n;
  costs(GetParam(), 4);  // a program's first call makes more than later ones
  const auto one = costs(GetParam(), n), two = costs(GetParam(), 2 * n), four = costs(GetParam(), 4 * n);
  for (const auto& [what, cost] : one) {
    if (!GetParam().counts_memory && what.starts_with("bytes")) continue;
    EXPECT_LE(two.at(what), std::pow(2, 1.2) * cost) << what;
    EXPECT_LE(four.at(what), std::pow(4, 1.2) * cost) << what;
  }
}

std::string printed(const testing::TestParamInfo<Family>& info) {
  std::string name = info.param.name;
  for (char& c : name)
    if (!std::isalnum(c)) c = '_';
  return name;
}

INSTANTIATE_TEST_SUITE_P(Loops, Growth, testing::ValuesIn(with_derivatives()), printed);
INSTANTIATE_TEST_SUITE_P(Others, Growth, testing::ValuesIn(others()), printed);

}  // namespace
}  // namespace nbcc::test
