// What `nbcc check` says of loops over many elements is what kernels are made of.
#include "cli/report/pipeline_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace nbcc {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string wide_pairs(const std::string& outputs, const std::string& statements, const KernelChoice& kernel = {}) {
  const std::string inputs = "input_i real xi[40];\ninput_j real xj[40];\n";
  return check_pipeline({"wide.pipe", inputs + outputs + statements}, kernel).wide_pairs;
}

TEST(PipelineCheck, SaysWhetherWidePairsAreProducts) {
  const std::string sum = "output(sum) real s;\n", product = "real d = dot(xi, xj);\n";
  EXPECT_THAT(wide_pairs(sum, product + "s += exp(d);\n"), StartsWith("products by matrix instructions"));
  EXPECT_THAT(wide_pairs("output(argmax) index best[3];\n", product + "best = argmax(best, d);\n"),
              StartsWith("products by matrix instructions"));
  EXPECT_THAT(wide_pairs(sum, product + "if (d < 1.0) s += d;\n"), HasSubstr("a value of a pair is compared"));
  EXPECT_THAT(wide_pairs("output(count) index n;\n", product + "n += d > 1.0;\n"), StartsWith("no products"));
  KernelChoice precise;
  precise.options.precision = Precision::Double;
  EXPECT_THAT(wide_pairs(sum, product + "s += exp(d);\n", precise), HasSubstr("need single precision"));
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
