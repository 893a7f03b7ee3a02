// Implements the functions of nbcc_ranks.h.
#include <algorithm>

#include "fmt/format.h"
#include "runtime/api/handles.h"
#include "runtime/api/nbcc_ranks.h"
#include "runtime/sum/request/far_peers.h"

namespace nbcc {
namespace {

class PeersOfCaller : public FarPeers {
 public:
  explicit PeersOfCaller(const nbcc_peers& peers) : peers_(peers) {
    if (!peers.exchange) throw UsageError("peers: exchange is a null pointer");
    if (peers.count < 1 || peers.own < 0 || peers.own >= peers.count)
      throw UsageError(fmt::format("peers: own must be from 0 to {} for {} processes, got {}", peers.count - 1,
                                   peers.count, peers.own));
  }
  int own() const override { return peers_.own; }
  std::vector<std::vector<double>> exchange(const std::vector<double>& mine) override {
    const std::size_t count = mine.size();
    std::vector<double> all(std::size_t(peers_.count) * (count + 1));
    if (peers_.exchange(peers_.data, mine.data(), int(count), all.data()) != 0)
      throw DeviceError("peers: the processes could not exchange their numbers");
    std::vector<std::vector<double>> found(std::size_t(peers_.count));
    for (std::size_t peer = 0; peer < found.size(); ++peer) {
      const auto first = all.begin() + std::ptrdiff_t(peer * (count + 1));
      if (*first != 0) found[peer].assign(first + 1, first + 1 + std::ptrdiff_t(count));
    }
    return found;
  }

 private:
  const nbcc_peers peers_;
};

}  // namespace
}  // namespace nbcc

using nbcc::guarded;

extern "C" {

const char* nbcc_sum_needs_all_j(nbcc_sum* sum) { return sum ? sum->state.needs_all_j().data() : ""; }

double nbcc_sum_tolerance(const nbcc_sum* sum) { return sum ? sum->tolerance : 0; }

nbcc_status nbcc_sum_check_run(nbcc_sum* sum, const nbcc_run_options* options, nbcc_error** error) {
  return guarded(error, [&] { nbcc::check_run(nbcc::checked(sum, "sum"), options); });
}

nbcc_status nbcc_sum_run_among(nbcc_sum* sum, const nbcc_run_options* options, const nbcc_peers* peers,
                               nbcc_error** error) {
  return guarded(error, [&] {
    nbcc::PeersOfCaller all(nbcc::read_options(&nbcc::checked(peers, "peers"), nbcc_peers{}));
    nbcc::run_sum(nbcc::checked(sum, "sum"), options, &all);
  });
}

}  // extern "C"
