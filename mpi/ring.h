// Sums over the j of all ranks, each rank for its own i. A block of j stays with a rank while it is summed up, and is
// on its way to the next one meanwhile; after as many steps as there are ranks everybody has met every block. Tested by
// tests/mpi/ring_test.cpp.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "mpi/block.h"
#include "mpi/ranks.h"

namespace nbcc {

// Memory of a device, or pinned memory of the host beside it, that grows and never shrinks.
class RingBuffer {
 public:
  RingBuffer(nbcc_device* device, bool on_host) : device_(device), on_host_(on_host) {}
  ~RingBuffer() { nbcc_device_free(device_, data_); }
  RingBuffer(const RingBuffer&) = delete;
  RingBuffer& operator=(const RingBuffer&) = delete;
  void reserve(std::size_t bytes);  // what was there is lost. Throws Error
  void* data() const { return data_; }

 private:
  nbcc_device* const device_;
  const bool on_host_;
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

class Ring {
 public:
  // Collective. Throws Error, on all ranks or on none, MpiFailure.
  Ring(MPI_Comm comm, nbcc_device* device);
  ~Ring();
  void run(nbcc_sum* sum, const nbcc_run_options& options);

  // By rank, and behind the last one the number of all: the first i and the first j of the last run.
  const std::vector<std::int64_t>& first_i() const { return first_i_; }
  const std::vector<std::int64_t>& first_j() const { return first_j_; }

 private:
  class Bound;  // what the caller has bound to a sum
  void exchange(const Bound& bound);
  void* block(int step) const;
  void start_transfer(int step, MPI_Request* requests);
  std::optional<Error> circulate(Bound& bound, const nbcc_run_options& options);
  void sum_block(Bound& bound, int owner, int step, nbcc_run_options options, MPI_Request* requests);

  Ranks ranks_;
  nbcc_device* const device_;
  const bool on_gpu_, sends_from_gpu_;
  MPI_Datatype cell_ = MPI_DATATYPE_NULL;  // kCell bytes
  bool own_in_place_ = false;              // the own j are summed up where the caller has them
  RingBuffer host_[2], gpu_[2];            // blocks: the one that is summed up, and the one that arrives
  std::vector<JField> fields_;             // of the last run, as all below
  std::vector<Share> shares_;              // by rank
  std::vector<std::int64_t> first_i_, first_j_;
};

}  // namespace nbcc
