// The order and size of structs against the compiler's own layout.
#include "compiler/emit/cuda/pair/cuda_struct.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>

namespace nbcc {
namespace {

std::vector<Column> columns(const std::vector<Element>& elements) {
  std::vector<Column> all;
  for (const Element element : elements) {
    Column column;
    column.element = element;
    all.push_back(column);
  }
  return all;
}

TEST(CudaStruct, IsAsLongAsTheCompilerMakesIt) {
  struct Alternating {
    std::int32_t a;
    double b;
    float c;
    std::int64_t d;
    float e;
  };
  const auto all = columns({Element::Int32, Element::Double, Element::Float, Element::Int64, Element::Float});
  EXPECT_EQ(struct_bytes({0, 1, 2, 3, 4}, all), int(offsetof(Alternating, e) + sizeof(float)));
  EXPECT_EQ(struct_bytes({}, all), 0);
}

TEST(CudaStruct, WideMembersLeadSoThatNothingIsLeftEmpty) {
  const auto all = columns({Element::Int32, Element::Double, Element::Float, Element::Int64, Element::Float});
  const std::vector<int> order = struct_order({0, 1, 2, 3, 4}, {}, all);
  EXPECT_EQ(order, (std::vector<int>{1, 3, 0, 2, 4}));
  EXPECT_EQ(struct_bytes(order, all), 28);
}

TEST(CudaStruct, WhatIsReadTogetherStandsTogether) {
  const auto all = columns({Element::Int32, Element::Double, Element::Float, Element::Int64, Element::Float});
  const std::vector<int> order = struct_order({0, 1, 2, 3, 4}, {2, 3}, all);
  EXPECT_EQ(order, (std::vector<int>{3, 2, 1, 0, 4}));
  EXPECT_EQ(struct_bytes(order, all), 32);  // four are empty between the two groups
}

TEST(CudaStruct, SpreadIsAnOddNumberOfSixteens) {
  EXPECT_EQ(bank_padded(0), 0);
  for (int bytes = 1; bytes < 200; ++bytes) {
    EXPECT_GE(bank_padded(bytes), bytes);
    EXPECT_LE(bank_padded(bytes), bytes + 31);
    EXPECT_EQ(bank_padded(bytes) / 16 % 2, 1) << bytes;
  }
}

}  // namespace
}  // namespace nbcc
