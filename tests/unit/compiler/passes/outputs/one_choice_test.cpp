#include "compiler/passes/outputs/one_choice.h"

#include <gtest/gtest.h>

#include <string>

#include "compiler/ir/verify.h"
#include "compiler/passes/outputs/softmax_passes.h"
#include "compiler/source/parse.h"

namespace nbcc {
namespace {

Pipeline parsed(const std::string& outputs, const std::string& statements) {
  return parse({"text.pipe", "input_i real xi;\ninput_j real xj;\ninput_j real mj;\n" + outputs +
                                 "real d = xj - xi;\n" + statements});
}

TEST(OneChoice, IsFoundOfIndicesAndPayloads) {
  const Pipeline three = parsed("output(argmin) index near;\noutput(argmin) index few[3];\noutput(at) real m[3];\n",
                                "near = argmin(near, d);\nfew = argmin(few, d);\nm = at(few, mj);\n");
  const auto found = one_choice(three);
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->is_minimum);
  EXPECT_EQ(found->first, 1);
  EXPECT_EQ(found->indices, 3);
  const Pipeline values = choice_and_values(three, *found);
  verify(values, "the test");
  ASSERT_EQ(values.components(Role::Output), 6);
  for (const Contribution& one : values.contributions) EXPECT_EQ(one.value, found->value);
  EXPECT_EQ(values.field_of(Role::Output, 3).name, "nbcc_value");
  const auto extreme = one_choice(parsed("output(max) real most;\n", "most = max(most, d);\n"));
  ASSERT_TRUE(extreme);
  EXPECT_FALSE(extreme->is_minimum);
  EXPECT_EQ(extreme->indices, 0);
}

TEST(OneChoice, IsNoneOfSeveralValuesOrGuards) {
  const std::string two = "output(argmin) index a;\noutput(argmin) index b;\n";
  EXPECT_FALSE(one_choice(parsed(two, "a = argmin(a, d);\nb = argmin(b, 2.0 * d);\n")));
  EXPECT_FALSE(one_choice(parsed(two, "a = argmin(a, d);\nif (mj > 1.0) b = argmin(b, d);\n")));
  EXPECT_FALSE(
      one_choice(parsed("output(argmin) index a;\noutput(max) real b;\n", "a = argmin(a, d);\nb = max(b, d);\n")));
  EXPECT_FALSE(one_choice(parsed("output(argmin) index a;\noutput(sum) real b;\n", "a = argmin(a, d);\nb += d;\n")));
}

TEST(SoftmaxPasses, AreSumsAndALogarithm) {
  const Pipeline given =
      parsed("output(logsumexp) real z;\noutput(softmax) real y;\n", "z = logsumexp(z, d);\ny = softmax(y, d, mj);\n");
  const auto passes = softmax_passes(given);
  ASSERT_TRUE(passes);
  verify(passes->logsumexp, "the test");
  verify(passes->weighted, "the test");
  ASSERT_EQ(passes->logsumexp.components(Role::Output), 1);
  EXPECT_EQ(passes->logsumexp.fields_of(Role::Output).front()->name, "nbcc_logsumexp");
  ASSERT_EQ(passes->weighted.components(Role::Output), 2);
  EXPECT_EQ(passes->weighted.fields_of(Role::Output).front()->reduction, Reduction::Max);
  EXPECT_EQ(passes->weighted.fields_of(Role::Output).back()->reduction, Reduction::Sum);
}

TEST(SoftmaxPasses, AreNoneOfOtherOutputs) {
  EXPECT_FALSE(softmax_passes(parsed("output(logsumexp) real z;\n", "z = logsumexp(z, d);\n")));
  const std::string y = "output(softmax) real y;\n", mean = "y = softmax(y, d, mj);\n";
  EXPECT_FALSE(softmax_passes(parsed(y + "output(sum) real s;\n", mean + "s += d;\n")));
  EXPECT_FALSE(softmax_passes(parsed(y + "output(softmax) real u;\n", mean + "u = softmax(u, 2.0 * d, mj);\n")));
  const std::string z = "output(logsumexp) real z;\n", of_other = "z = logsumexp(z, 1000.0 * d);\n";
  EXPECT_FALSE(softmax_passes(parsed(z + y, mean + of_other)));
  EXPECT_FALSE(softmax_passes(parsed(y + z, mean + of_other)));
  EXPECT_FALSE(softmax_passes(parsed(y, mean + "void finish() { y = 2.0 * y; }\n")));
}

}  // namespace
}  // namespace nbcc
