#include "runtime/cuda/run/cuda_chunks.h"

#include <gtest/gtest.h>

namespace nbcc {
namespace {

CudaChunkQuestion question(std::int64_t ni, std::int64_t nj) {
  return {.ni = ni, .nj = nj, .i_bytes = 44, .i_work_bytes = 200, .j_bytes = 16, .i_multiple = 512, .j_multiple = 128};
}

constexpr std::int64_t kMuch = std::int64_t(100) << 30;

TEST(cuda_chunks, small_sets_go_at_once) {
  const CudaChunks chunks = choose_chunks(question(1000, 2000), kMuch);
  EXPECT_TRUE(chunks.fits);
  EXPECT_EQ(chunks.i_chunk, 1000);
  EXPECT_EQ(chunks.j_chunk, 2000);
  EXPECT_EQ(chunks.bytes, 1000 * 244 + 2000 * 16);
}

TEST(cuda_chunks, large_sets_overlap_and_all_j_stay) {
  const CudaChunks chunks = choose_chunks(question(10'000'000, 10'000'000), kMuch);
  EXPECT_EQ(chunks.j_chunk, kCudaJChunk);
  EXPECT_LT(chunks.i_chunk, 10'000'000);
  EXPECT_TRUE(chunks.j_resident);
}

// How chunks of j are cut decides the order in which terms join.
TEST(cuda_chunks, chunks_of_i_shrink_before_those_of_j) {
  const CudaChunkQuestion asked = question(1'000'000, 1'000'000);
  const CudaChunks chunks = choose_chunks(asked, 20'000'000);
  EXPECT_TRUE(chunks.fits);
  EXPECT_FALSE(chunks.j_resident);
  EXPECT_EQ(chunks.j_chunk, kCudaJChunk);
  EXPECT_LT(chunks.i_chunk, 100'000);
  EXPECT_EQ(chunks.i_chunk % 512, 0);
}

TEST(cuda_chunks, what_is_kept_is_not_cut) {
  CudaChunkQuestion asked = question(1'000'000, 1'000'000);
  asked.i_in_one_chunk = asked.j_resident = true;
  const CudaChunks chunks = choose_chunks(asked, 1'000'000);
  EXPECT_FALSE(chunks.fits);
  EXPECT_EQ(chunks.i_chunk, 1'000'000);
  EXPECT_EQ(chunks.bytes, 1'000'000 * (44 + 200 + 16));
}

TEST(cuda_chunks, says_the_least_that_would_do) {
  const CudaChunks chunks = choose_chunks(question(1'000'000, 1'000'000), 0);
  EXPECT_FALSE(chunks.fits);
  EXPECT_EQ(chunks.i_chunk, 512);
  EXPECT_EQ(chunks.j_chunk, 128);
  EXPECT_TRUE(choose_chunks(question(1'000'000, 1'000'000), chunks.bytes).fits);
  EXPECT_FALSE(choose_chunks(question(1'000'000, 1'000'000), chunks.bytes - 1).fits);
}

}  // namespace
}  // namespace nbcc
