// The search for pairs on the host. Entry point: host_pair_search().
#include <algorithm>
#include <atomic>
#include <numeric>
#include <vector>

#include "runtime/error.h"
#include "runtime/pairs/pair_search.h"

namespace nbcc {
namespace {

using namespace pair_search;

// Threads take chunks of particles; a chunk keeps the keys of its rows until they are stored.
constexpr std::int64_t kChunk = 512;

std::int64_t chunks_of(std::int64_t count) { return (count + kChunk - 1) / kChunk; }

// The lowest index that is given to it, as Report has it.
class Lowest {
 public:
  void include(std::int64_t k) {
    const unsigned mine = ~unsigned(k);
    unsigned before = word_.load(std::memory_order_relaxed);
    while (before < mine && !word_.compare_exchange_weak(before, mine)) {
    }
  }
  unsigned word() const { return word_; }

 private:
  std::atomic<unsigned> word_ = 0;
};

class HostPairSearch final : public PairSearch {
 public:
  explicit HostPairSearch(ForEach for_each) : for_each_(std::move(for_each)) {}

  std::int64_t search(const Search& query, bool is_double, void*, bool, const std::function<void()>& poll) override {
    searched_ = false;
    s_ = query;
    is_double_ = is_double;
    s_.least_cutoff = least_cutoff(is_double);
    check_query(s_, is_double);
    const std::int64_t found = is_double ? search_as(doubles_, 0x1p-52, poll) : search_as(floats_, 0x1p-23, poll);
    searched_ = true;
    return found;
  }
  void store(const PairOutput& output) override;

 private:
  template <typename T>
  struct Records {
    std::vector<Record<T>> of_side[2], sorted;
  };
  template <typename T>
  std::int64_t search_as(Records<T>& records, double epsilon, const std::function<void()>& poll);
  void check(const Report& report) const {
    check_report(report, s_, is_double_,
                 [](void* to, const void* from, std::size_t bytes) { std::memcpy(to, from, bytes); });
  }
  void make_systems();
  template <typename T>
  void wrap_all(Records<T>& records);
  template <typename T>
  void sort_into_bins(Records<T>& records, double epsilon);
  template <typename T>
  void find_rows(const Records<T>& records, std::int64_t chunk, const std::function<void()>& poll);
  template <typename Body>
  void for_particles(std::int64_t count, const Body& body) const {
    for_each_(chunks_of(count), [&](std::int64_t chunk) {
      for (std::int64_t k = chunk * kChunk; k < std::min(count, (chunk + 1) * kChunk); ++k) body(k);
    });
  }
  const System& system_of(int side, std::int64_t particle) const {
    return systems_[std::size_t(s_.side[side].system ? s_.side[side].system[particle] : 0)];
  }

  ForEach for_each_;
  Search s_ = {};
  bool is_double_ = false, searched_ = false;
  Records<float> floats_;
  Records<double> doubles_;
  std::vector<System> systems_;
  std::vector<Wraps> wraps_[2];
  std::vector<unsigned> slot_first_, slot_of_;
  struct Chunk {
    std::vector<unsigned long long> keys;
    std::vector<std::pair<int, Index>> rows;  // i, number of its pairs
  };
  std::vector<Chunk> chunks_;
  std::vector<Index> first_;
};

void HostPairSearch::make_systems() {
  Report report = {};
  const Index entries = s_.cutoff_of_types ? s_.types * s_.types : 0;
  for (Index k = 0; k < entries && report.bad_table == 0; ++k)
    if (!is_cutoff(s_, s_.cutoff_of_types[k])) report.bad_table = ~unsigned(k);
  systems_.resize(std::size_t(s_.systems));
  s_.system = systems_.data();
  for (Index k = 0; k < s_.systems; ++k)
    if (!prepare_system(systems_[std::size_t(k)], s_.cells ? s_.cells + 9 * k : nullptr,
                        s_.periodic ? s_.periodic + 3 * k : nullptr) &&
        report.flat_cell == 0)
      report.flat_cell = ~unsigned(k);
  check(report);
}

template <typename T>
void HostPairSearch::wrap_all(Records<T>& records) {
  Lowest non_finite[2], bad_system[2], bad_type[2], bad_cutoff;
  for (int which = 0; which < (s_.one_set ? 1 : 2); ++which) {
    const Side& side = s_.side[which];
    records.of_side[which].resize(std::size_t(side.count));
    wraps_[which].resize(std::size_t(side.count));
    for_particles(side.count, [&](std::int64_t p) {
      const Index number = side.system ? side.system[p] : 0;
      if (number < 0 || number >= s_.systems) return bad_system[which].include(p);
      if (!has_type(s_, which, p)) bad_type[which].include(p);
      if (!has_cutoff(s_, which, p)) bad_cutoff.include(p);
      T x[3];
      for (int c = 0; c < 3; ++c) std::memcpy(&x[c], side.x + p * side.stride + c * side.component_stride, sizeof(T));
      Record<T>& record = records.of_side[which][std::size_t(p)];
      record.number = int(p);
      Wraps& wraps = wraps_[which][std::size_t(p)];
      wraps.unused = 0;
      if (!wrap(systems_[std::size_t(number)], x, record.at, wraps.of)) non_finite[which].include(p);
    });
  }
  Report report = {};
  for (int which = 0; which < 2; ++which) {
    report.non_finite[which] = non_finite[which].word();
    report.bad_system[which] = bad_system[which].word();
    report.bad_type[which] = bad_type[which].word();
  }
  report.bad_cutoff = bad_cutoff.word();
  check(report);
}

template <typename T>
void HostPairSearch::sort_into_bins(Records<T>& records, double epsilon) {
  const Side& js = s_.side[0];
  for (std::int64_t j = 0; j < js.count; ++j) {
    System& system = systems_[std::size_t(js.system ? js.system[j] : 0)];
    ++system.count;
    if (system.periodic[0] && system.periodic[1] && system.periodic[2]) continue;
    double fractions[3];
    fractions_of(system, records.of_side[0][std::size_t(j)].at, fractions);
    for (int axis = 0; axis < 3; ++axis) {
      if (system.periodic[axis]) continue;
      unsigned long long* const extent = system.extent[axis];
      extent[0] = std::max(extent[0], ordered_bits(-fractions[axis]));
      extent[1] = std::max(extent[1], ordered_bits(fractions[axis]));
    }
  }
  Index slots = 0;
  Report report = {};
  for (System& system : systems_) {
    if (!choose_bins(system, s_.cutoff, epsilon) && report.small_cell == 0)
      report.small_cell = ~unsigned(&system - systems_.data());
    system.first_slot = slots;
    slots += system.slots;
  }
  check(report);
  slot_of_.resize(std::size_t(js.count));
  for_particles(js.count, [&](std::int64_t j) {
    double fractions[3];
    const System& system = system_of(0, j);
    fractions_of(system, records.of_side[0][std::size_t(j)].at, fractions);
    slot_of_[std::size_t(j)] = unsigned(slot_at(system, fractions));
  });
  slot_first_.assign(std::size_t(slots) + 2, 0);  // shifted by one until all are stored
  for (const unsigned slot : slot_of_) ++slot_first_[slot + 2];
  std::partial_sum(slot_first_.begin(), slot_first_.end(), slot_first_.begin());
  records.sorted.resize(std::size_t(js.count));
  for (std::size_t j = 0; j < slot_of_.size(); ++j)
    records.sorted[slot_first_[slot_of_[j] + 1]++] = records.of_side[0][j];
}

template <typename T>
void HostPairSearch::find_rows(const Records<T>& records, std::int64_t chunk, const std::function<void()>& poll) {
  Chunk& found = chunks_[std::size_t(chunk)];
  found.keys.clear();
  found.rows.clear();
  const T limit = squared_limit<T>(s_, s_.cutoff);
  const std::vector<Record<T>>& is = s_.one_set ? records.sorted : records.of_side[1];
  std::vector<unsigned> hits;
  const auto end_of_chunk = std::size_t(std::min<std::int64_t>(s_.side[1].count, (chunk + 1) * kChunk));
  for (auto k = std::size_t(chunk * kChunk); k < end_of_chunk; ++k) {
    if (poll && k % 16 == 0) poll();  // a row may have all j
    const Record<T> mine = is[k];
    const std::size_t begin_of_row = found.keys.size();
    const System& system = system_of(1, mine.number);
    double fractions[3];
    fractions_of(system, mine.at, fractions);
    for_each_run(system, slot_first_.data(), fractions, [&](unsigned begin, unsigned end, int m0, int m1, int m2) {
      T image[3];
      image_vector(system, m0, m1, m2, image);
      if (hits.size() < end - begin) hits.resize(end - begin);
      unsigned* const hit = hits.data();
      std::size_t count = 0;
      for (unsigned at = begin; at < end; ++at) {
        hit[count] = at;
        count += squared_distance(mine.at, records.sorted[at].at, image) < limit ? 1 : 0;
      }
      for (std::size_t h = 0; h < count; ++h) {
        const Record<T>& other = records.sorted[hit[h]];
        if (is_listed(s_, squared_distance(mine.at, other.at, image), mine.number, other.number, m0, m1, m2))
          found.keys.push_back(key_of(other.number, m0, m1, m2));
      }
    });
    std::sort(found.keys.begin() + std::ptrdiff_t(begin_of_row), found.keys.end());
    found.rows.emplace_back(mine.number, Index(found.keys.size() - begin_of_row));
  }
}

template <typename T>
std::int64_t HostPairSearch::search_as(Records<T>& records, double epsilon, const std::function<void()>& poll) {
  make_systems();
  wrap_all(records);
  sort_into_bins(records, epsilon);
  const Index ni = s_.side[1].count;
  chunks_.resize(std::size_t(chunks_of(ni)));
  for_each_(chunks_of(ni), [&](std::int64_t chunk) { find_rows(records, chunk, poll); });
  first_.assign(std::size_t(ni) + 1, 0);
  for (const Chunk& chunk : chunks_)
    for (const auto& [i, count] : chunk.rows) first_[std::size_t(i) + 1] = count;
  std::partial_sum(first_.begin(), first_.end(), first_.begin());
  return first_.back();
}

void HostPairSearch::store(const PairOutput& output) {
  if (!searched_) throw UsageError("neighbours: there is no search whose pairs could be stored");
  const std::vector<Wraps>& of_i = wraps_[s_.one_set ? 0 : 1];
  for_each_(std::int64_t(chunks_.size()), [&](std::int64_t chunk) {
    const Chunk& from = chunks_[std::size_t(chunk)];
    const unsigned long long* key = from.keys.data();
    for (const auto& [i, count] : from.rows) {
      const Index begin = first_[std::size_t(i)];
      const bool fits = begin + count <= output.capacity;
      for (Index p = begin; p < begin + count; ++p, ++key) {
        if (!fits) continue;
        const int j = j_of(*key);
        output.i[p] = i;
        output.j[p] = j;
        if (!output.shifts) continue;
        for (int axis = 0; axis < 3; ++axis)
          output.shifts[3 * p + axis] =
              image_of(*key, axis) + of_i[std::size_t(i)].of[axis] - wraps_[0][std::size_t(j)].of[axis];
      }
    }
  });
  if (output.count) *output.count = first_.back();
  if (output.first) std::ranges::copy(first_, output.first);
  const Index end = *std::prev(std::ranges::upper_bound(first_, output.capacity));
  for (Index p = end; p < output.capacity; ++p) {
    output.i[p] = s_.side[1].count;
    output.j[p] = s_.side[0].count;
    if (output.shifts) std::fill_n(output.shifts + 3 * p, 3, 0);
  }
}

}  // namespace

std::unique_ptr<PairSearch> host_pair_search(ForEach for_each) {
  return std::make_unique<HostPairSearch>(std::move(for_each));
}

}  // namespace nbcc
