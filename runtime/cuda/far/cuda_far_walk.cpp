// Launches the kernels of templates/cuda/far/cuda_far_walk.cu.in. Entry points: the header.
#include "runtime/cuda/far/cuda_far_walk.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "runtime/error.h"
#include "runtime/round_up.h"

namespace nbcc {
namespace {

using namespace far_data;

constexpr int kBlock = 128;
constexpr std::int64_t kFrontier = 1 << 17;  // pairs of cells, at least
constexpr std::int64_t kMostPairs = 1 << 26, kMostPairsPerCell = 64;
constexpr double kFirstEntriesPerCell = 64;

int bits_of(std::uint64_t largest) {
  int bits = 1;
  while (bits < 63 && (largest >> bits) != 0) ++bits;
  return bits;
}

template <typename T>
T* at(const CudaBuffer& buffer) {
  return reinterpret_cast<T*>(buffer.data());
}

FarCounts counts_of(const FarWalkState& state) {
  FarCounts counts{.near = double(state.counts[kNearLanes]),
                   .distant = double(state.counts[kDistantLanes]),
                   .settled = double(state.counts[kSettled])};
  for (int kind = 0; kind < kFarKinds; ++kind) counts.pairs += double(state.counts[kPairs + kind]);
  return counts;
}

}  // namespace

CudaFarWalk::CudaFarWalk(const CudaKernel& kernel, CudaRadixSort& sort)
    : program_(kernel, cuda_far_source("cuda_far_walk.cu", "", {"cuda_far_walk.cu"})),
      sort_(sort),
      walk_cells_i_(kernel.gpu()),
      walk_cells_j_(kernel.gpu()),
      most_(kernel.gpu()),
      state_(kernel.gpu()),
      frontier_(kernel.gpu()),
      entries_(kernel.gpu()),
      first_(kernel.gpu()),
      ranges_(kernel.gpu()),
      images_(kernel.gpu()),
      range_shifts_(kernel.gpu()),
      items_{CudaBuffer(kernel.gpu()), CudaBuffer(kernel.gpu())},
      blocks_{CudaBuffer(kernel.gpu()), CudaBuffer(kernel.gpu())},
      ranks_(kernel.gpu()),
      excluded_(kernel.gpu()),
      found_(kernel.gpu()),
      pinned_(kernel.gpu()) {}

void CudaFarWalk::set_images(std::span<const std::array<double, 3>> shifts, int axes, CudaStream* stream) {
  const CudaGpu& gpu = program_.gpu();
  const auto width = std::size_t(axes);
  std::vector<double> as_doubles;
  std::vector<float> as_floats;
  for (const std::array<double, 3>& shift : shifts) {
    as_doubles.insert(as_doubles.end(), shift.begin(), shift.begin() + std::ptrdiff_t(width));
    as_floats.insert(as_floats.end(), shift.begin(), shift.end());
  }
  const std::size_t bytes = as_doubles.size() * sizeof(double);
  reserve_elements(images_, std::int64_t(shifts.size()), 6 * sizeof(double), "shifts of images");
  gpu.synchronize(stream);
  gpu.send(images_.data(), as_doubles.data(), bytes, stream);
  gpu.send(images_.data() + bytes, as_floats.data(), as_floats.size() * sizeof(float), stream);
  gpu.synchronize(stream);
  walk_.images = int(shifts.size());
  walk_.shifts = reinterpret_cast<const float*>(images_.data() + bytes);
}

void CudaFarWalk::set_trees(const CudaFarTree& of_i, const CudaFarTree& of_j, bool both_sides, int grid,
                            const FarLimits& limits, CudaStream* stream) {
  const CudaGpu& gpu = program_.gpu();
  of_i_ = &of_i;
  of_j_ = &of_j;
  reserve_elements(state_, 1, sizeof(FarWalkState), "counters");
  reserve_elements(most_, std::int64_t(limits.rows.size()) + 1, sizeof(FarLimits::Row), "limits");
  reserve_elements(walk_cells_j_, of_j.cell_count(), sizeof(WalkCell), "cells");
  const bool one_tree = &of_i == &of_j;
  if (!one_tree) reserve_elements(walk_cells_i_, of_i.cell_count(), sizeof(WalkCell), "cells");
  if (!limits.rows.empty()) {
    const std::size_t bytes = limits.rows.size() * sizeof(FarLimits::Row);
    gpu.synchronize(stream);  // an earlier copy may still read the pinned memory
    pinned_.reserve(std::max(bytes, sizeof(FarWalkState)));
    std::memcpy(pinned_.data(), limits.rows.data(), bytes);
    gpu.send(most_.data(), pinned_.data(), bytes, stream);
  }
  FarCellsArgument argument{};
  argument.axes = of_j.axes();
  argument.first_size = limits.first_size;
  argument.sizes = int(limits.rows.size());
  const auto prepare = [&](const CudaFarTree& tree, const CudaBuffer& to) {
    argument.cells = tree.cells();
    argument.count = int(tree.cell_count());
    argument.walk_cells = at<WalkCell>(to);
    program_.launch("nbcc_far_cells", ceil_div(tree.cell_count(), kBlock), kBlock, {&argument}, stream);
  };
  prepare(of_j, walk_cells_j_);
  if (!one_tree) prepare(of_i, walk_cells_i_);
  walk_.of_j = at<const WalkCell>(walk_cells_j_);
  walk_.of_i = one_tree ? walk_.of_j : at<const WalkCell>(walk_cells_i_);
  walk_.positions = {0, of_i.count()};
  walk_.most = at<const float>(most_);
  walk_.axes = of_j.axes();
  walk_.both_sides = both_sides ? 1 : 0;
  walk_.grid = grid;
  walk_.cells_i = int(of_i.cell_count());
  walk_.cells_j = int(of_j.cell_count());
  if (walk_.shifts == nullptr) walk_.images = 1;
  walk_.source_bits = bits_of(2 * std::uint64_t(of_j.cell_count()) * std::uint64_t(walk_.images));
  walk_.state = at<FarWalkState>(state_);
}

// A pair that is not settled after as many rounds as both trees have levels does not exist. Nothing if there are more
// pairs at once than a walk that is worth its lists has.
std::optional<FarWalkState> CudaFarWalk::walk(bool counts_only, CudaStream* stream) {
  const CudaGpu& gpu = program_.gpu();
  const auto points = [&](const CudaFarTree& tree) { return tree.count() + tree.cell_count() * walk_.grid; };
  if (std::max(points(*of_i_), points(*of_j_)) > std::numeric_limits<int>::max()) return {};  // ranges have int indices
  walk_.counts_only = counts_only ? 1 : 0;
  for (;;) {
    if (frontier_.bytes() == 0)
      reserve_elements(frontier_, 2 * std::max<std::int64_t>(kFrontier, 16 * std::int64_t(walk_.cells_i)),
                       sizeof(FarCellPair), "pairs of cells");
    const auto capacity = std::int64_t(frontier_.bytes() / sizeof(FarCellPair) / 2);
    walk_.frontier_capacity = unsigned(capacity);
    walk_.frontier[0] = at<FarCellPair>(frontier_);
    walk_.frontier[1] = walk_.frontier[0] + capacity;
    gpu.require(gpu.driver().memset_d32_async(state_.data(), 0, sizeof(FarWalkState) / 4, stream), "clearing counters");
    FarRoundArgument argument{walk_, 0};
    const int rounds = std::min(of_i_->levels() + of_j_->levels() - 1, kMaxRounds - 1);
    for (; argument.round < rounds; ++argument.round) {
      const std::int64_t most_pairs = std::int64_t(walk_.images) << std::min(argument.round, 30);
      program_.launch("nbcc_far_round", std::min(resident_blocks(), ceil_div(most_pairs, kBlock)), kBlock, {&argument},
                      stream);
    }
    pinned_.reserve(sizeof(FarWalkState));
    gpu.fetch(pinned_.data(), state_.data(), sizeof(FarWalkState), stream);
    gpu.synchronize(stream);
    FarWalkState state;
    std::memcpy(&state, pinned_.data(), sizeof state);
    if (state.overflow == 0) return state;
    const bool is_worth = 4 * capacity <= std::max(kMostPairs, kMostPairsPerCell * std::int64_t(walk_.cells_i));
    if (is_worth && frontier_.reserve(std::size_t(8 * capacity) * sizeof(FarCellPair))) continue;
    frontier_.release();
    return {};
  }
}

FarCounts CudaFarWalk::count(CudaStream* stream) {
  const std::optional<FarWalkState> state = walk(true, stream);
  return state ? counts_of(*state) : FarCounts{.near = std::numeric_limits<double>::infinity()};
}

FarCounts CudaFarWalk::make_lists(CudaStream* stream) {
  std::int64_t capacity = std::int64_t(entries_.bytes() / sizeof(std::uint64_t));
  if (capacity == 0) capacity = std::int64_t(kFirstEntriesPerCell * double(walk_.cells_i)) + 1024;
  FarWalkState state;
  for (;;) {
    reserve_elements(entries_, capacity, sizeof(std::uint64_t), "lists");
    walk_.entries = at<unsigned long long>(entries_);
    walk_.entry_capacity = std::uint64_t(capacity);
    const std::optional<FarWalkState> walked = walk(false, stream);
    if (!walked) throw DeviceError("the lists of a far field are too long for the GPU");
    state = *walked;
    if (std::int64_t(state.entries) <= capacity) break;
    capacity = std::int64_t(state.entries) + std::int64_t(state.entries) / 8;
  }
  const FarCounts counts = counts_of(state);
  if (state.entries > std::uint64_t(std::numeric_limits<int>::max()))
    throw DeviceError("the lists of a far field have more than 2^31 entries");
  const auto count = std::int64_t(state.entries);
  const int groups = 3 * walk_.cells_i;
  const std::uint64_t sorted =
      sort_.sort(entries_.data(), 0, count, 0, walk_.source_bits + bits_of(std::uint64_t(groups)), stream).keys;
  reserve_elements(first_, groups + 1, sizeof(unsigned), "lists");
  reserve_elements(ranges_, count + 1, sizeof(FarRange), "lists");
  lists_ = {};
  lists_.of_i = walk_.of_i;
  lists_.of_j = walk_.of_j;
  lists_.cells_i = walk_.cells_i;
  lists_.cells_j = walk_.cells_j;
  lists_.axes = walk_.axes;
  lists_.grid = walk_.grid;
  lists_.source_bits = walk_.source_bits;
  lists_.particles_i = of_i_->count();
  lists_.particles_j = of_j_->count();
  lists_.entries = reinterpret_cast<const unsigned long long*>(sorted);
  lists_.entry_count = std::uint64_t(count);
  lists_.first = at<unsigned>(first_);
  lists_.ranges = at<FarRange>(ranges_);
  if (walk_.shifts) {
    reserve_elements(range_shifts_, count * walk_.axes + 1, sizeof(double), "lists");
    lists_.shifts = at<const double>(images_);
    lists_.range_shifts = at<double>(range_shifts_);
  }
  program_.launch("nbcc_far_ranges", ceil_div(count + 1, kBlock), kBlock, {&lists_}, stream);
  const std::int64_t slots = of_i_->count() + (walk_.both_sides ? std::int64_t(walk_.cells_i) * walk_.grid : 0);
  parts_[Near].rows = of_i_->count();
  parts_[Distant].rows = slots;
  make_items(Near, 0, walk_.cells_i, walk_.near_i, stream);
  make_items(Distant, walk_.cells_i, groups, walk_.distant_i, stream);
  parts_[Near].lists.pairs = double(state.counts[kPairs]);
  parts_[Distant].lists.pairs = counts.pairs - double(state.counts[kPairs]);
  return counts;
}

// Counts first, so that the items have room.
void CudaFarWalk::make_items(Kind kind, int group_begin, int group_end, int item_i, CudaStream* stream) {
  const CudaGpu& gpu = program_.gpu();
  FarListsArgument& argument = of_parts_[kind];
  argument = lists_;
  argument.group_begin = group_begin;
  argument.group_end = group_end;
  argument.item_i = item_i;
  argument.first_additional_row = int(parts_[kind].rows);
  const std::int64_t blocks = ceil_div(group_end - group_begin, kGroupsPerBlock);
  reserve_elements(blocks_[kind], blocks + 1, 2 * sizeof(unsigned), "lists");
  argument.of_blocks = reinterpret_cast<unsigned(*)[2]>(blocks_[kind].data());
  program_.launch("nbcc_far_count", blocks, kGroupsPerBlock, {&argument}, stream);
  program_.launch("nbcc_far_sum_counts", 1, kGroupsPerBlock, {&argument}, stream);
  unsigned all[2];
  pinned_.reserve(sizeof all);
  gpu.fetch(pinned_.data(), blocks_[kind].data() + std::uint64_t(blocks) * sizeof all, sizeof all, stream);
  gpu.synchronize(stream);
  std::memcpy(all, pinned_.data(), sizeof all);
  if (parts_[kind].rows + all[1] > std::numeric_limits<int>::max())
    throw DeviceError("the grids of a far field have more than 2^31 points");
  parts_[kind].rows += all[1];
  reserve_elements(items_[kind], std::int64_t(all[0]) + 1, sizeof(FarItem), "lists");
  argument.items = at<FarItem>(items_[kind]);
  program_.launch("nbcc_far_items", blocks, kGroupsPerBlock, {&argument}, stream);
  DeviceLists& lists = parts_[kind].lists;
  lists.items = items_[kind].data();
  lists.item_count = all[0];
  lists.ranges = ranges_.data();
  lists.shifts = walk_.shifts ? range_shifts_.data() : 0;
}

// words_of_pair: 1 for pairs that are in no list, 2 for near pairs with their images. Returns the words that were
// found.
std::vector<std::uint64_t> CudaFarWalk::find_excluded(const PairRows& excluded, int words_of_pair, CudaStream* stream) {
  const CudaGpu& gpu = program_.gpu();
  const std::size_t count = excluded.j.size(), first_bytes = excluded.first.size() * sizeof(std::int64_t);
  if (excluded_number_ != excluded.number) {
    excluded_number_ = 0;
    reserve_elements(excluded_, std::int64_t(first_bytes + count * sizeof(int)) + 1, 1, "excluded pairs");
    gpu.send(excluded_.data(), excluded.first.data(), first_bytes, stream);
    if (count > 0) gpu.send(excluded_.data() + first_bytes, excluded.j.data(), count * sizeof(int), stream);
    gpu.synchronize(stream);
    excluded_number_ = excluded.number;
  }
  reserve_elements(ranks_, of_j_->count(), sizeof(unsigned), "positions of particles");
  const FarRankArgument of_ranks{reinterpret_cast<const long long*>(of_j_->order()), at<unsigned>(ranks_),
                                 of_j_->count()};
  program_.launch("nbcc_far_ranks", ceil_div(of_j_->count(), kBlock), kBlock, {&of_ranks}, stream);
  FarExcludedArgument argument{};
  argument.lists = lists_;
  argument.positions = walk_.positions;
  argument.order = reinterpret_cast<const long long*>(of_i_->order());
  argument.ranks = of_ranks.ranks;
  argument.first = at<const long long>(excluded_);
  argument.j = reinterpret_cast<const int*>(excluded_.data() + first_bytes);
  argument.of_images = words_of_pair == 2 ? 1 : 0;
  for (auto capacity = std::int64_t(count) + 1;;) {
    reserve_elements(found_, words_of_pair * capacity + 1, sizeof(std::uint64_t), "excluded pairs");
    gpu.require(gpu.driver().memset_d32_async(found_.data(), 0, 2, stream), "clearing a counter");
    argument.found_count = at<unsigned>(found_);  // the pairs follow
    argument.found = at<unsigned long long>(found_) + 1;
    argument.capacity = unsigned(capacity);
    program_.launch("nbcc_far_excluded", ceil_div(std::int64_t(lists_.cells_i), kBlock / 32), kBlock, {&argument},
                    stream);
    unsigned found = 0;
    pinned_.reserve(sizeof found);
    gpu.fetch(pinned_.data(), found_.data(), sizeof found, stream);
    gpu.synchronize(stream);
    std::memcpy(&found, pinned_.data(), sizeof found);
    if (found > capacity) {
      capacity = found;
      continue;
    }
    std::vector<std::uint64_t> words(std::size_t(found) * std::size_t(words_of_pair));
    if (found > 0) {
      gpu.fetch(words.data(), found_.data() + sizeof(std::uint64_t), words.size() * sizeof(std::uint64_t), stream);
      gpu.synchronize(stream);
    }
    return words;
  }
}

std::vector<std::pair<int, int>> CudaFarWalk::distant_pairs(const PairRows& excluded, CudaStream* stream) {
  std::vector<std::pair<int, int>> pairs;
  for (const std::uint64_t key : find_excluded(excluded, 1, stream))
    pairs.emplace_back(int(key >> 32), int(key & 0xffffffffu));
  return pairs;
}

std::vector<ImagePair> CudaFarWalk::near_images(const PairRows& excluded, CudaStream* stream) {
  const std::vector<std::uint64_t> words = find_excluded(excluded, 2, stream);
  std::vector<ImagePair> pairs;
  for (std::size_t k = 0; k < words.size(); k += 2)
    pairs.push_back({int(words[k + 1]), int(words[k] >> 32), int(words[k] & 0xffffffffu)});
  return pairs;
}

std::int64_t CudaFarWalk::bytes() const {
  std::size_t bytes = 0;
  for (const CudaBuffer* buffer :
       {&walk_cells_i_, &walk_cells_j_, &frontier_, &entries_, &first_, &ranges_, &range_shifts_, &items_[0],
        &items_[1], &blocks_[0], &blocks_[1], &ranks_, &excluded_, &found_})
    bytes += buffer->bytes();
  return std::int64_t(bytes);
}

void CudaFarWalk::combine(Kind kind, const FarColumns& sums, int columns, CudaStream* stream) {
  const FarListsArgument& lists = of_parts_[kind];
  if (parts_[kind].rows == lists.first_additional_row) return;
  const FarCombineArgument argument{lists, sums, columns};
  program_.launch("nbcc_far_combine", ceil_div(lists.group_end - lists.group_begin, kGroupsPerBlock), kGroupsPerBlock,
                  {&argument}, stream);
}

}  // namespace nbcc
