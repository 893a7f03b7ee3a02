// The memory and launches of a GPU for a sum with a far field. Everything is launched in the stream of the run; the
// host waits a few times for counts. Results are the same bits from run to run.
// Tested by tests/numeric/cuda_far_field_test.cpp on a simulated GPU and on a real one.
#pragma once
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "runtime/cuda/far/cuda_far_grids.h"
#include "runtime/cuda/far/cuda_far_particles.h"
#include "runtime/cuda/far/cuda_far_walk.h"

namespace nbcc {

class CudaFarBackend final : public CudaFarParticles {
 public:
  // The kernels must outlive this object; `callers`: as callers see it. Throws UsageError if the pipeline has no far
  // field.
  CudaFarBackend(const CudaKernel& kernel, const Kernel& callers, Precision at_least);
  ~CudaFarBackend() override;
  // Makes backends of several GPUs, which are all CudaFarBackend, share the work of a run. `shares_small_sums`: also
  // the parts of it that each does faster for itself.
  static void join(std::span<const std::shared_ptr<FarBackend>> all, bool shares_small_sums);

  void* own_stream() override;
  void move_to_cell(const PeriodicCell& cell, const std::vector<CellVector>& shifts) override;
  FarCosts costs() const override;
  FarCounts count_pairs(int order, const FarLimits& limits) override;
  FarCounts make_lists(int order, const FarLimits& limits, std::span<const std::int64_t> sampled) override;
  void find_corrections(const PairRows* excluded) override;
  void add_corrections(const SumRequest& request, const FarArray& totals) override;
  bool sums_sample_alone() const override { return false; }  // all i are summed within milliseconds
  FarArray reserve_sums(Sums which, int components) override;
  void go_up(int order) override;
  void finish_up() override;
  void sum_near(const SumRequest& request, const FarArray& totals, bool lists_are_new) override;
  void sum_distant(const SumRequest& request, bool lists_are_new) override;
  void go_down(int order, const FarArray& totals) override;
  void take_totals(const FarArray& totals) override;
  FarMemory memory(const SumRequest& request, const FarSetting& setting) override;

 private:
  using GridsByOrder = std::map<int, std::unique_ptr<CudaFarGrids>>;

  // The points of i are those of j.
  bool has_one_grid() const { return one_tree_ && kernels().both_sides; }
  static far_data::FarPositions positions_of(const FarShare& share, const CudaFarTree& tree) {
    return {share.begin(tree.count()), share.end(tree.count())};
  }
  bool shares_up(const CudaFarGrids& of_j) const;
  // The totals of each of several GPUs replace its near sums, in the order of the tree, until the first takes all.
  bool keeps_totals() const { return share_.count > 1; }
  far_data::FarColumns columns_of_totals(const FarArray& totals) const {
    return keeps_totals() ? near_.columns() : far_data::FarColumns{totals.data, totals.stride};
  }
  bool has_rows_of_totals() const;
  double* rows_of_totals();
  void set_trees(int order, const FarLimits& limits);
  CudaFarGrids& grids(GridsByOrder& of_orders, const CudaFarTree& tree, int order);
  void resize(CudaFarColumns& columns, int components, std::int64_t count, unsigned pattern, const char* what);
  std::int64_t bytes_held() const;

  const CudaKernel& kernel_;
  CudaOwnStream own_stream_;
  std::vector<const CudaFarBackend*> others_;  // of several GPUs
  bool shares_small_sums_ = false;
  CudaFarWalk walk_;
  GridsByOrder grids_of_i_, grids_of_j_;
  const CudaFarGrids* last_down_ = nullptr;      // of the last go_down()
  const CudaFarGrids* unfinished_up_ = nullptr;  // go_up() has left grids to finish_up()
  CudaEventOwner up_;                            // the end of go_up()
  CudaFarColumns points_of_i_, points_of_j_, distant_, totals_;
  CudaFarColumns near_;               // before them, the exact sums of the sample; after them, keeps_totals()
  CudaFarColumns corrected_;          // terms of corrections
  CudaBuffer rows_;                   // totals of each i side by side, before columns are made of them
  bool corrections_are_new_ = false;  // the sums have other lists
  bool has_lists_ = false;            // lists were made, so that the sums have packed particles
};

}  // namespace nbcc
