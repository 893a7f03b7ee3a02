// The sizes of a run and the number of threads -> sizes of blocks, batches and segments. Interface: CpuPartition. Reads
// no particle and starts no thread.
#include "runtime/cpu/partition.h"

#include <algorithm>
#include <numeric>

#include "runtime/sum/request/reduction.h"

namespace nbcc {
namespace {

// One tile of packed j (a few KB) stays in the L1 cache while a block's i-particles pass over it. Kernels whose passes
// take more i (KernelSource::i_block, of cpu_block() in compiler/emit/cpu/) get blocks of i_block i. A block with fewer
// i, such as the last one, is padded to a multiple of at most kBlock i, not to an entire block.
constexpr std::int64_t kBlock = 64, kSegmentTiles = 8;
// A kernel of some 20 operations evaluates a pair in about kNanosecondsPerLane divided by its vector lanes (AVX2 at 2.5
// GHz: 0.3 to 0.5 ns). Packing or unpacking one element takes kPackNanoseconds.
constexpr double kNanosecondsPerLane = 4.0, kPackNanoseconds = 1.0;
// With at least this many blocks per thread, waiting for the last block costs at most an eighth of a thread's time.
constexpr std::int64_t kMinBlocksPerThread = 8;
// The maximum number of blocks per thread in a batch, which bounds the memory of a run.
constexpr std::int64_t kMaxBlocksPerThread = 32;

}  // namespace

CpuPartition::CpuPartition(const KernelSource& source, const SumRequest& request, int threads, bool single_batch)
    : request_(request),
      consecutive_(request.i_list && source.uses.i_index),
      granularity_(std::lcm<std::int64_t>(source.lanes, std::min<std::int64_t>(source.i_block, kBlock))),
      segment_size_(kSegmentTiles * source.tile),
      segments_(ceil_div(request.nj, segment_size_)),
      block_(round_up(std::max<std::int64_t>(kBlock, source.i_block), granularity_)) {
  const double elements = double(source.columns.i.size()) + 2.0 * accumulators_of(source);
  nanoseconds_ =
      double(request.i_count) * (double(request.nj) * kNanosecondsPerLane / source.lanes + elements * kPackNanoseconds);
  const bool worth_sharing = threads > 1 && nanoseconds_ >= kWorthSharing;
  const std::int64_t segments = std::max<std::int64_t>(segments_, 1), wanted = 2 * threads;
  // Use smaller blocks if full blocks would leave threads idle.
  if (worth_sharing && ceil_div(request.i_count, block_) * segments < wanted)
    block_ = std::min(block_, round_up(ceil_div(request.i_count, ceil_div(wanted, segments)), granularity_));
  shares_segments_ =
      worth_sharing && segments_ > 1 && ceil_div(request.i_count, block_) < kMinBlocksPerThread * threads;

  // Each run of consecutive indices begins a new vector; at worst every index does.
  const std::int64_t most = consecutive_ ? request.i_count * granularity_ : round_up(request.i_count, granularity_);
  const std::int64_t batches = single_batch ? 1 : ceil_div(most, kMaxBlocksPerThread * threads * block_);
  batch_ = round_up(ceil_div(most, batches), block_);
  capacity_ = std::min(most, batch_ + block_);
}

void CpuPartition::next_batch(std::vector<Block>& blocks) {
  blocks.clear();
  for (std::int64_t position = 0; taken_ < request_.i_count && position < batch_;) {
    std::int64_t count = std::min(block_, request_.i_count - taken_), first = request_.i_begin + taken_;
    const std::int64_t* const list = request_.i_list ? request_.i_list + taken_ : nullptr;
    if (consecutive_) {
      first = list[0];
      count = std::find_if(list + 1, list + count, [&](const auto& i) { return i != first + (&i - list); }) - list;
    }
    const std::int64_t padded = position + round_up(count, granularity_);
    blocks.push_back({position, position + count, padded, request_.i_offset + first - position,
                      list ? Picked{0, list, count} : Picked{first, nullptr, count}, taken_});
    position = padded;
    taken_ += count;
  }
}

}  // namespace nbcc
