// A request's particles -> ranges of the numbers that they add to indices of tables. Door: CpuSummation::check_indices,
// which packs a chunk of particles after the other by itself, before anything of the run is stored. O(N).
#include <algorithm>
#include <limits>
#include <mutex>
#include <numeric>

#include "runtime/cpu/cpu_sum.h"

namespace nbcc {
namespace {

constexpr std::int64_t kChunk = 4096;           // particles that are packed at a time
constexpr double kNanosecondsPerParticle = 10;  // to pack a few columns and widen a range

constexpr std::array<Role, kIndexSides> kRoleOfSide{Role::InputI, Role::InputJ, Role::InputPair};

std::int64_t count_of(const KernelSource& source, const SumRequest& request, Role role) {
  if (role == Role::InputI) return request.i_count;
  if (role == Role::InputJ) return request.nj;
  for (std::size_t f = 0; f < source.fields.size(); ++f)
    if (source.fields[f].role == role) return request.views[f].count;
  return 0;
}

}  // namespace

void CpuSummation::check_indices(const SumRequest& request) {
  for (std::size_t side = 0; side < kIndexSides; ++side) {
    const bool kept = kRoleOfSide[side] == Role::InputJ && request.reuse == JReuse::Prepared && knows_j_indices_;
    if (source_.index_checks.ranges[side] > 0 && !kept) find_index_ranges(request, side);
  }
  knows_j_indices_ = true;
  index_ranges_.check(source_, !request.params_of_groups.empty(), [&](std::int64_t position) {
    return request.i_list ? request.i_list[position] : request.i_begin + position;
  });
}

void CpuSummation::find_index_ranges(const SumRequest& request, std::size_t side) {
  const Role role = kRoleOfSide[side];
  const std::int64_t count = count_of(source_, request, role), chunks = ceil_div(count, kChunk);
  const std::int64_t strips = std::min<std::int64_t>(chunks, 4 * pool_.threads());
  index_ranges_.reset(side);
  std::mutex mutex;
  for_each(strips, double(count) * kNanosecondsPerParticle, [&](std::int64_t strip) {
    PackedSide packed(source_, role, source_.index_checks.columns[side]);
    packed.reserve(round_up(kChunk, source_.lanes));
    std::vector<int> numbers;
    IndexRanges found(source_.index_checks);
    for (std::int64_t chunk = strip; chunk < chunks; chunk += strips) {
      const std::int64_t begin = chunk * kChunk, size = std::min(kChunk, count - begin);
      const std::int64_t* const list = role == Role::InputI && request.i_list ? request.i_list + begin : nullptr;
      const std::int64_t first = begin + (role == Role::InputI ? request.i_begin : 0);
      packed.pack(request.views, {list ? 0 : first, list, size}, 0);
      nbcc_kernel_arguments given = arguments(request, {}, totals_);
      given.i = given.j = given.pair = packed.columns();
      given.i_number = given.j_number = nullptr;
      given.i_offset = request.i_offset + (list ? 0 : first);
      given.j_offset = request.j_offset + begin;
      if (list) {
        numbers.assign(list, list + size);
        given.i_number = numbers.data();
      }
      IndexRanges of_chunk(source_.index_checks);
      code_.indices[side](&given, 0, size, of_chunk.of(side).data());
      found.widen(side, of_chunk.of(side), begin);
    }
    const std::lock_guard lock(mutex);
    index_ranges_.widen(side, found.of(side), 0);
  });
}

}  // namespace nbcc
