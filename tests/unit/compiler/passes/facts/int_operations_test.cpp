// Operations of int inputs that may wrap are named, and the pairs for which they do are found.
#include "compiler/passes/facts/int_operations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/source/parse.h"

namespace nbcc {
namespace {

using testing::HasSubstr;

TEST(IntOperations, AreSumsDifferencesAndProductsOfInputs) {
  const Pipeline pipeline = parse(Source{
      "ints.pipe",
      "input_i int ki; input_i int li; input_j int kj; input_j index mj; param int n = 3; output(sum) index o;\n"
      "o += ki * kj; o += ki - kj; o += ki + li; o += n * kj; o += ki * 2; o += ki * mj; int dead = li - kj;\n"});
  std::string texts;
  for (const IntOperation& one : int_operations(pipeline)) texts += one.text + "; ";
  EXPECT_EQ(texts, "ki * kj; ki - kj; ki + li; n * kj; ");
}

TEST(IntOperations, WrapForTheExtremesOfBothSides) {
  const Pipeline pipeline =
      parse(Source{"ints.pipe",
                   "input_i int ki; input_j int kj; output(sum) index o; output(sum) index p;\no += ki - kj;\n"
                   "p += ki * ki;\n"});
  const std::vector<IntOperation> operations = int_operations(pipeline);
  ASSERT_EQ(operations.size(), 2u);
  OracleInput input;
  input.ni = 3, input.nj = 2;
  input.i = {{5, 2147483647, 46340}};
  input.j = {{0, 1}};
  EXPECT_FALSE(wrapping_pair(pipeline, operations[0], input));
  input.j = {{7, -1}};
  EXPECT_EQ(wrapping_pair(pipeline, operations[0], input).value_or(""),
            "line 2: ki - kj wraps around: 2147483647 of i = 1 and -1 of j = 1 give 2147483648, which is no int");
  EXPECT_THAT(wrapping_pair(pipeline, operations[1], input).value_or(""), HasSubstr("line 3: ki * ki wraps around"));
  input.i = {{5, 0, 46340}};
  EXPECT_FALSE(wrapping_pair(pipeline, operations[1], input));
}

}  // namespace
}  // namespace nbcc
