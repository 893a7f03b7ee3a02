#include "runtime/cuda/cuda_split.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace nbcc {
namespace {

// An H200 and gravity in single precision.
CudaSplitQuestion h200(std::int64_t ni, std::int64_t nj) {
  return {.multiprocessors = 132,
          .shape = {.threads = 128, .i_per_thread = 4, .j_tile = 128, .unroll = 0, .lanes = 1},
          .blocks_per_multiprocessor = 4,
          .slots = 3,
          .pair_statements = 14,
          .staged_bytes = 16,
          .ni = ni,
          .nj = nj};
}

std::string what(const CudaSplit& split) {
  return std::to_string(split.shape.threads) + " threads, " + std::to_string(split.shape.i_per_thread) + " i, " +
         std::to_string(split.shape.lanes) + " lanes, " + std::to_string(split.parts) + " parts";
}

struct Row {
  std::int64_t ni, nj;
  int i_per_thread, lanes;
  int least_parts, most_parts;
};

// Measured: the fastest, or within some per cent of it.
TEST(cuda_split, table) {
  for (const Row& row :
       {Row{8, 131072, 1, 32, 64, 256}, Row{64, 131072, 1, 8, 64, 128}, Row{1024, 131072, 2, 4, 16, 64},
        Row{2048, 2048, 1, 2, 8, 8}, Row{8192, 8192, 2, 4, 4, 8}, Row{16384, 16384, 4, 1, 8, 16},
        Row{131072, 131072, 4, 1, 12, 48}, Row{262144, 262144, 4, 1, 8, 48}}) {
    const CudaSplit split = choose_split(h200(row.ni, row.nj));
    SCOPED_TRACE(std::to_string(row.ni) + " x " + std::to_string(row.nj) + ": " + what(split));
    EXPECT_EQ(split.shape.i_per_thread, row.i_per_thread);
    EXPECT_EQ(split.shape.lanes, row.lanes);
    EXPECT_GE(split.parts, row.least_parts);
    EXPECT_LE(split.parts, row.most_parts);
  }
}

// Hits lie in few tiles: what keeps all multiprocessors busy to the end are small parts, or as many blocks as are
// resident at once, of short tiles where there are few.
TEST(cuda_split, behind_a_cutoff) {
  CudaSplitQuestion lennard_jones = h200(1, 1);
  lennard_jones.shape = {.threads = 128, .i_per_thread = 2, .j_tile = 256, .unroll = 0, .lanes = 1};
  lennard_jones.blocks_per_multiprocessor = 8;
  lennard_jones.slots = 5;
  lennard_jones.pair_statements = 11;
  lennard_jones.cutoff = true;
  CudaSplitQuestion sph_force = lennard_jones;
  sph_force.shape.i_per_thread = 4;
  sph_force.blocks_per_multiprocessor = 4;
  sph_force.pair_statements = 7;
  sph_force.staged_bytes = 80;
  sph_force.rest_bytes = 48;
  const auto expect = [](CudaSplitQuestion question, std::int64_t n, int i_per_thread, int lanes, int tile,
                         int least_parts) {
    question.ni = question.nj = n;
    const CudaSplit split = choose_split(question);
    SCOPED_TRACE(std::to_string(n) + ": " + what(split));
    EXPECT_EQ(split.shape.i_per_thread, i_per_thread);
    EXPECT_EQ(split.shape.lanes, lanes);
    EXPECT_EQ(split.shape.j_tile, tile);
    EXPECT_GE(split.parts, least_parts);
  };
  expect(lennard_jones, 4096, 1, 2, 512, 8);
  expect(lennard_jones, 13824, 2, 1, 128, 12);
  expect(lennard_jones, 262144, 2, 1, 256, 16);
  expect(sph_force, 4096, 1, 2, 512, 8);
  expect(sph_force, 13824, 2, 1, 128, 12);
  expect(sph_force, 64000, 4, 1, 256, 24);
}

// 64 blocks of i, of which 528 are resident at once: 8, 16, 24 and 33 parts fill whole rounds.
TEST(cuda_split, parts_beyond_whole_rounds_are_short) {
  const CudaSplitQuestion question = h200(32768, 32768);
  const auto of = [&](int parts) { return short_parts(question, {question.shape, parts}); };
  EXPECT_EQ(of(6), 0);
  EXPECT_EQ(of(8), 0);
  EXPECT_EQ(of(10), 2);
  EXPECT_EQ(of(16), 0);
  EXPECT_EQ(of(20), 4);
  EXPECT_EQ(of(36), 3);
  // The others have to be longer than one tile; of rounds that are not filled there is none.
  EXPECT_EQ(short_parts(h200(32768, 32 * 128), {question.shape, 20}), 0);
  EXPECT_EQ(short_parts(h200(40960, 40960), {question.shape, 10}), 0);
  CudaSplitQuestion cutoff = question;
  cutoff.cutoff = true;
  EXPECT_EQ(short_parts(cutoff, {question.shape, 10}), 0);
  EXPECT_EQ(short_parts(h200(0, 1000), {question.shape, 10}), 0);
}

TEST(cuda_split, nothing_to_share_out_is_one_part) {
  EXPECT_EQ(choose_split(h200(1, 0)).parts, 1);
  EXPECT_EQ(choose_split(h200(1, 100)).parts, 1);
}

// They would need much memory, and bring nothing.
TEST(cuda_split, many_i_are_one_part) { EXPECT_EQ(choose_split(h200(1'000'000'000, 1'000'000)).parts, 1); }

TEST(cuda_split, no_part_is_without_a_tile) {
  for (const std::int64_t nj : {0, 1, 127, 128, 129, 1000, 5000}) {
    const CudaSplit split = choose_split(h200(10, nj));
    EXPECT_LE(split.parts, std::max<std::int64_t>(1, (nj + split.shape.j_tile - 1) / split.shape.j_tile)) << nj;
  }
}

TEST(cuda_split, no_other_cut_costs_less) {
  const CudaSplitQuestion question = h200(5000, 7000);
  const CudaSplit best = choose_split(question);
  for (const CudaShape& shape : candidate_shapes(question)) {
    for (const int parts : {1, 2, 3, 4, 6, 8, 12}) {
      const CudaSplit other{shape, parts};
      EXPECT_LE(split_cost(question, best), split_cost(question, other)) << what(other);
    }
  }
}

TEST(cuda_split, the_shape_may_be_given) {
  CudaSplitQuestion question = h200(2048, 2048);
  question.only_this_shape = true;
  EXPECT_EQ(choose_split(question).shape, question.shape);
}

TEST(cuda_split, candidates_have_room_in_shared_memory) {
  for (const int slots : {1, 7, 20, 40, 100}) {
    for (const int staged_bytes : {4, 48, 200})
      for (const int rest_bytes : {0, 48}) {
        CudaSplitQuestion question = h200(2048, 2048);
        question.slots = slots;
        question.staged_bytes = staged_bytes;
        question.rest_bytes = rest_bytes;
        const std::vector<CudaShape> shapes = candidate_shapes(question);
        EXPECT_EQ(shapes.front(), question.shape);
        for (std::size_t k = 1; k < shapes.size(); ++k) {
          const int rest = rest_bytes * shapes[k].threads / shapes[k].lanes * shapes[k].i_per_thread;
          EXPECT_LE(8 * slots * shapes[k].threads * shapes[k].i_per_thread + rest, 48 << 10);
          EXPECT_LE(staged_bytes * shapes[k].j_tile + rest, 48 << 10);
          EXPECT_EQ(shapes[k].threads % shapes[k].lanes, 0);
        }
      }
  }
}

TEST(cuda_split, more_work_costs_more) {
  const CudaSplit split{h200(1, 1).shape, 1};
  EXPECT_LT(split_cost(h200(1000, 1000), split), split_cost(h200(1000, 2000), split));
  EXPECT_LT(split_cost(h200(100'000, 1000), split), split_cost(h200(200'000, 1000), split));
}

}  // namespace
}  // namespace nbcc
