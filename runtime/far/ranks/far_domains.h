// The particles of several processes, divided by the Morton keys of their positions into domains of nearly equal
// numbers of particles, one for each process:
//
//   caller's i, j --keys, splitters, FarPeers::send()--> i, j of the domain --RanksFarBackend--> totals of the domain
//   totals of the caller's i <--FarPeers::send()-----------------------------------------------------'
//
// Rows of i and j travel as the caller's fields, in single precision where all processes have them in single or half
// precision, else in double. Tested by tests/mpi/ranks_far_test.cpp.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/far/far_norms.h"
#include "runtime/far/far_ranks.h"
#include "runtime/far/host_far_backend.h"

namespace nbcc {

class FarDomains : public FarRanks {
 public:
  // `source`: of the caller's kernel; must outlive this object.
  explicit FarDomains(const KernelSource& source);

  void begin_run(FarPeers& peers) override;
  std::vector<std::vector<double>> exchange(const std::vector<double>& mine) override;
  std::vector<double> gather(std::span<const double> mine) override;
  SumRequest move(const SumRequest& request, FarSums& sums, const PeriodicCell* cell) override;
  FarArray totals_of_caller(const FarArray& totals, int outputs) override;
  std::vector<double> exact_sums(const SumRequest& request, std::span<const std::int64_t> sampled, int columns,
                                 FarBackend& backend, const ExactSums& sums) override;
  void keep() override;
  bool has_moved_far(double share_of_radius, double share_of_particles) const override;
  bool have_values_changed(double spread, bool keeps_scale) override;
  std::string text() const override;

  // ---- for RanksFarBackend
  std::size_t own() const { return std::size_t(peers_->own()); }
  std::size_t count() const { return std::size_t(peers_->count()); }
  std::vector<FarPeers::Bytes> send(std::vector<FarPeers::Bytes> to);
  std::vector<FarPeers::Bytes> send_to_all(const FarPeers::Bytes& block);
  // True if i and j of one index are one particle of the domain, wherever there are both.
  bool is_aligned() const { return is_aligned_; }
  void set_centres(std::span<const double> centres) { centres_.assign(centres.begin(), centres.end()); }
  // Rows of j of the domain, then received rows. forget_received(); for each process in order: append().
  std::size_t bytes_of_j() const;  // of one j in all fields
  void write_j(std::span<const std::int64_t> j, std::byte* to) const;
  void forget_received();
  void append_j(const std::byte* from, std::int64_t count);
  std::int64_t received() const { return received_; }
  // The request of move() with the rows of j from `first` on, received ones as well.
  SumRequest with_j(const SumRequest& request, std::int64_t first, std::vector<ArrayView>& views) const;

 private:
  // A field of i or j: [particle][component].
  struct Rows {
    std::size_t field = 0;
    int components = 1;
    Element element = Element::Double;
    std::vector<std::byte> memory;
    std::size_t row() const { return std::size_t(components * size_of(element)); }  // bytes
  };
  // Some of the caller's particles, before they move.
  struct Snapshot {
    double radius = 0;  // of the box of all particles of all processes
    std::vector<double> positions_of_i, positions_of_j;
    std::int64_t ni = 0, nj = 0;
  };
  struct Domains;
  Domains domains_of(const SumRequest& request, FarSums& sums, const PeriodicCell* cell);
  std::vector<std::uint64_t> splitters_of(const SumRequest& request, std::span<const double> position_of_i,
                                          std::span<const double> position_of_j, const std::array<double, 3>& low,
                                          const std::array<double, 3>& high, double particles);
  void find_sizes(const Domains& domains);
  void send_rows(const SumRequest& request, Domains domains);
  void view_rows(std::vector<Rows>& side, std::int64_t count);

  const KernelSource& source_;
  FarPeers* peers_ = nullptr;
  std::int64_t bytes_received_ = 0;
  std::size_t largest_ = 0;                       // the process with the largest domain
  double size_of_largest_ = 0, size_of_all_ = 0;  // in i and j
  int axes_ = 0;
  bool needs_indices_ = false, is_aligned_ = true;
  std::vector<Rows> i_, j_;
  std::vector<std::vector<std::int64_t>> sent_i_;  // [process]: the caller's i that moved there
  std::vector<std::int64_t> received_i_;           // [process]: number of i that came from there
  std::int64_t ni_ = 0, nj_ = 0, received_ = 0;    // of the domain; j of other domains
  std::int64_t ni_of_caller_ = 0;
  std::vector<ArrayView> views_;
  std::uint64_t binding_ = 0;
  Snapshot now_, kept_;
  // Keys, weights and factors are of the caller's particles in this run; orders, and norms by block, of the run of
  // keep().
  std::vector<std::uint64_t> keys_of_i_, keys_of_j_;
  FarColumns weights_, factors_;
  std::vector<std::int64_t> order_of_i_, order_of_j_;
  std::vector<FarNorms> kept_weights_, kept_factors_;
  std::vector<double> centres_;  // of the last run
  FarColumns totals_;
};

}  // namespace nbcc
