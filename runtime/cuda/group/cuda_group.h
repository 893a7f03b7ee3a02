// Several GPUs of this process as one device: "cuda:all", "cuda:0,2".
//
// The i of a run are divided among the GPUs. Over all pairs each GPU sums a range of i; if a search or lists make
// groups, each GPU sums consecutive groups. If the arrays are on one of the GPUs (the owner), each run makes peer
// copies of the inputs on the others, and the owner sums a larger fraction. The GPUs store results directly in the
// caller's arrays; results of a search pass through the group-ordered output buffer
// (docs/decisions/several_gpus_as_one.md). If the arrays are on the host, one thread per GPU sends them. The launch
// configurations are those of a run on one GPU, so results are bitwise equal for any number of GPUs.
//
// One GPU alone does small sums, sums whose j come in several runs (JPart), and sums over neighbours or lists from
// arrays on the host, or on both the host and a GPU. Tested by tests/unit/runtime/cuda/group/cuda_group_test.cpp and
// tests/numeric/cuda_group_test.cpp.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "runtime/cuda/program/cuda_device.h"

namespace nbcc {

class CudaGroup final : public CudaGpus {
 public:
  // Two or more GPUs. Throws DeviceError for different models of GPU, for a GPU that is named twice, and if one GPU
  // cannot access another's memory. `shares_small_sums`: also divides sums for which one GPU is faster; for tests.
  explicit CudaGroup(std::vector<std::shared_ptr<CudaDevice>> members, bool shares_small_sums = false);

  const std::string& name() const override { return name_; }  // "cuda:0,1, 2 x NVIDIA H200, sm_90"
  const std::string& dump_folder() const override { return first().dump_folder(); }
  const CudaDevice& first() const override { return *members_.front(); }
  std::shared_ptr<const Kernel> load(KernelSource source) override;
  std::shared_ptr<const Kernel> load_each(const Load& load) override;
  // allocate(), write() and read() use the memory of the first GPU.
  void* allocate(std::size_t bytes) override { return members_.front()->allocate(bytes); }
  void* allocate_shared(std::size_t bytes) override;
  void release(void* memory) noexcept override;
  bool holds(const void* memory) override;
  void write(void* to, const void* from_host, std::size_t bytes) override {
    members_.front()->write(to, from_host, bytes);
  }
  void read(void* to_host, const void* from, std::size_t bytes) override {
    members_.front()->read(to_host, from, bytes);
  }

 private:
  std::vector<std::shared_ptr<CudaDevice>> members_;
  bool shares_small_sums_;
  std::string name_;
};

}  // namespace nbcc
