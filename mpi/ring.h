// Sums over the j of all ranks, each rank for its own i. In each step every rank sums over one block of j and sends
// that block to the next rank at the same time. After as many steps as there are ranks, every rank has summed over all
// blocks:
//
//   block of rank   step 0   step 1   step 2
//   on rank 0          0        2        1
//   on rank 1          1        0        2
//   on rank 2          2        1        0
//
// Runs that need all j at once (nbcc_sum_needs_all_j) get the j of all ranks first (gathered_j.h), and are then one run
// of each rank. Runs to a tolerance that can do without are one run of each rank with its own j, in which the runs
// exchange particles and grids (rank_peers.h).
//
// A total is reduced over the ranks at the end (rank_totals.h). Tested by tests/mpi/ring_test.cpp,
// gathered_test.cpp and totals_test.cpp.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "mpi/block.h"
#include "mpi/gathered_j.h"
#include "mpi/ranks.h"
#include "mpi/ring_buffer.h"
#include "runtime/api/nbcc_ranks.h"

namespace nbcc {

class RankPeers;   // rank_peers.h
class RankTotals;  // rank_totals.h

class Ring {
 public:
  // Collective. Throws Error (on all ranks or on none) and MpiFailure.
  Ring(MPI_Comm comm, nbcc_device* device);
  ~Ring();
  void run(nbcc_sum* sum, const nbcc_run_options& options);

  // The global indices of the first i and the first j of each rank in the last run: [rank]; [number of ranks] is the
  // total number.
  const std::vector<std::int64_t>& first_i() const { return first_i_; }
  const std::vector<std::int64_t>& first_j() const { return first_j_; }
  // Bytes of particles and grids that this rank has received from others in the last run.
  std::int64_t bytes_received() const { return bytes_received_; }

 private:
  class BoundArrays;  // the j arrays that the caller has bound to a sum
  // The j that a run needs on each rank; the same on all ranks.
  enum class Needs { Blocks, OwnJ, AllJ };
  Needs exchange(const BoundArrays& bound, std::int64_t totals, std::vector<std::int64_t>& common);
  std::vector<std::int64_t> exchange(const RankTotals& totals);
  void* block(int step) const;
  void start_transfer(int step, MPI_Request* requests);
  void run_in_blocks(BoundArrays& bound, const nbcc_run_options& options);
  void run_gathered(BoundArrays& bound, const nbcc_run_options& options);
  // Returns false if all ranks need all j.
  bool run_with_own_j(BoundArrays& bound, const nbcc_run_options& options);
  void run_among(BoundArrays& bound, const nbcc_run_options& options, RankPeers& ranks, const nbcc_peers& peers);
  std::optional<Error> circulate(BoundArrays& bound, const nbcc_run_options& options);
  void sum_block(BoundArrays& bound, int owner, int step, nbcc_run_options options, MPI_Request* requests);

  Ranks ranks_;
  nbcc_device* const device_;
  const bool on_gpu_, sends_from_gpu_;
  MPI_Datatype unit_type_ = MPI_DATATYPE_NULL;  // kBlockUnitBytes bytes
  bool own_in_place_ = false;                   // this rank's j are read from the caller's arrays, without a copy
  RingBuffer host_[2], gpu_[2];                 // the block that is being summed, and the block that is being received
  GatheredJ gathered_;
  std::int64_t bytes_received_ = 0;
  std::array<char, NBCC_PEER_TEXT> why_all_j_{};  // nbcc_peers::why_all_j of the last run
  std::vector<JField> fields_;                    // of the last run, like all members below
  std::vector<RankLayout> layouts_;               // [rank]
  std::vector<std::int64_t> first_i_, first_j_;
};

}  // namespace nbcc
