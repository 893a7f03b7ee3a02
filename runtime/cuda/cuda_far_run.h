// The steps of a sum with a far field on a GPU. Inputs on the host are sent to it first. Everything is launched in the
// stream of the run; the host waits a few times for counts. Results are the same bits from run to run.
// Tested by tests/numeric/cuda_far_field_test.cpp on a simulated GPU and on a real one.
#pragma once
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/cuda/cuda_far_grids.h"
#include "runtime/cuda/cuda_far_inputs.h"
#include "runtime/cuda/cuda_far_tree.h"
#include "runtime/cuda/cuda_far_walk.h"
#include "runtime/far/far_sample.h"
#include "runtime/far/far_sums.h"
#include "runtime/far/far_table.h"
#include "runtime/sum/far_steps.h"

namespace nbcc {

class CudaFarRun final : public FarSteps {
 public:
  // The kernel must outlive this object. Throws UsageError if the pipeline has no far field.
  CudaFarRun(const CudaKernel& kernel, Precision at_least);
  ~CudaFarRun() override;

  std::string prepare(const SumRequest& request, int leaf) override;
  bool has_moved_far() override;
  std::string draw_sample(const SumRequest& request) override;
  double cost(const FarSetting& setting) override;
  void compute(const SumRequest& request, const FarSetting& setting, Of of) override;
  void compute_all_pairs(const SumRequest& request) override;
  double error_of_sample() override;
  bool sampled_all() const override { return sample_.is_complete(); }
  void finish(const SumRequest& request) override;
  const FarKernels& kernels() const override { return sums_.kernels(); }
  FarStatistics statistics() override;
  void reset_seconds() override;
  void wait() override;

 private:
  // Columns of doubles in GPU memory that only grows.
  class Columns {
   public:
    explicit Columns(const CudaGpu& gpu) : memory_(gpu) {}
    void resize(int components, std::int64_t count, const char* what);
    FarArray array() const { return {reinterpret_cast<double*>(memory_.data()), count_, count_}; }
    far_data::FarColumns columns(int first = 0) const {
      return {reinterpret_cast<double*>(memory_.data()) + first * count_, count_};
    }
    std::int64_t count() const { return count_; }

   private:
    CudaBuffer memory_;
    std::int64_t count_ = 0;
  };
  // The time between two events of a stream.
  struct Stage {
    double FarStatistics::Seconds::* seconds = nullptr;
    CudaEvent *begin = nullptr, *end = nullptr;
  };
  template <typename Body>
  void timed(double FarStatistics::Seconds::* seconds, const Body& body);

  CudaFarTree& tree_of_i() { return one_tree_ ? tree_of_j_ : tree_of_i_; }
  void send_chosen(const SumRequest& request);
  void set_leaf(int leaf);
  void set_cells(const FarSetting& setting);
  CudaFarGrids& grids(std::map<int, std::unique_ptr<CudaFarGrids>>& of_orders, CudaFarTree& tree, int order);
  std::vector<double> picked(const FarArray& columns, int count, std::span<const std::int64_t> particles);
  void make_lists(const FarSetting& setting);
  void go_up(const FarSetting& setting);

  const CudaKernel& kernel_;
  const KernelSource& source_;
  const CudaGpu& gpu_;
  FarSums sums_;
  FarTable table_;
  FarSample sample_;
  CudaRadixSort sort_;
  CudaFarTree tree_of_i_, tree_of_j_;
  CudaFarWalk walk_;
  std::map<int, std::unique_ptr<CudaFarGrids>> grids_of_i_, grids_of_j_;  // by order

  CudaStream* stream_ = nullptr;  // of the last run
  CudaFarInputs inputs_;
  CudaPinned pinned_;
  // Positions of i and of j, of this run and of the last one, which take turns.
  std::array<CudaBuffer, 2> positions_of_i_, positions_of_j_;
  std::size_t turn_ = 0;
  CudaBuffer sampled_position_of_i_, sampled_position_of_j_;  // when the sample was drawn
  std::int64_t sampled_ni_ = 0, sampled_nj_ = 0;
  CudaBuffer chosen_, picked_, rows_, flags_, centres_on_device_;
  std::vector<std::int64_t> chosen_on_host_;
  std::vector<double> centres_;
  std::optional<std::vector<double>> params_of_table_;  // nothing: the table has no weights yet
  Columns weights_, factors_, points_of_i_, points_of_j_, near_, distant_, totals_, exact_;
  std::int64_t ni_ = 0, nj_ = 0, i_count_ = 0;
  bool one_tree_ = false;
  int leaf_of_trees_ = 0;  // 0: there are no trees of these particles

  // What the lists and the weights of the grids were made for; nothing: there are none for these trees and particles.
  std::optional<FarSetting> lists_;
  std::optional<int> up_order_;
  bool lists_are_new_ = true;  // the sums have other lists
  FarStatistics statistics_;
  std::vector<Stage> stages_;
  std::vector<CudaEvent*> idle_events_;
};

}  // namespace nbcc
