// A run on the CPU: blocks of packed i-particles against tiles of packed j-particles, shared out to threads.
//
// The order in which terms combine is fixed by nj and the kernel alone, so that a result does not depend on the number
// of threads, nor on which other i are asked for: tiles combine into a segment in order, segments into the total in
// order.
// Tested by tests/unit/sum_test.cpp.
#pragma once
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "runtime/cpu/accumulators.h"
#include "runtime/cpu/cpu_search.h"
#include "runtime/cpu/cpu_toolchain.h"
#include "runtime/cpu/partition.h"
#include "runtime/cpu/thread_pool.h"
#include "runtime/sum/device.h"
#include "runtime/sum/pack.h"

namespace nbcc {

class CpuSummation final : public Summation {
 public:
  // All three must outlive this object.
  CpuSummation(const KernelSource& source, const CpuCode& code, ThreadPool& pool);
  void run(const SumRequest& request, AllPairs pairs) override;
  void run(const SumRequest& request, Neighbours neighbours) override;
  SumStatistics statistics() const override;

 private:
  void reserve(const CpuPartition& partition);
  void pack_j(const SumRequest& request);
  void sum_by_blocks(const SumRequest& request, const CpuPartition& partition, const std::vector<Block>& blocks,
                     bool store);
  void sum_by_segments(const SumRequest& request, const CpuPartition& partition, const std::vector<Block>& blocks);

  struct Worked;
  bool locate(const SumRequest& request);
  void note(const Worked& worked, const SumStatistics::Seconds& seconds);
  ForEach on_threads() const;
  std::unique_ptr<CpuSearch::Gathered> take_idle();
  void give_back(std::unique_ptr<CpuSearch::Gathered> one);
  Block block_of_groups(std::int64_t first, std::int64_t last) const;
  void sum_group(const SumRequest& request, std::int64_t group, CpuSearch::Gathered& gathered, Worked& worked);
  void begin_block(const SumRequest& request, const Block& block);
  void sum_segment(const SumRequest& request, const Block& block, std::int64_t begin, std::int64_t end,
                   Accumulators& partial) const;
  void finish_block(const SumRequest& request, const Block& block) const;
  void store_block(const SumRequest& request, const Block& block) const;
  nbcc_kernel_arguments arguments(const SumRequest& request, const Block& block,
                                  const Accumulators& accumulators) const;
  // Items 0 .. count-1, on several threads if `nanoseconds` of work are worth it.
  void for_each(std::int64_t count, double nanoseconds, const ThreadPool::Body& body);

  const KernelSource& source_;
  const CpuCode& code_;
  ThreadPool& pool_;
  PackedSide i_, j_;
  Accumulators totals_;
  std::vector<Accumulators> partials_;  // of the segments that threads have in work

  CpuSearch search_;
  std::vector<std::int64_t> chosen_i_;  // by position in the order of the search; empty in a run over all pairs
  std::vector<int> i_numbers_;          // the same
  SumStatistics statistics_;            // but for pairs_within
  bool searched_ = false;               // in the last run
  std::mutex idle_mutex_;
  std::vector<std::unique_ptr<CpuSearch::Gathered>> idle_;  // what no thread works with
};

}  // namespace nbcc
