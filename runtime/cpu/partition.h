// A run on the CPU -> the pieces that its threads share: blocks of i and segments of j.
//
// Where there are blocks enough, a thread sums a block over all segments; else threads share the segments of each block
// as well. Which of the two, and how large blocks are, changes no result: tiles of j combine into segments and segments
// into the total in an order that nj and the kernel fix.
// Tested by tests/unit/partition_test.cpp.
#pragma once
#include <cstdint>
#include <vector>

#include "runtime/sum/device.h"

namespace nbcc {

// i-particles that one call of the kernel takes.
struct Block {
  std::int64_t begin, end;  // positions in the packed columns
  std::int64_t padded;      // as end, of whole vectors, which a kernel may read and write
  std::int64_t i_offset;    // i_index less the position
  Picked picked;
  std::int64_t chosen = 0;  // how many of the chosen i stand in blocks before
};

class CpuPartition {
 public:
  // Work (in nanoseconds) below the first is not worth sharing; below the second it is done sooner than a sleeping
  // thread has come back (waking one costs the caller some 10 microseconds on a virtual machine).
  static constexpr double kWorthSharing = 20'000.0, kWorthWaking = 60'000.0;

  // `whole`: results may be stored only when all i have been packed, so that all are in work at once.
  CpuPartition(const KernelSource& source, const SumRequest& request, int threads, bool whole);

  double nanoseconds() const { return nanoseconds_; }  // about, of the whole run on one thread
  std::int64_t capacity() const { return capacity_; }  // positions that one batch needs at most
  std::int64_t most_blocks() const { return capacity_ / grain_; }
  std::int64_t segments() const { return segments_; }
  std::int64_t segment_size() const { return segment_size_; }
  bool shares_segments() const { return shares_segments_; }

  // The next batch of chosen i, in work at once; empty when there are none left.
  void next_batch(std::vector<Block>& blocks);

 private:
  const SumRequest& request_;
  const bool consecutive_;  // a block's particles must be: the kernel asks for their index
  const std::int64_t grain_, segment_size_, segments_;
  double nanoseconds_;
  bool shares_segments_;
  std::int64_t block_, batch_, capacity_;
  std::int64_t taken_ = 0;  // chosen i that have been put into blocks
};

}  // namespace nbcc
