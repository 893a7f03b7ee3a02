// Totals through nbcc.h and nbcc.hpp: what a field says of itself, the views that a total takes, the options of runs,
// and a sum in parts.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/api/nbcc.hpp"

namespace {

constexpr char kText[] = R"(
input_i real x; input_j real y;
output(total) real energy;   // of all
output(total) vec3 moment;
output(total, max) real most[2];
output(total, count) int pairs;
output(total) index whole;
output(sum) real each;
energy += x * y;
moment += vec3(x, y, 1);
most[0] = max(most[0], x); most[1] = max(most[1], y);
pairs += x < y;
whole += j_index;
each += y;
)";

const nbcc::Pipeline& pipeline() {
  static const nbcc::Device device("cpu", {.threads = 1, .cache_dir = ""});
  static const nbcc::Pipeline made = nbcc::Pipeline::from_text(device, kText, "interface", {.precision = NBCC_DOUBLE});
  return made;
}

struct Bound {
  Bound() {
    sum.bind("x", x).bind("y", y).bind("energy", energy).bind("moment", moment).bind("most", most);
    sum.bind("pairs", pairs).bind("whole", whole).bind("each", each);
  }
  std::vector<double> x{1, 2, 3, 4}, y{2, 3}, each = std::vector<double>(4);
  double energy = -7;
  std::array<float, 3> moment{-7, -7, -7};
  std::array<double, 2> most{-7, -7};
  std::int32_t pairs = -7;
  std::int64_t whole = -7;
  nbcc::Sum sum{pipeline()};
};

template <typename Call>
std::string message(Call call) {
  try {
    call();
  } catch (const nbcc::Error& e) {
    EXPECT_EQ(e.status(), NBCC_ERROR_USAGE);
    return e.what();
  }
  return "no error";
}

TEST(TotalsInterface, FieldsSaySo) {
  for (const nbcc::Field& field : pipeline().fields())
    EXPECT_EQ(field.total, field.role == NBCC_OUTPUT && field.name != "each") << field.name;
  nbcc_field field{};
  ASSERT_EQ(nbcc_pipeline_field(pipeline().get(), 4, &field), 0);
  EXPECT_STREQ(field.name, "most");
  EXPECT_STREQ(field.type, "real[2]");
  EXPECT_EQ(field.total, 1);
  EXPECT_EQ(field.reduction, NBCC_MAX);
  EXPECT_EQ(field.components, 2);
  nbcc::Sum sum(pipeline());
  ASSERT_EQ(nbcc_sum_field(sum.get(), 7, &field), 0);
  EXPECT_STREQ(field.name, "each");
  EXPECT_EQ(field.total, 0);
}

TEST(TotalsInterface, NumbersAndSmallArrays) {
  Bound bound;
  bound.sum.run();
  EXPECT_EQ(bound.energy, 10 * 5);
  EXPECT_EQ(bound.moment, (std::array<float, 3>{20, 20, 8}));
  EXPECT_EQ(bound.most, (std::array<double, 2>{4, 3}));
  EXPECT_EQ(bound.pairs, 3);
  EXPECT_EQ(bound.whole, 4);
  EXPECT_EQ(bound.each, std::vector<double>(4, 5.0));
}

// Components far apart and backwards; zero strides of the only row.
TEST(TotalsInterface, ViewsOfAnyStride) {
  Bound bound;
  double moment[9] = {};
  bound.sum.bind("moment", nbcc::view(moment + 8, 1, 0, -4 * std::int64_t(sizeof(double)))).run();
  EXPECT_EQ(moment[8], 20);
  EXPECT_EQ(moment[4], 20);
  EXPECT_EQ(moment[0], 8);
}

TEST(TotalsInterface, ChosenAndAccumulated) {
  Bound bound;
  const std::vector<std::int64_t> list{3, 1};
  bound.sum.run(list);
  EXPECT_EQ(bound.energy, 6 * 5);
  EXPECT_EQ(bound.each, (std::vector<double>{0, 5, 0, 5}));
  bound.sum.accumulate(0, 1);
  EXPECT_EQ(bound.energy, 7 * 5);
  EXPECT_EQ(bound.most[0], 4);
  bound.sum.run(std::vector<std::int64_t>{});
  EXPECT_EQ(bound.energy, 0);
  EXPECT_EQ(bound.pairs, 0);
  // The last part combines the whole with the old value, once.
  bound.energy = 1000;
  const nbcc_run_options first{sizeof(nbcc_run_options), 0, -1, nullptr, 1, nullptr, NBCC_FIRST_PART, 0};
  nbcc_run_options last = first;
  last.part = NBCC_LAST_PART;
  ASSERT_EQ(nbcc_sum_run(bound.sum.get(), &first, nullptr), NBCC_OK);
  EXPECT_EQ(bound.energy, 1000);
  ASSERT_EQ(nbcc_sum_run(bound.sum.get(), &last, nullptr), NBCC_OK);
  EXPECT_EQ(bound.energy, 1000 + 2 * 10 * 5);
}

TEST(TotalsInterface, MayBeIgnored) {
  Bound bound;
  bound.sum.ignore("energy").ignore("most").run();
  EXPECT_EQ(bound.energy, -7);
  EXPECT_EQ(bound.most[0], -7);
  EXPECT_EQ(bound.whole, 4);
}

// A total may lie in an array that the run reads: it is stored when all has been read.
TEST(TotalsInterface, MayOverlapInputs) {
  Bound bound;
  bound.sum.bind("energy", bound.x[1]).run();
  EXPECT_EQ(bound.x, (std::vector<double>{1, 50, 3, 4}));
  EXPECT_EQ(bound.each, std::vector<double>(4, 5.0));
}

TEST(TotalsInterface, Refusals) {
  Bound bound;
  std::vector<double> four(4), six(6);
  const std::string is_total = " is a total, which has one value for the run: its count must be 1, got ";
  EXPECT_EQ(message([&] { bound.sum.bind("energy", four); }),
            "output 'energy' of pipeline 'interface'" + is_total + "4");
  EXPECT_EQ(message([&] { bound.sum.bind("moment", six); }),
            "output 'moment' of pipeline 'interface'" + is_total + "2");
  EXPECT_EQ(message([&] { bound.sum.bind("energy", nbcc::View{}); }),
            "output 'energy' of pipeline 'interface'" + is_total + "0");
  const double constant = 0;
  EXPECT_EQ(message([&] { bound.sum.bind("energy", constant); }), "output 'energy' cannot be bound to a const array");
  for (const std::string name : {"each", "x", "moment"})
    EXPECT_EQ(message([&] { bound.sum.bind(name, four[0]); }),
              "'" + name + "' is not a total of one component: it takes an array, not a number");
  nbcc::Sum bare(pipeline());
  bare.bind("x", bound.x).bind("y", bound.y).bind("each", bound.each);
  EXPECT_EQ(message([&] { bare.run(); }), "output 'energy' of pipeline 'interface' is not bound to an array");
  bound.sum.run();  // what has been refused has changed nothing
  EXPECT_EQ(bound.energy, 50);
}

}  // namespace
