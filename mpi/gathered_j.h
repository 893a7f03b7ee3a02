// The j of all ranks in the memory of each rank, for runs that need all j at once. Each field is an array [j of rank 0,
// then j of rank 1, ...][component]:
//
//   own arrays of rank r --pack()--> rows of rank r in the arrays --exchange()--> the rows of all ranks
//
// Where the ranks have other element types the arrays have one that holds the numbers of all. Tested by
// tests/mpi/gathered_test.cpp.
#pragma once
#include <cstdint>
#include <vector>

#include "mpi/block.h"
#include "mpi/ranks.h"
#include "mpi/ring_buffer.h"

namespace nbcc {

class GatheredJ {
 public:
  GatheredJ(nbcc_device* device, bool on_gpu)
      : device_(device), on_gpu_(on_gpu), host_(device, true), gpu_(device, false) {}

  // Reserves the arrays, and copies this rank's own into its rows. layouts: [rank]. Throws Error.
  void pack(const std::vector<JField>& fields, const std::vector<RankLayout>& layouts, int own,
            const std::vector<nbcc_view>& arrays);
  // Collective. Receives the rows of all other ranks. Throws MpiFailure.
  void exchange(const Ranks& ranks);
  // On a GPU, copies the arrays there. Returns a view per field. Throws Error.
  std::vector<nbcc_view> views();
  std::int64_t count() const { return count_; }                    // of all j
  std::int64_t bytes_received() const { return bytes_received_; }  // from other ranks, in the last exchange()

 private:
  struct Column {
    nbcc_element element;
    int components;
    std::int64_t begin, row;  // bytes: from the begin of the buffer, of a particle
  };
  nbcc_device* const device_;
  const bool on_gpu_;
  RingBuffer host_, gpu_;
  std::vector<Column> columns_;
  std::vector<std::int64_t> rows_;  // [rank]: number of j
  std::int64_t count_ = 0, bytes_ = 0, bytes_received_ = 0;
};

}  // namespace nbcc
