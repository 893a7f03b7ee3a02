// A search for all pairs within a cutoff, which are stored as arrays. Implemented by HostPairSearch and CudaPairSearch.
// Tested by tests/numeric/pair_search_test.cpp and tests/python/test_pair_lists.py.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "runtime/for_each.h"
#include "templates/cuda/pairs/cuda_pair_search_data.h"

namespace nbcc {

// Used by one thread at a time. Keeps its working memory from search to search.
class PairSearch {
 public:
  virtual ~PairSearch() = default;
  // Finds the pairs. `query`: what the caller chooses; the search fills in its own arrays. All arrays are in the memory
  // of the device. Positions are floats, or doubles. `waits`: returns the number of pairs; throws UsageError for
  // particles and cells that cannot be searched. Otherwise returns -1, and store() tells by PairOutput::count. `poll`:
  // called often by each thread of a search on the CPU, which ends by its exception; empty: not called.
  virtual std::int64_t search(const pair_search::Search& query, bool is_double, void* stream, bool waits,
                              const std::function<void()>& poll) = 0;
  // Stores the pairs of the last search, which must not have thrown, in the order of i, then j, then the shift. Rows of
  // i that do not fit, and what is left, are filled with pairs of the indices beyond the last i and the last j.
  virtual void store(const pair_search::PairOutput& output) = 0;
};

// The lowest cutoff but 0. Its square is a normal number.
double least_cutoff(bool is_double);

// Throws UsageError for what is wrong without a look at the arrays.
void check_query(const pair_search::Search& query, bool is_double);

// Throws UsageError if a search has failed. `read`: copies from an array of the search.
using ReadArray = std::function<void(void* to, const void* from, std::size_t bytes)>;
void check_report(const pair_search::Report& report, const pair_search::Search& query, bool is_double,
                  const ReadArray& read);

// In the memory of the host.
std::unique_ptr<PairSearch> host_pair_search(ForEach for_each);

}  // namespace nbcc
