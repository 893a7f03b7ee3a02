// The steps of a sum with a far field on a GPU. Everything is launched in the stream of the run; the host waits a few
// times for counts. Results are the same bits from run to run. Several GPUs share the work by positions in the tree of
// i; each GPU builds the same trees in its own memory (cuda_group_far.h).
// Tested by tests/numeric/cuda_far_field_test.cpp on a simulated GPU and on a real one.
#pragma once
#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/cuda/far/cuda_far_grids.h"
#include "runtime/cuda/far/cuda_far_particles.h"
#include "runtime/cuda/far/cuda_far_tree.h"
#include "runtime/cuda/far/cuda_far_walk.h"
#include "runtime/far/far_sample.h"
#include "runtime/far/far_sums.h"
#include "runtime/far/far_table.h"
#include "runtime/sum/plan/far_steps.h"

namespace nbcc {

class CudaFarRun final : public FarSteps {
 public:
  // The kernel must outlive this object. Throws UsageError if the pipeline has no far field.
  CudaFarRun(const CudaKernel& kernel, Precision at_least);
  ~CudaFarRun() override;

  std::string prepare(const SumRequest& request, int leaf) override;
  bool has_moved_far() override;
  bool have_values_changed(double spread) override;
  std::string draw_sample(const SumRequest& request, std::int64_t wanted) override;
  std::string begin_table(const SumRequest& request) override;
  void forget_lists() override { lists_.reset(); }
  double cost(const FarSetting& setting) override;
  void compute(const SumRequest& request, const FarSetting& setting, Of of) override;
  void compute_all_pairs(const SumRequest& request, Of of) override;
  double error_of_sample() override;
  bool sampled_all() const override { return sample_.is_complete(); }
  void finish(const SumRequest& request) override;
  FarMemory memory(const SumRequest& request, const FarSetting& setting) override;
  const FarKernels& kernels() const override { return sums_.kernels(); }
  FarStatistics statistics() override;
  void reset_seconds() override;
  void wait() override;

  // For several GPUs: this one does the index-th of `count` shares, which are ranges of positions in the tree of i.
  struct Share {
    std::int64_t index = 0, count = 1;
    bool operator==(const Share&) const = default;
  };
  // The limits of the walks of all GPUs.
  FarLimits limits(const FarSetting& setting);
  // The columns of totals [output][i] of all i, in which the totals of an i without a finite position are NaN.
  FarArray make_totals();
  // Computes the totals of one share. Returns the number of its pairs.
  double compute_share(const SumRequest& request, const FarSetting& setting, const FarLimits& limits,
                       const Share& share, const FarArray& totals);
  void set_pairs(double pairs) { statistics_.pairs_per_i = pairs / double(particles_.chosen_count()); }
  // The request must choose the i of the share.
  void compute_all_pairs_of_share(const SumRequest& request, const FarArray& totals);
  const CudaGpu& gpu() const { return gpu_; }

 private:
  // The time between two events of a stream.
  struct Stage {
    explicit Stage(const CudaGpu& gpu) : begin(gpu, kCudaTiming), end(gpu, kCudaTiming) {}
    double FarStatistics::Seconds::* seconds = nullptr;
    CudaEventOwner begin, end;
  };
  template <typename Body>
  void timed(double FarStatistics::Seconds::* seconds, const Body& body);

  CudaFarTree& tree_of_i() { return one_tree_ ? tree_of_j_ : tree_of_i_; }
  far_data::FarPositions positions_of(const Share& share);
  void set_leaf(int leaf);
  void set_cells(int order, const FarLimits& limits);
  CudaFarGrids& grids(std::map<int, std::unique_ptr<CudaFarGrids>>& of_orders, CudaFarTree& tree, int order);
  void make_lists(const FarSetting& setting, const FarLimits& limits, const Share& share);
  void go_up(const FarSetting& setting);
  void clear(const CudaFarColumns& columns, int components);
  SumRequest here(const SumRequest& request) const;
  std::int64_t bytes_held() const;

  const CudaKernel& kernel_;
  const KernelSource& source_;
  const CudaGpu& gpu_;
  FarSums sums_;
  FarTable table_;
  FarSample sample_;
  CudaFarParticles particles_;
  CudaRadixSort sort_;
  CudaFarTree tree_of_i_, tree_of_j_;
  CudaFarWalk walk_;
  std::map<int, std::unique_ptr<CudaFarGrids>> grids_of_i_, grids_of_j_;  // by order

  CudaStream* stream_ = nullptr;  // of the last run
  CudaFarColumns points_of_i_, points_of_j_, distant_, totals_;
  CudaFarColumns near_;  // before them, the exact sums of the sample
  std::int64_t nj_ = 0;
  bool one_tree_ = false;
  int leaf_of_trees_ = 0;  // 0: there are no trees of these particles

  // What the lists and the weights of the grids were made for; nothing: there are none for these trees and particles.
  struct Made {
    FarSetting setting;
    Share share;
    bool operator==(const Made&) const = default;
  };
  std::optional<Made> lists_;
  double pairs_of_lists_ = 0;
  std::optional<int> up_order_;
  bool lists_are_new_ = true;  // the sums have other lists
  FarStatistics statistics_;
  std::deque<Stage> stages_;         // kept from run to run, because to create an event takes time
  std::size_t measured_stages_ = 0;  // the first ones, which were recorded after the last reset_seconds()
};

}  // namespace nbcc
