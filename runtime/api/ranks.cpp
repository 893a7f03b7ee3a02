// Implements the functions of nbcc_ranks.h.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>

#include "fmt/format.h"
#include "runtime/api/handles.h"
#include "runtime/api/nbcc_ranks.h"
#include "runtime/sum/request/far_peers.h"
#include "runtime/tolerance/tolerance.h"

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
  int count() const override { return peers_.count; }
  bool has_own_j() const override { return peers_.announce && peers_.send; }
  std::string_view why_all_j() const override {
    return has_own_j() || !peers_.why_all_j ? std::string_view() : peers_.why_all_j;
  }
  void store_why_all_j(std::string_view why) const {
    if (!peers_.why_all_j || !has_own_j()) return;
    const std::size_t length = std::min<std::size_t>(why.size(), NBCC_PEER_TEXT - 1);
    std::memcpy(peers_.why_all_j, why.data(), length);
    peers_.why_all_j[length] = 0;
  }
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
  std::vector<Bytes> send(std::vector<Bytes> to) override {
    std::vector<std::int64_t> sizes, received(to.size());
    for (const Bytes& block : to) sizes.push_back(std::int64_t(block.size()));
    check(peers_.announce(peers_.data, sizes.data(), received.data()));
    std::vector<Bytes> found(to.size());
    std::vector<const void*> blocks;
    std::vector<void*> into;
    for (std::size_t peer = 0; peer < to.size(); ++peer) {
      found[peer].resize(std::size_t(received[peer]));
      blocks.push_back(to[peer].data());
      into.push_back(found[peer].data());
    }
    check(peers_.send(peers_.data, blocks.data(), into.data()));
    return found;
  }

 private:
  static void check(int result) {
    if (result == NBCC_PEER_ENDED) throw Interrupted("the run of another process has ended");
    if (result != 0) throw DeviceError("peers: the processes could not exchange their particles");
  }
  const nbcc_peers peers_;
};

}  // namespace
}  // namespace nbcc

using nbcc::guarded;

extern "C" {

const char* nbcc_sum_needs_all_j(nbcc_sum* sum) { return sum ? sum->state.needs_all_j().data() : ""; }

const char* nbcc_sum_why_all_j(nbcc_sum* sum) { return sum ? nbcc::why_all_j(sum->state) : ""; }

std::uint64_t nbcc_sum_digest(const nbcc_sum* sum) { return sum ? sum->digest : 0; }

nbcc_status nbcc_sum_get_param(const nbcc_sum* sum, const char* name, const double** values, int* count,
                               nbcc_error** error) {
  return guarded(error, [&] {
    const std::span<const double> found = nbcc::checked(sum, "sum").state.values_of(&nbcc::checked(name, "name"));
    nbcc::checked(values, "the address for the values") = found.data();
    nbcc::checked(count, "the address for the count") = int(found.size());
  });
}

double nbcc_sum_tolerance(const nbcc_sum* sum) { return sum ? sum->tolerance : 0; }

nbcc_status nbcc_sum_check_run(nbcc_sum* sum, const nbcc_run_options* options, nbcc_error** error) {
  return guarded(error, [&] { nbcc::check_run(nbcc::checked(sum, "sum"), options); });
}

nbcc_status nbcc_sum_run_among(nbcc_sum* sum, const nbcc_run_options* options, const nbcc_peers* peers,
                               nbcc_error** error) {
  return guarded(error, [&] {
    nbcc::PeersOfCaller all(nbcc::read_options(&nbcc::checked(peers, "peers"), nbcc_peers{}));
    all.store_why_all_j("");
    try {
      nbcc::run_sum(nbcc::checked(sum, "sum"), options, &all);
    } catch (const nbcc::NeedsAllJ& needs) {
      all.store_why_all_j(needs.what());
    }
  });
}

}  // extern "C"
