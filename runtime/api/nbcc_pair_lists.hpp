// Part of nbcc's C++ interface, included by nbcc.hpp: lists of all pairs within a cutoff, without a pipeline.
//
//   nbcc::PairSearch search(device);
//   nbcc::PairList pairs = search.find(x, {.cutoff = 3, .cells = cell});  // std::vector<double> x(3 * n), cell(9)
#pragma once
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/api/nbcc.h"
#include "runtime/api/nbcc_device.hpp"
#include "runtime/api/nbcc_views.hpp"

namespace nbcc {
inline namespace v0 {

// What is a pair; see nbcc_pair_query. All arrays are in the memory of the search's device; an empty one is not used.
struct PairQuery {
  double cutoff = 0;                                 // the largest one
  std::span<const double> cells{};                   // [batch][vector][component]; empty: no axis is periodic
  std::span<const std::int32_t> periodic{};          // [batch][axis], nonzero: periodic; empty: all axes of all cells
  std::optional<View> y{};                           // positions of the j; no value: i and j are one set
  std::int64_t batches = 0;                          // 0: one system
  std::span<const std::int64_t> i_batch{};           // [i]
  std::span<const std::int64_t> j_batch{};           // [j], with y
  std::span<const double> cutoff_of_i{};             // [i]
  std::span<const double> cutoff_of_types{};         // [type of i][type of j]
  std::span<const std::int64_t> i_type{}, j_type{};  // [i]; [j], with y. They are not checked
  std::span<const std::int64_t> excluded_first{}, excluded_j{};  // CSR; not checked
  bool half = false, self = false, inclusive = false;
  void* stream = nullptr;  // CUstream; null: the default stream
};

// Pairs in the order of i, then j, then shift. The pairs of i are first[i], ..., first[i + 1] - 1.
struct PairList {
  std::vector<std::int64_t> i, j, first;
  std::vector<std::int32_t> shifts;  // [pair][3]: j's image is at x[j] + shifts[0] a + shifts[1] b + shifts[2] c
};

// A search with its working memory, which is kept from search to search. Used by one thread at a time. All functions
// may throw Error; with NBCC_ERROR_USAGE the message names the argument, what was expected and what was given.
class PairSearch {
 public:
  explicit PairSearch(const Device& device) : device_name_(device.name()) {
    nbcc_pair_search* search = nullptr;
    detail::call(nbcc_pair_search_create, device.get(), &search);
    handle_.reset(search);
  }

  // The pairs, in vectors of the host. x: positions of the i, 3 numbers each. CPU only: on a GPU use run() and store().
  PairList find(const View& x, const PairQuery& query) {
    if (!device_name_.starts_with("cpu"))
      throw Error(NBCC_ERROR_USAGE,
                  "find(): expected a search on a CPU, got one on " + device_name_ + ": use run() and store()");
    const auto count = std::size_t(run(x, query));
    PairList found;
    found.i.resize(count), found.j.resize(count), found.shifts.resize(3 * count);
    found.first.resize(std::size_t(x.where.count) + 1);
    nbcc_pair_arrays arrays{};
    arrays.capacity = std::int64_t(count);
    arrays.i = found.i.data();
    arrays.j = found.j.data();
    arrays.shifts = found.shifts.data();
    arrays.first = found.first.data();
    store(arrays);
    return found;
  }
  // x: contiguous, of shape (n, 3).
  template <ArrayRange R>
  PairList find(R&& x, const PairQuery& query) {
    return find(rows(x, 3), query);
  }

  // Finds the pairs and returns their number. x is in the memory of the device.
  std::int64_t run(const View& x, const PairQuery& query) {
    const nbcc_pair_query given = plain(x, query);
    std::int64_t count = 0;
    detail::call(nbcc_pair_search_run, handle_.get(), &given, &count);
    return count;
  }
  // The same, but does not wait for the number of pairs, as for a stream that is captured: nbcc_pair_arrays.count
  // tells.
  void run_without_count(const View& x, const PairQuery& query) {
    const nbcc_pair_query given = plain(x, query);
    detail::call(nbcc_pair_search_run, handle_.get(), &given, static_cast<std::int64_t*>(nullptr));
  }
  // Stores the pairs of the last search in the caller's arrays, in the memory of the device (`size` is set here).
  void store(nbcc_pair_arrays arrays) {
    arrays.size = sizeof arrays;
    detail::call(nbcc_pair_search_store, handle_.get(), &arrays);
  }

  nbcc_pair_search* get() const { return handle_.get(); }

 private:
  struct Destroy {
    void operator()(nbcc_pair_search* search) const { nbcc_pair_search_destroy(search); }
  };

  // The array's data; null if it is empty and may be. Throws if it has another size.
  template <typename T>
  static const T* sized(const char* name, std::span<const T> array, std::int64_t size, bool may_be_empty = true) {
    if (array.empty() && may_be_empty) return nullptr;
    if (std::int64_t(array.size()) != size)
      throw Error(NBCC_ERROR_USAGE, std::string("neighbours: ") + name + ": expected " + std::to_string(size) +
                                        " numbers, got " + std::to_string(array.size()));
    return array.data();
  }
  static nbcc_pair_query plain(const View& x, const PairQuery& query) {
    static constexpr double nothing = 0;
    const std::int64_t ni = x.where.count, nj = query.y ? query.y->where.count : ni;
    const std::int64_t systems = query.batches > 0 ? query.batches : 1;
    nbcc_pair_query q{};
    q.size = sizeof q;
    q.x = x.where;
    if (query.y) q.y = query.y->where;
    // Null would mean one set, so a y without particles needs a non-null pointer.
    if (query.y && nj == 0) q.y.data = const_cast<double*>(&nothing);
    q.batches = query.batches;
    q.i_batch = sized("i_batch", query.i_batch, ni);
    q.j_batch = sized("j_batch", query.j_batch, nj);
    q.cells = sized("cells", query.cells, 9 * systems);
    q.periodic = sized("periodic", query.periodic, 3 * systems);
    q.cutoff = query.cutoff;
    q.cutoff_of_i = sized("cutoff_of_i", query.cutoff_of_i, ni);
    q.types = std::llround(std::sqrt(double(query.cutoff_of_types.size())));
    q.cutoff_of_types = sized("cutoff_of_types", query.cutoff_of_types, q.types * q.types);
    q.i_type = sized("i_type", query.i_type, ni);
    q.j_type = sized("j_type", query.j_type, nj);
    q.excluded_first = sized("excluded_first", query.excluded_first, ni + 1, query.excluded_j.empty());
    q.excluded_j = query.excluded_j.data();
    q.half = query.half ? 1 : 0;
    q.self = query.self ? 1 : 0;
    q.inclusive = query.inclusive ? 1 : 0;
    q.stream = query.stream;
    return q;
  }

  std::string device_name_;
  std::unique_ptr<nbcc_pair_search, Destroy> handle_;
};

}  // namespace v0
}  // namespace nbcc
