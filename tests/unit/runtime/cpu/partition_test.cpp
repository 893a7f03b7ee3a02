#include "runtime/cpu/partition.h"

#include <gtest/gtest.h>

#include <vector>

namespace nbcc {
namespace {

// A kernel of vectors of 8 that holds 2 i, with tiles of 1024 j.
KernelSource kernel(bool uses_i_index = false) {
  KernelSource source;
  source.lanes = 8;
  source.i_block = 2;
  source.tile = 1024;
  source.uses.i_index = uses_i_index;
  source.accumulators.resize(1);
  return source;
}

SumRequest request(std::int64_t ni, std::int64_t nj) {
  SumRequest made;
  made.i_begin = 5;
  made.i_count = ni;
  made.nj = nj;
  made.i_offset = 100;
  return made;
}

struct Batch {
  std::vector<Block> blocks;
};

std::vector<Batch> batches_of(CpuPartition& partition) {
  std::vector<Batch> batches(1);
  for (partition.next_batch(batches.back().blocks); !batches.back().blocks.empty();
       partition.next_batch(batches.back().blocks))
    batches.emplace_back();
  batches.pop_back();
  return batches;
}

TEST(CpuPartition, ARangeIsTakenOnceInOrder) {
  for (const std::int64_t ni : {1, 63, 64, 65, 5000, 100'000}) {
    for (const int threads : {1, 3, 16}) {
      const KernelSource source = kernel();
      const SumRequest asked = request(ni, 500);
      CpuPartition partition(source, asked, threads, false);
      std::int64_t next = 5;
      for (const Batch& batch : batches_of(partition)) {
        std::int64_t position = 0;
        for (const Block& block : batch.blocks) {
          EXPECT_EQ(block.picked.first, next);
          EXPECT_EQ(block.begin, position);
          EXPECT_EQ(block.end - block.begin, block.picked.count);
          EXPECT_EQ(block.begin + block.i_offset, 100 + next);
          EXPECT_TRUE(block.padded >= block.end && block.padded < block.end + 8 && block.padded % 8 == 0);
          next += block.picked.count;
          position = block.padded;
        }
        EXPECT_LE(position, partition.capacity());
        EXPECT_LE(std::int64_t(batch.blocks.size()), partition.max_blocks());
      }
      EXPECT_EQ(next, 5 + ni);
    }
  }
}

TEST(CpuPartition, MemoryHasABoundUnlessAllAreNeededAtOnce) {
  const KernelSource source = kernel();
  const SumRequest asked = request(1'000'000, 500);
  CpuPartition bounded(source, asked, 2, false), whole(source, asked, 2, true);
  EXPECT_LT(bounded.capacity(), 10'000);
  EXPECT_GT(batches_of(bounded).size(), 100U);
  EXPECT_EQ(batches_of(whole).size(), 1U);
}

TEST(CpuPartition, WhereTheIndexIsAskedForABlockIsOfConsecutiveOnes) {
  const std::int64_t list[] = {7, 8, 9, 3, 2, 4, 5};
  for (const bool uses_i_index : {false, true}) {
    const KernelSource source = kernel(uses_i_index);
    SumRequest asked = request(7, 500);
    asked.i_begin = 0;
    asked.i_list = list;
    CpuPartition partition(source, asked, 1, false);
    const std::vector<Batch> batches = batches_of(partition);
    ASSERT_EQ(batches.size(), 1U);
    std::vector<std::int64_t> counts, firsts;
    for (const Block& block : batches[0].blocks) {
      counts.push_back(block.picked.count);
      firsts.push_back(block.begin + block.i_offset - 100);
      EXPECT_LE(block.padded, partition.capacity());
    }
    if (uses_i_index) {
      EXPECT_EQ(counts, (std::vector<std::int64_t>{3, 1, 1, 2}));
      EXPECT_EQ(firsts, (std::vector<std::int64_t>{7, 3, 2, 4}));
    } else {
      EXPECT_EQ(counts, std::vector<std::int64_t>{7});
    }
  }
}

TEST(CpuPartition, ThreadsShareSegmentsOnlyWhereBlocksAreFew) {
  const KernelSource source = kernel();
  const SumRequest few = request(64, 100'000), many = request(64'000, 100'000), small = request(2, 9000);
  EXPECT_TRUE(CpuPartition(source, few, 4, false).shares_segments());
  EXPECT_FALSE(CpuPartition(source, few, 1, false).shares_segments());
  EXPECT_FALSE(CpuPartition(source, many, 4, false).shares_segments());
  EXPECT_FALSE(CpuPartition(source, small, 4, false).shares_segments());
  EXPECT_EQ(CpuPartition(source, few, 4, false).segments(), 13);
}

}  // namespace
}  // namespace nbcc
