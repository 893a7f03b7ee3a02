// Choices among pairs of wide vectors (argmin, argmax, the k best) whose products are computed by matrix instructions,
// on the CUDA shim: each chosen value is that of the pair that is named, in single precision, and within the tolerance
// of the best.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "jit/build_kernel.h"
#include "runtime/cuda/program/cuda_device.h"
#include "runtime/sum/run/sum.h"
#include "runtime/tolerance/tolerance.h"
#include "tests/support/cuda_shim.h"
#include "tests/support/random_source.h"

namespace nbcc::test {
namespace {

struct ChoiceText {
  int elements, chosen;
  bool greatest, is_product, skips_self;
};

std::string choice_text(const ChoiceText& text) {
  const std::string array = text.chosen > 1 ? fmt::format("[{}]", text.chosen) : "",
                    arg = text.greatest ? "argmax" : "argmin";
  std::string result = fmt::format("input_i real xi[{0}];\ninput_j real xj[{0}];\ninput_j int label;\n", text.elements);
  result += fmt::format("output({0}) index near{1};\noutput(at) real value{1};\noutput(at) int kind{1};\n", arg, array);
  if (text.chosen == 1) result += fmt::format("output({}) real best;\n", text.greatest ? "max" : "min");
  if (text.skips_self) result += "skip_if(i_index == j_index);\n";
  result += text.is_product
                ? "real v = dot(xi, xj);\n"
                : fmt::format("real v = 0;\nfor (int k = 0; k < {}; ++k) v += (xj[k] - xi[k]) * (xj[k] - xi[k]);\n",
                              text.elements);
  result += fmt::format("near = {}(near, v);\nvalue = at(near, v);\nkind = at(near, label);\n", arg);
  if (text.chosen == 1) result += fmt::format("best = {}(best, v);\n", text.greatest ? "max" : "min");
  if (text.chosen == 1) result += "void finish() { value = 2.0 * value; }\n";
  return result;
}

class MatrixChoices : public testing::Test {
 protected:
  CudaShim shim;
  std::shared_ptr<CudaDevice> device = std::make_shared<CudaDevice>(shim.driver(), shim.compiler(), 0, "", "");
  std::vector<double> x, y, label, near, value, kind, best;

  void check(const ChoiceText& text, std::size_t ni, std::size_t nj, double tolerance, std::int64_t i_begin = 0,
             bool has_nan = false) {
    const auto elements = std::size_t(text.elements), chosen = std::size_t(text.chosen);
    SCOPED_TRACE(fmt::format("{} and {} vectors of {}, {} chosen, tolerance {}\n{}", ni, nj, elements, chosen,
                             tolerance, choice_text(text)));
    RandomSource random(unsigned(ni + 3 * nj));
    x.resize(ni * elements), y.resize(nj * elements), label.resize(nj);
    for (std::vector<double>* const of : {&x, &y})
      for (double& element : *of) element = random.between(-100, 100) / 100.0;
    if (has_nan) x[(ni - 1) * elements + 1] = std::numeric_limits<double>::quiet_NaN();
    for (std::size_t j = 0; j < nj; ++j) label[j] = double(10 * j + 7);
    for (std::vector<double>* const of : {&near, &value, &kind, &best}) of->assign(ni * chosen, -5);
    SumState sum(device->load(build_kernel(backend_named("cuda"), Source{"near.pipe", choice_text(text)}, {}, {}, "")));
    const auto bind = [&](const char* name, std::vector<double>& array, std::size_t count) {
      const auto row = std::int64_t(array.size() / count * 8);
      sum.bind(name, {array.data(), Element::Double, std::int64_t(count), row, 8});
    };
    bind("xi", x, ni), bind("xj", y, nj), bind("label", label, nj);
    bind("near", near, ni), bind("value", value, ni), bind("kind", kind, ni);
    if (chosen == 1) bind("best", best, ni);
    set_tolerance(sum, tolerance);
    ASSERT_NO_THROW({
      sum.run({.i_begin = i_begin});
      sum.wait();
    });
    EXPECT_EQ(sum.method(), tolerance > 0 ? "matrix units" : "all pairs") << sum.statistics().reason;
    if (has_nan) {
      EXPECT_EQ(near[ni - 1], -1);
      EXPECT_TRUE(std::isnan(best[ni - 1]));
    }
    for (std::size_t i = std::size_t(i_begin); i < ni - (has_nan ? 1 : 0); ++i) {
      std::vector<double> exact(nj), sorted;
      double largest = 0;
      for (std::size_t j = 0; j < nj; ++j) {
        for (std::size_t k = 0; k < elements; ++k) {
          const double a = x[i * elements + k], b = y[j * elements + k];
          exact[j] += text.is_product ? a * b : (b - a) * (b - a);
        }
        if (text.skips_self && i == j) continue;
        sorted.push_back(exact[j]);
        largest = std::max(largest, std::abs(exact[j]));
      }
      std::ranges::sort(sorted);
      if (text.greatest) std::ranges::reverse(sorted);
      std::set<double> named;
      for (std::size_t m = 0; m < chosen; ++m) {
        const std::size_t at = i * chosen + m;
        if (m >= sorted.size()) {
          EXPECT_EQ(near[at], -1);
          EXPECT_TRUE(std::isnan(value[at]));
          continue;
        }
        ASSERT_GE(near[at], 0) << i;
        ASSERT_LT(near[at], double(nj));
        const auto j = std::size_t(near[at]);
        named.insert(near[at]);
        EXPECT_FALSE(text.skips_self && i == j);
        EXPECT_NEAR(exact[j], sorted[m], std::max(tolerance, 2e-6) * largest) << i << " " << m;
        EXPECT_NEAR(value[at] / (chosen == 1 ? 2 : 1), exact[j], 2e-6 * largest) << "the value of the pair named";
        EXPECT_EQ(kind[at], label[j]);
        if (chosen == 1) {
          EXPECT_NEAR(best[at], exact[j], 2e-6 * largest);
        }
      }
      EXPECT_EQ(named.size(), std::min(chosen, sorted.size()));
    }
  }
};

TEST_F(MatrixChoices, NameTheirPairs) {
  constexpr ChoiceText texts[] = {{64, 1, false, false, false},
                                  {70, 1, true, true, true},
                                  {45, 8, false, false, true},
                                  {100, 3, true, true, false},
                                  {33, 20, false, true, false}};
  for (const ChoiceText& text : texts) {
    check(text, 60, 300, 0);
    check(text, 1, 1, 2e-2);
    check(text, 5, 300, 2e-2);
    check(text, 130, 131, 1e-6);
    check(text, 140, 17, 2e-2, 3);
  }
  check(texts[0], 12, 40, 2e-2, 0, true);
}

// Half precision tells these vectors apart; only exact values show which of two candidates is nearer.
TEST_F(MatrixChoices, OrderWhatRoundingExchanges) {
  constexpr int kElements = 40;
  std::vector<double> x(kElements, 0.0), y(2 * kElements, 1.0), near(2, -5), value(2, -5);
  y[kElements] = 1 - 1e-5;  // the second is nearer by 2e-5 of 40
  const std::string text = choice_text({kElements, 2, false, false, false});
  SumState sum(device->load(build_kernel(backend_named("cuda"), Source{"near.pipe", text}, {}, {}, "")));
  std::vector<double> label{1, 2}, kind(2);
  sum.bind("xi", {x.data(), Element::Double, 1, 8 * kElements, 8});
  sum.bind("xj", {y.data(), Element::Double, 2, 8 * kElements, 8});
  sum.bind("label", {label.data(), Element::Double, 2, 8, 8});
  sum.bind("near", {near.data(), Element::Double, 1, 16, 8});
  sum.bind("value", {value.data(), Element::Double, 1, 16, 8});
  sum.bind("kind", {kind.data(), Element::Double, 1, 16, 8});
  set_tolerance(sum, 1e-2);
  sum.run();
  sum.wait();
  EXPECT_EQ(sum.method(), "matrix units");
  EXPECT_THAT(near, testing::ElementsAre(1, 0));
  EXPECT_THAT(kind, testing::ElementsAre(2, 1));
  EXPECT_LT(value[0], value[1]);
}

}  // namespace
}  // namespace nbcc::test
