// Turns a checked request into sums: packs, calls the kernel block by block, combines, unpacks. One door:
// CpuSummation::run. Checks nothing, compiles nothing; how the work is divided is CpuPartition's to say.
#include "runtime/cpu/cpu_sum.h"

#include <algorithm>

#include "runtime/sum/overlap.h"
#include "runtime/sum/reduction.h"

namespace nbcc {
namespace {

// So many rows of the caller's stay in the L1 cache while one component after the other is packed.
constexpr std::int64_t kPackChunk = 1024;
// Partial sums of the segments in work stay inside the second-level caches' reach.
constexpr std::int64_t kPartialBytes = 16 << 20;

// Whether results of some i may be stored while others have not been packed. In a list one i may stand twice.
bool outputs_spare_inputs(const KernelSource& source, const SumRequest& request) {
  for (std::size_t in = 0; in < source.fields.size(); ++in) {
    for (std::size_t out = 0; out < source.fields.size(); ++out) {
      const FieldLayout &input = source.fields[in], &output = source.fields[out];
      if (input.role != Role::InputI || output.role != Role::Output || !request.views[out].data) continue;
      if (!(request.i_list ? disjoint : independent)(request.views[in], input.components(), request.views[out],
                                                     output.components()))
        return false;
    }
  }
  return true;
}

}  // namespace

CpuSummation::CpuSummation(const KernelSource& source, const CpuCode& code, ThreadPool& pool)
    : source_(source), code_(code), pool_(pool), i_(source, Role::InputI), j_(source, Role::InputJ) {}

void CpuSummation::run(const SumRequest& request, AllPairs) {
  CpuPartition partition(source_, request, pool_.threads(), !outputs_spare_inputs(source_, request));
  std::vector<Block> blocks;
  blocks.reserve(std::size_t(partition.most_blocks()));
  reserve(partition);
  pack_j(request);
  // All memory is there, and kernels do not fail: from here on outputs may be written.
  for (partition.next_batch(blocks); !blocks.empty(); partition.next_batch(blocks)) {
    if (partition.shares_segments())
      sum_by_segments(request, partition, blocks);
    else
      sum_by_blocks(request, partition, blocks);
    for_each(std::int64_t(blocks.size()), double(blocks.back().end * accumulators_of(source_)),
             [&](std::int64_t b) { store_block(request, blocks[std::size_t(b)]); });
  }
}

void CpuSummation::reserve(const CpuPartition& partition) {
  i_.reserve(partition.capacity());
  totals_.reserve(source_, partition.capacity());
  const std::int64_t bytes = accumulators_of(source_) * partition.capacity() * std::int64_t(sizeof(double));
  const std::int64_t in_work =
      partition.shares_segments() ? std::clamp<std::int64_t>(kPartialBytes / bytes, 1, partition.segments()) : 1;
  partials_.resize(std::size_t(in_work));
  for (Accumulators& partial : partials_) partial.reserve(source_, partition.capacity());
}

void CpuSummation::pack_j(const SumRequest& request) {
  if (request.reuse == JReuse::Prepared || request.nj == 0) return;
  const bool packed = request.reuse == JReuse::Packed;
  const std::int64_t padded = round_up(request.nj, source_.lanes), chunk = round_up(kPackChunk, source_.lanes);
  if (!packed) j_.reserve(padded);
  const nbcc_kernel_arguments given = arguments(request, {}, totals_);
  const double work = double(request.nj) * double(source_.j_columns.size());
  for_each(ceil_div(request.nj, chunk), work, [&](std::int64_t k) {
    const std::int64_t begin = k * chunk, end = std::min(begin + chunk, request.nj);
    if (!packed) {
      j_.pack(request.views, {begin, nullptr, end - begin}, begin);
      j_.pad(begin, end - begin, std::min(begin + chunk, padded) - begin);
    }
    code_.prepare_j(&given, begin, end);
  });
}

void CpuSummation::sum_by_blocks(const SumRequest& request, const CpuPartition& partition,
                                 const std::vector<Block>& blocks) {
  for_each(std::int64_t(blocks.size()), partition.nanoseconds(), [&](std::int64_t b) {
    const Block& block = blocks[std::size_t(b)];
    begin_block(request, block);
    for (std::int64_t begin = 0; begin < request.nj; begin += partition.segment_size()) {
      sum_segment(request, block, begin, std::min(begin + partition.segment_size(), request.nj), partials_[0]);
      totals_.combine(partials_[0], block.begin, block.end);
    }
    finish_block(request, block);
  });
}

// As sum_by_blocks, with every (block, segment) apart: as many segments as there are partial sums are in work at once,
// and are combined in order.
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
  for_each(count, one_pass, [&](std::int64_t b) { finish_block(request, blocks[std::size_t(b)]); });
}

void CpuSummation::begin_block(const SumRequest& request, const Block& block) {
  i_.pack(request.views, block.picked, block.begin);
  i_.pad(block.begin, block.end - block.begin, block.padded - block.begin);
  totals_.reset(block.begin, block.padded);
  const nbcc_kernel_arguments given = arguments(request, block, totals_);
  code_.prepare_i(&given, block.begin, block.end);
}

void CpuSummation::sum_segment(const SumRequest& request, const Block& block, std::int64_t begin, std::int64_t end,
                               Accumulators& partial) const {
  partial.reset(block.begin, block.padded);
  const nbcc_kernel_arguments given = arguments(request, block, partial);
  for (std::int64_t j = begin; j < end; j += source_.tile)
    code_.interact(&given, block.begin, block.end, j, std::min(j + source_.tile, end));
}

void CpuSummation::finish_block(const SumRequest& request, const Block& block) const {
  const nbcc_kernel_arguments given = arguments(request, block, totals_);
  code_.finish(&given, block.begin, block.end);
}

void CpuSummation::store_block(const SumRequest& request, const Block& block) const {
  for (std::size_t f = 0; f < source_.fields.size(); ++f) {
    const FieldLayout& field = source_.fields[f];
    if (field.role != Role::Output || !request.views[f].data) continue;
    const std::optional reduction(field.reduction);
    for (int c = 0; c < field.components(); ++c) {
      const auto output = std::size_t(field.first + c);
      const double* const row = (keeps_index(field.reduction) ? totals_.indices() : totals_.values())[output];
      const auto store = [&](const auto* results) {
        unpack(results, request.views[f], c, block.picked, request.accumulate ? reduction : std::nullopt);
      };
      if (results_are_whole(source_, output))
        store(reinterpret_cast<const std::int64_t*>(row) + block.begin);
      else
        store(row + block.begin);
    }
  }
}

nbcc_kernel_arguments CpuSummation::arguments(const SumRequest& request, const Block& block,
                                              const Accumulators& accumulators) const {
  return {i_.columns(),           j_.columns(),   request.params.data(), accumulators.values(),
          accumulators.indices(), block.i_offset, request.j_offset};
}

void CpuSummation::for_each(std::int64_t count, double nanoseconds, const ThreadPool::Body& body) {
  if (nanoseconds >= CpuPartition::kWorthSharing) {
    pool_.parallel_for(count, body,
                       nanoseconds < CpuPartition::kWorthWaking ? ThreadPool::Size::Small : ThreadPool::Size::Large);
  } else {
    for (std::int64_t item = 0; item < count; ++item) body(item);
  }
}

}  // namespace nbcc
