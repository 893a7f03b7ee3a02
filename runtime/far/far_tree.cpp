// Sorts particles by interleaved bits of their coordinates, splits the sorted particles where the next bit changes, and
// bounds cells from the leaves up. Entry point: FarTree::build().
#include "runtime/far/far_tree.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace nbcc {
namespace {

constexpr std::int64_t kChunk = 1 << 15;  // particles of one item of parallel work

std::int64_t chunks_of(std::int64_t count) { return (count + kChunk - 1) / kChunk; }

// Moves the lowest bits of x apart, so that there are two zeros between them.
std::uint64_t spread_by_three(std::uint64_t x) {
  x &= 0x1fffff;
  x = (x | x << 32) & 0x1f00000000ffff;
  x = (x | x << 16) & 0x1f0000ff0000ff;
  x = (x | x << 8) & 0x100f00f00f00f00f;
  x = (x | x << 4) & 0x10c30c30c30c30c3;
  return (x | x << 2) & 0x1249249249249249;
}
std::uint64_t spread_by_two(std::uint64_t x) {
  x &= 0xffffffff;
  x = (x | x << 16) & 0x0000ffff0000ffff;
  x = (x | x << 8) & 0x00ff00ff00ff00ff;
  x = (x | x << 4) & 0x0f0f0f0f0f0f0f0f;
  x = (x | x << 2) & 0x3333333333333333;
  return (x | x << 1) & 0x5555555555555555;
}

// Sorts by `bits` bits of the keys, which stay with their numbers; equal keys keep their order. Each chunk of particles
// counts its digits, then knows where its particles with a digit go: behind all particles with lower digits, and
// behind the particles of earlier chunks with the same digit.
void radix_sort(std::vector<std::uint64_t>& keys, std::vector<std::int64_t>& numbers,
                std::vector<std::uint64_t>& spare_keys, std::vector<std::int64_t>& spare_numbers, int bits,
                const ForEach& for_each) {
  constexpr int kBits = 11;
  constexpr std::size_t kDigits = 1 << kBits;
  using Counts = std::array<std::uint32_t, kDigits>;
  const auto count = std::int64_t(keys.size()), chunks = chunks_of(count);
  spare_keys.resize(keys.size());
  spare_numbers.resize(numbers.size());
  std::vector<Counts> places(static_cast<std::size_t>(chunks));
  for (int shift = 0; shift < bits; shift += kBits) {
    const auto digit = [&](std::int64_t k) { return (keys[std::size_t(k)] >> shift) & (kDigits - 1); };
    const auto on_chunks = [&](const auto& body) {
      for_each(chunks, [&](std::int64_t chunk) {
        Counts& own = places[std::size_t(chunk)];
        body(own, chunk * kChunk, std::min(count, (chunk + 1) * kChunk));
      });
    };
    on_chunks([&](Counts& own, std::int64_t begin, std::int64_t end) {
      own.fill(0);
      for (std::int64_t k = begin; k < end; ++k) ++own[digit(k)];
    });
    std::uint32_t place = 0;
    for (std::size_t d = 0; d < kDigits; ++d)
      for (Counts& of_chunk : places) place += std::exchange(of_chunk[d], place);
    on_chunks([&](Counts& own, std::int64_t begin, std::int64_t end) {
      for (std::int64_t k = begin; k < end; ++k) {
        const std::size_t to = own[digit(k)]++;
        spare_keys[to] = keys[std::size_t(k)];
        spare_numbers[to] = numbers[std::size_t(k)];
      }
    });
    keys.swap(spare_keys);
    numbers.swap(spare_numbers);
  }
}

}  // namespace

FarKeys::FarKeys(int axes_of, const std::array<double, 3>& low_of, const std::array<double, 3>& high) : axes(axes_of) {
  const int bits_per_axis = axes == 3 ? 21 : 31;
  bits = axes * bits_per_axis;
  double side = 0;
  for (std::size_t axis = 0; axis < std::size_t(axes); ++axis) {
    low[axis] = low_of[axis];
    side = std::max(side, high[axis] - low_of[axis]);
  }
  largest = double((std::int64_t(1) << bits_per_axis) - 1);
  scale = side > 0 && std::isfinite(side) ? largest / side : 0;
}

std::uint64_t FarKeys::operator()(const double* position) const {
  std::uint64_t key = 0;
  for (int axis = 0; axis < axes; ++axis) {
    const auto digit = std::uint64_t(std::clamp((position[axis] - low[std::size_t(axis)]) * scale, 0.0, largest));
    const std::uint64_t spread = axes == 3 ? spread_by_three(digit) : axes == 2 ? spread_by_two(digit) : digit;
    key |= spread << (axes - 1 - axis);
  }
  return key;
}

void FarTree::build(std::span<const double> positions, int axes, std::span<const std::int64_t> chosen, int leaf,
                    const ForEach& for_each) {
  axes_ = axes;
  sort(positions, chosen, for_each);
  split_again(leaf, for_each);
}

void FarTree::split_again(int leaf, const ForEach& for_each) {
  split(leaf);
  bound(for_each);
}

void FarTree::sort(std::span<const double> positions, std::span<const std::int64_t> chosen, const ForEach& for_each) {
  const std::int64_t count = chosen.empty() ? std::int64_t(positions.size()) / axes_ : std::int64_t(chosen.size());
  const auto particle = [&](std::int64_t k) { return chosen.empty() ? k : chosen[std::size_t(k)]; };
  const auto at = [&](std::int64_t k, int axis) { return positions[std::size_t(particle(k) * axes_ + axis)]; };
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  struct Bounds {
    std::array<double, 3> low{kInfinite, kInfinite, kInfinite}, high{-kInfinite, -kInfinite, -kInfinite};
  };
  std::vector<Bounds> of_chunks(std::size_t(chunks_of(count)));
  for_each(chunks_of(count), [&](std::int64_t chunk) {
    Bounds bounds;
    for (std::int64_t k = chunk * kChunk; k < std::min(count, (chunk + 1) * kChunk); ++k)
      for (int axis = 0; axis < axes_; ++axis) {
        const double x = at(k, axis);
        double &low = bounds.low[std::size_t(axis)], &high = bounds.high[std::size_t(axis)];
        low = std::min(low, x);
        high = std::max(high, x);
      }
    of_chunks[std::size_t(chunk)] = bounds;
  });
  Bounds all;
  for (std::size_t axis = 0; axis < std::size_t(axes_); ++axis)
    for (const Bounds& bounds : of_chunks) {
      all.low[axis] = std::min(all.low[axis], bounds.low[axis]);
      all.high[axis] = std::max(all.high[axis], bounds.high[axis]);
    }
  const FarKeys key_of(axes_, all.low, all.high);
  keys_.resize(std::size_t(count));
  order_.resize(std::size_t(count));
  for_each(chunks_of(count), [&](std::int64_t chunk) {
    for (std::int64_t k = chunk * kChunk; k < std::min(count, (chunk + 1) * kChunk); ++k) {
      keys_[std::size_t(k)] = key_of(&positions[std::size_t(particle(k) * axes_)]);
      order_[std::size_t(k)] = particle(k);
    }
  });
  radix_sort(keys_, order_, spare_keys_, spare_order_, key_of.bits, for_each);
  for (int axis = 0; axis < axes_; ++axis) sorted_[std::size_t(axis)].resize(std::size_t(count));
  for_each(chunks_of(count), [&](std::int64_t chunk) {
    for (std::int64_t k = chunk * kChunk; k < std::min(count, (chunk + 1) * kChunk); ++k)
      for (int axis = 0; axis < axes_; ++axis)
        sorted_[std::size_t(axis)][std::size_t(k)] = positions[std::size_t(order_[std::size_t(k)] * axes_ + axis)];
  });
}

void FarTree::merge(const FarTree& own, std::span<const std::vector<FarCell>> others) {
  axes_ = own.axes_;
  order_ = own.order_;
  sorted_ = own.sorted_;
  std::vector<std::span<const FarCell>> trees{own.cells_};
  for (const std::vector<FarCell>& other : others) trees.emplace_back(other);
  level_first_.assign(1, 0);
  for (const std::span<const FarCell>& tree : trees)
    for (const FarCell& cell : tree) {
      if (level_first_.size() < std::size_t(cell.level) + 2) level_first_.resize(std::size_t(cell.level) + 2);
      ++level_first_[std::size_t(cell.level) + 1];
    }
  for (std::size_t level = 1; level < level_first_.size(); ++level) level_first_[level] += level_first_[level - 1];
  std::vector<std::int32_t> next = level_first_;
  numbers_.clear();
  cells_.assign(std::size_t(level_first_.back()), {});
  for (const std::span<const FarCell>& tree : trees) {
    std::vector<std::int32_t>& numbers = numbers_.emplace_back();
    for (const FarCell& cell : tree) numbers.push_back(next[std::size_t(cell.level)]++);
    const auto first = std::int32_t(numbers_.size() == 1 ? 0 : order_.size());
    for (std::size_t k = 0; k < tree.size(); ++k) {
      FarCell cell = tree[k];
      cell.begin += first;
      cell.end += first;
      if (!cell.is_leaf()) cell.child = numbers[std::size_t(cell.child)];
      cells_[std::size_t(numbers[k])] = cell;
    }
    if (numbers_.size() > 1 && !tree.empty())
      for (std::int32_t k = tree[0].begin; k < tree[0].end; ++k) order_.push_back(std::int64_t(order_.size()));
  }
  for (int axis = 0; axis < axes_; ++axis) sorted_[std::size_t(axis)].resize(order_.size());
}

std::vector<std::int32_t> FarTree::roots() const {
  std::vector<std::int32_t> roots;
  for (std::int32_t k = 0; level_first_.size() > 1 && k < level_first_[1]; ++k) roots.push_back(k);
  return roots;
}

void FarTree::place(std::int64_t first, std::span<const double> positions) {
  for (int axis = 0; axis < axes_; ++axis)
    for (std::size_t k = std::size_t(axis), p = std::size_t(first); k < positions.size(); k += std::size_t(axes_), ++p)
      sorted_[std::size_t(axis)][p] = positions[k];
}

// Breadth first, so that children are adjacent and levels contiguous. A cell is split at the highest bit in which its
// first and its last key differ.
void FarTree::split(int leaf) {
  cells_.clear();
  level_first_.assign(1, 0);
  if (order_.empty()) return;
  cells_.push_back({.begin = 0, .end = std::int32_t(order_.size())});
  for (std::size_t k = 0; k < cells_.size(); ++k) {
    const FarCell cell = cells_[k];
    if (std::size_t(cell.level) == level_first_.size()) level_first_.push_back(std::int32_t(k));
    const std::uint64_t differing = keys_[std::size_t(cell.begin)] ^ keys_[std::size_t(cell.end) - 1];
    if (cell.count() <= leaf || differing == 0) continue;
    int bit = 63;
    while ((differing >> bit & 1) == 0) --bit;
    const auto first_of_right = std::partition_point(keys_.begin() + cell.begin, keys_.begin() + cell.end,
                                                     [bit](std::uint64_t key) { return (key >> bit & 1) == 0; });
    const auto middle = std::int32_t(first_of_right - keys_.begin());
    cells_[k].child = std::int32_t(cells_.size());
    cells_.push_back({.begin = cell.begin, .end = middle, .level = cell.level + 1});
    cells_.push_back({.begin = middle, .end = cell.end, .level = cell.level + 1});
  }
  level_first_.push_back(std::int32_t(cells_.size()));
}

void FarTree::bound(const ForEach& for_each) {
  if (cells_.empty()) return;
  const auto box_of = [&](FarCell& cell, int axis) -> std::array<double, 2> {
    const auto a = std::size_t(axis);
    if (!cell.is_leaf()) {
      const FarCell &left = cells_[std::size_t(cell.child)], &right = cells_[std::size_t(cell.child) + 1];
      return {std::min(left.centre[a] - left.half[a], right.centre[a] - right.half[a]),
              std::max(left.centre[a] + left.half[a], right.centre[a] + right.half[a])};
    }
    const auto [least, most] = std::minmax_element(sorted_[a].begin() + cell.begin, sorted_[a].begin() + cell.end);
    return {*least, *most};
  };
  for (std::size_t level = level_first_.size() - 1; level-- > 0;) {
    const std::int32_t first = level_first_[level], last = level_first_[level + 1];
    constexpr std::int32_t kCells = 64;
    for_each((last - first + kCells - 1) / kCells, [&](std::int64_t item) {
      const std::int32_t end = std::min(last, first + std::int32_t(item + 1) * kCells);
      for (std::int32_t k = first + std::int32_t(item) * kCells; k < end; ++k) {
        FarCell& cell = cells_[std::size_t(k)];
        double squared = 0;
        for (int axis = 0; axis < axes_; ++axis) {
          const auto [least, most] = box_of(cell, axis);
          const auto a = std::size_t(axis);
          cell.centre[a] = least / 2 + most / 2;
          // Rounded up, so that each particle is in the box; never 0, because coordinates are divided by it.
          const double tiny = std::max(std::fabs(cell.centre[a]) * 1e-15, 1e-290);
          cell.half[a] = std::max((most - cell.centre[a]), (cell.centre[a] - least)) * (1 + 1e-15) + tiny;
          squared += cell.half[a] * cell.half[a];
        }
        cell.radius = std::sqrt(squared);
      }
    });
  }
}

}  // namespace nbcc
