// Turns a checked request into sums: packs, calls the kernel block by block, joins, unpacks. One door:
// CpuSummation::run. Checks nothing, compiles nothing.
//
// One tile of packed j (a few KB) stays in the L1 cache while a block's 64 i-particles pass over it; eight tiles make a
// segment, the unit that threads can share out when there are too few blocks to go round.
#include "runtime/cpu/cpu_sum.h"

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "fmt/format.h"
#include "runtime/cpu/thread_pool.h"
#include "runtime/sum/overlap.h"
#include "runtime/sum/reduction.h"

namespace nbcc {
namespace {

// A kernel of some 20 operations does an interaction in about this time divided by its lanes (AVX2 at 2.5 GHz: 0.3 to
// 0.5 ns). Only used to tell whether threads are worth waking.
constexpr double kNanosecondsPerLane = 4.0;
// Less work than the first is not worth sharing; less than the second is done sooner than a sleeping thread has come
// back (waking one costs the caller some 10 microseconds on a virtual machine).
constexpr double kWorthSharing = 20'000.0, kWorthWaking = 60'000.0;
constexpr double kPackNanoseconds = 1.0;  // one element
// With at least so many blocks for each thread the last one costs at most an eighth of a thread's time.
constexpr std::int64_t kBlocksPerThread = 8;
// Partial sums of a wave of segments stay inside the second-level caches' reach.
constexpr std::int64_t kPartialBytes = 16 << 20;
constexpr std::int64_t kPackChunk = 8192;

constexpr std::int64_t ceil_div(std::int64_t n, std::int64_t d) { return (n + d - 1) / d; }

// The kernel counts positions from 0, a block's rows begin at `origin`: the address of an element 0 that need not
// exist.
double* shifted(double* row, std::int64_t origin) {
  return reinterpret_cast<double*>(reinterpret_cast<std::uintptr_t>(row) - std::uintptr_t(origin) * sizeof(double));
}

// The positions from `begin` + `count` to before `begin` + `padded`.
void pad_side(const std::vector<Column>& columns, const PackedColumns& packed, std::int64_t begin, std::int64_t count,
              std::int64_t padded) {
  for (std::size_t c = 0; c < columns.size(); ++c) {
    if (columns[c].part == Column::Part::Derived) continue;
    pad(columns[c].element, packed.column(c) + begin * size_of(columns[c].element), count, padded);
  }
}

// As the loops of CpuSummation::join; the indices are of an argmin or argmax, else null. The first candidate is taken
// whatever it is, since no whole number is worse than all.
void join_whole(const std::int64_t* from, std::int64_t* to, FieldLayout::Reduction reduction, std::int64_t count,
                const double* from_index, double* to_index) {
  using enum FieldLayout::Reduction;
  const bool least = reduction == Min || reduction == ArgMin;
  for (std::int64_t k = 0; k < count; ++k) {
    if (from_index && from_index[k] < 0) continue;
    if (!(least ? from[k] < to[k] : from[k] > to[k]) && !(to_index && to_index[k] < 0)) continue;
    to[k] = from[k];
    if (to_index) to_index[k] = from_index[k];
  }
}

bool outputs_spare_inputs(const KernelSource& source, const SumRequest& request) {
  for (std::size_t in = 0; in < source.fields.size(); ++in) {
    if (source.fields[in].role != FieldLayout::Role::InputI) continue;
    for (std::size_t out = 0; out < source.fields.size(); ++out) {
      if (source.fields[out].role != FieldLayout::Role::Output || !request.views[out].data) continue;
      if (!independent(request.views[in], source.fields[in].components(), request.views[out],
                       source.fields[out].components())) {
        return false;
      }
    }
  }
  return true;
}

}  // namespace

CpuSummation::CpuSummation(const KernelSource& source, const CpuCode& code, ThreadPool& pool)
    : source_(source),
      code_(code),
      pool_(pool),
      grain_(std::lcm<std::int64_t>(source.lanes, source.i_block)),
      i_origins_(origins(source, FieldLayout::Role::InputI)),
      j_origins_(origins(source, FieldLayout::Role::InputJ)),
      rows_(source.outputs),
      workers_(std::size_t(pool.threads())) {
  for (const FieldLayout::Reduction reduction : source.reductions) {
    index_row_.push_back(keeps_index(reduction) ? rows_++ : -1);
  }
}

std::vector<CpuSummation::Origin> CpuSummation::origins(const KernelSource& source, FieldLayout::Role role) {
  const auto find = [&](int wanted) -> Origin {
    for (std::size_t f = 0; f < source.fields.size(); ++f) {
      const int component = wanted - source.fields[f].first;
      if (source.fields[f].role == role && component >= 0 && component < source.fields[f].components()) {
        return {f, component, false};
      }
    }
    throw std::logic_error(
        fmt::format("kernel of '{}': no field has the packed component {}", source.pipeline, wanted));
  };
  const std::vector<Column>& columns = role == FieldLayout::Role::InputI ? source.i_columns : source.j_columns;
  std::vector<Origin> found;
  for (const Column& column : columns) {
    found.push_back(column.part == Column::Part::Derived ? Origin{} : find(column.component));
  }
  const auto follows = [&](std::size_t c, std::size_t d) {
    return columns[d].part == Column::Part::Whole && columns[d].element == columns[c].element &&
           found[d].field == found[c].field && found[d].component == found[c].component + int(d - c);
  };
  for (std::size_t c = 0; c + 3 <= columns.size(); ++c) {
    found[c].begins_three = follows(c, c) && follows(c, c + 1) && follows(c, c + 2);
    if (found[c].begins_three) c += 2;
  }
  return found;
}

// The picked particles to positions from `position` on.
void CpuSummation::pack_side(const SumRequest& request, const std::vector<Column>& columns,
                             const std::vector<Origin>& origins, const Picked& picked, const PackedColumns& to,
                             std::int64_t position) {
  const auto place = [&](std::size_t c) { return to.column(c) + position * size_of(columns[c].element); };
  for (std::size_t c = 0; c < columns.size(); ++c) {
    if (columns[c].part == Column::Part::Derived) continue;
    const Origin& origin = origins[c];
    const ArrayView& view = request.views[origin.field];
    if (origin.begins_three) {
      pack_three(view, origin.component, picked, columns[c].element, {place(c), place(c + 1), place(c + 2)});
      c += 2;
    } else {
      pack(view, origin.component, picked, columns[c], place(c));
    }
  }
}

void CpuSummation::run(const SumRequest& request) {
  segments_ = ceil_div(request.nj, kSegmentTiles * source_.tile);
  const double elements = double(source_.i_columns.size()) + 2 * double(rows_);
  nanoseconds_ = double(request.i_count) *
                 (double(request.nj) * kNanosecondsPerLane / source_.lanes + elements * kPackNanoseconds);
  block_ = block_size(request);
  stores_at_once_ = may_store_at_once(request);
  size_buffers(request);
  prepare_j(request);
  // All memory is there, and kernels do not fail: from here on outputs may be written.
  if (stores_at_once_) {
    sum_and_store_blocks(request);
    return;
  }
  taken_ = 0;
  while (next_blocks(request)) {
    if (shares_segments() && std::int64_t(blocks_.size()) < kBlocksPerThread * pool_.threads()) {
      sum_by_segments(request);
    } else {
      sum_by_blocks(request);
    }
    write_outputs(request);
  }
}

// Whether threads may take segments of a block, where there are few blocks.
bool CpuSummation::shares_segments() const {
  return pool_.threads() > 1 && segments_ > 1 && nanoseconds_ >= kWorthSharing;
}

// Whether results of a block may be stored while others have not been packed, so that a thread can use the same memory,
// which is in its caches, for all of its blocks. Not where two of the chosen i may be one particle.
bool CpuSummation::may_store_at_once(const SumRequest& request) const {
  if (request.i_list || !outputs_spare_inputs(source_, request)) return false;
  return !shares_segments() || ceil_div(request.i_count, block_) >= kBlocksPerThread * pool_.threads();
}

// 64, unless that leaves threads without work.
std::int64_t CpuSummation::block_size(const SumRequest& request) const {
  const std::int64_t whole = round_up(kBlock, grain_);
  const std::int64_t wanted = 2 * pool_.threads();
  const std::int64_t segments = std::max<std::int64_t>(segments_, 1);
  if (nanoseconds_ < kWorthSharing || ceil_div(request.i_count, whole) * segments >= wanted) return whole;
  return std::min(whole, round_up(ceil_div(request.i_count, ceil_div(wanted, segments)), grain_));
}

void CpuSummation::size_buffers(const SumRequest& request) {
  const bool by_index = request.i_list && source_.uses_i_index;
  // Each run of consecutive indices begins a vector of its own; at worst every index does.
  const std::int64_t most = by_index ? request.i_count * grain_ : round_up(request.i_count, grain_);
  limit_ = outputs_spare_inputs(source_, request) ? kSuperblock : most;
  const std::int64_t capacity =
      stores_at_once_ ? block_ * pool_.threads() : std::min(most, limit_ + round_up(block_, grain_));
  // Rows a multiple of a page apart would fall into the same sets of the L1 cache; see PackedColumns.
  row_stride_ = round_up(capacity, 512) + 72;
  totals_.reserve(std::size_t(rows_ * row_stride_) * sizeof(double));
  i_.reserve(source_.i_columns, capacity);
  blocks_.reserve(std::size_t(capacity / grain_));
  for (Worker& worker : workers_) {
    worker.partial.reserve(std::size_t(rows_ * round_up(block_, 8)) * sizeof(double));
    worker.acc.resize(source_.reductions.size());
    worker.arg.resize(source_.reductions.size());
  }
  if (shares_segments()) {
    const std::int64_t positions = std::min(capacity, kBlocksPerThread * pool_.threads() * block_);
    part_stride_ = round_up(positions, 8);
    const std::int64_t bytes = rows_ * part_stride_ * std::int64_t(sizeof(double));
    wave_ = std::clamp<std::int64_t>(kPartialBytes / bytes, 1, segments_);
    partials_.reserve(std::size_t(wave_ * bytes));
  }
  if (by_index) {
    sorted_.assign(request.i_list, request.i_list + request.i_count);
    std::sort(sorted_.begin(), sorted_.end());
  }
}

void CpuSummation::prepare_j(const SumRequest& request) {
  if (request.reuse == JReuse::Prepared || request.nj == 0) return;
  const bool packed = request.reuse == JReuse::Packed;
  const std::int64_t padded = round_up(request.nj, source_.lanes);
  if (!packed) j_.reserve(source_.j_columns, padded);
  nbcc_kernel_arguments arguments{};
  arguments.i = i_.pointers();
  arguments.j = j_.pointers();
  arguments.param = request.params.data();
  arguments.i_offset = request.i_offset;
  arguments.j_offset = request.j_offset;
  const std::int64_t chunk = round_up(kPackChunk, source_.lanes);
  const double work = double(request.nj) * double(source_.j_columns.size()) * kPackNanoseconds;
  for_each(ceil_div(request.nj, chunk), work, [&](std::int64_t k, int) {
    const std::int64_t begin = k * chunk, end = std::min(begin + chunk, request.nj);
    if (!packed) {
      pack_side(request, source_.j_columns, j_origins_, {begin, nullptr, end - begin}, j_, begin);
      if (end == request.nj) pad_side(source_.j_columns, j_, 0, end, padded);
    }
    code_.prepare_j(&arguments, begin, end);
  });
}

// Puts the next of the chosen i into blocks_, up to limit_ positions. False when there are none left.
bool CpuSummation::next_blocks(const SumRequest& request) {
  blocks_.clear();
  const bool by_index = request.i_list && source_.uses_i_index;
  std::int64_t position = 0;
  while (taken_ < request.i_count && position < limit_) {
    std::int64_t count = std::min(block_, request.i_count - taken_);
    Picked picked{request.i_begin + taken_, nullptr, count};
    std::int64_t i_offset = request.i_offset + picked.first - position;
    if (by_index) {
      const std::int64_t* const at = sorted_.data() + taken_;
      for (std::int64_t k = 1; k < count; ++k) {
        if (at[k] != at[k - 1] + 1) count = k;
      }
      picked = {at[0], nullptr, count};
      i_offset = request.i_offset + at[0] - position;
    } else if (request.i_list) {
      picked = {0, request.i_list + taken_, count};
      i_offset = request.i_offset;
    }
    blocks_.push_back({position, position + count, i_offset, picked});
    position = round_up(position + count, grain_);
    taken_ += count;
  }
  return !blocks_.empty();
}

void CpuSummation::sum_and_store_blocks(const SumRequest& request) {
  for_each(ceil_div(request.i_count, block_), nanoseconds_, [&](std::int64_t b, int w) {
    const std::int64_t taken = b * block_, count = std::min(block_, request.i_count - taken);
    const std::int64_t first = request.i_begin + taken, position = w * block_;
    const Block block{position, position + count, request.i_offset + first - position, {first, nullptr, count}};
    sum_block(request, block, workers_[std::size_t(w)]);
    store_block(request, block);
  });
}

void CpuSummation::sum_by_blocks(const SumRequest& request) {
  for_each(std::int64_t(blocks_.size()), nanoseconds_,
           [&](std::int64_t b, int w) { sum_block(request, blocks_[std::size_t(b)], workers_[std::size_t(w)]); });
}

void CpuSummation::sum_block(const SumRequest& request, const Block& block, Worker& worker) {
  const Rows part{reinterpret_cast<double*>(worker.partial.data()), round_up(block_, 8), block.begin};
  begin_block(request, block, worker);
  for (std::int64_t segment = 0; segment < segments_; ++segment) {
    sum_segment(request, block, segment, part, worker);
    join(block, part, totals());
  }
  finish_block(request, block, worker);
}

// As sum_by_blocks, with every (block, segment) apart: the sums of a wave of segments are stored and joined in order.
void CpuSummation::sum_by_segments(const SumRequest& request) {
  const std::int64_t blocks = std::int64_t(blocks_.size());
  double* const partials = reinterpret_cast<double*>(partials_.data());
  const auto part = [&](std::int64_t k) { return Rows{partials + k * rows_ * part_stride_, part_stride_, 0}; };
  const double join_work = double(blocks_.back().end * rows_);
  for_each(blocks, join_work,
           [&](std::int64_t b, int w) { begin_block(request, blocks_[std::size_t(b)], workers_[std::size_t(w)]); });
  for (std::int64_t first = 0; first < segments_; first += wave_) {
    const std::int64_t count = std::min(wave_, segments_ - first);
    // Neighbouring items share a segment, so that threads read the same j at about the same time.
    for_each(count * blocks, nanoseconds_, [&](std::int64_t item, int w) {
      sum_segment(request, blocks_[std::size_t(item % blocks)], first + item / blocks, part(item / blocks),
                  workers_[std::size_t(w)]);
    });
    for_each(blocks, join_work * double(count), [&](std::int64_t b, int) {
      for (std::int64_t k = 0; k < count; ++k) join(blocks_[std::size_t(b)], part(k), totals());
    });
  }
  for_each(blocks, join_work,
           [&](std::int64_t b, int w) { finish_block(request, blocks_[std::size_t(b)], workers_[std::size_t(w)]); });
}

void CpuSummation::begin_block(const SumRequest& request, const Block& block, Worker& worker) {
  const std::int64_t count = block.end - block.begin;
  pack_side(request, source_.i_columns, i_origins_, block.picked, i_, block.begin);
  pad_side(source_.i_columns, i_, block.begin, count, round_up(count, grain_));
  reset(block, totals());
  const nbcc_kernel_arguments given = arguments(request, block, totals(), worker);
  code_.prepare_i(&given, block.begin, block.end);
}

void CpuSummation::sum_segment(const SumRequest& request, const Block& block, std::int64_t segment, const Rows& rows,
                               Worker& worker) {
  reset(block, rows);
  const nbcc_kernel_arguments given = arguments(request, block, rows, worker);
  const std::int64_t tile = source_.tile, begin = segment * kSegmentTiles * tile;
  const std::int64_t end = std::min(begin + kSegmentTiles * tile, request.nj);
  for (std::int64_t j = begin; j < end; j += tile) {
    code_.interact(&given, block.begin, block.end, j, std::min(j + tile, end));
  }
}

void CpuSummation::finish_block(const SumRequest& request, const Block& block, Worker& worker) {
  const nbcc_kernel_arguments given = arguments(request, block, totals(), worker);
  code_.finish(&given, block.begin, block.end);
}

// Whole vectors, since a kernel may read and write them.
void CpuSummation::reset(const Block& block, const Rows& rows) const {
  const std::int64_t count = round_up(block.end - block.begin, grain_), at = block.begin - rows.origin;
  for (std::size_t c = 0; c < source_.reductions.size(); ++c) {
    double* const row = rows.base + std::int64_t(c) * rows.stride + at;
    if (source_.held_in[c] == Element::Int64)
      std::fill_n(reinterpret_cast<std::int64_t*>(row), count, whole_identity(source_.reductions[c]));
    else
      std::fill_n(row, count, identity(source_.reductions[c]));
    if (index_row_[c] >= 0) std::fill_n(rows.base + index_row_[c] * rows.stride + at, count, -1.0);
  }
}

void CpuSummation::join(const Block& block, const Rows& part, const Rows& total) const {
  using enum FieldLayout::Reduction;
  const std::int64_t count = block.end - block.begin;
  const auto in = [&](const Rows& rows, std::int64_t row) {
    return rows.base + row * rows.stride + (block.begin - rows.origin);
  };
  for (std::size_t c = 0; c < source_.reductions.size(); ++c) {
    const double* const from = in(part, std::int64_t(c));
    double* const to = in(total, std::int64_t(c));
    const FieldLayout::Reduction reduction = source_.reductions[c];
    if (source_.held_in[c] == Element::Int64) {
      join_whole(reinterpret_cast<const std::int64_t*>(from), reinterpret_cast<std::int64_t*>(to), reduction, count,
                 keeps_index(reduction) ? in(part, index_row_[c]) : nullptr,
                 keeps_index(reduction) ? in(total, index_row_[c]) : nullptr);
    } else if (reduction == Sum) {
      for (std::int64_t k = 0; k < count; ++k) to[k] += from[k];
    } else if (reduction == Min) {
      for (std::int64_t k = 0; k < count; ++k) to[k] = join_min(to[k], from[k]);
    } else if (reduction == Max) {
      for (std::int64_t k = 0; k < count; ++k) to[k] = join_max(to[k], from[k]);
    } else {
      const double* const from_index = in(part, index_row_[c]);
      double* const to_index = in(total, index_row_[c]);
      for (std::int64_t k = 0; k < count; ++k) {
        if (reduction == ArgMin ? from[k] < to[k] : from[k] > to[k]) {
          to[k] = from[k];
          to_index[k] = from_index[k];
        }
      }
    }
  }
}

void CpuSummation::write_outputs(const SumRequest& request) {
  const double work = double(blocks_.back().end * rows_) * kPackNanoseconds;
  for_each(std::int64_t(blocks_.size()), work,
           [&](std::int64_t b, int) { store_block(request, blocks_[std::size_t(b)]); });
}

void CpuSummation::store_block(const SumRequest& request, const Block& block) const {
  const Rows from = totals();
  for (std::size_t f = 0; f < source_.fields.size(); ++f) {
    const FieldLayout& field = source_.fields[f];
    const ArrayView& view = request.views[f];
    if (field.role != FieldLayout::Role::Output || !view.data) continue;
    const auto values = [&](int c) {
      const std::int64_t index_row = index_row_[std::size_t(field.first + c)];
      const std::int64_t row = index_row >= 0 ? index_row : field.first + c;
      return from.base + row * from.stride + block.begin;
    };
    if (results_are_whole(source_, std::size_t(field.first))) {
      for (int c = 0; c < field.components(); ++c) {
        const auto* const whole = reinterpret_cast<const std::int64_t*>(values(c));
        if (request.accumulate)
          unpack_onto(whole, view, c, block.picked, field.reduction);
        else
          unpack(whole, view, c, block.picked);
      }
      continue;
    }
    if (!request.accumulate && field.components() == 3) {
      unpack_three({values(0), values(1), values(2)}, view, 0, block.picked);
      continue;
    }
    for (int c = 0; c < field.components(); ++c) {
      if (request.accumulate) {
        unpack_onto(values(c), view, c, block.picked, field.reduction);
      } else {
        unpack(values(c), view, c, block.picked);
      }
    }
  }
}

nbcc_kernel_arguments CpuSummation::arguments(const SumRequest& request, const Block& block, const Rows& rows,
                                              Worker& worker) const {
  for (std::size_t c = 0; c < worker.acc.size(); ++c) {
    worker.acc[c] = shifted(rows.base + std::int64_t(c) * rows.stride, rows.origin);
    worker.arg[c] = index_row_[c] < 0 ? nullptr : shifted(rows.base + index_row_[c] * rows.stride, rows.origin);
  }
  return {i_.pointers(),     j_.pointers(),  request.params.data(), worker.acc.data(),
          worker.arg.data(), block.i_offset, request.j_offset};
}

CpuSummation::Rows CpuSummation::totals() const { return {reinterpret_cast<double*>(totals_.data()), row_stride_, 0}; }

void CpuSummation::for_each(std::int64_t count, double nanoseconds,
                            const std::function<void(std::int64_t, int)>& body) {
  if (nanoseconds >= kWorthSharing) {
    pool_.parallel_for(count, body, nanoseconds < kWorthWaking ? ThreadPool::Size::Small : ThreadPool::Size::Large);
  } else {
    for (std::int64_t item = 0; item < count; ++item) body(item, 0);
  }
}

}  // namespace nbcc
