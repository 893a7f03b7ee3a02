// Several GPUs of this process as one device: "cuda:all", "cuda:0,2".
//
// The i of a run are shared out. Over all pairs each GPU has a range of them; where a search or lists make groups, each
// has consecutive groups. Arrays that lie on one of the GPUs are copied to the others by each run, from GPU to GPU;
// that one does a larger part. Results are written straight to where they belong, those of a search pass through rows
// (docs/decisions/several_gpus_as_one.md). Arrays of the host go to each GPU by itself, from threads of their own. The
// same kernels are launched as for the whole run, so that results are the same bits for any number of GPUs.
//
// Done by one of them alone: small sums, sums whose j come in parts, and sums over neighbours or lists from arrays of
// the host, or of both the host and a GPU. Tested by tests/unit/cuda_group_test.cpp and
// tests/numeric/cuda_group_test.cpp.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "runtime/cuda/cuda_device.h"

namespace nbcc {

class CudaGroup final : public CudaGpus {
 public:
  // Two or more. Throws DeviceError for GPUs that are not alike, for one that is named twice, and where one cannot
  // reach another's memory. `shares_small_sums`: also those that one GPU has done before they are copied; for tests.
  explicit CudaGroup(std::vector<std::shared_ptr<CudaDevice>> members, bool shares_small_sums = false);

  const std::string& name() const override { return name_; }  // "cuda:0,1, 2 x NVIDIA H200, sm_90"
  const std::string& dump_folder() const override { return first().dump_folder(); }
  const CudaDevice& first() const override { return *members_.front(); }
  std::shared_ptr<const Kernel> load(KernelSource source) override;
  std::shared_ptr<const Kernel> load_each(const Load& load) override;
  // Of the first of them.
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
