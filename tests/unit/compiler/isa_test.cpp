// The table of instruction sets: what other code relies on of every row.
#include "compiler/isa.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <string_view>

#include "compiler/source/parse.h"
#include "compiler/text/fill_template.h"
#include "runtime/cpu/cpu_device.h"
#include "tests/support/cpu_run.h"

namespace nbcc {
namespace {

TEST(isa, names_are_distinct_and_lead_back) {
  std::set<std::string_view> names;
  for (const IsaFacts& isa : kIsas) {
    EXPECT_TRUE(names.insert(isa.name).second) << isa.name;
    EXPECT_EQ(isa_from_name(isa.name), isa.isa);
  }
}

TEST(isa, templates_are_embedded) {
  for (const IsaFacts& isa : kIsas) {
    std::string text;
    for (const std::string_view one : isa.templates) text += one.empty() ? "" : fill_template(one, {});
    EXPECT_NE(text.find(" fused("), std::string::npos) << isa.name;
    EXPECT_EQ(text.find(" rsqrt_estimate(") != std::string::npos, isa.target.rsqrt_error_float > 0) << isa.name;
    if (isa.table_template.empty()) continue;
    EXPECT_NE(fill_template(isa.table_template, {}).find(" of_row("), std::string::npos) << isa.name;
  }
}

// The largest relative error of 1/sqrt(x) by the estimate alone, over x in [1, 4) and beyond: 4096 intervals of equal
// length, at both ends of each, where estimates from tables are worst.
double largest_error(Isa isa, Precision precision) {
  const Pipeline pipeline =
      parse({"estimate.pipe", "input_i real a; input_j real b; output(sum) real s; s += rsqrt(a * b);"});
  const test::CpuRun run(pipeline, {precision, Math::Fast, RootMode::Estimate}, isa);
  OracleInput input{.nj = 1, .i = {{}}, .j = {{1.0}}, .params = {}};
  for (const int exponent : {0, -60, 61})
    for (int k = 0; k < 4096; ++k) {
      const double x = std::ldexp(1 + 3 * k / 4096.0, exponent);
      for (const double end : {x, x - std::ldexp(1, exponent - 23)}) input.i[0].push_back(double(float(end)));
    }
  input.ni = std::int64_t(input.i[0].size());
  const std::vector<double> roots = run(input)[0];
  double largest = 0;
  for (std::size_t k = 0; k < roots.size(); ++k)
    largest = std::max(largest, std::abs(roots[k] * std::sqrt(input.i[0][k]) - 1));
  return largest;
}

TEST(isa, estimates_of_reciprocal_roots_keep_the_stated_error) {
  for (const Isa isa : test::runnable_isas()) {
    const Target& target = facts(isa).target;
    EXPECT_LE(largest_error(isa, Precision::Single), target.rsqrt_error_float) << name(isa);
    EXPECT_GT(largest_error(isa, Precision::Single), 0x1p-22) << name(isa) << " did not use its estimate";
    if (target.rsqrt_error_double == 0) continue;
    EXPECT_LE(largest_error(isa, Precision::Double), target.rsqrt_error_double) << name(isa);
    EXPECT_GT(largest_error(isa, Precision::Double), 0x1p-50) << name(isa) << " did not use its estimate";
  }
}

TEST(isa, a_processor_runs_the_code_of_earlier_sets_of_its_family) {
  EXPECT_TRUE(runs(Isa::Avx512, Isa::Sse2));
  EXPECT_TRUE(runs(Isa::Avx2, Isa::Avx2));
  EXPECT_FALSE(runs(Isa::Avx2, Isa::Avx512));
  EXPECT_FALSE(runs(Isa::Neon, Isa::Sse2));
  EXPECT_FALSE(runs(Isa::Avx512, Isa::Neon));
}

TEST(isa, this_machine_has_what_runs_on_its_best) {
  for (const IsaFacts& isa : kIsas) EXPECT_EQ(isa.is_here(), runs(detect_isa(), isa.isa)) << isa.name;
}

}  // namespace
}  // namespace nbcc
