#include <gtest/gtest.h>

#include "compiler/source/parse.h"

namespace nbcc {
namespace {

int count(const std::string& text) { return count_operations(parse({"t.pipe", text})); }

TEST(CountOperations, CountsEachPairOperationAndReduction) {
  EXPECT_EQ(count("input_i real a; input_j real b; output(sum) real s; s += a * b + a;"), 3);
}

TEST(CountOperations, EqualExpressionsCountOnce) {
  EXPECT_EQ(count("input_i real a; input_j real b; output(sum) real s; output(sum) real t; s += sqrt(a * b); t += "
                  "sqrt(a * b);"),
            4);
}

TEST(CountOperations, WhatDependsOnOneSideIsFree) {
  EXPECT_EQ(count("input_i real a; input_j real b; param real p = 2.0; output(sum) real s; s += exp(a * p) * (b * b);"),
            2);
}

TEST(CountOperations, SelectionsAndComparisonsAreFree) {
  EXPECT_EQ(count("input_i real a; input_j real b; output(sum) real s; s += a < b ? a * b : -b;"), 2);
}

TEST(CountOperations, ParseFillsIn) {
  EXPECT_EQ(parse({"t.pipe", "input_i real a; input_j real b; output(sum) real s; s += a * b;"}).raw_operations, 2);
}

}  // namespace
}  // namespace nbcc
