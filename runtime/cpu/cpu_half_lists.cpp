// A search that computes each pair of one set once. Part of CpuSummation.
//
// A thread sums the half lists of one piece at a time, with the reactions in rows of their own. These rows are added to
// the totals after some pieces, in their order; each thread then adds to a range of positions. So results do not depend
// on the number of threads.
#include <algorithm>
#include <limits>
#include <utility>

#include "runtime/cpu/cpu_sum.h"
#include "runtime/cpu/stopwatch.h"

namespace nbcc {
namespace {

constexpr std::int64_t kGroupsOfPiece = HalfList::kPiece / ParticleTree::kLeaf;
constexpr std::int64_t kPiecesOfThread = 8;  // whose reactions are in memory at once
// With long lists, the pieces at once are fewer, but one for each thread.
constexpr std::int64_t kMaxReactionBytes = 64 << 20;

}  // namespace

// The reactions of one half list.
struct CpuSummation::Reactions {
  std::vector<int> vectors;   // HalfList::vectors
  Accumulators sums;          // [accumulator][position among these vectors]; reactions only
  std::vector<double*> rows;  // of the kernel: outputs are rows of the totals, reactions of `sums`
};

// A piece and its half lists.
struct CpuSummation::PieceOfHalfLists {
  std::int64_t number = -1;
  std::span<const HalfList> lists;
  std::vector<HalfList> found;  // `lists`, if the search does not keep them
  std::size_t first = 0;        // index of the reactions of the first list
};

void CpuSummation::find_half_lists(std::int64_t number, PieceOfHalfLists& piece, WorkDone& worked) {
  Stopwatch watch;
  std::unique_ptr<CpuSearch::Gathered> gathered = take_gathered();
  piece.lists = search_.half_lists(number, *gathered, piece.found);
  piece.number = number;
  give_back(std::move(gathered));
  watch.add_to(worked.lists);
}

void CpuSummation::sum_half_lists_of(const SumRequest& request, const PieceOfHalfLists& piece,
                                     std::span<Reactions> all_reactions, WorkDone& worked) {
  Stopwatch watch;
  std::unique_ptr<CpuSearch::Gathered> gathered = take_gathered();
  const auto first_reaction = std::size_t(source_.first_reaction);
  const std::int64_t begin = piece.number * HalfList::kPiece,
                     end = std::min(begin + HalfList::kPiece, std::int64_t(chosen_i_.size()));
  for (std::size_t k = 0; k < piece.lists.size(); ++k) {
    const HalfList& list = piece.lists[k];
    Reactions& reactions = all_reactions[piece.first + k];
    const std::int64_t j_count = search_.gather(list, *gathered);
    reactions.vectors = list.vectors;
    if (reactions.rows.empty()) reactions.sums.reserve(source_, kHalfListVectors * source_.lanes, first_reaction);
    reactions.rows.assign(totals_.values(), totals_.values() + source_.accumulators.size());
    std::copy(reactions.sums.values() + first_reaction, reactions.sums.values() + source_.accumulators.size(),
              reactions.rows.begin() + std::ptrdiff_t(first_reaction));
    watch.add_to(worked.lists);
    nbcc_kernel_arguments given = arguments(request, {}, totals_);
    given.j = gathered->columns.columns();
    given.j_number = gathered->numbers.data();
    given.acc = reactions.rows.data();
    const nbcc_half_list half{list.first.data(), list.near.data(), list.has_own, gathered->boxes.data()};
    code_.interact_half_list(&given, begin, end, j_count, &half);
    worked.pairs_tested += std::int64_t(list.near.size()) * kHalfListBlock * source_.lanes;
    watch.add_to(worked.sums);
  }
  give_back(std::move(gathered));
}

// Adds the reactions of consecutive half lists to the totals. The positions are divided into one range for each thread,
// by quantiles of a sample.
void CpuSummation::add_reactions(std::span<const Reactions> all) {
  constexpr std::size_t kOfList = 4;
  const std::int64_t ranges = pool_.threads();
  std::vector<int> sample;
  for (const Reactions& one : all)
    for (std::size_t q = 0; q < kOfList && ranges > 1; ++q)
      sample.push_back(one.vectors[q * one.vectors.size() / kOfList]);
  std::ranges::sort(sample);
  const auto end_of = [&](std::int64_t range) {
    return range == ranges - 1 ? std::numeric_limits<int>::max()
                               : sample[std::size_t(range + 1) * sample.size() / std::size_t(ranges)];
  };
  const std::int64_t lanes = source_.lanes, count = std::int64_t(chosen_i_.size());
  pool_.parallel_for(ranges, [&](std::int64_t range) {
    const int begin = range == 0 ? 0 : end_of(range - 1), end = end_of(range);
    for (const Reactions& one : all) {
      const auto first = std::ranges::lower_bound(one.vectors, begin),
                 last = std::lower_bound(first, one.vectors.end(), end);
      const auto before = std::int64_t(first - one.vectors.begin());
      for_runs(std::span(first, last), [&](std::size_t from, std::size_t run) {
        const std::int64_t position = first[std::ptrdiff_t(from)] * lanes;
        totals_.combine(one.sums, (before + std::int64_t(from)) * lanes, position,
                        std::min(position + std::int64_t(run) * lanes, count));
      });
    }
  });
}

void CpuSummation::sum_half_lists(const SumRequest& request) {
  SumStatistics::Seconds seconds;
  sort_particles(request, seconds);
  Stopwatch watch;
  const std::int64_t groups = search_.groups(), pieces = ceil_div(groups, kGroupsOfPiece);
  const auto block_of = [&](std::int64_t piece) {
    return block_of_groups(piece * kGroupsOfPiece, std::min((piece + 1) * kGroupsOfPiece, groups));
  };
  begin(double(pieces));
  on_threads()(pieces, [&](std::int64_t piece) { begin_block(request, block_of(piece)); });
  WorkDone worked;
  std::mutex worked_mutex;
  const std::int64_t threads = pool_.threads(), at_once = kPiecesOfThread * threads;
  const auto bytes = std::int64_t(sizeof(double)) * source_.first_reaction * kHalfListVectors * source_.lanes;
  const auto most_lists = std::size_t(kMaxReactionBytes / bytes);
  std::vector<PieceOfHalfLists> found(static_cast<std::size_t>(at_once));  // of piece k at k % at_once
  std::vector<Reactions> reactions;
  const auto found_at = [&](std::int64_t piece) -> PieceOfHalfLists& { return found[std::size_t(piece % at_once)]; };
  const auto on_pieces_from = [&](std::int64_t first, std::int64_t count, const auto& body) {
    on_threads()(count, [&](std::int64_t k) {
      WorkDone here;
      body(first + k, found_at(first + k), here);
      const std::lock_guard lock(worked_mutex);
      worked += here;
    });
  };
  for (std::int64_t first = 0, count = 0; first < pieces; first += count) {
    const std::int64_t most = std::min(at_once, pieces - first);
    on_pieces_from(first, most, [&](std::int64_t number, PieceOfHalfLists& piece, WorkDone& here) {
      if (piece.number != number) find_half_lists(number, piece, here);
    });
    std::size_t used = 0;
    for (count = 0; count < most; ++count) {
      PieceOfHalfLists& piece = found_at(first + count);
      if (count >= threads && used + piece.lists.size() > most_lists) break;
      piece.first = std::exchange(used, used + piece.lists.size());
    }
    if (reactions.size() < used) reactions.resize(used);
    on_pieces_from(first, count, [&](std::int64_t, const PieceOfHalfLists& piece, WorkDone& here) {
      sum_half_lists_of(request, piece, reactions, here);
      step(1);
    });
    add_reactions(std::span(reactions).first(used));
  }
  double all = 0;
  watch.add_to(all);
  worked.divide(all, seconds);
  // All memory is allocated, and kernels do not fail, so outputs may be written.
  pool_.parallel_for(pieces, [&](std::int64_t piece) {
    finish_block(request, block_of(piece));
    store_block(request, block_of(piece));
  });
  watch.add_to(seconds.sums);
  note(worked, seconds);
}

}  // namespace nbcc
