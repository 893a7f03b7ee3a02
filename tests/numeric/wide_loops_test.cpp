// Loops over many elements on the CPU, in several blocks, panels and pieces, against the interpreter.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "compiler/source/parse.h"
#include "tests/support/cpu_run.h"
#include "tests/support/histogram_trial.h"
#include "tests/support/random_source.h"

namespace nbcc {
namespace {

OracleInput input_of(const Pipeline& pipeline, std::int64_t ni, std::int64_t nj, std::uint64_t seed) {
  test::RandomSource random(seed);
  OracleInput input;
  input.ni = ni;
  input.nj = nj;
  const auto fill = [&](std::vector<std::vector<double>>& columns, Role role, std::int64_t count) {
    columns.resize(std::size_t(pipeline.components(role)));
    for (std::vector<double>& column : columns)
      for (std::int64_t k = 0; k < count; ++k) column.push_back(double(random.between(-4096, 4096)) / 4096);
  };
  fill(input.i, Role::InputI, ni);
  fill(input.j, Role::InputJ, nj);
  return input;
}

// Blocks of 384 and 192 i, several pieces of elements, panels of 4 or 6 i and 2 or 4 vectors of j with fewer at their
// ends: products and squares, which have 6 i, and other terms; two loops; every kind of output.
TEST(WideLoops, AgreeAtAwkwardSizes) {
  const char* const texts[] = {
      "output(sum) real s;\noutput(min) real low;\noutput(argmin) index near[3];\ns += exp(-r2 / {0});\n"
      "low = min(low, r2);\nnear = argmin(near, r2);\n",
      "output(logsumexp) real z;\nz = logsumexp(z, dot(x, y) / sqrt({0}.0));\n",
      "input_j real v;\noutput(softmax) real m;\noutput(max) real top;\n"
      "m = softmax(m, dot(x, y) / sqrt({0}.0), v);\ntop = max(top, r2);\n",
      "output(sum) real s;\noutput(sum) int n;\nreal far = 0;\nfor (int k = 0; k < {0}; ++k) far += abs(y[k] - x[k]);\n"
      "int above = 0;\nfor (int k = 0; k < {0}; ++k) if (y[k] > x[k]) above += 1;\n"
      "if (i_index != j_index) s += far / (1.0 + r2);\nn += above;\n"};
  const std::vector<Isa> isas = test::runnable_isas();
  int number = 0;
  for (const int elements : {33, 127, 129, 300}) {
    for (const char* const text : texts) {
      const Precision precision = number % 3 == 2 ? Precision::Double : Precision::Single;
      const Isa isa = isas[isas.size() - 1 - std::size_t(number++ / 2) % isas.size()];
      const std::string all =
          fmt::format(fmt::runtime("input_i real x[{0}];\ninput_j real y[{0}];\nreal r2 = 0;\n"
                                   "for (int k = 0; k < {0}; ++k) r2 += (y[k] - x[k]) * (y[k] - x[k]);\n" +
                                   std::string(text)),
                      elements);
      SCOPED_TRACE(fmt::format("{}, {}", name(isa), all));
      const Pipeline pipeline = parse({"wide.pipe", all});
      const test::CpuRun run(pipeline, {.precision = precision}, isa);
      for (const auto& [ni, nj] : {std::pair{1, 1}, {7, 33}, {33, 7}, {395, 530}}) {
        const OracleInput input = input_of(pipeline, ni, nj, std::uint64_t(elements + ni));
        const test::CpuRun::Columns found = run(input);
        for (const std::int64_t first : {0, 190, 380}) {
          if (first >= ni) continue;
          const std::int64_t end = first == 380 ? ni : std::min<std::int64_t>(first + 9, ni);
          test::CpuRun::Columns some;
          for (const std::vector<double>& column : found)
            some.emplace_back(column.begin() + first, column.begin() + end);
          test::expect_oracle(pipeline, some, input, test::from_to(first, end), precision,
                              fmt::format("{} x {}, from i {}", ni, nj, first));
        }
      }
    }
  }
}

}  // namespace
}  // namespace nbcc
