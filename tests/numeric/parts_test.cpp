// Runs that are no part of one sum, and what parts leave behind. what_goes_together_test.cpp has sums whose j come in
// parts.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/source/parse.h"
#include "jit/build_kernel.h"
#include "runtime/error.h"
#include "tests/support/cpu_run.h"

namespace nbcc {
namespace {

using namespace test;

class PartMistakes : public testing::Test {
 protected:
  PartMistakes() {
    sum.bind("x", {numbers, Element::Double, 2, 8, 8});
    sum.bind("s", {numbers + 2, Element::Double, 2, 8, 8});
    sum.set_counts(2, 2);
  }
  void run(JPart part) { sum.run({.part = part}); }
  std::string message(const RunChoice& choice) {
    try {
      sum.run(choice);
    } catch (const UsageError& e) {
      return e.what();
    }
    return "";
  }
  CpuDevice device{1, detect_isa(), cpu_toolchain(), "", ""};
  SumState sum{device.load(
      build_cpu_kernel(parse({"p.pipe", "input_j real x;\noutput(sum) real s;\ns += x;"}), {}, detect_isa(), ""))};
  double numbers[4] = {1, 2, -1, -1};
};

TEST_F(PartMistakes, OutputsWaitForTheLastPart) {
  run(JPart::First);
  run(JPart::Next);
  EXPECT_EQ(numbers[2], -1);
  run(JPart::Last);
  EXPECT_EQ(numbers[2], 9);
  sum.run({.accumulate = true});
  EXPECT_EQ(numbers[2], 12);
}

TEST_F(PartMistakes, AnotherRunEndsTheSum) {
  const std::string none = "part: there is no first part to continue, or the sum that it began has ended or failed";
  EXPECT_EQ(message({.part = JPart::Last}), none);
  run(JPart::First);
  run(JPart::Whole);
  EXPECT_EQ(message({.part = JPart::Next}), none);
  run(JPart::First);
  run(JPart::Last);
  EXPECT_EQ(message({.part = JPart::Last}), none);
}

TEST_F(PartMistakes, APartThatFailsEndsTheSum) {
  run(JPart::First);
  EXPECT_EQ(message({.i_count = 1, .part = JPart::Next}),
            "part: the first part was of 2 i-particles, this one is of 1");
  EXPECT_NE(message({.part = JPart::Last}), "");
}

// The sums of earlier parts are kept in the order of the chosen i, over lists in the order of all i.
TEST_F(PartMistakes, AllPartsHaveTheSameI) {
  const std::int64_t both[] = {0, 1}, turned[] = {1, 0};
  sum.run({.i_count = 2, .i_list = both, .part = JPart::First});
  EXPECT_EQ(
      message({.i_count = 2, .i_list = turned, .part = JPart::Last}),
      "part: chosen i 0 of the first part was 0, of this one it is 1: all parts have the same i in the same order");
  const std::int64_t batch[] = {0, 0};
  sum.run({.i_count = 2, .i_list = turned, .part = JPart::First});
  sum.set_batches(1, 2, batch, 2, batch);
  EXPECT_EQ(message({.i_count = 2, .i_list = turned, .part = JPart::Last}),
            "part: the first part was not over lists or batches, this one is: all parts of a sum for some i, or with "
            "an i_list, are over lists or batches, or none is");
}

TEST_F(PartMistakes, PartsOfChosenIMayBeListed) {
  const std::int64_t turned[] = {1, 0}, first[] = {0, 1, 1}, j[] = {1};
  sum.run({.i_count = 2, .i_list = turned, .part = JPart::First});
  sum.set_listed_pairs(2, first, 1, j);
  sum.run({.i_count = 2, .i_list = turned, .part = JPart::Last});
  EXPECT_EQ(numbers[2], 5);
  EXPECT_EQ(numbers[3], 3);
}

// What is listed names the j of the part.
TEST_F(PartMistakes, ListedPairsAreOfThePart) {
  const std::int64_t first[] = {0, 1, 1}, j[] = {1};
  sum.set_listed_pairs(2, first, 1, j);
  run(JPart::First);
  sum.clear_lists();
  run(JPart::Last);
  EXPECT_EQ(numbers[2], 5);
  EXPECT_EQ(numbers[3], 3);
}

}  // namespace
}  // namespace nbcc
