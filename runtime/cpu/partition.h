// Divides a run on the CPU among threads: blocks of i and segments of j.
//
// If there are enough blocks, a thread sums a block over all segments; else the segments of each block are divided
// among threads too. Neither that choice nor the block size changes results: tiles of j combine into segments, and
// segments into the total, in an order that depends only on nj and the kernel. Tested by
// tests/unit/runtime/cpu/partition_test.cpp.
#pragma once
#include <cstdint>
#include <vector>

#include "runtime/sum/plan/device.h"

namespace nbcc {

// The i-particles of one kernel call.
struct Block {
  std::int64_t begin, end;  // positions in the packed columns
  std::int64_t padded;      // `end` rounded up to full vectors, which a kernel may read and write
  std::int64_t i_offset;    // i_index minus position
  Picked picked;
  std::int64_t chosen = 0;  // number of chosen i in earlier blocks
};

class CpuPartition {
 public:
  // In nanoseconds. Work below kWorthSharing is done by one thread. Work below kWorthWaking ends before a sleeping
  // thread has woken up (waking a thread costs the caller some 10 microseconds on a virtual machine).
  static constexpr double kWorthSharing = 20'000.0, kWorthWaking = 60'000.0;

  // `single_batch`: results may be stored only when all i have been packed, so that all i are one batch.
  CpuPartition(const KernelSource& source, const SumRequest& request, int threads, bool single_batch);

  double nanoseconds() const { return nanoseconds_; }  // estimate for the entire run on one thread
  std::int64_t capacity() const { return capacity_; }  // maximum number of positions of a batch
  std::int64_t max_blocks() const { return capacity_ / granularity_; }
  std::int64_t segments() const { return segments_; }
  std::int64_t segment_size() const { return segment_size_; }
  bool shares_segments() const { return shares_segments_; }

  // The blocks of the next batch, which are processed together; empty after the last batch.
  void next_batch(std::vector<Block>& blocks);

 private:
  const SumRequest& request_;
  const bool consecutive_;  // the indices of a block must be consecutive, because the kernel uses i_index
  const std::int64_t granularity_, segment_size_, segments_;
  double nanoseconds_;
  bool shares_segments_;
  std::int64_t block_, batch_, capacity_;
  std::int64_t taken_ = 0;  // number of chosen i in earlier batches
};

}  // namespace nbcc
