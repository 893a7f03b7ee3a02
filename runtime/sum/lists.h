// Lists of the caller -> lists of ours, checked: groups of i with ranges of j, pairs one by one, pairs that are left
// out. What they say of particles is checked when they are given; whether there are so many particles, by each run.
// Tested by tests/unit/lists_test.cpp.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/kernel_source.h"

namespace nbcc {

// Arrays as a caller hands them over, on the host or where the device has its memory.
struct ListArrays {
  std::int64_t groups = 0, ranges = 0;
  const std::int64_t* i_first = nullptr;      // [groups + 1]: positions among the i
  const std::int64_t* i_order = nullptr;      // of so many i as i_first tells: who stands at a position; null: the i-th
  const std::int64_t* range_first = nullptr;  // [groups + 1]: positions among the ranges
  const std::int64_t *j_begin = nullptr, *j_end = nullptr;  // [ranges]: positions among the j
  const std::int64_t* j_order = nullptr;                    // [j_count]; null: the j-th
  std::int64_t j_count = 0;
  const double* shifts = nullptr;  // [ranges][axes]: what is added to the places of a range's j; null: nothing
  int axes = 0;
};

// Copies `count` numbers from wherever they are.
template <typename T>
using Fetch = std::function<std::vector<T>(const T* from, std::int64_t count)>;

// Groups of i, each with the ranges of j that act on it. Positions are turned into numbers by the orders, where there
// are any.
struct Lists {
  std::string what;  // "lists", "batches": for messages
  bool are_batches = false;
  std::vector<std::int64_t> i_first, i_order, range_first, j_begin, j_end, j_order;
  std::vector<double> shifts;
  int axes = 0;             // of the shifts
  std::int64_t number = 0;  // another one for other lists
  // Batches that have i are the groups here, because a batch without i sums nothing. Memory grows with the particles,
  // never with the ids.
  std::int64_t batches = 0;             // as the caller counts batches: more than the largest id
  std::vector<std::int64_t> batch_ids;  // [groups], rising
  std::int64_t batch_j_count = 0;       // length of j_batch
  // The number of groups, or of batches as the caller counts them: a param may have a value for each.
  std::int64_t caller_groups() const { return are_batches ? batches : groups(); }
  std::int64_t groups() const { return std::int64_t(i_first.size()) - 1; }
  std::int64_t i_count() const { return i_first.back(); }
  // Counted once, when they are made.
  std::int64_t most_i = 0;  // of a group
  std::int64_t pairs = 0;   // of all groups
  std::int64_t most_j_end = 0;

  // Throws UsageError: there are others, or fewer.
  void check_counts(std::int64_t ni, std::int64_t nj) const;
};

// Throws UsageError that names the entry, what it is and what it may be.
Lists read_lists(const ListArrays& arrays, const Fetch<std::int64_t>& fetch, const Fetch<double>& fetch_shifts);

// Batches of consecutive particles of equal ids; on the i of a batch act the j of the same id. O(particles) in time and
// memory, however large the ids. Throws UsageError for an id that is not from 0 to batches - 1, or less than the one
// before it.
Lists lists_of_batches(std::int64_t batches, std::span<const std::int64_t> i_batch,
                       std::span<const std::int64_t> j_batch);

// The same groups, of which some have no j any more.
Lists without_j_of(const Lists& lists, std::span<const std::int64_t> groups);

// The pairs within the proved reach that a search has found: of i the j from first[i] to before first[i + 1], and what
// is added to their places to be at that copy of theirs which is nearest to i, an axis after the other.
struct FoundPairs {
  int axes = 0;
  std::vector<std::int64_t> first, j;
  std::vector<double> shifts;
};

// For each i some j: those of i are j[first[i]], ..., j[first[i + 1] - 1].
struct PairRows {
  std::vector<std::int64_t> first;
  std::vector<int> j;
  std::string what;  // "pairs", "exclusions"
  std::int64_t number = 0;
  std::int64_t most_j = -1;
  std::span<const int> of(std::int64_t i) const {
    return std::span(j).subspan(std::size_t(first[std::size_t(i)]),
                                std::size_t(first[std::size_t(i) + 1] - first[std::size_t(i)]));
  }
  void check_counts(std::int64_t ni, std::int64_t nj) const;
};

PairRows read_rows(std::string_view what, std::int64_t ni, const std::int64_t* first, std::int64_t count,
                   const std::int64_t* j, const Fetch<std::int64_t>& fetch);

// The particles of listed pairs, each once and in rising order.
struct ListedParticles {
  std::vector<std::int64_t> i, j;
  std::int64_t number = 0;  // of the lists that they are of
};
ListedParticles particles_of(const Lists& lists);
ListedParticles particles_of(const PairRows& rows);

// The j that do not act on each i, as kernels test for them.
struct LeftOut {
  std::vector<nbcc_left_out> of;  // by i
  std::vector<int> far;
  std::int64_t number = 0;
  explicit LeftOut(const PairRows& rows);
  LeftOut(const LeftOut&) = delete;
  LeftOut& operator=(const LeftOut&) = delete;
};

}  // namespace nbcc
