// Results per pair: in place, beside totals and histograms, and refused indices. what_goes_together_test.cpp compares
// them with the interpreter.
#include <gtest/gtest.h>

#include <string>

#include "compiler/source/parse.h"
#include "runtime/cuda/driver/cuda_compiler.h"
#include "runtime/error.h"
#include "runtime/sum/derived/for_callers.h"
#include "tests/support/cpu_run.h"

namespace nbcc::test {
namespace {

// Results for unchosen i are not changed; input and result may be one array.
TEST(PairValuesOnCpu, OfChosenParticlesInPlace) {
  const Isa isa = runnable_isas().back();
  CpuDevice device(1, isa, cpu_toolchain(), "", "");
  const Pipeline pipeline = parse({"place.pipe",
                                   "input_i real xi; input_j real xj; input_pair real old; output(pair) real now;\n"
                                   "output(sum) real s; skip_if(xj < xi); now = old + xj - xi; s += old;\n"});
  const auto kernel = for_callers(device.load(build_cpu_kernel(pipeline, {Precision::Double}, isa, "")));
  SumState sum(kernel);
  std::vector<double> x{0, 1, 3}, history{10, 20, 30, 40}, s(3);
  const std::vector<std::int64_t> first{0, 2, 3, 4}, j{1, 2, 2, 0};
  sum.set_listed_pairs(3, first.data(), 4, j.data());
  for (const char* field : {"xi", "xj"}) sum.bind(field, {x.data(), Element::Double, 3, 8, 8});
  for (const char* field : {"old", "now"}) sum.bind(field, {history.data(), Element::Double, 4, 8, 8});
  sum.bind("s", {s.data(), Element::Double, 3, 8, 8});
  sum.run();
  EXPECT_EQ(history, (std::vector<double>{11, 23, 32, 0}));  // the last pair is skipped: its result is 0
  EXPECT_EQ(s, (std::vector<double>{30, 30, 0}));
  sum.run({.i_begin = 1, .i_count = 1});
  EXPECT_EQ(history, (std::vector<double>{11, 23, 34, 0}));
  EXPECT_EQ(s, (std::vector<double>{30, 32, 0}));
  const auto message = [&](auto&& act) -> std::string {
    try {
      act();
    } catch (const UsageError& error) {
      return error.what();
    }
    return "";
  };
  sum.bind("now", {history.data(), Element::Double, 3, 8, 8});
  EXPECT_EQ(
      message([&] { sum.run(); }),
      "output 'now' of pipeline 'place' has 3 pairs, but input_pair 'old' of pipeline 'place' has 4: all inputs and "
      "results of pairs must have the same count");
  sum.bind("now", {history.data(), Element::Double, 4, 8, 8});
  sum.clear_lists();
  EXPECT_NE(message([&] { sum.run(); }).find("a program has to list them first"), std::string::npos);
}

// The kernel of the sums has neither the results of pairs nor their components, so that its fields have other numbers.
TEST(PairValuesOnCpu, BesideTotalsAndHistogramsThatAreDeclaredLater) {
  const Isa isa = runnable_isas().back();
  CpuDevice device(1, isa, cpu_toolchain(), "", "");
  const Pipeline pipeline =
      parse({"later.pipe",
             "input_i int ki; input_j int kj; output(pair) vec2 p; output(total, min) int least;\n"
             "output(total) real all; output(sum) int h[4]; output(total) int n[5];\n"
             "p = vec2(real(ki), real(kj)); least = min(least, kj - ki); all += 0.5; h[kj] += 1;\n"
             "n[ki] += kj;\n"});
  const auto kernel = for_callers(device.load(build_cpu_kernel(pipeline, {Precision::Double}, isa, "")));
  SumState sum(kernel);
  std::vector<std::int64_t> k{0, 3, 1}, h(12, -1), n(5, -1);
  std::int64_t least = 7;
  double all = -1;
  std::vector<double> p(8);
  const std::vector<std::int64_t> first{0, 2, 3, 4}, j{1, 2, 2, 0};
  sum.set_listed_pairs(3, first.data(), 4, j.data());
  for (const char* field : {"ki", "kj"}) sum.bind(field, {k.data(), Element::Int64, 3, 8, 8});
  sum.bind("p", {p.data(), Element::Double, 4, 16, 8});
  sum.bind("least", {&least, Element::Int64, 1, 8, 8});
  sum.bind("all", {&all, Element::Double, 1, 8, 8});
  sum.bind("h", {h.data(), Element::Int64, 3, 32, 8});
  sum.bind("n", {n.data(), Element::Int64, 1, 40, 8});
  sum.run();
  EXPECT_EQ(p, (std::vector<double>{0, 3, 0, 1, 3, 1, 1, 0}));
  EXPECT_EQ(least, -2);
  EXPECT_EQ(all, 2);
  EXPECT_EQ(h, (std::vector<std::int64_t>{0, 1, 0, 1, 0, 1, 0, 0, 1, 0, 0, 0}));
  EXPECT_EQ(n, (std::vector<std::int64_t>{4, 0, 0, 1, 0}));
}

// Wrong indices are errors although the sums read no table, and nothing is stored then; parts are refused. `value`: of
// the results of pairs, t[k] of the table t. `of`: the particle or pair that the error names.
void expect_checked_indices(const std::string& value, const std::string& of) {
  const Isa isa = runnable_isas().back();
  CpuDevice device(1, isa, cpu_toolchain(), "", "");
  const Pipeline pipeline = parse({"checked.pipe",
                                   "input_i int k; input_j real yj; param real t[3]; output(sum) real s;\n"
                                   "output(pair) real h; s += yj; h = " +
                                       value + ";\n"});
  const auto kernel = for_callers(device.load(build_cpu_kernel(pipeline, {Precision::Double}, isa, "")));
  SumState sum(kernel);
  std::vector<double> k{0, 2}, y{1, 2}, s{10, 20}, h(3);
  const std::vector<double> t{5, 6, 7};
  const std::vector<std::int64_t> first{0, 1, 3}, j{1, 0, 1};
  sum.set_listed_pairs(2, first.data(), 3, j.data());
  sum.bind("k", {k.data(), Element::Double, 2, 8, 8});
  sum.bind("yj", {y.data(), Element::Double, 2, 8, 8});
  sum.bind("s", {s.data(), Element::Double, 2, 8, 8});
  sum.bind("h", {h.data(), Element::Double, 3, 8, 8});
  sum.set_param("t", t);
  sum.run();
  EXPECT_EQ(h, (std::vector<double>{5, 7, 7}));
  EXPECT_EQ(s, (std::vector<double>{2, 3}));
  k[1] = 7;
  std::string message;
  try {
    sum.run({.accumulate = true});
  } catch (const UsageError& error) {
    message = error.what();
  }
  EXPECT_NE(message.find("7 for " + of), std::string::npos) << message;
  EXPECT_EQ(s, (std::vector<double>{2, 3}));
  sum.run({.clamp = true});
  EXPECT_EQ(h, (std::vector<double>{5, 7, 7}));
  EXPECT_THROW(sum.run({.part = JPart::First}), UsageError);
}

TEST(PairValuesOnCpu, ChecksIndicesBeforeSumsAreStored) {
  expect_checked_indices("t[k]", "i-particle 1,");
  expect_checked_indices("t[k + 0 * k * int(yj)]", "pair 1, of i-particle 1 and j-particle 0");
}

// Long rows take several pieces of gathered j, rows of many i several blocks, which threads take. The order of the
// chosen i is not that of the rows, and results of other i are not changed. An array of results is a loop in the
// kernel.
TEST(PairValuesOnCpu, OfLongRowsBlocksAndArrays) {
  const Isa isa = runnable_isas().back();
  CpuDevice device(3, isa, cpu_toolchain(), "", "");
  const Pipeline pipeline =
      parse({"long.pipe",
             "input_i real xi; input_i int ki; input_j real xj[40]; input_pair real w; output(pair) vec3 v;\n"
             "output(pair) real a[40]; output(pair) int k; output(sum) real s;\n"
             "input_i int ti; input_j int tj; param real t[4][3]; output(pair) real e;\n"
             "skip_if(xj[1] < 0.25 || xj[1] * xi > 6.0);\n"
             "v = vec3(w, xi, xj[0]); k = ki + j_index; s += w; e = t[ti][tj];\n"
             "for (int n = 0; n < 40; ++n) a[n] = xi * xj[n];\n"});
  constexpr std::int64_t kI = 300, kJ = 50;
  std::vector<double> xi(kI), xj(kJ * 40);
  std::vector<std::int64_t> ki(kI), ti(kI), tj(kJ), first{0}, j, chosen;
  const std::vector<double> t{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  for (std::int64_t i = 0; i < kI; ++i) ti[std::size_t(i)] = i * 3 % 4;
  for (std::int64_t n = 0; n < kJ; ++n) tj[std::size_t(n)] = n * 2 % 3;
  for (std::int64_t i = 0; i < kI; ++i) xi[std::size_t(i)] = double(i % 17), ki[std::size_t(i)] = 1000 * i;
  for (std::int64_t n = 0; n < kJ * 40; ++n) xj[std::size_t(n)] = double(n * 7 % 32) / 16;
  for (std::int64_t i = 0; i < kI; ++i) {
    const std::int64_t count = i == 70 ? 9001 : i * 5 % 23;
    for (std::int64_t n = 0; n < count; ++n) j.push_back((i + 3 * n) % kJ);
    first.push_back(std::int64_t(j.size()));
    if (i % 3 != 1) chosen.insert(chosen.begin() + (i % 2 == 0 ? 0 : std::ptrdiff_t(chosen.size())), i);
  }
  std::vector<double> w(j.size());
  for (std::size_t p = 0; p < w.size(); ++p) w[p] = double(p % 64) / 8;
  const auto pairs = std::int64_t(j.size());
  for (const Precision precision : {Precision::Single, Precision::Double}) {
    const auto kernel = for_callers(device.load(build_cpu_kernel(pipeline, {precision}, isa, "")));
    for (const bool all : {true, false}) {
      SumState sum(kernel);
      std::vector<double> v(j.size() * 3, -1), a(j.size() * 40, -1), e(j.size(), -1), s(kI, -1);
      std::vector<std::int64_t> k(j.size(), -1);
      sum.set_listed_pairs(kI, first.data(), pairs, j.data());
      sum.bind("xi", {xi.data(), Element::Double, kI, 8, 8});
      sum.bind("ki", {ki.data(), Element::Int64, kI, 8, 8});
      sum.bind("xj", {xj.data(), Element::Double, kJ, 320, 8});
      sum.bind("w", {w.data(), Element::Double, pairs, 8, 8});
      sum.bind("v", {v.data(), Element::Double, pairs, 24, 8});
      sum.bind("a", {a.data(), Element::Double, pairs, 320, 8});
      sum.bind("k", {k.data(), Element::Int64, pairs, 8, 8});
      sum.bind("s", {s.data(), Element::Double, kI, 8, 8});
      sum.bind("ti", {ti.data(), Element::Int64, kI, 8, 8});
      sum.bind("tj", {tj.data(), Element::Int64, kJ, 8, 8});
      sum.bind("e", {e.data(), Element::Double, pairs, 8, 8});
      sum.set_param("t", t);
      // Accumulated, which adds to the -1 of each result.
      if (all)
        sum.run({.accumulate = true});
      else
        sum.run({.i_count = std::int64_t(chosen.size()), .i_list = chosen.data(), .accumulate = true});
      for (std::int64_t i = 0; i < kI; ++i) {
        const bool is_chosen = all || i % 3 != 1;
        double of_i = -1;
        for (std::int64_t p = first[std::size_t(i)]; p < first[std::size_t(i) + 1]; ++p) {
          const auto at = std::size_t(p), of_j = std::size_t(j[at]);
          const double x = xi[std::size_t(i)], y = xj[of_j * 40 + 1];
          const bool counts = is_chosen && y >= 0.25 && y * x <= 6;
          of_i += counts ? w[at] : 0;
          const std::vector<double> expected{counts ? w[at] - 1 : -1, counts ? x - 1 : -1,
                                             counts ? xj[of_j * 40] - 1 : -1};
          ASSERT_EQ(std::vector<double>(v.begin() + p * 3, v.begin() + p * 3 + 3), expected) << "pair " << p;
          const auto entry = std::size_t(ti[std::size_t(i)] * 3 + tj[of_j]);
          ASSERT_EQ(e[at], counts ? t[entry] - 1 : -1) << "pair " << p;
          ASSERT_EQ(k[at], counts ? 1000 * i + j[at] - 1 : -1) << "pair " << p;
          for (std::size_t n = 0; n < 40; ++n)
            ASSERT_EQ(a[at * 40 + n], counts ? x * xj[of_j * 40 + n] - 1 : -1) << "pair " << p << ", element " << n;
        }
        ASSERT_EQ(s[std::size_t(i)], of_i) << "i " << i;
      }
    }
  }
}

// Mixed precision promises results of pairs in double. An index of a table that depends on both particles is checked
// pair by pair.
TEST(PairValuesOnCpu, AreStoredBesideTheSumsUnlessAnotherKernelIsNeeded) {
  const Isa isa = runnable_isas().back();
  const auto has_another = [&](const std::string& fields, const std::string& value, Precision precision) {
    const Pipeline pipeline = parse({"which.pipe", "input_i real xi; input_j real xj; " + fields +
                                                       "output(pair) real h; output(sum) real s;\n"
                                                       "s += xj; h = " +
                                                       value + ";\n"});
    const KernelSource kernel = build_cpu_kernel(pipeline, {precision}, isa, "");
    return kernel.callers && kernel.callers->values;
  };
  EXPECT_FALSE(has_another("", "xi * xj", Precision::Single));
  EXPECT_FALSE(has_another("", "xi * xj", Precision::Double));
  EXPECT_TRUE(has_another("", "xi * xj", Precision::Mixed));
  EXPECT_FALSE(has_another("param real t[4]; ", "t[int(xi)]", Precision::Double));
  EXPECT_FALSE(has_another("param real t[4][2]; ", "t[int(xi)][int(xj)]", Precision::Single));
  EXPECT_TRUE(has_another("param real t[4]; ", "t[int(xi * xj)]", Precision::Double));
}

}  // namespace
}  // namespace nbcc::test
