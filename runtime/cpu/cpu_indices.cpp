// A request's particles -> ranges of the terms that they contribute to table indices, in O(N) time. Interface:
// CpuSummation::check_indices, which packs the particles itself, chunk by chunk, before the run stores anything.
#include <algorithm>
#include <limits>
#include <mutex>
#include <numeric>
#include <utility>

#include "runtime/cpu/cpu_sum.h"

namespace nbcc {
namespace {

constexpr std::int64_t kCheckedPerChunk = 4096;  // particles per chunk
constexpr double kNanosecondsPerParticle = 10;   // to pack a few columns and widen a range

constexpr std::array<Role, kIndexSides> kRoleOfSide{Role::InputI, Role::InputJ, Role::InputPair};

std::int64_t count_of_listed(const KernelSource& source, const SumRequest& request) {
  for (std::size_t f = 0; f < source.fields.size(); ++f)
    if (source.fields[f].role == Role::InputPair) return request.views[f].count;
  return 0;
}

// The indices of the particles to check; if `list` is null, [first, first + count).
struct Checked {
  const std::int64_t* list = nullptr;
  std::int64_t first = 0, count = 0;
};
Checked checked_of(const KernelSource& source, const SumRequest& request, Role role) {
  const auto those = [](const std::vector<std::int64_t>& listed) {
    return Checked{listed.data(), 0, std::int64_t(listed.size())};
  };
  if (role == Role::InputI && request.lists_chosen_i) return those(request.listed->i);
  if (role == Role::InputI) return {request.i_list, request.i_list ? 0 : request.i_begin, request.i_count};
  if (role == Role::InputJ && request.listed) return those(request.listed->j);
  return {nullptr, 0, role == Role::InputJ ? request.nj : count_of_listed(source, request)};
}

}  // namespace

void CpuSummation::check_indices(const SumRequest& request) {
  progress_ = request.progress;
  const std::int64_t lists = request.listed ? request.listed->number : 0;
  const auto known = std::exchange(j_ranges_lists_, std::nullopt);  // no ranges are known if this is interrupted
  for (std::size_t side = 0; side < kIndexSides; ++side) {
    const bool kept = kRoleOfSide[side] == Role::InputJ && request.reuse == JReuse::Prepared && known == lists;
    if (source_.index_checks.ranges[side] > 0 && !kept) find_index_ranges(request, side);
  }
  j_ranges_lists_ = lists;
  index_ranges_.check(source_, !request.params_of_groups.empty());
}

void CpuSummation::find_index_ranges(const SumRequest& request, std::size_t side) {
  const Role role = kRoleOfSide[side];
  const Checked all = checked_of(source_, request, role);
  const std::int64_t chunks = ceil_div(all.count, kCheckedPerChunk);
  const std::int64_t strips = std::min<std::int64_t>(chunks, 4 * pool_.threads());
  index_ranges_.reset(side);
  std::mutex mutex;
  for_each(strips, double(all.count) * kNanosecondsPerParticle, [&](std::int64_t strip) {
    PackedSide packed(source_, role, source_.index_checks.columns[side]);
    packed.reserve(round_up(kCheckedPerChunk, source_.lanes));
    std::vector<int> numbers;
    IndexRanges found(source_.index_checks);
    for (std::int64_t chunk = strip; chunk < chunks; chunk += strips) {
      const std::int64_t begin = chunk * kCheckedPerChunk, size = std::min(kCheckedPerChunk, all.count - begin);
      const std::int64_t* const list = all.list ? all.list + begin : nullptr;
      const std::int64_t first = all.first + begin;
      packed.pack(request.views, {list ? 0 : first, list, size}, 0);
      nbcc_kernel_arguments given = arguments(request, {}, totals_);
      given.i = given.j = given.pair = packed.columns();
      given.i_offset = request.i_offset + (list ? 0 : first);
      given.j_offset = request.j_offset + (list ? 0 : first);
      if (list) numbers.assign(list, list + size);
      given.i_number = given.j_number = list ? numbers.data() : nullptr;
      IndexRanges of_chunk(source_.index_checks);
      code_.indices[side](&given, 0, size, of_chunk.of(side).data());
      const std::int64_t offset = role == Role::InputI ? request.i_offset : role == Role::InputJ ? request.j_offset : 0;
      found.widen(side, of_chunk.of(side),
                  [&](std::int64_t position) { return offset + (list ? list[position] : first + position); });
    }
    const std::lock_guard lock(mutex);
    index_ranges_.widen(side, found.of(side), [](std::int64_t number) { return number; });
  });
}

}  // namespace nbcc
