// Descends both trees at once from the pair of roots. Entry point: walk().
#include "runtime/far/far_walk.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace nbcc {
namespace {

class Descent {
 public:
  Descent(std::span<const FarCell> of_i, std::span<const FarCell> of_j, int axes, const FarSeparation& separation,
          bool counts_only)
      : of_i_(of_i), of_j_(of_j), axes_(axes), separation_(separation), counts_only_(counts_only) {}

  using Pair = std::pair<std::int32_t, std::int32_t>;

  void run(Pair start, FarWalk& found) {
    stack_.assign(1, start);
    while (!stack_.empty()) {
      const Pair pair = stack_.back();
      stack_.pop_back();
      if (settle(pair, found)) continue;
      // The last pair is taken next: lists are in the order of the tree.
      const auto [first, second] = children(pair);
      stack_.push_back(second);
      stack_.push_back(first);
    }
  }

  // Takes the pair's children until there are some dozens of pairs, for threads to share. The number of pairs does not
  // depend on the number of threads, so the lists do not either.
  std::vector<Pair> shares(FarWalk& found) {
    std::vector<Pair> pairs{{0, 0}};
    for (int round = 0; round < 12; ++round) {
      std::vector<Pair> next;
      for (const Pair& pair : pairs) {
        if (settle(pair, found)) continue;
        const auto [first, second] = children(pair);
        next.push_back(first);
        next.push_back(second);
      }
      pairs = std::move(next);
      if (pairs.size() > 256) break;
    }
    return pairs;
  }

 private:
  // Adds the entry of the pair, unless the pair must be split.
  bool settle(const Pair& pair, FarWalk& found) const {
    const FarCell &i = of_i_[std::size_t(pair.first)], &j = of_j_[std::size_t(pair.second)];
    const bool j_is_far = is_far(j, separation_.of_j[std::size_t(pair.second)], i);
    const bool i_is_far = separation_.both_sides && is_far(i, separation_.of_i[std::size_t(pair.first)], j);
    const double ni = i.count(), nj = j.count(), grid = separation_.grid;
    double least = std::numeric_limits<double>::infinity();
    FarKind kind{};
    const auto offer = [&](FarKind one, double pairs, bool possible) {
      if (!possible || pairs >= least) return;
      least = pairs;
      kind = one;
    };
    // Particles receive in leaves alone, so that each has one list.
    const bool apart = j_is_far && (i_is_far || !separation_.both_sides);
    offer(FarKind::ParticlesOnParticles, ni * nj, i.is_leaf() && (j.is_leaf() || apart));
    offer(FarKind::GridOnParticles, ni * grid, i.is_leaf() && j_is_far && (j.is_leaf() || apart));
    offer(FarKind::ParticlesOnGrid, grid * nj, i_is_far && (i.is_leaf() || j_is_far) && (j.is_leaf() || j_is_far));
    offer(FarKind::GridOnGrid, grid * grid, i_is_far && j_is_far);
    if (!(least < std::numeric_limits<double>::infinity())) return false;
    found.pairs[std::size_t(kind)] += least;
    if (!counts_only_) found.entries.push_back({pair.first, pair.second, kind});
    return true;
  }

  std::array<Pair, 2> children(const Pair& pair) const {
    const FarCell &i = of_i_[std::size_t(pair.first)], &j = of_j_[std::size_t(pair.second)];
    const bool j_is_far = !separation_.both_sides && is_far(j, separation_.of_j[std::size_t(pair.second)], i);
    if (j.is_leaf() || (!i.is_leaf() && (j_is_far || i.radius >= j.radius)))
      return {Pair{i.child, pair.second}, Pair{i.child + 1, pair.second}};
    return {Pair{pair.first, j.child}, Pair{pair.first, j.child + 1}};
  }

  // True if the cell is small beside its distance from the other cell's box.
  bool is_far(const FarCell& cell, double ratio, const FarCell& other) const {
    if (!(ratio > 0)) return false;
    double squared = 0;
    for (std::size_t axis = 0; axis < std::size_t(axes_); ++axis) {
      const double gap = std::fabs(cell.centre[axis] - other.centre[axis]) - other.half[axis];
      if (gap > 0) squared += gap * gap;
    }
    return cell.radius * cell.radius < ratio * ratio * squared;
  }

  std::span<const FarCell> of_i_, of_j_;
  int axes_;
  const FarSeparation& separation_;
  bool counts_only_;
  std::vector<Pair> stack_;
};

void append(FarWalk& to, FarWalk&& from) {
  for (std::size_t kind = 0; kind < kFarKinds; ++kind) to.pairs[kind] += from.pairs[kind];
  to.entries.insert(to.entries.end(), from.entries.begin(), from.entries.end());
}

}  // namespace

FarWalk walk(std::span<const FarCell> of_i, std::span<const FarCell> of_j, int axes, const FarSeparation& separation,
             bool counts_only, const ForEach& for_each) {
  FarWalk found;
  if (of_i.empty() || of_j.empty()) return found;
  Descent first(of_i, of_j, axes, separation, counts_only);
  const std::vector<Descent::Pair> starts = first.shares(found);
  std::vector<FarWalk> shares(starts.size());
  for_each(std::int64_t(starts.size()), [&](std::int64_t k) {
    Descent(of_i, of_j, axes, separation, counts_only).run(starts[std::size_t(k)], shares[std::size_t(k)]);
  });
  for (FarWalk& share : shares) append(found, std::move(share));
  // Several shares may have entries of one cell of i: sort by cell, each cell's in the order of the walk.
  std::vector<std::size_t> place(of_i.size() + 1, 0);
  for (const FarEntry& entry : found.entries) ++place[std::size_t(entry.of_i) + 1];
  for (std::size_t k = 1; k < place.size(); ++k) place[k] += place[k - 1];
  std::vector<FarEntry> sorted(found.entries.size());
  for (const FarEntry& entry : found.entries) sorted[place[std::size_t(entry.of_i)]++] = entry;
  found.entries = std::move(sorted);
  return found;
}

}  // namespace nbcc
