// Exchanges numbers between the runs of ranks. Entry point: RankPeers.
#include "mpi/rank_peers.h"

#include <algorithm>

namespace nbcc {
namespace {
constexpr std::size_t kNumbersOfRank = 1 + NBCC_PEER_NUMBERS;
}

std::vector<double> RankPeers::exchange(bool is_running, const double* mine, int count) const {
  std::vector<double> own(kNumbersOfRank), all(kNumbersOfRank * std::size_t(ranks_.count()));
  own[0] = is_running ? 1 : 0;
  std::copy_n(mine, count, own.begin() + 1);
  check_mpi(MPI_Allgather(own.data(), int(kNumbersOfRank), MPI_DOUBLE, all.data(), int(kNumbersOfRank), MPI_DOUBLE,
                          ranks_.comm()),
            "MPI_Allgather");
  return all;
}

// Called by C functions, which no exception may leave.
int RankPeers::exchange_for(void* self, const double* mine, int count, double* all) {
  auto& peers = *static_cast<RankPeers*>(self);
  try {
    const std::vector<double> found = peers.exchange(true, mine, std::min(count, NBCC_PEER_NUMBERS));
    for (std::size_t rank = 0; rank < std::size_t(peers.ranks_.count()); ++rank)
      std::copy_n(found.begin() + std::ptrdiff_t(rank * kNumbersOfRank), count + 1,
                  all + rank * std::size_t(count + 1));
    return count > NBCC_PEER_NUMBERS ? 1 : 0;
  } catch (const std::exception& e) {
    peers.failure_ = e.what();
    return 1;
  }
}

void RankPeers::finish() {
  if (failure_) throw MpiFailure(*failure_);
  for (;;) {
    const std::vector<double> all = exchange(false, nullptr, 0);
    bool runs_go_on = false;
    for (std::size_t at = 0; at < all.size(); at += kNumbersOfRank) runs_go_on = runs_go_on || all[at] != 0;
    if (!runs_go_on) return;
  }
}

}  // namespace nbcc
