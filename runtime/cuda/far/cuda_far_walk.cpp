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
    : program_(kernel, far_walk_source()),
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
      corrected_(kernel.gpu()),
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
  make_items(stream);
  parts_[Near].lists.pairs = double(state.counts[kPairs]);
  parts_[Distant].lists.pairs = counts.pairs - double(state.counts[kPairs]);
  return counts;
}

// Counts first, so that the items have room; waits once for both kinds.
void CudaFarWalk::make_items(CudaStream* stream) {
  using Counts = std::array<unsigned, 2>;  // of items and of additional rows
  const CudaGpu& gpu = program_.gpu();
  std::array<std::int64_t, kKinds> blocks{};
  pinned_.reserve(kKinds * sizeof(Counts));
  for (const Kind kind : {Near, Distant}) {
    FarListsArgument& argument = of_parts_[kind];
    argument = lists_;
    argument.group_begin = kind == Near ? 0 : walk_.cells_i;
    argument.group_end = kind == Near ? walk_.cells_i : 3 * walk_.cells_i;
    argument.item_i = kind == Near ? walk_.near_i : walk_.distant_i;
    argument.first_additional_row = int(parts_[kind].rows);
    blocks[kind] = ceil_div(argument.group_end - argument.group_begin, kGroupsPerBlock);
    reserve_elements(blocks_[kind], blocks[kind] + 1, sizeof(Counts), "lists");
    argument.of_blocks = reinterpret_cast<unsigned(*)[2]>(blocks_[kind].data());
    program_.launch("nbcc_far_count", blocks[kind], kGroupsPerBlock, {&argument}, stream);
    program_.launch("nbcc_far_sum_counts", 1, kGroupsPerBlock, {&argument}, stream);
    gpu.fetch(pinned_.data() + kind * sizeof(Counts),
              blocks_[kind].data() + std::uint64_t(blocks[kind]) * sizeof(Counts), sizeof(Counts), stream);
  }
  gpu.synchronize(stream);
  std::array<Counts, kKinds> counts;
  std::memcpy(&counts, pinned_.data(), sizeof counts);
  for (const Kind kind : {Near, Distant}) {
    const auto [items, additional_rows] = counts[kind];
    if (parts_[kind].rows + additional_rows > std::numeric_limits<int>::max())
      throw DeviceError("the grids of a far field have more than 2^31 points");
    parts_[kind].rows += additional_rows;
    reserve_elements(items_[kind], std::int64_t(items) + 1, sizeof(FarItem), "lists");
    of_parts_[kind].items = at<FarItem>(items_[kind]);
    program_.launch("nbcc_far_items", blocks[kind], kGroupsPerBlock, {&of_parts_[kind]}, stream);
    DeviceLists& lists = parts_[kind].lists;
    lists.items = items_[kind].data();
    lists.item_count = items;
    lists.ranges = ranges_.data();
    lists.shifts = walk_.shifts ? range_shifts_.data() : 0;
  }
}

// Rows that rise, without pairs that are named again.
void CudaFarWalk::send_excluded(const PairRows& excluded, CudaStream* stream) {
  if (excluded_number_ == excluded.number) return;
  excluded_number_ = 0;
  std::vector<std::int64_t> first{0};
  std::vector<int> j;
  first.reserve(excluded.first.size());
  j.reserve(excluded.j.size());
  for (std::int64_t i = 0; i + 1 < std::int64_t(excluded.first.size()); ++i) {
    const auto begin = std::ptrdiff_t(j.size());
    j.insert(j.end(), excluded.of(i).begin(), excluded.of(i).end());
    std::sort(j.begin() + begin, j.end());
    j.erase(std::unique(j.begin() + begin, j.end()), j.end());
    first.push_back(std::int64_t(j.size()));
  }
  const CudaGpu& gpu = program_.gpu();
  const std::size_t first_bytes = first.size() * sizeof(std::int64_t), j_bytes = j.size() * sizeof(int);
  reserve_elements(excluded_, std::int64_t(first_bytes + j_bytes) + 1, 1, "excluded pairs");
  gpu.send(excluded_.data(), first.data(), first_bytes, stream);
  if (j_bytes > 0) gpu.send(excluded_.data() + first_bytes, j.data(), j_bytes, stream);
  gpu.synchronize(stream);
  excluded_number_ = excluded.number;
  excluded_count_ = std::int64_t(j.size());
}

const CudaFarWalk::Corrections& CudaFarWalk::find_corrections(const PairRows* excluded, const double* positions_of_i,
                                                              const double* positions_of_j, CudaStream* stream) {
  corrections_ = {};
  if (!excluded) return corrections_;
  send_excluded(*excluded, stream);
  const CudaGpu& gpu = program_.gpu();
  reserve_elements(ranks_, of_j_->count(), sizeof(unsigned), "positions of particles");
  const FarRankArgument of_ranks{reinterpret_cast<const long long*>(of_j_->order()), at<unsigned>(ranks_),
                                 of_j_->count()};
  program_.launch("nbcc_far_ranks", ceil_div(of_j_->count(), kBlock), kBlock, {&of_ranks}, stream);
  const bool is_periodic = walk_.shifts != nullptr;
  FarExcludedArgument argument{};
  argument.lists = lists_;
  argument.positions = walk_.positions;
  argument.order = reinterpret_cast<const long long*>(of_i_->order());
  argument.ranks = of_ranks.ranks;
  argument.first = at<const long long>(excluded_);
  argument.j = reinterpret_cast<const int*>(excluded_.data() + excluded->first.size() * sizeof(std::int64_t));
  argument.axes = is_periodic ? walk_.axes : 0;
  argument.images = is_periodic ? walk_.images : 0;
  argument.shifts = at<const double>(images_);
  argument.positions_of_i = positions_of_i;
  argument.positions_of_j = positions_of_j;
  argument.image_bits = bits_of(std::uint64_t(walk_.images));
  std::int64_t count = 0;
  CudaDevicePointer keys = 0, slots = 0;
  for (std::int64_t capacity = excluded_count_ + 1;;) {
    // The count, then keys, then slots.
    reserve_elements(found_, 2 + capacity, sizeof(std::uint64_t) + sizeof(unsigned), "excluded pairs");
    gpu.require(gpu.driver().memset_d32_async(found_.data(), 0, 2, stream), "clearing a counter");
    keys = found_.data() + sizeof(std::uint64_t);
    slots = keys + std::uint64_t(capacity) * sizeof(std::uint64_t);
    argument.count = at<unsigned>(found_);
    argument.keys = reinterpret_cast<unsigned long long*>(keys);
    argument.slots = reinterpret_cast<unsigned*>(slots);
    argument.capacity = unsigned(capacity);
    program_.launch("nbcc_far_excluded", ceil_div(std::int64_t(lists_.cells_i), kBlock / 32), kBlock, {&argument},
                    stream);
    pinned_.reserve(sizeof(unsigned));
    gpu.fetch(pinned_.data(), found_.data(), sizeof(unsigned), stream);
    gpu.synchronize(stream);
    unsigned found = 0;
    std::memcpy(&found, pinned_.data(), sizeof found);
    count = found;
    if (count <= capacity) break;
    capacity = count;
  }
  if (count == 0) return corrections_;
  if (count > std::numeric_limits<int>::max())
    throw DeviceError("a far field has more than 2^31 excluded distant pairs");
  const int key_bits = 1 + argument.image_bits + bits_of(std::uint64_t(excluded_count_));
  const CudaRadixSort::Sorted sorted = sort_.sort(keys, slots, count, 0, key_bits, stream);
  if (sorted.keys != keys) {  // the memory of the sort is overwritten by the next one
    gpu.require(gpu.driver().memcpy_async(keys, sorted.keys, std::size_t(count) * sizeof(std::uint64_t), stream),
                "copying excluded pairs");
    gpu.require(gpu.driver().memcpy_async(slots, sorted.payloads, std::size_t(count) * sizeof(unsigned), stream),
                "copying excluded pairs");
  }
  const std::int64_t shift_bytes = argument.axes * std::int64_t(sizeof(double));
  reserve_elements(corrected_, count, std::size_t(shift_bytes) + sizeof(FarItem) + sizeof(FarRange), "excluded pairs");
  const CudaDevicePointer ranges = corrected_.data() + std::uint64_t(count * shift_bytes),
                          items = ranges + std::uint64_t(count) * sizeof(FarRange);
  const FarCorrectionsArgument made{argument, count, reinterpret_cast<FarItem*>(items),
                                    reinterpret_cast<FarRange*>(ranges), at<double>(corrected_)};
  program_.launch("nbcc_far_corrections", ceil_div(count, kBlock), kBlock, {&made}, stream);
  correct_ = {argument.keys, argument.slots, argument.order, count, {}, {}, 0};
  corrections_.count = count;
  corrections_.lists = {.items = items,
                        .ranges = ranges,
                        .item_count = count,
                        .shifts = is_periodic ? corrected_.data() : 0,
                        .i_order = of_i_->order(),
                        .j_order = of_j_->order(),
                        .pairs = double(count)};
  return corrections_;
}

void CudaFarWalk::add_corrections(const FarColumns& terms, const FarColumns& totals, int outputs, bool in_order,
                                  CudaStream* stream) {
  FarCorrectArgument argument = correct_;
  if (in_order) argument.order = nullptr;
  argument.terms = terms;
  argument.totals = totals;
  argument.outputs = outputs;
  program_.launch("nbcc_far_correct", ceil_div(argument.count, kBlock), kBlock, {&argument}, stream);
}

std::int64_t CudaFarWalk::bytes() const {
  std::size_t bytes = 0;
  for (const CudaBuffer* buffer :
       {&walk_cells_i_, &walk_cells_j_, &frontier_, &entries_, &first_, &ranges_, &range_shifts_, &items_[0],
        &items_[1], &blocks_[0], &blocks_[1], &ranks_, &excluded_, &found_, &corrected_})
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
