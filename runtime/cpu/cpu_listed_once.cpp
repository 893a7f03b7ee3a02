// A sum over listed pairs in which each pair acts on both of its particles. Part of CpuSummation. Tested by
// tests/numeric/listed_once_test.cpp.
//
// One thread takes the rows in their order, because any two rows may have the same j: reactions of several threads
// would need an array for each thread, or results would depend on the number of threads.
#include <algorithm>
#include <numeric>

#include "fmt/format.h"
#include "runtime/cpu/cpu_sum.h"
#include "runtime/error.h"

namespace nbcc {
namespace {

constexpr std::int64_t kIOfBlock = 256;  // whose columns are packed at once, in the L1 cache

void check_no_own_pairs(const PairRows& rows) {
  for (std::int64_t i = 0; i + 1 < std::int64_t(rows.first.size()); ++i)
    if (const std::span<const int> j = rows.of(i); std::ranges::find(j, int(i)) != j.end())
      throw UsageError(fmt::format("symmetric = listed: particle {} is listed with itself", i));
}

}  // namespace

void CpuSummation::sum_listed_once(const SumRequest& request) {
  begin_run(request);
  code_now_ = &list_code_(Frame::ListedPairs);
  const PairRows& pairs = *request.listed_pairs;
  if (listed_once_number_ != pairs.number) check_no_own_pairs(pairs);
  listed_once_number_ = pairs.number;
  const std::int64_t count = request.ni, padded = round_up(count, std::int64_t(source_.lanes));
  std::int64_t bytes[2];
  code_now_->listed_sizes(bytes);
  i_.reserve(padded);
  totals_.reserve(source_, padded);
  listed_.reserve(std::size_t(count * bytes[0]));
  reactions_.reserve(std::size_t(count * bytes[1]));
  i_numbers_.resize(std::size_t(padded));
  std::iota(i_numbers_.begin(), i_numbers_.end(), 0);
  pack_j(request);
  const std::int64_t size = round_up(kIOfBlock, std::int64_t(source_.lanes));
  const auto on_blocks = [&](const auto& body) {
    for (std::int64_t begin = 0; begin < count; begin += size) {
      const std::int64_t end = std::min(begin + size, count);
      body(Block{begin, end, end == count ? padded : end, request.i_offset, {begin, nullptr, end - begin}, begin});
    }
  };
  begin(double(pairs.j.size()));
  on_blocks([&](const Block& block) {
    begin_block(request, block);
    const nbcc_kernel_arguments given = arguments(request, block, totals_);
    code_now_->begin_listed_once(&given, block.begin, block.end, listed_.data(), reactions_.data());
  });
  const nbcc_kernel_arguments given = arguments(request, {}, totals_);
  on_blocks([&](const Block& block) {
    if (progress_) progress_->poll();
    code_now_->interact_listed_once(&given, block.begin, block.end, pairs.first.data(), pairs.j.data(), listed_.data(),
                                    reactions_.data());
    step(double(pairs.first[std::size_t(block.end)] - pairs.first[std::size_t(block.begin)]));
  });
  // All memory is allocated, and kernels do not fail, so outputs may be written.
  on_blocks([&](const Block& block) {
    code_now_->end_listed_once(&given, block.begin, block.end, reactions_.data());
    finish_block(request, block);
    store_block(request, block);
  });
}

}  // namespace nbcc
