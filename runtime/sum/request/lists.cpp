// Copies and checks the caller's lists. Entry points: read_lists(), lists_of_batches(), read_rows().
#include "runtime/sum/request/lists.h"

#include <algorithm>
#include <atomic>
#include <limits>
#include <numeric>

#include "fmt/format.h"
#include "runtime/error.h"

namespace nbcc {
namespace {

// Kernels count listed particles with 32-bit integers.
constexpr std::int64_t kMaxCount = std::numeric_limits<int>::max();

std::int64_t next_number() {
  static std::atomic<std::int64_t> last = 0;
  return ++last;
}

// Throws unless the values begin with 0, end with `end` and never fall.
void check_firsts(std::string_view what, std::string_view name, const std::vector<std::int64_t>& values,
                  std::int64_t end, std::string_view of) {
  if (values.front() != 0) throw UsageError(fmt::format("{}: {}[0] is {}, it must be 0", what, name, values.front()));
  for (std::size_t k = 1; k < values.size(); ++k) {
    if (values[k] < values[k - 1])
      throw UsageError(
          fmt::format("{}: {}[{}] is {}, less than the {} before it", what, name, k, values[k], values[k - 1]));
  }
  if (values.back() != end)
    throw UsageError(fmt::format("{}: {}[{}], the last, is {}, but there are {} {}", what, name, values.size() - 1,
                                 values.back(), end, of));
}

void check_order(std::string_view what, std::string_view name, const std::vector<std::int64_t>& order) {
  std::vector<bool> seen(order.size(), false);
  for (std::size_t k = 0; k < order.size(); ++k) {
    if (order[k] < 0 || order[k] >= std::int64_t(order.size()))
      throw UsageError(
          fmt::format("{}: {}[{}] is {}, it must be from 0 to {}", what, name, k, order[k], order.size() - 1));
    if (seen[std::size_t(order[k])])
      throw UsageError(fmt::format("{}: {}[{}] is {}, which has occurred before", what, name, k, order[k]));
    seen[std::size_t(order[k])] = true;
  }
}

void check_not_null(std::string_view what, std::string_view name, const void* array, std::int64_t count) {
  if (count < 0) throw UsageError(fmt::format("{}: the count of {} must be 0 or more, got {}", what, name, count));
  if (count > 0 && !array) throw UsageError(fmt::format("{}: {} is a null pointer", what, name));
}

void check_limit(std::string_view what, std::int64_t count, std::string_view of) {
  if (count > kMaxCount)
    throw UsageError(fmt::format("{}: {} {} exceed the maximum of {}", what, count, of, kMaxCount));
}

void check_ids(char side, std::span<const std::int64_t> ids, std::int64_t batches) {
  for (std::size_t k = 0; k < ids.size(); ++k) {
    if (batches == 0)
      throw UsageError(fmt::format("batches: {}_batch[0] is {}, but there are 0 batches", side, ids[0]));
    if (ids[k] < 0 || ids[k] >= batches)
      throw UsageError(
          fmt::format("batches: {}_batch[{}] is {}, it must be from 0 to {}", side, k, ids[k], batches - 1));
    if (k > 0 && ids[k] < ids[k - 1])
      throw UsageError(
          fmt::format("batches: {}_batch[{}] is {}, less than the {} before it: the particles of a batch "
                      "must be contiguous",
                      side, k, ids[k], ids[k - 1]));
  }
}

void count(Lists& lists) {
  lists.max_i_per_group = lists.pairs = lists.max_j_end = 0;
  for (std::size_t g = 0; g < std::size_t(lists.groups()); ++g) {
    const std::int64_t i = lists.i_first[g + 1] - lists.i_first[g];
    lists.max_i_per_group = std::max(lists.max_i_per_group, i);
    for (auto r = std::size_t(lists.range_first[g]); r < std::size_t(lists.range_first[g + 1]); ++r)
      lists.pairs += i * (lists.j_end[r] - lists.j_begin[r]);
  }
  for (const std::int64_t end : lists.j_end) lists.max_j_end = std::max(lists.max_j_end, end);
}

}  // namespace

void Lists::check_counts(std::int64_t ni, std::int64_t nj) const {
  if (are_batches && (i_count() != ni || batch_j_count != nj)) {
    const bool of_i = i_count() != ni;
    throw UsageError(fmt::format("batches: {0}_batch has {1} entries, but there are {2} {0}-particles",
                                 of_i ? 'i' : 'j', of_i ? i_count() : batch_j_count, of_i ? ni : nj));
  }
  if (i_count() != ni)
    throw UsageError(fmt::format("{}: the groups have {} i-particles, but there are {}", what, i_count(), ni));
  if (!j_order.empty() && std::int64_t(j_order.size()) != nj)
    throw UsageError(fmt::format("{}: j_order has {} entries, but there are {} j-particles", what, j_order.size(), nj));
  if (max_j_end <= nj) return;
  const auto beyond = std::ranges::find_if(j_end, [nj](std::int64_t end) { return end > nj; });
  throw UsageError(
      fmt::format("{}: j_end[{}] is {}, but there are {} j-particles", what, beyond - j_end.begin(), *beyond, nj));
}

Lists lists_on_device(const DeviceLists& on_device, std::int64_t ni) {
  Lists lists;
  lists.what = "lists";
  lists.number = next_number();
  lists.on_device = on_device;
  lists.i_first = {0, ni};
  return lists;
}

Lists read_lists(const ListArrays& arrays, const Fetch<std::int64_t>& fetch, const Fetch<double>& fetch_shifts) {
  Lists lists;
  lists.what = "lists";
  lists.number = next_number();
  const auto take = [&](std::string_view name, const std::int64_t* from, std::int64_t count) {
    check_not_null(lists.what, name, from, count);
    return fetch(from, count);
  };
  check_not_null(lists.what, "groups", &arrays, arrays.groups);
  check_not_null(lists.what, "ranges", &arrays, arrays.ranges);
  lists.i_first = take("i_first", arrays.i_first, arrays.groups + 1);
  check_firsts(lists.what, "i_first", lists.i_first, lists.i_first.back(), "i-particles");
  check_limit(lists.what, lists.i_count(), "i-particles");
  check_limit(lists.what, arrays.j_count, "entries of j_order");
  check_limit(lists.what, arrays.ranges, "ranges");
  if (arrays.i_order) lists.i_order = take("i_order", arrays.i_order, lists.i_count());
  check_order(lists.what, "i_order", lists.i_order);
  lists.range_first = take("range_first", arrays.range_first, arrays.groups + 1);
  check_firsts(lists.what, "range_first", lists.range_first, arrays.ranges, "ranges");
  lists.j_begin = take("j_begin", arrays.j_begin, arrays.ranges);
  lists.j_end = take("j_end", arrays.j_end, arrays.ranges);
  for (std::size_t r = 0; r < lists.j_begin.size(); ++r) {
    if (lists.j_begin[r] < 0)
      throw UsageError(fmt::format("lists: j_begin[{}] is {}, it must be 0 or more", r, lists.j_begin[r]));
    if (lists.j_end[r] < lists.j_begin[r] || lists.j_end[r] > kMaxCount)
      throw UsageError(fmt::format("lists: j_end[{}] is {}, it must be from j_begin[{}], {}, to {}", r, lists.j_end[r],
                                   r, lists.j_begin[r], kMaxCount));
  }
  if (arrays.j_order) lists.j_order = take("j_order", arrays.j_order, arrays.j_count);
  check_order(lists.what, "j_order", lists.j_order);
  if (arrays.shifts) {
    lists.axes = arrays.axes;
    lists.shifts = fetch_shifts(arrays.shifts, arrays.ranges * arrays.axes);
  }
  count(lists);
  return lists;
}

Lists lists_of_batches(std::int64_t batches, std::span<const std::int64_t> i_batch,
                       std::span<const std::int64_t> j_batch) {
  if (batches < 0) throw UsageError(fmt::format("batches: their count must be 0 or more, got {}", batches));
  check_limit("batches", std::int64_t(std::max(i_batch.size(), j_batch.size())), "particles");
  check_ids('i', i_batch, batches);
  check_ids('j', j_batch, batches);
  Lists lists;
  lists.what = "batches";
  lists.are_batches = true;
  lists.batches = batches;
  lists.batch_j_count = std::int64_t(j_batch.size());
  lists.number = next_number();
  lists.i_first = {0};
  auto i = i_batch.begin();
  for (auto j = j_batch.begin(); i != i_batch.end();) {
    const std::int64_t id = *i;
    i = std::find_if(i, i_batch.end(), [id](std::int64_t other) { return other != id; });
    j = std::find_if(j, j_batch.end(), [id](std::int64_t other) { return other >= id; });
    lists.batch_ids.push_back(id);
    lists.i_first.push_back(i - i_batch.begin());
    lists.j_begin.push_back(j - j_batch.begin());
    j = std::find_if(j, j_batch.end(), [id](std::int64_t other) { return other != id; });
    lists.j_end.push_back(j - j_batch.begin());
  }
  lists.range_first.resize(lists.i_first.size());
  std::iota(lists.range_first.begin(), lists.range_first.end(), std::int64_t(0));
  count(lists);
  return lists;
}

Lists with_i_of(const Lists& lists, std::span<const std::int64_t> particles) {
  std::vector<bool> is_chosen(std::size_t(lists.i_count()), false);
  for (std::size_t k = 0; k < particles.size(); ++k) {
    if (particles[k] < 0 || particles[k] >= lists.i_count())
      throw UsageError(fmt::format("i_list[{}] is {}, but there are {} i-particles", k, particles[k], lists.i_count()));
    is_chosen[std::size_t(particles[k])] = true;
  }
  Lists fewer = lists;
  fewer.number = next_number();
  fewer.i_first = {0};
  fewer.i_order.clear();
  for (std::size_t group = 0; group < std::size_t(lists.groups()); ++group) {
    for (std::int64_t slot = lists.i_first[group]; slot < lists.i_first[group + 1]; ++slot) {
      const std::int64_t particle = lists.i_order.empty() ? slot : lists.i_order[std::size_t(slot)];
      if (is_chosen[std::size_t(particle)]) fewer.i_order.push_back(particle);
    }
    fewer.i_first.push_back(std::int64_t(fewer.i_order.size()));
  }
  count(fewer);
  return fewer;
}

void PairRows::check_counts(std::int64_t ni, std::int64_t nj) const {
  if (std::int64_t(first.size()) - 1 != ni)
    throw UsageError(
        fmt::format("{}: there are rows for {} i-particles, but there are {}", what, first.size() - 1, ni));
  check_limit(what, std::max(ni, nj), "particles");
  if (max_j < nj) return;
  const auto beyond = std::ranges::find_if(j, [nj](int of) { return of >= nj; });
  throw UsageError(fmt::format("{}: j[{}] is {}, but there are {} j-particles", what, beyond - j.begin(), *beyond, nj));
}

PairRows read_rows(std::string_view what, std::int64_t ni, const std::int64_t* first, std::int64_t count,
                   const std::int64_t* j, const Fetch<std::int64_t>& fetch) {
  PairRows rows;
  rows.what = what;
  rows.number = next_number();
  check_not_null(what, "i-particles", &rows, ni);
  check_not_null(what, "first", first, ni + 1);
  check_not_null(what, "j", j, count);
  rows.first = fetch(first, ni + 1);
  check_firsts(what, "first", rows.first, count, "entries of j");
  const std::vector<std::int64_t> wide = fetch(j, count);
  rows.j.reserve(wide.size());
  for (std::size_t k = 0; k < wide.size(); ++k) {
    if (wide[k] < 0 || wide[k] >= kMaxCount)
      throw UsageError(fmt::format("{}: j[{}] is {}, it must be from 0 to {}", what, k, wide[k], kMaxCount - 1));
    rows.j.push_back(int(wide[k]));
    rows.max_j = std::max(rows.max_j, wide[k]);
  }
  return rows;
}

PairRows rows_of_pairs(std::string_view what, std::int64_t ni, std::span<const std::pair<int, int>> pairs) {
  PairRows rows;
  rows.what = what;
  rows.number = next_number();
  rows.first.assign(std::size_t(ni) + 1, 0);
  for (const auto& [i, j] : pairs) {
    ++rows.first[std::size_t(i) + 1];
    rows.j.push_back(j);
    rows.max_j = std::max<std::int64_t>(rows.max_j, j);
  }
  std::partial_sum(rows.first.begin(), rows.first.end(), rows.first.begin());
  return rows;
}

Exclusions::Exclusions(const PairRows& rows) : number(rows.number) {
  constexpr int kMaskBits = 64;  // of nbcc_exclusions::near
  far.reserve(rows.j.size());    // nbcc_exclusions::far points into `far`, which must not be reallocated
  of.reserve(rows.first.size());
  for (std::int64_t i = 0; i + 1 < std::int64_t(rows.first.size()); ++i) {
    const std::span<const int> out = rows.of(i);
    nbcc_exclusions left{0, 0, far.data() + far.size(), 0};
    if (!out.empty()) left.first = std::ranges::min(out);
    for (const int j : out) {
      if (const std::int64_t from = j - left.first; from < kMaskBits) {
        left.near |= std::uint64_t(1) << from;
      } else {
        far.push_back(j);
        ++left.far_count;
      }
    }
    of.push_back(left);
  }
}

namespace {

std::vector<std::int64_t> sorted_unique(std::vector<std::int64_t> numbers) {
  std::ranges::sort(numbers);
  const auto repeated = std::ranges::unique(numbers);
  numbers.erase(repeated.begin(), repeated.end());
  return numbers;
}

std::int64_t particle_at(const std::vector<std::int64_t>& order, std::int64_t position) {
  return order.empty() ? position : order[std::size_t(position)];
}

}  // namespace

ListedParticles particles_of(const Lists& lists) {
  ListedParticles found{{}, {}, lists.number};
  // Mark each j-slot rather than collecting indices, because many ranges may overlap.
  std::vector<bool> acts(std::size_t(lists.j_order.empty() ? lists.max_j_end : std::int64_t(lists.j_order.size())));
  for (std::int64_t group = 0; group < lists.groups(); ++group) {
    const auto g = std::size_t(group);
    bool any = false;
    for (auto range = std::size_t(lists.range_first[g]); range < std::size_t(lists.range_first[g + 1]); ++range) {
      any = any || lists.j_end[range] > lists.j_begin[range];
      std::fill(acts.begin() + lists.j_begin[range], acts.begin() + std::max(lists.j_begin[range], lists.j_end[range]),
                true);
    }
    for (std::int64_t at = lists.i_first[g]; any && at < lists.i_first[g + 1]; ++at)
      found.i.push_back(particle_at(lists.i_order, at));
  }
  for (std::size_t at = 0; at < acts.size(); ++at)
    if (acts[at]) found.j.push_back(particle_at(lists.j_order, std::int64_t(at)));
  return {sorted_unique(std::move(found.i)), sorted_unique(std::move(found.j)), found.number};
}

ListedParticles particles_of(const PairRows& rows) {
  ListedParticles found{{}, {rows.j.begin(), rows.j.end()}, rows.number};
  for (std::size_t i = 0; i + 1 < rows.first.size(); ++i)
    if (rows.first[i + 1] > rows.first[i]) found.i.push_back(std::int64_t(i));
  found.j = sorted_unique(std::move(found.j));
  return found;
}

void FoundPairs::remove_self_pairs(std::int64_t offset) {
  std::size_t kept = 0, at = 0;
  for (std::size_t i = 0; i + 1 < first.size(); ++i) {
    const auto end = std::size_t(first[i + 1]);
    for (; at < end; ++at) {
      const auto shift = std::span(shifts).subspan(at * std::size_t(axes), std::size_t(axes));
      if (j[at] == std::int64_t(i) + offset && std::ranges::all_of(shift, [](double s) { return s == 0; })) continue;
      j[kept] = j[at];
      std::ranges::copy(shift, shifts.begin() + std::ptrdiff_t(kept * std::size_t(axes)));
      ++kept;
    }
    first[i + 1] = std::int64_t(kept);
  }
  j.resize(kept);
  shifts.resize(kept * std::size_t(axes));
}

}  // namespace nbcc
