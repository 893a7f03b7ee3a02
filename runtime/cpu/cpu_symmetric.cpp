// A run over all pairs of one set that computes each pair once. Part of CpuSummation.
//
// The particles are divided into blocks. PairRounds orders the pairs of blocks so that no two threads add to one block
// at a time, and so that the order of additions depends on the number of particles alone. Two blocks with an excluded
// pair are computed from both ends, by the kernel that tests exclusions.
#include <algorithm>
#include <numeric>

#include "runtime/cpu/cpu_sum.h"
#include "runtime/cpu/pair_rounds.h"

namespace nbcc {
namespace {

// Small blocks let more threads work on few particles; large blocks add to the rows of results less often.
constexpr std::int64_t kBlocks = 48, kSmallest = 128, kLargest = 1024;

std::int64_t size_of_blocks(const KernelSource& source, std::int64_t particles) {
  const std::int64_t most = std::min<std::int64_t>(kLargest, source.tile);
  return std::clamp(round_up(ceil_div(particles, kBlocks), kSmallest), kSmallest, std::max(most, kSmallest));
}

}  // namespace

void CpuSummation::sum_symmetric(const SumRequest& request) {
  begin_run(request);
  const std::int64_t count = request.ni, size = size_of_blocks(source_, count);
  const std::int64_t padded = round_up(count, std::lcm<std::int64_t>(source_.lanes, source_.i_block));
  i_.reserve(padded);
  totals_.reserve(source_, padded);
  if (request.exclusions) {
    i_numbers_.resize(std::size_t(padded));
    exclusions_.resize(std::size_t(padded));
    j_numbers_.resize(std::size_t(padded));
    std::iota(j_numbers_.begin(), j_numbers_.end(), 0);
  }
  pack_j(request);
  PairRounds rounds(ceil_div(count, size));
  begin(double(count) * double(count));
  const auto block = [&](std::int64_t number) {
    const std::int64_t begin = number * size, end = std::min(begin + size, count);
    return Block{begin, end, end == count ? padded : end, request.i_offset, Picked{begin, nullptr, end - begin}, begin};
  };
  const double nanoseconds = CpuPartition::kWorthWaking;
  for_each(rounds.blocks(), nanoseconds, [&](std::int64_t number) { begin_block(request, block(number)); });
  const nbcc_kernel_arguments given = arguments(request, block(0), totals_);
  nbcc_kernel_arguments plain = given;
  plain.i_number = plain.j_number = nullptr;
  // An interrupt must be thrown inside PairRounds::work(), or threads would wait for the item that it ended.
  share_items(rounds.items(), nanoseconds, [&](std::int64_t item) {
    rounds.work(item, [&](PairRounds::Pair pair) {
      if (progress_) progress_->poll();
      const Block i = block(pair.i), j = block(pair.j);
      if (request.exclusions && (has_exclusions(i, j.begin, j.end) || has_exclusions(j, i.begin, i.end))) {
        interact_now_(&given, i.begin, i.end, j.begin, j.end);
        if (pair.i != pair.j) interact_now_(&given, j.begin, j.end, i.begin, i.end);
      } else if (pair.i == pair.j) {
        code_.interact(&plain, i.begin, i.end, i.begin, i.end);
      } else {
        code_.interact_symmetric(&plain, i.begin, i.end, j.begin, j.end);
      }
      const double pairs = double(i.end - i.begin) * double(j.end - j.begin);
      step(pair.i == pair.j ? pairs : 2 * pairs);
    });
  });
  share_items(rounds.blocks(), nanoseconds, [&](std::int64_t number) {
    finish_block(request, block(number));
    store_block(request, block(number));
  });
}

}  // namespace nbcc
