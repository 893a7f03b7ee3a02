#include "runtime/sum/request/pack.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

namespace nbcc {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

template <typename T>
Element element_of() {
  if constexpr (std::is_same_v<T, float>) return Element::Float;
  if constexpr (std::is_same_v<T, double>) return Element::Double;
  if constexpr (std::is_same_v<T, std::int32_t>) return Element::Int32;
  return Element::Int64;
}

template <typename T>
ArrayView array(std::vector<T>& values, int components = 1) {
  const std::int64_t bytes = sizeof(T);
  return {values.data(), element_of<T>(), std::int64_t(values.size()) / components, bytes * components, bytes};
}

template <typename To, typename From>
std::vector<To> packed(std::vector<From> values, Column::Part part = Column::Part::Whole) {
  std::vector<To> result(values.size());
  pack(array(values), 0, {0, nullptr, std::int64_t(values.size())}, {0, element_of<To>(), part}, result.data());
  return result;
}

TEST(Pack, ConvertsBetweenAllElementTypes) {
  EXPECT_EQ(packed<float>(std::vector<double>{0.1, -2.0}), (std::vector<float>{0.1f, -2.0f}));
  EXPECT_EQ(packed<double>(std::vector<float>{0.1f}), (std::vector<double>{double(0.1f)}));
  EXPECT_EQ(packed<double>(std::vector<std::int64_t>{(1ll << 53) - 1}), (std::vector<double>{9007199254740991.0}));
  EXPECT_EQ(packed<std::int64_t>(std::vector<std::int32_t>{-5, 7}), (std::vector<std::int64_t>{-5, 7}));
  EXPECT_EQ(packed<std::int32_t>(std::vector<double>{2.9, -2.9}), (std::vector<std::int32_t>{2, -2}));
}

TEST(Pack, RealBeyondIntegerSaturates) {
  const auto lowest = std::numeric_limits<std::int32_t>::min(), highest = std::numeric_limits<std::int32_t>::max();
  EXPECT_EQ(packed<std::int32_t>(std::vector<double>{1e300, -kInfinity, kNaN, 2147483647.0, 2147483648.0}),
            (std::vector<std::int32_t>{highest, lowest, 0, highest, highest}));
  EXPECT_EQ(
      packed<std::int64_t>(std::vector<float>{1e30f, -1e30f}),
      (std::vector<std::int64_t>{std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min()}));
  EXPECT_EQ(packed<std::int32_t>(std::vector<std::int64_t>{1ll << 40}), (std::vector<std::int32_t>{highest}));
}

TEST(Pack, HighAndLowMakeTwoFloats) {
  const std::vector<double> values{M_PI, -1.0 / 3.0, 0.0, 1e-20};
  const std::vector<float> high = packed<float>(values, Column::Part::High),
                           low = packed<float>(values, Column::Part::Low);
  for (std::size_t k = 0; k < values.size(); ++k) {
    EXPECT_EQ(high[k], float(values[k]));
    EXPECT_NEAR(double(high[k]) + double(low[k]), values[k], 0x1p-48 * std::abs(values[k]));
  }
}

TEST(Pack, InfinityHasNoLowPart) {
  const std::vector<double> values{kInfinity, -kInfinity, 1e300};
  EXPECT_EQ(packed<float>(values, Column::Part::Low), (std::vector<float>{0, 0, 0}));
  EXPECT_TRUE(std::isnan(packed<float>(std::vector<double>{kNaN}, Column::Part::High)[0]));
}

TEST(Pack, FollowsStridesListsAndComponents) {
  std::vector<double> rows{0, 1, 2, 10, 11, 12, 20, 21, 22};
  const ArrayView view = array(rows, 3);
  std::vector<double> out(2);
  const Column column{0, Element::Double, Column::Part::Whole};
  pack(view, 2, {1, nullptr, 2}, column, out.data());
  EXPECT_EQ(out, (std::vector<double>{12, 22}));
  const std::int64_t list[] = {2, 0};
  pack(view, 1, {0, list, 2}, column, out.data());
  EXPECT_EQ(out, (std::vector<double>{21, 1}));
}

TEST(Pack, StrideMayBeNegativeOrZero) {
  std::vector<float> values{1, 2, 3};
  std::vector<float> out(3);
  const Column column{0, Element::Float, Column::Part::Whole};
  pack({&values[2], Element::Float, 3, -4, 0}, 0, {0, nullptr, 3}, column, out.data());
  EXPECT_EQ(out, (std::vector<float>{3, 2, 1}));
  pack({&values[1], Element::Float, 3, 0, 0}, 0, {0, nullptr, 3}, column, out.data());
  EXPECT_EQ(out, (std::vector<float>{2, 2, 2}));
}

TEST(Pack, ReadsUnalignedMembers) {
  struct [[gnu::packed]] Particle {
    char tag;
    double mass;
  };
  Particle particles[] = {{'a', 1.5}, {'b', 2.5}};
  std::vector<double> out(2);
  pack({reinterpret_cast<char*>(particles) + 1, Element::Double, 2, sizeof(Particle), 0}, 0, {0, nullptr, 2},
       {0, Element::Double, Column::Part::Whole}, out.data());
  EXPECT_EQ(out, (std::vector<double>{1.5, 2.5}));
}

KernelSource source_of(const std::vector<Column>& columns) {
  KernelSource source;
  source.columns.i = columns;
  source.fields.resize(2);
  source.fields[0].role = Role::InputJ;
  source.fields[1].width = 2;
  return source;
}

TEST(PackedSide, HasTheFieldsOfItsSideAndPadsWithTheLast) {
  const KernelSource source = source_of({{1, Element::Float, Column::Part::Whole},
                                         {-1, Element::Double, Column::Part::Derived},
                                         {0, Element::Double, Column::Part::Whole}});
  PackedSide side(source, Role::InputI);
  side.reserve(8);
  std::vector<double> rows{1, 2, 3, 4, 5, 6}, wrong{-9, -9};
  const std::vector<ArrayView> views{array(wrong), array(rows, 2)};
  side.pack(views, {1, nullptr, 2}, 4);
  side.pad(4, 2, 4);
  const auto* const second = static_cast<const float*>(side.columns()[0]);
  const auto* const first = static_cast<const double*>(side.columns()[2]);
  EXPECT_EQ(std::vector<float>(second + 4, second + 8), (std::vector<float>{4, 6, 6, 6}));
  EXPECT_EQ(std::vector<double>(first + 4, first + 8), (std::vector<double>{3, 5, 5, 5}));
}

TEST(PackedSide, RelativeInputsLoseTheirOriginBeforeTheyAreRounded) {
  KernelSource source;
  FieldLayout positions, weights;
  positions.name = "x", positions.role = Role::InputJ, positions.width = 3;
  weights.name = "m", weights.role = Role::InputJ, weights.first = 3;
  source.fields = {positions, weights};
  for (int c = 0; c < 4; ++c) source.columns.j.push_back({c, Element::Float});
  std::vector<double> x{1e9, 5, 0, 1e9 + 0.125, 5.5, -3, 1e9 - 0.25, 6, 7}, m{1, 2, 3};
  const std::vector<ArrayView> views{array(x, 3), array(m)};
  PackedSide side(source, Role::InputJ);
  side.reserve(16);
  side.pack(views, {0, nullptr, 3}, 0);
  const std::vector<double> origins = side.inputs_of(views, 1, 3);
  EXPECT_EQ(origins, (std::vector<double>{1e9 + 0.125, 5.5, -3}));
  side.pack_relative(views, {1, nullptr, 2}, 1, origins);
  const auto column = [&](int c) { return static_cast<const float*>(side.columns()[c]); };
  EXPECT_EQ(column(0)[0], 1e9F);
  EXPECT_EQ(column(0)[1], 0);
  EXPECT_EQ(column(0)[2], -0.375F);
  EXPECT_EQ(column(1)[2], 0.5F);
  EXPECT_EQ(column(2)[2], 10);
  EXPECT_EQ(column(3)[2], 3) << "not among the relative inputs";
}

TEST(PackedSide, ColumnsAreAlignedAndApart) {
  const KernelSource source =
      source_of({{0, Element::Float, Column::Part::Whole}, {1, Element::Double, Column::Part::Whole}});
  PackedSide side(source, Role::InputI);
  side.reserve(1000);
  const auto at = [&](int k) { return reinterpret_cast<std::uintptr_t>(side.columns()[k]); };
  for (const int k : {0, 1}) EXPECT_EQ(at(k) % 64, 0u);
  EXPECT_GE(at(1) - at(0), 4000u);
  EXPECT_THROW(side.reserve(1ll << 61), std::bad_alloc);
}

template <typename T>
std::vector<T> unpacked(const std::vector<double>& values) {
  std::vector<T> result(values.size());
  unpack(values.data(), array(result), 0, {0, nullptr, std::int64_t(values.size())});
  return result;
}

TEST(Unpack, RoundsToTheNearest) {
  EXPECT_EQ(unpacked<float>({0.1, kInfinity}), (std::vector<float>{0.1f, float(kInfinity)}));
  EXPECT_EQ(unpacked<std::int64_t>({-1.0, 2.5, 2.4, -2.5}), (std::vector<std::int64_t>{-1, 3, 2, -3}));
  EXPECT_EQ(unpacked<std::int32_t>({kInfinity, kNaN}), (std::vector<std::int32_t>{2147483647, 0}));
}

TEST(Unpack, WritesThePickedOnesOnly) {
  std::vector<double> out(6, -7.0);
  const double values[] = {1, 2};
  const std::int64_t list[] = {2, 0};
  unpack(values, array(out, 2), 1, {0, list, 2});
  EXPECT_EQ(out, (std::vector<double>{-7, 2, -7, -7, -7, 1}));
}

TEST(Unpack, ThreeComponentsAreAsThreeCalls) {
  const double values[3][2] = {{1.5, 2.5}, {-3.5, kNaN}, {5, kInfinity}};
  const std::int64_t list[] = {2, 0};
  const auto expect_same = [&]<typename T>(T untouched) {
    for (const Picked& picked : {Picked{1, nullptr, 2}, Picked{0, list, 2}}) {
      for (const auto accumulate : {std::optional<Reduction>(), std::optional(Reduction::Max)}) {
        std::vector<T> together(12, untouched), apart(12, untouched);
        unpack(std::array{values[0], values[1], values[2]}, array(together, 4), 1, picked, accumulate);
        for (int c = 0; c < 3; ++c) unpack(values[c], array(apart, 4), c + 1, picked, accumulate);
        EXPECT_EQ(std::memcmp(together.data(), apart.data(), 12 * sizeof(T)), 0);
        EXPECT_EQ(together[0], untouched);
        EXPECT_NE(together[picked.list ? 1 : 5], untouched);
      }
    }
  };
  expect_same(-7.0);
  expect_same(-7.0f);
  expect_same(std::int32_t(-7));
}

TEST(Unpack, AccumulatesByTheReduction) {
  using enum Reduction;
  const auto onto = [](double old, double value, Reduction reduction) {
    std::vector<double> out{old};
    unpack(&value, array(out), 0, {0, nullptr, 1}, reduction);
    return out[0];
  };
  EXPECT_EQ(onto(1, 2, Sum), 3);
  EXPECT_EQ(onto(1, 2, Min), 1);
  EXPECT_EQ(onto(1, 2, Max), 2);
  EXPECT_TRUE(std::isnan(onto(kNaN, 2, Min)));
  EXPECT_TRUE(std::isnan(onto(1, kNaN, Max)));
  std::vector<std::int32_t> whole{2147483647};
  const double one = 1;
  unpack(&one, array(whole), 0, {0, nullptr, 1}, Sum);
  EXPECT_EQ(whole[0], 2147483647);
}

}  // namespace
}  // namespace nbcc
