// The far field of one domain of several: its own tree of j, and behind it what other domains send of theirs
// (essential_tree.h), as one forest. Tested by tests/mpi/ranks_far_test.cpp.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "runtime/far/host_far_backend.h"
#include "runtime/far/ranks/essential_tree.h"

namespace nbcc {

class FarDomains;  // far_domains.h

class RanksFarBackend final : public HostFarBackend {
 public:
  RanksFarBackend(const Kernel& kernel, const Summation& summation, Precision at_least, FarDomains& domains)
      : HostFarBackend(kernel, summation, at_least, false), domains_(domains) {}

  // Collective, as all functions below: means over the j of all processes.
  const double* send_centres(std::span<const double> centres) override;
  std::vector<OpenExtent> extents(std::span<const CellVector> directions) override;
  std::string check_particles() override;
  bool build_trees(bool one_tree, int leaf) override;
  std::vector<int> cell_sizes(bool of_i) const override;
  FarCounts count_pairs(int order, const FarLimits& limits) override;
  FarCounts make_lists(int order, const FarLimits& limits, std::span<const std::int64_t> sampled) override;
  // Sends grids and particles to other processes, and receives theirs.
  void go_up(int order) override;
  void sum_near(const SumRequest& request, const FarArray& totals, bool lists_are_new) override;
  void reserve_particles(const SumRequest& request) override;

 protected:
  const FarTree& sources() const override { return forest_; }
  std::vector<std::int32_t> roots() const override { return forest_.roots(); }
  std::vector<double> weights_of_points(const FarOperator& through) override;

 private:
  void exchange_trees(const FarLimits& limits);
  void require_indexable(const std::vector<std::vector<FarCell>>& others);
  void find_received(std::span<const std::span<double>> weights);

  FarDomains& domains_;
  SumRequest request_;                               // of the particles, without views
  std::vector<ArrayView> views_;                     // of the particles
  std::vector<double> centres_;                      // of all processes
  std::vector<std::vector<FarBox>> boxes_;           // [process]: of its i
  std::vector<EssentialTree> sent_;                  // [process]
  std::vector<std::vector<std::int32_t>> received_;  // [process]: cells of its tree that have grids alone
  std::vector<std::int64_t> particles_received_;     // [process]
  std::vector<double> place_of_all_j_;               // of a periodic sum: own j, then received ones; [particle][axis]
  FarTree forest_;
};

}  // namespace nbcc
