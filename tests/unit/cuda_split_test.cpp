#include "runtime/cuda_split.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace nbcc {
namespace {

// An H200 and gravity in single precision.
CudaSplitQuestion h200(std::int64_t ni, std::int64_t nj) {
  return {.multiprocessors = 132,
          .blocks_per_multiprocessor = 4,
          .threads = 128,
          .i_per_thread = 4,
          .tile = 128,
          .slots = 4,
          .ni = ni,
          .nj = nj};
}

struct Row {
  std::int64_t ni, nj;
  int least_i_per_thread, most_i_per_thread;
  int least_parts, most_parts;
};

TEST(cuda_split, table) {
  for (const Row& row : {
           Row{1, 0, 1, 4, 1, 1},                                       // nothing to share out
           Row{1, 100, 1, 4, 1, 1}, Row{100, 1'000'000, 1, 1, 32, 64},  // one block of i: j makes the parallelism
           Row{2048, 2048, 1, 2, 8, 16},                                // measured: 16 parts, two i per thread
           Row{16384, 16384, 4, 4, 8, 32}, Row{131072, 131072, 4, 4, 4, 64}, Row{262144, 262144, 4, 4, 4, 64},
           Row{1'000'000'000, 1'000'000, 4, 4, 1, 1},  // the parts would need much memory and bring nothing
       }) {
    const CudaSplit split = choose_split(h200(row.ni, row.nj));
    const std::string what = std::to_string(row.ni) + " x " + std::to_string(row.nj);
    EXPECT_GE(split.i_per_thread, row.least_i_per_thread) << what;
    EXPECT_LE(split.i_per_thread, row.most_i_per_thread) << what;
    EXPECT_GE(split.parts, row.least_parts) << what;
    EXPECT_LE(split.parts, row.most_parts) << what;
  }
}

TEST(cuda_split, no_part_is_without_a_tile) {
  for (const std::int64_t nj : {0, 1, 127, 128, 129, 1000, 5000}) {
    EXPECT_LE(choose_split(h200(10, nj)).parts, std::max<std::int64_t>(1, (nj + 127) / 128)) << nj;
  }
}

TEST(cuda_split, no_other_cut_costs_less) {
  const CudaSplitQuestion question = h200(5000, 7000);
  const CudaSplit best = choose_split(question);
  for (const int i_per_thread : {4, 2, 1}) {
    for (int parts = 1; parts <= 55; ++parts) {
      EXPECT_LE(split_cost(question, best), split_cost(question, {i_per_thread, parts})) << i_per_thread << parts;
    }
  }
}

TEST(cuda_split, i_per_thread_may_be_given) {
  CudaSplitQuestion question = h200(2048, 2048);
  question.fewest_i_per_thread = 4;
  EXPECT_EQ(choose_split(question).i_per_thread, 4);
}

TEST(cuda_split, more_work_costs_more) {
  EXPECT_LT(split_cost(h200(1000, 1000), {1, 1}), split_cost(h200(1000, 2000), {1, 1}));
  EXPECT_LT(split_cost(h200(100'000, 1000), {1, 1}), split_cost(h200(200'000, 1000), {1, 1}));
}

}  // namespace
}  // namespace nbcc
