// What `nbcc check` says of loops over many elements is what kernels are made of.
#include "cli/report/pipeline_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace nbcc {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

constexpr const char* kOnGpu = "to a tolerance, on a GPU products by matrix instructions";
constexpr const char* kOnCpu = "on a CPU products in place of differences";

std::string wide_pairs(const std::string& outputs, const std::string& statements, const KernelChoice& kernel = {}) {
  const std::string inputs = "input_i real xi[40];\ninput_j real xj[40];\n";
  return check_pipeline({"wide.pipe", inputs + outputs + statements}, kernel).wide_pairs;
}

TEST(PipelineCheck, SaysWhetherWidePairsAreProducts) {
  const std::string sum = "output(sum) real s;\n", product = "real d = dot(xi, xj);\n";
  EXPECT_THAT(wide_pairs(sum, product + "s += exp(d);\n"), StartsWith(kOnGpu));
  EXPECT_THAT(wide_pairs("output(argmax) index best[3];\n", product + "best = argmax(best, d);\n"), StartsWith(kOnGpu));
  EXPECT_THAT(wide_pairs(sum, product + "if (d < 1.0) s += d;\n"), HasSubstr("a value of a pair is compared"));
  EXPECT_THAT(wide_pairs("output(count) index n;\n", product + "n += d > 1.0;\n"),
              StartsWith("no products to a tolerance: "));
  KernelChoice precise;
  precise.options.precision = Precision::Double;
  EXPECT_THAT(wide_pairs(sum, product + "s += exp(d);\n", precise), HasSubstr("need single precision"));
  EXPECT_THAT(wide_pairs(sum, product + "s += exp(d);\n"), HasSubstr("on a CPU no products in place of differences: "));
  const std::string squares = "real r2 = 0;\nfor (int k = 0; k < 40; ++k) r2 += (xj[k] - xi[k]) * (xj[k] - xi[k]);\n";
  EXPECT_THAT(wide_pairs(sum, squares + "s += exp(-r2);\n"), AllOf(StartsWith(kOnGpu), EndsWith(kOnCpu)));
  EXPECT_THAT(wide_pairs(sum, squares + "s += exp(-r2);\n", precise),
              AllOf(StartsWith("to a tolerance, on a GPU no products by matrix instructions: "), EndsWith(kOnCpu)));
}

TEST(PipelineCheck, SaysNothingOfFewElements) {
  EXPECT_EQ(check_pipeline({"few.pipe",
                            "input_i real xi[8];\ninput_j real xj[8];\noutput(sum) real s;\n"
                            "s += exp(dot(xi, xj));\n"},
                           {})
                .wide_pairs,
            "");
}

}  // namespace
}  // namespace nbcc
