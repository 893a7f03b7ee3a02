// Descends both trees at once from the pair of roots. Entry point: walk().
#include "runtime/far/far_walk.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace nbcc {
namespace {

constexpr std::array<std::array<double, 3>, 1> kNoShift{};

class Descent {
 public:
  Descent(std::span<const FarCell> of_i, std::span<const FarCell> of_j, int axes, const FarGridUse& use,
          const FarLimits& limits, bool counts_only)
      : of_i_(of_i),
        of_j_(of_j),
        axes_(axes),
        use_(use),
        limits_(limits),
        images_(use.images.empty() ? std::span(kNoShift) : use.images),
        counts_only_(counts_only) {}

  // `acting`: the number of j of the cell of j with which the cell of i was first paired. When that cell is split, its
  // parts still act through one grid of i, whose errors add up in part.
  struct Pair {
    std::int32_t of_i = 0, of_j = 0, acting = 0, image = 0;
  };
  // One pair of roots for each image and tree of j; the j of all trees act.
  std::vector<Pair> roots() const {
    constexpr std::array<std::int32_t, 1> kFirstCell{0};
    const std::span<const std::int32_t> roots = use_.roots_of_j.empty() ? std::span(kFirstCell) : use_.roots_of_j;
    std::int64_t acting = 0;
    for (const std::int32_t root : roots) acting += of_j_[std::size_t(root)].count();
    acting = std::min<std::int64_t>(acting, std::numeric_limits<std::int32_t>::max());
    std::vector<Pair> all;
    for (std::size_t image = 0; image < images_.size(); ++image)
      for (const std::int32_t root : roots) all.push_back({0, root, std::int32_t(acting), std::int32_t(image)});
    return all;
  }

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
    std::vector<Pair> pairs = roots();
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
    const FarCell &i = of_i_[std::size_t(pair.of_i)], &j = of_j_[std::size_t(pair.of_j)];
    const double ni = i.count(), nj = j.count(), grid_of_j = use_.points_of_j[std::size_t(pair.of_j)],
                 grid_of_i = use_.both_sides ? use_.points_of_i[std::size_t(pair.of_i)] : 0;
    const bool j_is_far = is_far(pair, j, nj, i),
               i_is_far = use_.both_sides && is_far(pair, i, std::sqrt(pair.acting * nj), j);
    double least = std::numeric_limits<double>::infinity();
    FarKind kind{};
    const auto offer = [&](FarKind one, double pairs, bool possible) {
      if (!possible || pairs >= least) return;
      least = pairs;
      kind = one;
    };
    // Particles receive in leaves alone, so that each has one list.
    const bool has_j = j.elsewhere == 0,
               is_too_near = use_.relative && has_j && i.is_leaf() && is_large_beside(pair, i),
               apart = j_is_far && (i_is_far || !use_.both_sides) && !is_too_near;
    offer(FarKind::ParticlesOnParticles, ni * nj, has_j && i.is_leaf() && (j.is_leaf() || apart));
    offer(FarKind::GridOnParticles, ni * grid_of_j, i.is_leaf() && j_is_far && (j.is_leaf() || apart) && !is_too_near);
    offer(FarKind::ParticlesOnGrid, grid_of_i * nj,
          has_j && i_is_far && (i.is_leaf() || j_is_far) && (j.is_leaf() || j_is_far));
    offer(FarKind::GridOnGrid, grid_of_i * grid_of_j, i_is_far && j_is_far);
    if (!(least < std::numeric_limits<double>::infinity())) return false;
    found.pairs[std::size_t(kind)] += least;
    ++found.settled;
    if (!counts_only_) found.entries.push_back({pair.of_i, pair.of_j, pair.image, kind});
    return true;
  }

  std::array<Pair, 2> children(const Pair& pair) const {
    const FarCell &i = of_i_[std::size_t(pair.of_i)], &j = of_j_[std::size_t(pair.of_j)];
    const bool j_is_far = !use_.both_sides && is_far(pair, j, j.count(), i);
    if (j.is_leaf() || (!i.is_leaf() && (j_is_far || i.radius >= j.radius)))
      return {Pair{i.child, pair.of_j, j.count(), pair.image}, Pair{i.child + 1, pair.of_j, j.count(), pair.image}};
    return {Pair{pair.of_i, j.child, pair.acting, pair.image}, Pair{pair.of_i, j.child + 1, pair.acting, pair.image}};
  }

  // True if the grid of a cell of the pair may serve for `acting` j at all points of the other cell's box.
  bool is_far(const Pair& pair, const FarCell& cell, double acting, const FarCell& other) const {
    if (cell.has_grid_alone()) return true;  // of another process, which has found it distant from all i
    if (!(cell.radius > 0)) return false;
    const std::int64_t row = std::int64_t(cell.size()) - limits_.first_size;
    if (row < 0 || row >= std::int64_t(limits_.rows.size())) return false;
    const double ratio = std::ceil(FarLimits::kRatios * cell.radius / distance_to_box(pair, other));
    if (!(ratio < FarLimits::kRatios)) return false;
    return acting <= limits_.rows[std::size_t(row)][std::size_t(std::max<double>(ratio, FarLimits::kFirst))];
  }

  // The distance from the centre of one of the pair's cells to the box of the other.
  double distance_to_box(const Pair& pair, const FarCell& other) const {
    double squared = 0;
    for (std::size_t axis = 0; axis < std::size_t(axes_); ++axis) {
      const double of_i = of_i_[std::size_t(pair.of_i)].centre[axis];
      const double of_j = of_j_[std::size_t(pair.of_j)].centre[axis] + images_[std::size_t(pair.image)][axis];
      const double gap = std::fabs(of_i - of_j) - other.half[axis];
      if (gap > 0) squared += gap * gap;
    }
    return std::sqrt(squared);
  }

  bool is_large_beside(const Pair& pair, const FarCell& i) const {
    constexpr double kMostRadii = 2;
    return i.radius > kMostRadii * distance_to_box(pair, i);
  }

  std::span<const FarCell> of_i_, of_j_;
  int axes_;
  const FarGridUse& use_;
  const FarLimits& limits_;
  std::span<const std::array<double, 3>> images_;
  bool counts_only_;
  std::vector<Pair> stack_;
};

void append(FarWalk& to, FarWalk&& from) {
  for (std::size_t kind = 0; kind < kFarKinds; ++kind) to.pairs[kind] += from.pairs[kind];
  to.settled += from.settled;
  to.entries.insert(to.entries.end(), from.entries.begin(), from.entries.end());
}

}  // namespace

double FarLimits::largest_ratio() const {
  int largest = 0;
  for (const Row& row : rows)
    for (int k = kFirst; k < kRatios; ++k)
      if (row[std::size_t(k)] >= 1) largest = std::max(largest, k);
  return double(largest) / kRatios;
}

FarWalk walk(std::span<const FarCell> of_i, std::span<const FarCell> of_j, int axes, const FarGridUse& use,
             const FarLimits& limits, bool counts_only, const ForEach& for_each) {
  FarWalk found;
  if (of_i.empty() || of_j.empty()) return found;
  Descent first(of_i, of_j, axes, use, limits, counts_only);
  const std::vector<Descent::Pair> starts = first.shares(found);
  std::vector<FarWalk> shares(starts.size());
  for_each(std::int64_t(starts.size()), [&](std::int64_t k) {
    Descent(of_i, of_j, axes, use, limits, counts_only).run(starts[std::size_t(k)], shares[std::size_t(k)]);
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
