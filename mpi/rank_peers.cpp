// Exchanges numbers between the runs of ranks. Entry point: RankPeers.
#include "mpi/rank_peers.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace nbcc {
namespace {
constexpr std::size_t kNumbersOfRank = 1 + NBCC_PEER_NUMBERS;
constexpr std::int64_t kMaxMessageBytes = 1 << 30;  // MPI counts bytes as int
}  // namespace

RankPeers::RankPeers(const Ranks& ranks)
    : ranks_(ranks),
      own_(kNumbersOfRank),
      all_(kNumbersOfRank * std::size_t(ranks.count())),
      announced_(std::size_t(ranks.count())),
      expected_(std::size_t(ranks.count())) {}

const std::vector<double>& RankPeers::exchange(bool is_running, const double* mine, int count) {
  std::ranges::fill(own_, 0.0);
  own_[0] = is_running ? 1 : 0;
  std::copy_n(mine, count, own_.begin() + 1);
  check_mpi(MPI_Allgather(own_.data(), int(kNumbersOfRank), MPI_DOUBLE, all_.data(), int(kNumbersOfRank), MPI_DOUBLE,
                          ranks_.comm()),
            "MPI_Allgather");
  return all_;
}

// Called by C functions, which no exception may leave. After a failure of MPI this rank can no longer answer the
// others; after any other one, finish() does.
template <typename Body>
int RankPeers::answer(void* self, const Body& body) {
  auto& peers = *static_cast<RankPeers*>(self);
  try {
    return body(peers);
  } catch (const MpiFailure& e) {
    peers.failure_ = e.what();
    return 1;
  } catch (const std::exception&) {
    return 1;
  }
}

int RankPeers::exchange_for(void* self, const double* mine, int count, double* all) {
  return answer(self, [=](RankPeers& peers) {
    const int numbers = std::min(count, NBCC_PEER_NUMBERS);
    const std::vector<double>& found = peers.exchange(true, mine, numbers);
    for (std::size_t rank = 0; rank < std::size_t(peers.ranks_.count()); ++rank) {
      std::copy_n(found.begin() + std::ptrdiff_t(rank * kNumbersOfRank), numbers + 1,
                  all + rank * std::size_t(count + 1));
      peers.another_has_ended_ = peers.another_has_ended_ || found[rank * kNumbersOfRank] == 0;
    }
    return numbers < count ? 1 : 0;
  });
}

bool RankPeers::all_are_running() {
  const std::vector<double>& all = exchange(true, nullptr, 0);
  for (std::size_t at = 0; at < all.size(); at += kNumbersOfRank)
    another_has_ended_ = another_has_ended_ || all[at] == 0;
  return !another_has_ended_;
}

int RankPeers::announce_for(void* self, const std::int64_t* bytes, std::int64_t* received) {
  return answer(self, [=](RankPeers& peers) {
    if (!peers.all_are_running()) return NBCC_PEER_ENDED;
    check_mpi(MPI_Alltoall(bytes, 1, MPI_INT64_T, received, 1, MPI_INT64_T, peers.ranks_.comm()), "MPI_Alltoall");
    std::copy_n(bytes, peers.ranks_.count(), peers.announced_.begin());
    std::copy_n(received, peers.ranks_.count(), peers.expected_.begin());
    return 0;
  });
}

int RankPeers::send_for(void* self, const void* const* blocks, void* const* into) {
  return answer(self, [=](RankPeers& peers) {
    peers.reserve_requests();
    // A rank may have had no memory for what was announced.
    if (!peers.all_are_running()) return NBCC_PEER_ENDED;
    peers.send(blocks, into);
    return 0;
  });
}

void RankPeers::reserve_requests() {
  std::size_t messages = 0;
  for (const auto* sizes : {&announced_, &expected_})
    for (const std::int64_t bytes : *sizes) messages += std::size_t(bytes / kMaxMessageBytes + 1);
  requests_.clear();
  requests_.reserve(messages);
}

// Pairs of ranks without bytes exchange no message.
void RankPeers::send(const void* const* blocks, void* const* into) {
  for (int step = 1; step < ranks_.count(); ++step) {
    const int to = (ranks_.own() + step) % ranks_.count(),
              from = (ranks_.own() - step + ranks_.count()) % ranks_.count();
    const std::int64_t expected = expected_[std::size_t(from)], announced = announced_[std::size_t(to)];
    for (std::int64_t at = 0; at < expected; at += kMaxMessageBytes)
      check_mpi(MPI_Irecv(static_cast<std::byte*>(into[from]) + at, int(std::min(kMaxMessageBytes, expected - at)),
                          MPI_BYTE, from, 0, ranks_.comm(), &requests_.emplace_back(MPI_REQUEST_NULL)),
                "MPI_Irecv");
    for (std::int64_t at = 0; at < announced; at += kMaxMessageBytes)
      check_mpi(
          MPI_Isend(static_cast<const std::byte*>(blocks[to]) + at, int(std::min(kMaxMessageBytes, announced - at)),
                    MPI_BYTE, to, 0, ranks_.comm(), &requests_.emplace_back(MPI_REQUEST_NULL)),
          "MPI_Isend");
    bytes_received_ += expected;
  }
  const int own = ranks_.own();
  if (announced_[std::size_t(own)] > 0) std::memcpy(into[own], blocks[own], std::size_t(announced_[std::size_t(own)]));
  check_mpi(MPI_Waitall(int(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
}

void RankPeers::finish() {
  if (failure_) throw MpiFailure(*failure_);
  for (;;) {
    const std::vector<double>& all = exchange(false, nullptr, 0);
    bool runs_go_on = false;
    for (std::size_t at = 0; at < all.size(); at += kNumbersOfRank) runs_go_on = runs_go_on || all[at] != 0;
    if (!runs_go_on) return;
  }
}

}  // namespace nbcc
