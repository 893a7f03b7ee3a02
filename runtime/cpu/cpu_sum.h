// A run on the CPU: blocks of packed i-particles against tiles of packed j-particles, shared out to threads.
//
// The order in which terms combine is fixed by nj and the kernel alone, so that a result does not depend on the number
// of threads, nor on which other i are asked for: tiles combine into a segment in order, segments into the total in
// order.
// Tested by tests/unit/sum_test.cpp.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "runtime/cpu/accumulators.h"
#include "runtime/cpu/cpu_search.h"
#include "runtime/cpu/cpu_toolchain.h"
#include "runtime/cpu/partition.h"
#include "runtime/cpu/thread_pool.h"
#include "runtime/sum/device.h"
#include "runtime/sum/index_check.h"
#include "runtime/sum/pack.h"

namespace nbcc {

class CpuSummation final : public Summation {
 public:
  // The code of the text of lists, which may have to be compiled first.
  using ListCode = std::function<const CpuCode&()>;

  // All must outlive this object.
  CpuSummation(const KernelSource& source, const CpuCode& code, ListCode list_code, ThreadPool& pool);
  std::span<const PairMethod> methods() const override { return methods_; }
  FoundPairs find_pairs(const SumRequest& request) override;
  void check_indices(const SumRequest& request) override;
  SumStatistics statistics() const override;

 private:
  // Rows of the caller's arrays that stay in the L1 cache while one component after the other is packed (measured: 256
  // rows of three doubles take 20% less time than all three components row by row).
  static constexpr std::int64_t kPackChunk = 256;

  PairMethod row(std::string_view name, void (CpuSummation::*run)(const SumRequest&));
  std::int64_t working_set(const SumRequest& request) const;
  void sum_all_pairs(const SumRequest& request);
  void sum_neighbours(const SumRequest& request);
  void sum_lists(const SumRequest& request);
  void sum_listed_pairs(const SumRequest& request);
  std::optional<Estimate> estimate_search(const SumRequest& request);
  Estimate survey_search(SumRequest& request);
  void reserve(const CpuPartition& partition);
  void pack_j(const SumRequest& request);
  void find_index_ranges(const SumRequest& request, std::size_t side);
  void sum_by_blocks(const SumRequest& request, const CpuPartition& partition, const std::vector<Block>& blocks,
                     bool store);
  void sum_by_segments(const SumRequest& request, const CpuPartition& partition, const std::vector<Block>& blocks);

  // Chosen i that a list's j act on: a part of a group, which a thread takes at a time.
  struct Share {
    std::int64_t group;
    Block block;
  };
  // What a thread puts the j of a share into, a piece of the list at a time.
  struct Piece;
  void begin_run(const SumRequest& request);
  std::vector<Share> share_out(const Lists& lists);
  void sum_share(const SumRequest& request, const Lists& lists, const Share& share, Piece& piece);
  void sum_piece(const SumRequest& request, const Lists& lists, const Share& share, Piece& piece);
  void sum_rows(const SumRequest& request, const PairRows& rows, const Block& block, Piece& piece);
  template <typename Body>
  void on_pieces(std::int64_t count, const Body& body);
  // Positions among what was gathered -> the caller's numbers of j, for argmin and argmax.
  void number_chosen(const Accumulators& sums, const Block& block, const int* numbers, std::int64_t j_offset) const;

  struct Worked;
  bool locate(const SumRequest& request);
  // So much of the work that begin() told is done.
  void step(double units) const {
    if (progress_) progress_->step(units);
  }
  void begin(double units) const {
    if (progress_) progress_->begin(units);
  }
  void note(const Worked& worked, const SumStatistics::Seconds& seconds);
  ForEach on_threads() const;
  std::unique_ptr<CpuSearch::Gathered> take_idle();
  void give_back(std::unique_ptr<CpuSearch::Gathered> one);
  Block block_of_groups(std::int64_t first, std::int64_t last) const;
  void sum_group(const SumRequest& request, std::int64_t group, CpuSearch::Gathered& gathered, Worked& worked);
  void begin_block(const SumRequest& request, const Block& block);
  bool leaves_out_any(const Block& block, std::int64_t begin, std::int64_t end) const;
  void sum_segment(const SumRequest& request, const Block& block, std::int64_t begin, std::int64_t end,
                   Accumulators& partial) const;
  // In a sum in parts: combines the block's totals with the accumulators of the parts before. `order`: which of the
  // chosen i the block's positions hold; null: consecutive ones. True if these are the sums of all parts, to be
  // finished and stored.
  bool carry_block(const SumRequest& request, const Block& block, const int* order);
  void finish_block(const SumRequest& request, const Block& block) const;
  void store_block(const SumRequest& request, const Block& block) const;
  nbcc_kernel_arguments arguments(const SumRequest& request, const Block& block,
                                  const Accumulators& accumulators) const;
  // Items 0 .. count-1, on several threads if `nanoseconds` of work are worth it. The run's progress is asked before
  // each item, as by on_threads().
  void for_each(std::int64_t count, double nanoseconds, const ThreadPool::Body& body);
  // The same for what may not end half done.
  void share_items(std::int64_t count, double nanoseconds, const ThreadPool::Body& body);

  const KernelSource& source_;
  const CpuCode& code_;
  const ListCode list_code_;
  const CpuCode* code_now_ = &code_;  // of the run
  nbcc_interact_function interact_now_ = nullptr;
  Progress* progress_ = nullptr;  // of the run
  ThreadPool& pool_;
  PackedSide i_, j_;
  Accumulators totals_;                 // by position
  Accumulators held_;                   // of a sum in parts, [accumulator][chosen i]: outlives the methods of its parts
  std::vector<Accumulators> partials_;  // of the segments that threads have in work

  CpuSearch search_;
  // Of runs that number their particles; else empty.
  std::vector<std::int64_t> chosen_i_;      // by position in the order of the search or of the lists
  std::vector<int> i_numbers_, j_numbers_;  // by position
  std::vector<nbcc_left_out> left_out_;     // by position of i
  IndexRanges index_ranges_{source_.index_checks};
  // The lists whose j the known ranges are of, where they are those of the packed j; 0: of all.
  std::optional<std::int64_t> j_ranges_are_of_;
  SumStatistics statistics_;      // but for pairs_within
  bool searched_ = false;         // in the last run
  double seconds_of_locate_ = 0;  // of the survey before this run
  std::vector<PairMethod> methods_;
  std::mutex idle_mutex_;
  std::vector<std::unique_ptr<CpuSearch::Gathered>> idle_;  // what no thread works with
};

}  // namespace nbcc
