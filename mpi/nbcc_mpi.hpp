// nbcc_mpi.h for C++: sums over particles that are spread over the ranks of an MPI communicator. Header only; link with
// libnbcc_mpi and libnbcc_jit or libnbcc_runtime.
//
//   nbcc::MpiRing ring(MPI_COMM_WORLD, device);
//   nbcc::Sum sum(gravity);
//   sum.bind("xi", x).bind("xj", x).bind("mj", m).bind("acc", acc);   // the particles of this rank
//   ring.run(sum);                                                    // sums over the j-particles of all ranks
#pragma once
#include <mpi.h>

#include <cstdint>
#include <memory>
#include <span>

#include "mpi/nbcc_mpi.h"
#include "runtime/api/nbcc.hpp"

namespace nbcc {
inline namespace v0 {

// A ring of all ranks of a communicator. Constructor, destructor, run() and accumulate() are collective. If one rank
// fails, all ranks throw Error with the same message, which names the rank that failed.
class MpiRing {
 public:
  // `device` must be the device of the sums, and must outlive the ring.
  MpiRing(MPI_Comm comm, const Device& device) {
    nbcc_mpi_ring* ring = nullptr;
    detail::call(nbcc_mpi_ring_create, comm, device.get(), &ring);
    handle_.reset(ring);
  }

  // Sums over the j of all ranks, for all i that this rank has bound to `sum`, or for those in i_list; see
  // nbcc_mpi_run.
  void run(Sum& sum) { start(sum, {sizeof(nbcc_run_options), 0, -1, nullptr, 0, nullptr, NBCC_WHOLE, 0}); }
  void run(Sum& sum, std::span<const std::int64_t> i_list) {
    // A null pointer would mean all i, so an empty list needs a pointer.
    static constexpr std::int64_t none = 0;
    start(sum, {sizeof(nbcc_run_options), 0, std::int64_t(i_list.size()), i_list.empty() ? &none : i_list.data(), 0,
                nullptr, NBCC_WHOLE, 0});
  }
  void run(Sum& sum, const nbcc_run_options& options) { start(sum, options); }
  // Like run(), but combines the results with the present values of the outputs, by the reduction of each output.
  void accumulate(Sum& sum) { start(sum, {sizeof(nbcc_run_options), 0, -1, nullptr, 1, nullptr, NBCC_WHOLE, 0}); }

  // The i_index of the first i of a rank in the last run, and the j_index of its first j.
  std::int64_t i_offset(int rank) const { return owners().first[rank]; }
  std::int64_t j_offset(int rank) const { return owners().second[rank]; }
  nbcc_mpi_ring* get() const { return handle_.get(); }

 private:
  struct Destroy {
    void operator()(nbcc_mpi_ring* ring) const { nbcc_mpi_ring_destroy(ring); }
  };
  void start(Sum& sum, const nbcc_run_options& options) {
    detail::call(nbcc_mpi_run, handle_.get(), sum.get(), &options);
  }
  std::pair<const std::int64_t*, const std::int64_t*> owners() const {
    const std::int64_t *i_first = nullptr, *j_first = nullptr;
    detail::call(nbcc_mpi_ring_owners, handle_.get(), &i_first, &j_first);
    return {i_first, j_first};
  }

  std::unique_ptr<nbcc_mpi_ring, Destroy> handle_;
};

}  // namespace v0
}  // namespace nbcc
