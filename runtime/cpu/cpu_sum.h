// A run on the CPU: blocks of packed i-particles against tiles of packed j-particles, divided among threads.
//
// The order in which terms are added depends on nj and the kernel alone, so a result depends neither on the number of
// threads nor on the other chosen i: tiles combine into a segment in order, segments into the total in order.
// Tested by tests/unit/runtime/sum/run/sum_test.cpp.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "runtime/cpu/accumulators.h"
#include "runtime/cpu/cpu_search.h"
#include "runtime/cpu/cpu_toolchain.h"
#include "runtime/cpu/partition.h"
#include "runtime/sum/plan/device.h"
#include "runtime/sum/request/index_check.h"
#include "runtime/sum/request/pack.h"
#include "runtime/sum/run/histograms.h"
#include "runtime/thread_pool.h"

namespace nbcc {

class CpuSummation final : public Summation {
 public:
  // Returns the code of Frame::Lists or ListedPairs; the first call may compile it.
  using ListCode = std::function<const CpuCode&(Frame)>;

  // All must outlive this object.
  CpuSummation(const KernelSource& source, const CpuCode& code, ListCode list_code, ThreadPool& pool);
  std::span<const PairMethod> methods() const override { return methods_; }
  FoundPairs find_pairs(const SumRequest& request) override;
  void check_indices(const SumRequest& request) override;
  SumStatistics statistics() const override;
  bool finds_bounds() const override;
  void on_host_threads(std::int64_t count, const ThreadPool::Body& body) const override {
    pool_.parallel_for(count, body);
  }

 private:
  // The field of the bounds of a nearest-neighbour kernel; the number of fields for other kernels.
  std::size_t bounds_field() const {
    return std::size_t(std::ranges::find(source_.fields, "nbcc_bound", &FieldLayout::name) - source_.fields.begin());
  }
  // Particles of the caller's arrays that stay in the L1 cache while their components are packed one by one (measured:
  // 256 particles with three doubles take 20% less time than packing all three components particle by particle).
  static constexpr std::int64_t kPackChunk = 256;

  PairMethod row(std::string_view name, void (CpuSummation::*run)(const SumRequest&));
  PairMethod search_row(void (CpuSummation::*run)(const SumRequest&));
  std::int64_t working_set(const SumRequest& request) const;
  void sum_all_pairs(const SumRequest& request);
  void sum_neighbours(const SumRequest& request);
  void sum_lists(const SumRequest& request);
  void sum_listed_pairs(const SumRequest& request);
  void sum_symmetric(const SumRequest& request);
  void sum_listed_once(const SumRequest& request);
  void sum_half_lists(const SumRequest& request);
  std::optional<Estimate> estimate_search(const SumRequest& request);
  Estimate survey_search(SumRequest& request);
  void reserve(const CpuPartition& partition);
  void pack_j(const SumRequest& request);
  void find_index_ranges(const SumRequest& request, std::size_t side);
  void sum_by_blocks(const SumRequest& request, const CpuPartition& partition, const std::vector<Block>& blocks,
                     bool store);
  void sum_by_segments(const SumRequest& request, const CpuPartition& partition, const std::vector<Block>& blocks);

  // A block of i of one group of lists, the work of one thread at a time.
  struct GroupPart {
    std::int64_t group;
    Block block;
  };
  // A thread's buffer for the gathered j of a GroupPart; a long list takes several pieces.
  struct Piece;
  void begin_run(const SumRequest& request);
  std::vector<GroupPart> divide_groups(const Lists& lists);
  void sum_group_part(const SumRequest& request, const Lists& lists, const GroupPart& part, Piece& piece);
  void sum_piece(const SumRequest& request, const Lists& lists, const GroupPart& part, Piece& piece);
  void sum_rows(const SumRequest& request, const PairRows& rows, const Block& block, std::int64_t position,
                Piece& piece);
  template <typename Body>
  void on_pairs_of(const PairRows& rows, const Block& block, const Body& body) const;
  template <typename BlockOf>
  void place_pair_results(const PairRows& rows, std::int64_t blocks, const BlockOf& block_of);
  void store_pair_results(const SumRequest& request, const PairRows& rows, const Block& block,
                          std::int64_t position) const;
  template <typename Body>
  void on_pieces(std::int64_t count, const Body& body);

  // Work on the groups of a search, summed over all threads; `lists` and `sums` are seconds.
  struct WorkDone {
    std::int64_t pairs_tested = 0;
    double lists = 0, sums = 0;
    void operator+=(const WorkDone& other) {
      pairs_tested += other.pairs_tested;
      lists += other.lists;
      sums += other.sums;
    }
    // Divides wall-clock seconds in proportion to the threads' work.
    void divide(double wall_clock, SumStatistics::Seconds& seconds) const {
      seconds.lists = lists > 0 ? wall_clock * lists / (lists + sums) : 0;
      seconds.sums = wall_clock - seconds.lists;
    }
  };
  bool locate(const SumRequest& request);
  void sort_particles(const SumRequest& request, SumStatistics::Seconds& seconds);
  // Reports work to the run's Progress: begin() the total, step() what is done.
  void step(double units) const {
    if (progress_) progress_->step(units);
  }
  void begin(double units) const {
    if (progress_) progress_->begin(units);
  }
  void note(const WorkDone& worked, const SumStatistics::Seconds& seconds);
  ForEach on_threads() const;
  std::unique_ptr<CpuSearch::Gathered> take_gathered();
  void give_back(std::unique_ptr<CpuSearch::Gathered> one);
  Block block_of_groups(std::int64_t first, std::int64_t last) const;
  void sum_group(const SumRequest& request, std::int64_t group, ParticleTree::Leaves without,
                 CpuSearch::Gathered& gathered, WorkDone& worked);
  void sum_gathered(const SumRequest& request, std::int64_t group, const CpuSearch::Gathered& gathered,
                    WorkDone& worked);
  // Returns the leaves of j that the totals of each group of the block contain afterwards.
  std::vector<ParticleTree::Leaves> lower_bounds(const SumRequest& request, const Block& block,
                                                 CpuSearch::Gathered& gathered, WorkDone& worked);
  std::pair<std::size_t, int> worst_kept() const;
  ParticleTree::Leaves sum_near_j(const SumRequest& request, std::int64_t group, CpuSearch::Gathered& gathered,
                                  WorkDone& worked);
  void find_bounds(const SumRequest& request, const Block& block);
  struct Reactions;
  struct PieceOfHalfLists;
  void find_half_lists(std::int64_t number, PieceOfHalfLists& piece, WorkDone& worked);
  void sum_half_lists_of(const SumRequest& request, const PieceOfHalfLists& piece, std::span<Reactions> all_reactions,
                         WorkDone& worked);
  void add_reactions(std::span<const Reactions> all);
  void begin_block(const SumRequest& request, const Block& block);
  void pack_block(const SumRequest& request, const Block& block);  // begin_block() without clearing the totals
  bool has_exclusions(const Block& block, std::int64_t begin, std::int64_t end) const;
  void sum_segment(const SumRequest& request, const Block& block, std::int64_t begin, std::int64_t end,
                   Accumulators& partial) const;
  // In a sum whose j come in several runs (JPart): combines the block's totals with the accumulators of the earlier
  // runs. `order`: for each position of the block, its number among the chosen i; null: consecutive numbers. True if
  // the totals are now complete, to be finished and stored.
  bool accumulate_block(const SumRequest& request, const Block& block, const int* order);
  void finish_block(const SumRequest& request, const Block& block) const;
  void store_block(const SumRequest& request, const Block& block) const;
  nbcc_kernel_arguments arguments(const SumRequest& request, const Block& block,
                                  const Accumulators& accumulators) const;
  // Runs items 0 .. count-1, on several threads if `nanoseconds` of work are worth it. Polls the run's progress before
  // each item, like on_threads().
  void for_each(std::int64_t count, double nanoseconds, const ThreadPool::Body& body);
  // Like for_each(), for work that must not be interrupted halfway.
  void share_items(std::int64_t count, double nanoseconds, const ThreadPool::Body& body);

  const KernelSource& source_;
  const CpuCode& code_;
  const ListCode list_code_;
  const CpuCode* code_now_ = &code_;  // used by the current run
  nbcc_interact_function interact_now_ = nullptr;
  Progress* progress_ = nullptr;  // of the current run
  ThreadPool& pool_;
  PackedSide i_, j_;
  Accumulators totals_;                 // [accumulator][position]
  Accumulators running_;                // [accumulator][chosen i], kept between the runs (JPart) of one sum
  std::vector<Accumulators> partials_;  // of the segments that threads work on
  mutable HistogramsOfThreads histograms_{source_};

  CpuSearch search_;
  // Particle indices, for runs whose kernels need them; else empty.
  std::vector<std::int64_t> chosen_i_;       // [position in the order of the search or of the lists]
  std::vector<int> i_numbers_, j_numbers_;   // [position]
  std::vector<nbcc_exclusions> exclusions_;  // [position of i]
  IndexRanges index_ranges_{source_.index_checks};
  // Number of the lists whose j index_ranges_ covers; 0: all j. Nothing if the ranges are not those of the packed j.
  std::optional<std::int64_t> j_ranges_lists_;
  // Of sum_listed_pairs(): the output components that are results of pairs, with rows in the memory below it;
  // [block] position of its first result in a row.
  std::vector<std::pair<std::size_t, double*>> pair_results_;
  AlignedBuffer memory_of_pair_results_;
  std::vector<std::int64_t> first_result_;
  AlignedBuffer listed_, reactions_;      // [particle] records of sum_listed_once()
  std::int64_t listed_once_number_ = -1;  // PairRows::number of the last rows that were checked
  SumStatistics statistics_;              // without pairs_within
  bool searched_ = false;                 // the last run was a search
  double seconds_of_locate_ = 0;          // of the survey before this run
  std::vector<PairMethod> methods_;
  std::mutex idle_mutex_;
  std::vector<std::unique_ptr<CpuSearch::Gathered>> idle_;  // buffers that no thread uses
};

}  // namespace nbcc
