// Fields -> arguments, in order; names that cannot be functions.
#include "jit/signature.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "jit/build_kernel.h"
#include "runtime/error.h"

namespace nbcc {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Signature signature(const std::string& text) {
  const Source source{"it.pipe", text};
  return signature_of(source, build_cuda_kernel(source, {}, ""));
}

std::vector<std::string> names(const Signature& signature) {
  std::vector<std::string> names;
  for (const Argument& argument : signature.arguments) names.push_back(argument.name);
  return names;
}

TEST(Signature, CountsStandBeforeTheFirstFieldOfTheirSide) {
  EXPECT_THAT(
      names(signature("param real p = 1;\ninput_j real m;\noutput(sum) real s;\ninput_i real x;\ns += m * x * p;\n")),
      ElementsAre("p", "nj", "m", "ni", "s", "x"));
}

TEST(Signature, TheCountOfASideWithoutFieldsComesFirst) {
  EXPECT_THAT(names(signature("output(sum) real s;\ns += 1.0;\n")), ElementsAre("nj", "ni", "s"));
}

// ni precedes nj.
TEST(Signature, BothCountsComeFirstIfNeitherSideHasFields) {
  EXPECT_THAT(names(signature("input_pair real k;\noutput(total) real s;\ns += k;\n")),
              ElementsAre("ni", "nj", "first", "pairs", "j", "k", "s"));
}

// A total is double in both flavours.
TEST(Signature, FlavoursOfInputsAndOfOutputs) {
  const auto flavours = [](const std::string& text) {
    const Signature made = signature(text);
    return std::pair(made.has_flavours(), made.inputs_have_flavours());
  };
  EXPECT_EQ(flavours("input_j real m;\noutput(sum) real s;\ns += m;\n"), std::pair(true, true));
  EXPECT_EQ(flavours("input_j int m;\noutput(sum) real s;\ns += real(m);\n"), std::pair(true, false));
  EXPECT_EQ(flavours("input_pair real k;\noutput(total) real s;\ns += k;\n"), std::pair(true, true));
  EXPECT_EQ(flavours("input_j int m;\noutput(total) real s;\ns += real(m);\n"), std::pair(false, false));
}

TEST(Signature, ShapesNumbersAndComments) {
  const Signature made = signature(
      "// What it is.\n//\n//   more\ninput_i vec3 x;  // where\ninput_j int k;\ninput_j float w[4];\nparam index p = "
      "3;\n"
      "output(argmin) index near;\nnear = argmin(near, x.x * w[1] * real(k) + real(p));\n");
  EXPECT_THAT(made.description, ElementsAre("What it is.", "", "  more"));
  ASSERT_EQ(made.arguments.size(), 7U);
  EXPECT_THAT(made.arguments[1].shape, ElementsAre(3));
  EXPECT_EQ(made.arguments[1].comment, "where");
  EXPECT_EQ(made.arguments[3].number, Argument::Number::Int32);
  EXPECT_EQ(made.arguments[4].number, Argument::Number::Real);
  EXPECT_THAT(made.arguments[4].shape, ElementsAre(4));
  EXPECT_EQ(made.arguments[5].number, Argument::Number::Int64);
  EXPECT_THAT(made.arguments[5].comment, HasSubstr("3"));
  EXPECT_EQ(made.arguments[6].number, Argument::Number::Int64);
}

// A total has no rows, so ni stands before the first field that has some, or first of all.
TEST(Signature, TotalsHaveNoRows) {
  const Signature made = signature(
      "output(total) vec3 s;\noutput(total, count) int n;\ninput_j real m;\ninput_i real x;\ns += vec3(m, x, 1);\n"
      "n += m > x;\n");
  EXPECT_THAT(names(made), ElementsAre("s", "n", "nj", "m", "ni", "x"));
  EXPECT_FALSE(made.arguments[0].has_rows());
  EXPECT_THAT(made.arguments[0].shape, ElementsAre(3));
  EXPECT_EQ(made.arguments[1].number, Argument::Number::Int32);
  EXPECT_TRUE(made.arguments[5].has_rows());
  EXPECT_EQ(c_type(made.arguments[0], "float"), "double");
  EXPECT_EQ(c_type(made.arguments[5], "float"), "float");
  EXPECT_THAT(names(signature("input_j real m;\noutput(total) real s;\ns += m;\n")), ElementsAre("ni", "nj", "m", "s"));
  EXPECT_FALSE(signature("input_j int m;\noutput(total) real s;\ns += m;\n").has_flavours());
}

TEST(Signature, ArgumentsHaveOneNameEach) {
  EXPECT_THAT(
      names(signature("input_i real ni;\ninput_i real it;\ninput_i real NI;\ninput_j real error;\noutput(sum) real s;\n"
                      "s += ni * it * NI * error;\n")),
      ElementsAre("ni", "ni_", "it_", "NI__", "nj", "error_", "s"));
}

TEST(Signature, ArgumentsHideNothingOfOurs) {
  EXPECT_THAT(names(signature("input_i real nbcc_arrays;\ninput_j real c_double;\ninput_j real linux;\n"
                              "output(sum) real nbcc_error;\nnbcc_error += nbcc_arrays * c_double * linux;\n")),
              ElementsAre("ni", "nbcc_arrays_", "nj", "c_double_", "linux_", "nbcc_error_"));
}

// The listed pairs come before the first field of pairs, which is none of i.
TEST(Signature, ListedPairsPrecedeTheFirstFieldOfPairs) {
  const Signature made = signature(
      "input_i real x;\ninput_j real m;\noutput(pair) real u;\noutput(sum) real s;\ninput_pair real k;\n"
      "u = k * m * x;\ns += k * x;\n");
  EXPECT_TRUE(made.has_listed_pairs);
  EXPECT_THAT(names(made), ElementsAre("ni", "x", "nj", "m", "first", "pairs", "j", "u", "s", "k"));
  EXPECT_TRUE(made.arguments[7].on_pairs());
  EXPECT_FALSE(made.arguments[7].on_i());
  EXPECT_TRUE(made.arguments[9].on_pairs());
  EXPECT_FALSE(made.arguments[8].on_pairs());
  EXPECT_EQ(c_type(made.arguments[6], "float"), "int64_t");
  // A field that is called as one of them has another name here.
  EXPECT_THAT(names(signature("input_i real first;\noutput(pair) real j;\nj = first;\n")),
              ElementsAre("nj", "ni", "first_", "first", "pairs", "j", "j_"));
  EXPECT_FALSE(signature("input_i real x;\noutput(sum) real s;\ns += x;\n").has_listed_pairs);
}

std::string refusal(const std::vector<std::string>& pipelines) {
  try {
    check_names(pipelines);
  } catch (const UsageError& e) {
    return e.what();
  }
  return "";
}

TEST(Signature, NamesThatCannotBeFunctions) {
  EXPECT_EQ(refusal({"gravity", "lennard_jones"}), "");
  EXPECT_THAT(refusal({"double"}), HasSubstr("a word of C or C++"));
  EXPECT_THAT(refusal({"restrict"}), HasSubstr("a word of C or C++"));
  EXPECT_THAT(refusal({"exp"}), HasSubstr("the C library has 'exp'"));
  // Functions and variables of the C library, which the library's own would replace in the entire process.
  EXPECT_THAT(refusal({"read"}), HasSubstr("the C library has 'read'"));
  EXPECT_THAT(refusal({"sem"}), HasSubstr("the C library has 'sem_open'"));
  EXPECT_THAT(refusal({"environ"}), HasSubstr("the C library has 'environ'"));
  EXPECT_THAT(refusal({"signgam"}), HasSubstr("the C library has 'signgam'"));
  EXPECT_THAT(refusal({"errno"}), HasSubstr("a word of C or C++"));
  EXPECT_THAT(refusal({"bitand"}), HasSubstr("a word of C or C++"));
  EXPECT_THAT(refusal({"std"}), HasSubstr("a word of C or C++"));
  EXPECT_THAT(refusal({"__attribute__"}), HasSubstr("a word of C or C++"));
  EXPECT_THAT(refusal({"INT64_MAX"}), HasSubstr("a word of C or C++"));
  EXPECT_THAT(refusal({"nbcc_sum_run"}), HasSubstr("belong to nbcc"));
  EXPECT_THAT(refusal({"nbcc"}), HasSubstr("belong to nbcc"));
  EXPECT_THAT(refusal({"a", "b", "a"}), HasSubstr("two pipelines 'a'"));
  EXPECT_THAT(refusal({"a", "A"}), HasSubstr("Fortran ignores case"));
  EXPECT_THAT(refusal({"a_f", "a"}), HasSubstr("would both have a function 'a_f'"));
}

}  // namespace
}  // namespace nbcc
