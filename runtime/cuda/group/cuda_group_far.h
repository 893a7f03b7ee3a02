// The steps of a sum with a far field on several GPUs, whose results are the bits of one GPU. Each GPU reads all
// particles, builds the same trees and sends the weights up. The particles of i, in the order of the tree, are divided
// into one range for each GPU, which makes the lists of its range and sums over them. It stores its totals in the
// memory of the first GPU, which draws the sample and does finish(). Every function waits for the GPUs.
// Tested by tests/numeric/cuda_far_field_test.cpp.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "runtime/cuda/far/cuda_far_run.h"

namespace nbcc {

class CudaGroupFar final : public FarSteps {
 public:
  // The kernels must outlive this object; each is of another GPU of a CudaGroup. Throws UsageError if the pipeline has
  // no far field.
  CudaGroupFar(const std::vector<const CudaKernel*>& kernels, Precision at_least);

  std::string prepare(const SumRequest& request, int leaf) override;
  bool has_moved_far() override { return first().has_moved_far(); }
  bool have_values_changed(double spread) override { return first().have_values_changed(spread); }
  std::string draw_sample(const SumRequest& request, std::int64_t wanted) override {
    return first().draw_sample(of_members(request), wanted);
  }
  std::string begin_table(const SumRequest& request) override { return first().begin_table(of_members(request)); }
  void forget_lists() override;
  double cost(const FarSetting& setting) override { return first().cost(setting); }
  void compute(const SumRequest& request, const FarSetting& setting, Of of) override;
  void compute_all_pairs(const SumRequest& request, Of of) override;
  double error_of_sample() override { return first().error_of_sample(); }
  bool sampled_all() const override { return members_.front()->sampled_all(); }
  void finish(const SumRequest& request) override;
  FarMemory memory(const SumRequest& request, const FarSetting& setting) override;
  const FarKernels& kernels() const override { return members_.front()->kernels(); }
  FarStatistics statistics() override { return first().statistics(); }  // seconds of the first GPU
  void reset_seconds() override;

 private:
  CudaFarRun& first() { return *members_.front(); }
  // The caller's stream belongs to one GPU; members use their default streams, in threads of their own.
  static SumRequest of_members(const SumRequest& request);
  void on_each(const std::function<void(std::size_t member)>& body);

  std::vector<std::unique_ptr<CudaFarRun>> members_;
};

}  // namespace nbcc
