// A search that computes each pair of one set once. Part of CpuSummation.
//
// A thread sums the half lists of one piece at a time, with the reactions in rows of their own. These rows are added to
// the totals afterwards, in the order of the pieces; each thread then adds to a range of positions. So results do not
// depend on the number of threads.
#include <algorithm>
#include <limits>

#include "runtime/cpu/cpu_sum.h"
#include "runtime/cpu/stopwatch.h"

namespace nbcc {
namespace {

constexpr std::int64_t kGroupsOfPiece = HalfList::kPiece / ParticleTree::kLeaf;
constexpr std::int64_t kPiecesOfThread = 8;  // whose reactions are in memory at once
// With long lists, the pieces are fewer, but one for each thread.
constexpr std::int64_t kMaxReactionBytes = 64 << 20;

}  // namespace

// The reactions of one half list.
struct CpuSummation::Reactions {
  std::vector<int> vectors;   // HalfList::vectors
  Accumulators sums;          // [accumulator][position among these vectors]; reactions only
  std::vector<double*> rows;  // of the kernel: outputs are rows of the totals, reactions of `sums`
};
struct CpuSummation::PieceOfHalfLists {
  std::size_t lists = 0;  // in use, of `reactions`
  std::vector<Reactions> reactions;
};

void CpuSummation::sum_piece(const SumRequest& request, std::int64_t number, CpuSearch::Gathered& gathered,
                             PieceOfHalfLists& piece, WorkDone& worked) {
  Stopwatch watch;
  std::vector<HalfList> found;
  const std::span<const HalfList> lists = search_.half_lists(number, gathered, found);
  const auto first_reaction = std::size_t(source_.first_reaction);
  const std::int64_t begin = number * HalfList::kPiece,
                     end = std::min(begin + HalfList::kPiece, std::int64_t(chosen_i_.size()));
  piece.lists = lists.size();
  if (piece.reactions.size() < lists.size()) piece.reactions.resize(lists.size());
  for (std::size_t k = 0; k < lists.size(); ++k) {
    const HalfList& list = lists[k];
    Reactions& reactions = piece.reactions[k];
    const std::int64_t j_count = search_.gather(list, gathered);
    reactions.vectors = list.vectors;
    if (reactions.rows.empty()) reactions.sums.reserve(source_, kHalfListVectors * source_.lanes, first_reaction);
    reactions.rows.assign(totals_.values(), totals_.values() + source_.reductions.size());
    std::copy(reactions.sums.values() + first_reaction, reactions.sums.values() + source_.reductions.size(),
              reactions.rows.begin() + std::ptrdiff_t(first_reaction));
    watch.add_to(worked.lists);
    nbcc_kernel_arguments given = arguments(request, {}, totals_);
    given.j = gathered.columns.columns();
    given.j_number = gathered.numbers.data();
    given.acc = reactions.rows.data();
    const nbcc_half_list half{list.first.data(), list.near.data(), list.has_own};
    code_.interact_half_list(&given, begin, end, j_count, &half);
    worked.pairs_tested += std::int64_t(list.near.size()) * kHalfListBlock * source_.lanes;
    watch.add_to(worked.sums);
  }
}

// Adds the reactions of consecutive pieces to the totals. The positions are divided into one range for each thread, by
// quantiles of a sample.
void CpuSummation::add_reactions(std::span<const PieceOfHalfLists> pieces) {
  constexpr std::size_t kOfList = 4;
  const std::int64_t ranges = pool_.threads();
  std::vector<int> sample;
  const auto for_lists = [&](const auto& body) {
    for (const PieceOfHalfLists& piece : pieces)
      for (const Reactions& one : std::span(piece.reactions).first(piece.lists)) body(one);
  };
  for_lists([&](const Reactions& one) {
    for (std::size_t q = 0; q < kOfList && ranges > 1; ++q)
      sample.push_back(one.vectors[q * one.vectors.size() / kOfList]);
  });
  std::ranges::sort(sample);
  const auto end_of = [&](std::int64_t range) {
    return range == ranges - 1 ? std::numeric_limits<int>::max()
                               : sample[std::size_t(range + 1) * sample.size() / std::size_t(ranges)];
  };
  const std::int64_t lanes = source_.lanes, count = std::int64_t(chosen_i_.size());
  pool_.parallel_for(ranges, [&](std::int64_t range) {
    const int begin = range == 0 ? 0 : end_of(range - 1), end = end_of(range);
    for_lists([&](const Reactions& one) {
      const auto first = std::ranges::lower_bound(one.vectors, begin),
                 last = std::lower_bound(first, one.vectors.end(), end);
      const auto before = std::int64_t(first - one.vectors.begin());
      for_runs(std::span(first, last), [&](std::size_t from, std::size_t run) {
        const std::int64_t position = first[std::ptrdiff_t(from)] * lanes;
        totals_.combine(one.sums, (before + std::int64_t(from)) * lanes, position,
                        std::min(position + std::int64_t(run) * lanes, count));
      });
    });
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
  std::vector<PieceOfHalfLists> summed(static_cast<std::size_t>(kPiecesOfThread * pool_.threads()));
  std::int64_t at_once = pool_.threads(), most_lists = 1, count = 0;
  for (std::int64_t first = 0; first < pieces; first += count) {
    count = std::min(at_once, pieces - first);
    on_threads()(count, [&](std::int64_t k) {
      std::unique_ptr<CpuSearch::Gathered> gathered = take_gathered();
      WorkDone here;
      PieceOfHalfLists& piece = summed[std::size_t(k)];
      sum_piece(request, first + k, *gathered, piece, here);
      give_back(std::move(gathered));
      step(1);
      const std::lock_guard lock(worked_mutex);
      worked += here;
      most_lists = std::max(most_lists, std::int64_t(piece.lists));
    });
    add_reactions(std::span(summed).first(std::size_t(count)));
    const std::int64_t bytes =
        std::int64_t(sizeof(double)) * source_.first_reaction * kHalfListVectors * source_.lanes * most_lists;
    at_once = std::clamp<std::int64_t>(kMaxReactionBytes / bytes, pool_.threads(), std::int64_t(summed.size()));
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
