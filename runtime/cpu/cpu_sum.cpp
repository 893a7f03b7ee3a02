// A checked request -> sums: packs, calls the kernel block by block, combines, unpacks. Interface: CpuSummation. Checks
// nothing and compiles nothing; CpuPartition decides how the work is divided.
#include "runtime/cpu/cpu_sum.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <limits>
#include <numeric>
#include <utility>

#include "fmt/format.h"
#include "runtime/error.h"
#include "runtime/sum/request/lists.h"
#include "runtime/sum/request/overlap.h"
#include "runtime/sum/request/reduction.h"

namespace nbcc {
namespace {

// The maximum bytes of partial sums of segments in work, so that they stay in the L2 caches.
constexpr std::int64_t kMaxPartialBytes = 16 << 20;

// True if results of some i may be stored before other i are packed. A list may contain an i twice.
bool outputs_are_apart(const KernelSource& source, const SumRequest& request) {
  const auto is_of_i = [&](std::size_t in, std::size_t) { return source.fields[in].role == Role::InputI; };
  return !find_overlap(source.fields, request.views, request.i_list ? disjoint : independent, is_of_i);
}

}  // namespace

CpuSummation::CpuSummation(const KernelSource& source, const CpuCode& code, ListCode list_code, ThreadPool& pool)
    : source_(source),
      code_(code),
      list_code_(std::move(list_code)),
      pool_(pool),
      i_(source, Role::InputI),
      j_(source, Role::InputJ),
      search_(source, code) {
  if (source_.first_reaction > 0) {  // other methods skip reactions
    PairMethod symmetric = row("symmetric", &CpuSummation::sum_symmetric);
    symmetric.estimate = [](const SumRequest& request) { return Estimate{.cost = pairs_of(request) / 2}; };
    PairMethod listed = row("listed pairs", &CpuSummation::sum_listed_once);
    listed.estimate = [](const SumRequest& request) -> std::optional<Estimate> {
      if (!request.listed_pairs) return {};
      return Estimate{.cost = double(request.listed_pairs->j.size())};
    };
    methods_ = {search_row(&CpuSummation::sum_half_lists), std::move(symmetric), std::move(listed)};
    return;
  }
  PairMethod lists = row("lists", &CpuSummation::sum_lists);
  lists.estimate = [](const SumRequest& request) { return Estimate{.cost = double(request.lists->pairs)}; };
  PairMethod listed_pairs = row("listed pairs", &CpuSummation::sum_listed_pairs);
  listed_pairs.estimate = [](const SumRequest& request) {
    return Estimate{.cost = double(request.listed_pairs->j.size())};
  };
  PairMethod all_pairs = row("all pairs", &CpuSummation::sum_all_pairs);
  all_pairs.estimate = [](const SumRequest& request) { return Estimate{.cost = pairs_of(request)}; };
  methods_ = {search_row(&CpuSummation::sum_neighbours), std::move(lists), std::move(listed_pairs),
              std::move(all_pairs)};
}

PairMethod CpuSummation::row(std::string_view name, void (CpuSummation::*run)(const SumRequest&)) {
  PairMethod method;
  method.name = name;
  method.keeps_j = true;
  method.work = [this](const SumRequest& request) { return std::vector<DeviceWork>{{"cpu", 0, working_set(request)}}; };
  method.enqueue = [this, run](const SumRequest& request) {
    histograms_.begin(request.histograms);
    (this->*run)(request);
    histograms_.end();
  };
  return method;
}

PairMethod CpuSummation::search_row(void (CpuSummation::*run)(const SumRequest&)) {
  PairMethod search = row("search", run);
  search.searches = true;
  search.estimate = [this](const SumRequest& request) { return estimate_search(request); };
  search.survey = [this](SumRequest& request) { return survey_search(request); };
  return search;
}

// Bytes of the packed columns, of accumulators, and of results of pairs.
std::int64_t CpuSummation::working_set(const SumRequest& request) const {
  const auto bytes_of = [](const std::vector<Column>& columns) {
    std::int64_t bytes = 0;
    for (const Column& column : columns) bytes += size_of(column.element);
    return bytes;
  };
  const std::int64_t accumulators = accumulators_of(source_) * std::int64_t(sizeof(double));
  std::int64_t of_pair = 0;
  for (const FieldLayout& field : source_.fields)
    if (field.is_pair_result()) of_pair += field.components() * std::int64_t(sizeof(double));
  const std::int64_t pairs = request.listed_pairs ? std::int64_t(request.listed_pairs->j.size()) : 0;
  return request.nj * bytes_of(source_.columns.j) + request.i_count * (bytes_of(source_.columns.i) + accumulators) +
         pairs * of_pair;
}

// Kernels with exclusions belong to Frame::Lists, and use particle indices.
void CpuSummation::begin_run(const SumRequest& request) {
  progress_ = request.progress;
  searched_ = false;
  chosen_i_.clear();
  i_numbers_.clear();
  j_numbers_.clear();
  exclusions_.clear();
  code_now_ = request.exclusions ? &list_code_(Frame::Lists) : &code_;
  interact_now_ = request.exclusions ? code_now_->interact_excluding : code_now_->interact;
  if (request.j_part != JPart::First) return;
  running_.reserve(source_, request.accumulator_rows());
  running_.reset(0, request.accumulator_rows());
}

void CpuSummation::sum_all_pairs(const SumRequest& request) {
  begin_run(request);
  const bool are_apart = outputs_are_apart(source_, request);
  CpuPartition partition(source_, request, pool_.threads(), !are_apart);
  // Store a block's results while the block is in the thread's caches.
  const bool store_at_once = are_apart && !partition.shares_segments();
  if (partition.shares_segments()) histograms_.share_rows();
  std::vector<Block> blocks;
  blocks.reserve(std::size_t(partition.max_blocks()));
  reserve(partition);
  if (request.exclusions) {
    i_numbers_.resize(std::size_t(partition.capacity()));
    exclusions_.resize(std::size_t(partition.capacity()));
    j_numbers_.resize(std::size_t(round_up(request.nj, source_.lanes)));
    std::iota(j_numbers_.begin(), j_numbers_.end(), 0);
  }
  pack_j(request);
  begin(double(request.i_count) * double(request.nj));
  // All memory is allocated, and kernels do not fail, so outputs may be written from here on. If the run is
  // interrupted, only some i have their results.
  for (partition.next_batch(blocks); !blocks.empty(); partition.next_batch(blocks)) {
    if (partition.shares_segments())
      sum_by_segments(request, partition, blocks);
    else
      sum_by_blocks(request, partition, blocks, store_at_once);
    if (!store_at_once && ends(request.j_part)) {
      share_items(std::int64_t(blocks.size()), double(blocks.back().end * accumulators_of(source_)),
                  [&](std::int64_t b) { store_block(request, blocks[std::size_t(b)]); });
    }
  }
}

ForEach CpuSummation::on_threads() const {
  return [this](std::int64_t count, const ThreadPool::Body& body) {
    if (!progress_) return pool_.parallel_for(count, body);
    pool_.parallel_for(count, [&](std::int64_t item) {
      progress_->poll();
      body(item);
    });
  };
}

void CpuSummation::reserve(const CpuPartition& partition) {
  i_.reserve(partition.capacity());
  totals_.reserve(source_, partition.capacity());
  const std::int64_t bytes = accumulators_of(source_) * partition.capacity() * std::int64_t(sizeof(double));
  const std::int64_t in_work =
      partition.shares_segments() ? std::clamp<std::int64_t>(kMaxPartialBytes / bytes, 1, partition.segments()) : 1;
  partials_.resize(std::size_t(in_work));
  for (Accumulators& partial : partials_) partial.reserve(source_, partition.capacity());
}

void CpuSummation::pack_j(const SumRequest& request) {
  if (request.reuse == JReuse::Prepared || request.nj == 0) return;
  if (!request.check_indices) j_ranges_lists_.reset();
  const bool packed = request.reuse == JReuse::Packed;
  const std::int64_t padded = round_up(request.nj, source_.lanes), chunk = round_up(kPackChunk, source_.lanes);
  if (!packed) j_.reserve(padded);
  // Lists whose j are packed in the order of their slots may have fewer slots than there are j.
  const bool by_slots = request.lists && !j_numbers_.empty();
  const std::int64_t count = by_slots ? std::int64_t(request.lists->j_order.size()) : request.nj;
  j_numbers_.resize(by_slots ? std::size_t(padded) : j_numbers_.size(), by_slots ? j_numbers_.back() : 0);
  const nbcc_kernel_arguments given = arguments(request, {}, totals_);
  const double work = double(request.nj) * double(source_.columns.j.size());
  for_each(ceil_div(count, chunk), work, [&](std::int64_t k) {
    const std::int64_t begin = k * chunk, end = std::min(begin + chunk, count);
    if (!packed) {
      const std::int64_t* const list = by_slots ? request.lists->j_order.data() + begin : nullptr;
      j_.pack(request.views, {begin, list, end - begin}, begin);
      j_.pad(begin, end - begin, std::min(begin + chunk, padded) - begin);
    }
    code_now_->prepare_j(&given, begin, end);
  });
}

void CpuSummation::sum_by_blocks(const SumRequest& request, const CpuPartition& partition,
                                 const std::vector<Block>& blocks, bool store) {
  for_each(std::int64_t(blocks.size()), partition.nanoseconds(), [&](std::int64_t b) {
    const Block& block = blocks[std::size_t(b)];
    begin_block(request, block);
    for (std::int64_t begin = 0; begin < request.nj; begin += partition.segment_size()) {
      sum_segment(request, block, begin, std::min(begin + partition.segment_size(), request.nj), partials_[0]);
      totals_.combine(partials_[0], block.begin, block.end);
    }
    if (!accumulate_block(request, block, nullptr)) return;
    finish_block(request, block);
    if (store) store_block(request, block);
  });
}

// Like sum_by_blocks, but every (block, segment) is a separate item. As many segments as there are partials_ are in
// work at once, and are combined in order.
void CpuSummation::sum_by_segments(const SumRequest& request, const CpuPartition& partition,
                                   const std::vector<Block>& blocks) {
  const std::int64_t count = std::int64_t(blocks.size()), size = partition.segment_size();
  const double one_pass = double(blocks.back().end * accumulators_of(source_));
  for_each(count, one_pass, [&](std::int64_t b) { begin_block(request, blocks[std::size_t(b)]); });
  for (std::int64_t first = 0; first < partition.segments(); first += std::int64_t(partials_.size())) {
    const std::int64_t segments = std::min(std::int64_t(partials_.size()), partition.segments() - first);
    // Neighbouring items share a segment, so that threads read the same j at about the same time.
    for_each(segments * count, partition.nanoseconds(), [&](std::int64_t item) {
      const std::int64_t begin = (first + item / count) * size;
      sum_segment(request, blocks[std::size_t(item % count)], begin, std::min(begin + size, request.nj),
                  partials_[std::size_t(item / count)]);
    });
    for_each(count, one_pass * double(segments), [&](std::int64_t b) {
      const Block& block = blocks[std::size_t(b)];
      for (std::int64_t k = 0; k < segments; ++k) totals_.combine(partials_[std::size_t(k)], block.begin, block.end);
    });
  }
  for_each(count, one_pass, [&](std::int64_t b) {
    const Block& block = blocks[std::size_t(b)];
    if (accumulate_block(request, block, nullptr)) finish_block(request, block);
  });
}

void CpuSummation::begin_block(const SumRequest& request, const Block& block) {
  totals_.reset(block.begin, block.padded);
  pack_block(request, block);
}

void CpuSummation::pack_block(const SumRequest& request, const Block& block) {
  i_.pack(request.views, block.picked, block.begin);
  i_.pad(block.begin, block.end - block.begin, block.padded - block.begin);
  for (std::int64_t at = block.begin; at < block.end && request.exclusions; ++at) {
    const std::int64_t k = at - block.begin;
    const std::int64_t i = block.picked.list ? block.picked.list[k] : block.picked.first + k;
    i_numbers_[std::size_t(at)] = int(i);
    exclusions_[std::size_t(at)] = request.exclusions->of[std::size_t(i)];
  }
  const nbcc_kernel_arguments given = arguments(request, block, totals_);
  code_now_->prepare_i(&given, block.begin, block.end);
}

// True if any pair of the block with j in [begin, end) may be excluded. Conservative.
bool CpuSummation::has_exclusions(const Block& block, std::int64_t begin, std::int64_t end) const {
  return std::any_of(exclusions_.begin() + block.begin, exclusions_.begin() + block.end,
                     [&](const nbcc_exclusions& out) {
                       const auto is_among = [&](int j) { return j >= begin && j < end; };
                       return (out.near != 0 && out.first < end && out.first + 64 > begin) ||
                              std::any_of(out.far, out.far + out.far_count, is_among);
                     });
}

void CpuSummation::sum_segment(const SumRequest& request, const Block& block, std::int64_t begin, std::int64_t end,
                               Accumulators& partial) const {
  partial.reset(block.begin, block.padded);
  const nbcc_kernel_arguments given = arguments(request, block, partial);
  // Tiles without exclusions use the kernel without checks, which takes no particle indices.
  nbcc_kernel_arguments plain = given;
  plain.i_offset = block.i_offset;
  plain.i_number = plain.j_number = nullptr;
  const bool may_skip_checks =
      request.exclusions && std::ranges::none_of(source_.accumulators, keeps_index, &AccumulatorLayout::reduction);
  for (std::int64_t j = begin; j < end; j += source_.tile) {
    const std::int64_t tile_end = std::min(j + source_.tile, end);
    if (may_skip_checks && !has_exclusions(block, j, tile_end))
      code_.interact(&plain, block.begin, block.end, j, tile_end);
    else
      interact_now_(&given, block.begin, block.end, j, tile_end);
    step(double(block.end - block.begin) * double(tile_end - j));
  }
}

bool CpuSummation::accumulate_block(const SumRequest& request, const Block& block, const int* order) {
  if (request.j_part == JPart::Whole) return true;
  const auto carry = [&](std::int64_t chosen, std::int64_t begin, std::int64_t end) {
    running_.combine(totals_, begin, chosen, chosen + end - begin);
    if (request.j_part == JPart::Last) totals_.copy(running_, chosen, begin, end);
  };
  if (!order) carry(block.chosen, block.begin, block.end);
  for (std::int64_t at = block.begin; order && at < block.end; ++at) carry(order[at - block.begin], at, at + 1);
  return request.j_part == JPart::Last;
}

void CpuSummation::finish_block(const SumRequest& request, const Block& block) const {
  const nbcc_kernel_arguments given = arguments(request, block, totals_);
  code_now_->finish(&given, block.begin, block.end);
}

void CpuSummation::store_block(const SumRequest& request, const Block& block) const {
  for (std::size_t f = 0; f < source_.fields.size(); ++f) {
    const FieldLayout& field = source_.fields[f];
    if (field.role != Role::Output || field.is_pair_result() || !request.views[f].data) continue;
    const std::optional reduction(field.reduction);
    double* const* const rows = (keeps_index(field.reduction) ? totals_.indices() : totals_.values()) + field.first;
    const auto store = [&]<typename Value>(Value) {
      const auto results = [&](int c) { return reinterpret_cast<const Value*>(rows[c]) + block.begin; };
      const auto put = [&](const auto& values, int c) {
        unpack(values, request.views[f], c, block.picked, request.accumulate ? reduction : std::nullopt);
      };
      if (field.components() == 3) return put(std::array{results(0), results(1), results(2)}, 0);
      for (int c = 0; c < field.components(); ++c) put(std::array{results(c)}, c);
    };
    if (results_are_integers(source_, std::size_t(field.first)))
      store(std::int64_t());
    else
      store(double());
  }
}

nbcc_kernel_arguments CpuSummation::arguments(const SumRequest& request, const Block& block,
                                              const Accumulators& accumulators) const {
  const bool numbered = !i_numbers_.empty();
  return {i_.columns(),
          j_.columns(),
          request.params.data(),
          accumulators.values(),
          accumulators.indices(),
          numbered ? request.i_offset : block.i_offset,
          request.j_offset,
          numbered ? i_numbers_.data() : nullptr,
          j_numbers_.empty() ? nullptr : j_numbers_.data(),
          nullptr,
          exclusions_.empty() ? nullptr : exclusions_.data(),
          histograms_.here(double(block.end - block.begin) * double(request.nj) +
                           (request.listed_pairs ? double(request.listed_pairs->j.size()) : 0) +
                           (request.lists ? double(request.lists->pairs) : 0)),
          histograms_.first_index(),
          request.tables ? request.tables->bytes.data() : nullptr};
}

void CpuSummation::for_each(std::int64_t count, double nanoseconds, const ThreadPool::Body& body) {
  if (!progress_) return share_items(count, nanoseconds, body);
  share_items(count, nanoseconds, [&](std::int64_t item) {
    progress_->poll();
    body(item);
  });
}

void CpuSummation::share_items(std::int64_t count, double nanoseconds, const ThreadPool::Body& body) {
  if (nanoseconds >= CpuPartition::kWorthSharing) {
    pool_.parallel_for(count, body,
                       nanoseconds < CpuPartition::kWorthWaking ? ThreadPool::Size::Small : ThreadPool::Size::Large);
  } else {
    for (std::int64_t item = 0; item < count; ++item) body(item);
  }
}

}  // namespace nbcc
