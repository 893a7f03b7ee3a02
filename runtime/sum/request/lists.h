// Reads and checks the caller's lists: groups of i with ranges of j, pairs listed one by one, excluded pairs. Their
// structure is checked when they are given; whether their indices are less than the number of particles, by each run.
// Tested by tests/unit/runtime/sum/request/lists_test.cpp.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/kernel_source.h"

namespace nbcc {

// The caller's arrays, in host or device memory. Lengths are in brackets.
struct ListArrays {
  std::int64_t groups = 0, ranges = 0;
  const std::int64_t* i_first = nullptr;      // [groups + 1]: slots of i
  const std::int64_t* i_order = nullptr;      // [i_first[groups]]: i-particle of a slot; null: slot k is particle k
  const std::int64_t* range_first = nullptr;  // [groups + 1]: indices of ranges
  const std::int64_t *j_begin = nullptr, *j_end = nullptr;  // [ranges]: slots of j
  const std::int64_t* j_order = nullptr;                    // [j_count]: j-particle of a slot; null: as for i
  std::int64_t j_count = 0;
  const double* shifts = nullptr;  // [ranges][axes]: added to the positions of a range's j; null: no shifts
  int axes = 0;
};

// Copies `count` numbers from host or device memory to a vector.
template <typename T>
using Fetch = std::function<std::vector<T>(const T* from, std::int64_t count)>;

// Lists that were made in the memory of a GPU (templates/cuda/frames/cuda_list_data.h declares their structs).
// Addresses are of that memory. An item is a part of the list of up to 64 i.
struct DeviceLists {
  std::uint64_t items = 0, ranges = 0;
  std::int64_t item_count = 0;
  std::uint64_t shifts = 0;                // [range][axis], doubles added to the positions of a range's j; 0: none
  std::uint64_t i_order = 0, j_order = 0;  // int64: particle of a slot; 0: slot k is particle k
  double pairs = 0;
};

// Groups of i, each with the ranges of j that act on it. i_order and j_order map slots to particles; if one is empty,
// slot k is particle k.
struct Lists {
  std::string what;                      // "lists", "batches": for messages
  std::optional<DeviceLists> on_device;  // then all arrays below but i_first are empty
  bool are_batches = false;
  std::vector<std::int64_t> i_first, i_order, range_first, j_begin, j_end, j_order;
  std::vector<double> shifts;
  int axes = 0;             // components of a shift
  std::int64_t number = 0;  // unique id of these lists
  // On the CPU, without j_order, shifts and integers: the first so many inputs of i, and as many of j, are doubles of
  // which the kernel takes differences alone. They are packed less the values of the first i of each part of a group,
  // so that differences of distant j lose no digits to the rounding of coordinates to single precision. In mixed
  // precision a difference takes three operations.
  int relative_inputs = 0;
  // For batches the groups are the batches that have i-particles; batches without i have no results. Memory thus grows
  // with the number of particles, not with the largest id.
  std::int64_t batches = 0;             // the caller's number of batches: greater than the largest id
  std::vector<std::int64_t> batch_ids;  // [groups], rising
  std::int64_t batch_j_count = 0;       // length of j_batch
  // The caller's number of groups or batches: a param may have a value for each.
  std::int64_t caller_groups() const { return are_batches ? batches : groups(); }
  std::int64_t groups() const { return std::int64_t(i_first.size()) - 1; }
  std::int64_t i_count() const { return i_first.back(); }
  // Counted once, when the lists are made.
  std::int64_t max_i_per_group = 0;  // i-particles of the largest group
  std::int64_t pairs = 0;            // pairs of all groups
  std::int64_t max_j_end = 0;        // greatest element of j_end

  double pair_count() const { return on_device ? on_device->pairs : double(pairs); }

  // Throws UsageError if the lists do not fit these numbers of particles.
  void check_counts(std::int64_t ni, std::int64_t nj) const;
};

// Throws UsageError that names the entry, its value and the valid values.
Lists read_lists(const ListArrays& arrays, const Fetch<std::int64_t>& fetch, const Fetch<double>& fetch_shifts);

// Lists in the memory of a GPU, of all ni particles.
Lists lists_on_device(const DeviceLists& lists, std::int64_t ni);

// Batches are consecutive particles with equal ids; the j of a batch act on the i with the same id. Takes O(particles)
// time and memory for any ids. Throws UsageError for an id that is not from 0 to batches - 1, or less than the id
// before it.
Lists lists_of_batches(std::int64_t batches, std::span<const std::int64_t> i_batch,
                       std::span<const std::int64_t> j_batch);

// The same groups with those of `particles` alone, which name each i at most once. Throws UsageError for an index that
// is not of an i-particle.
Lists with_i_of(const Lists& lists, std::span<const std::int64_t> particles);

// The pairs within the proved reach that a search has found, in CSR form: the neighbours of i are j[first[i]], ...,
// j[first[i + 1] - 1].
struct FoundPairs {
  int axes = 0;
  std::vector<std::int64_t> first, j;
  std::vector<double> shifts;  // [pair][axis]: added to the position of j, gives its periodic image nearest to i
  // Removes the pairs of a particle and itself, not those with another image of it. `offset`: the j of an i is i +
  // offset.
  void remove_self_pairs(std::int64_t offset);
};

// Pairs in CSR form: the j of i are j[first[i]], ..., j[first[i + 1] - 1].
struct PairRows {
  std::vector<std::int64_t> first;
  std::vector<int> j;
  std::vector<std::int64_t> images;  // of exclusions: [entry][3] the image of j; empty: all images
  std::string what;                  // "pairs", "exclusions": for messages
  std::int64_t number = 0;           // unique id of these rows
  std::int64_t max_j = -1;           // greatest element of j
  std::span<const int> of(std::int64_t i) const {
    return std::span(j).subspan(std::size_t(first[std::size_t(i)]),
                                std::size_t(first[std::size_t(i) + 1] - first[std::size_t(i)]));
  }
  void check_counts(std::int64_t ni, std::int64_t nj) const;
};

PairRows read_rows(std::string_view what, std::int64_t ni, const std::int64_t* first, std::int64_t count,
                   const std::int64_t* j, const Fetch<std::int64_t>& fetch);

// Pairs (i, j) in rising order, with i and j of existing particles.
PairRows rows_of_pairs(std::string_view what, std::int64_t ni, std::span<const std::pair<int, int>> pairs);

// The particles that occur in lists, each once, in rising order.
struct ListedParticles {
  std::vector<std::int64_t> i, j;
  std::int64_t number = 0;  // of the Lists or PairRows
};
ListedParticles particles_of(const Lists& lists);
ListedParticles particles_of(const PairRows& rows);

// The excluded j of each i, in the form that kernels test.
struct Exclusions {
  std::vector<nbcc_exclusions> of;  // by i
  std::vector<int> far;             // the arrays nbcc_exclusions::far of all i, concatenated
  std::int64_t number = 0;
  explicit Exclusions(const PairRows& rows);
  Exclusions(const Exclusions&) = delete;
  Exclusions& operator=(const Exclusions&) = delete;
};

}  // namespace nbcc
