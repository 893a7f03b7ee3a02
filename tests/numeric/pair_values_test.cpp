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

// Wrong indices are errors although the sums read no table, and nothing is stored then; parts are refused.
TEST(PairValuesOnCpu, ChecksIndicesBeforeSumsAreStored) {
  const Isa isa = runnable_isas().back();
  CpuDevice device(1, isa, cpu_toolchain(), "", "");
  const Pipeline pipeline = parse({"checked.pipe",
                                   "input_i int k; input_j real yj; param real t[3]; output(sum) real s;\n"
                                   "output(pair) real h; s += yj; h = t[k];\n"});
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
  EXPECT_NE(message.find("7 for pair 1, of i-particle 1 and j-particle 0"), std::string::npos) << message;
  EXPECT_EQ(s, (std::vector<double>{2, 3}));
  sum.run({.clamp = true});
  EXPECT_EQ(h, (std::vector<double>{5, 7, 7}));
  EXPECT_THROW(sum.run({.part = JPart::First}), UsageError);
}

}  // namespace
}  // namespace nbcc::test
