// The ranks as the processes of nbcc_sum_run_among. Their runs may call exchange() at different numbers of times: a
// rank whose run has ended takes part in the calls of the others until all runs have ended.
//
//   rank 0   run: exchange  exchange  exchange  end            finish
//   rank 1   run: exchange  exchange  fails     finish         finish
//   rank 2   (no i)         finish    finish    finish         finish
//
// Tested by tests/mpi/gathered_test.cpp.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "mpi/ranks.h"
#include "runtime/api/nbcc_ranks.h"

namespace nbcc {

class RankPeers {
 public:
  // Not collective. Reserves what an exchange needs: a rank without memory still takes part in exchanges of the others.
  explicit RankPeers(const Ranks& ranks);
  // Refers to this object, and to `why_all_j` ([NBCC_PEER_TEXT]). has_own_j: each rank has its own j alone.
  nbcc_peers peers(bool has_own_j, char* why_all_j) {
    return {sizeof(nbcc_peers),
            ranks_.count(),
            ranks_.own(),
            this,
            &RankPeers::exchange_for,
            has_own_j ? &RankPeers::announce_for : nullptr,
            has_own_j ? &RankPeers::send_for : nullptr,
            why_all_j};
  }
  // Collective, after the run of this rank. Throws MpiFailure, also if an exchange during the run has failed.
  void finish();
  // True if an exchange of this run has found that the run of another rank had ended.
  bool another_has_ended() const { return another_has_ended_; }
  std::int64_t bytes_received() const { return bytes_received_; }  // from other ranks, by `send`

 private:
  static int announce_for(void* self, const std::int64_t* bytes, std::int64_t* received);
  static int send_for(void* self, const void* const* blocks, void* const* into);
  void send(const void* const* blocks, void* const* into);
  bool all_are_running();
  template <typename Body>
  static int answer(void* self, const Body& body);
  static int exchange_for(void* self, const double* mine, int count, double* all);
  // [rank][1 + NBCC_PEER_NUMBERS]; the first number is 1 while the rank's run goes on. Valid until the next call.
  const std::vector<double>& exchange(bool is_running, const double* mine, int count);
  void reserve_requests();
  const Ranks& ranks_;
  std::vector<double> own_, all_;                   // of exchange()
  std::vector<MPI_Request> requests_;               // of send()
  std::vector<std::int64_t> announced_, expected_;  // [rank]: bytes
  std::int64_t bytes_received_ = 0;
  std::optional<std::string> failure_;  // of MPI
  bool another_has_ended_ = false;
};

}  // namespace nbcc
