// The memory and launches of a GPU for a sum with a far field. Everything is launched in the stream of the run; the
// host waits a few times for counts. Results are the same bits from run to run.
// Tested by tests/numeric/cuda_far_field_test.cpp on a simulated GPU and on a real one.
#pragma once
#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runtime/cuda/far/cuda_far_grids.h"
#include "runtime/cuda/far/cuda_far_particles.h"
#include "runtime/cuda/far/cuda_far_tree.h"
#include "runtime/cuda/far/cuda_far_walk.h"
#include "runtime/far/far_backend.h"

namespace nbcc {

class CudaFarBackend final : public FarBackend {
 public:
  CudaFarBackend(const CudaKernel& kernel, Precision at_least);
  ~CudaFarBackend() override;

  void reserve_particles(const SumRequest& request) override;
  SumRequest with_inputs(const SumRequest& request) const override;
  const double* send_centres(std::span<const double> centres) override;
  std::string check_particles() override;
  std::vector<std::int64_t> chosen_i() const override;
  void keep_values(bool has_trees) override;
  bool have_moved(double far, double share) override;
  std::pair<FarChange, FarChange> change_of_norms() override;
  bool are_in_trees() override;
  bool build_trees(bool one_tree, int leaf) override;
  void split_trees(int leaf) override;
  std::vector<int> cell_sizes(bool of_i) const override;
  FarCosts costs() const override;
  FarCounts count_pairs(int order, const FarLimits& limits) override;
  FarCounts make_lists(int order, const FarLimits& limits, std::span<const std::int64_t> sampled,
                       const FarShare& share) override;
  bool sums_sample_alone() const override { return false; }  // all i are summed within milliseconds
  FarArray reserve_sums(Sums which, int components) override;
  std::vector<double> rows(const FarArray& columns, int components, std::span<const std::int64_t> particles) override;
  void go_up(int order) override;
  void sum_near(const SumRequest& request, const FarArray& totals, bool lists_are_new) override;
  void sum_distant(const SumRequest& request, bool lists_are_new) override;
  void go_down(int order, const FarArray& totals, const FarShare& share) override;
  FarMemory memory(const SumRequest& request, const FarSetting& setting) override;
  bool holds(const ArrayView& view) const override;
  void wait(void* stream) override;

 private:
  using GridsByOrder = std::map<int, std::unique_ptr<CudaFarGrids>>;

  void mark(std::size_t k) override;
  double seconds_between(std::size_t first, std::size_t second) override;
  const CudaFarTree& tree_of_i() const { return one_tree_ ? tree_of_j_ : tree_of_i_; }
  // The points of i are those of j.
  bool has_one_grid() const { return one_tree_ && kernels().both_sides; }
  far_data::FarPositions positions_of(const FarShare& share) const;
  void set_cells(int order, const FarLimits& limits);
  CudaFarGrids& grids(GridsByOrder& of_orders, const CudaFarTree& tree, int order);
  void fill(const CudaFarColumns& columns, int components, unsigned pattern);
  std::int64_t bytes_held() const;

  const CudaKernel& kernel_;
  const CudaGpu& gpu_;
  CudaFarParticles values_;
  CudaRadixSort sort_;
  CudaFarTree tree_of_i_, tree_of_j_;
  CudaFarWalk walk_;
  GridsByOrder grids_of_i_, grids_of_j_;
  CudaStream* stream_ = nullptr;  // of the last run
  CudaFarColumns points_of_i_, points_of_j_, distant_, totals_;
  CudaFarColumns near_;               // before them, the exact sums of the sample
  bool has_lists_ = false;            // lists were made, so that the sums have packed particles
  std::deque<CudaEventOwner> marks_;  // kept from run to run, because to create an event takes time
};

}  // namespace nbcc
