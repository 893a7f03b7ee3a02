// A CUDA kernel with all its programs: which of them a sum of some size is run by.
// Tested by tests/unit/cuda_tuned_test.cpp and kernel_shape_test.cpp.
#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>

#include "runtime/cuda/cuda_loader.h"
#include "runtime/cuda/cuda_tunings.h"
#include "runtime/sum/device.h"

namespace nbcc {

// How a sum of some size is launched.
struct CudaLaunch {
  const CudaProgram* program = nullptr;  // null: it would have to be compiled or loaded first, and may not be
  int j_splits = 1;
};

class CudaKernel final : public Kernel {
 public:
  CudaKernel(KernelSource source, std::shared_ptr<CudaLoader> loader, CudaTuningTable tuned = {});
  std::unique_ptr<Summation> start() const override;  // cuda_sum.cpp
  std::shared_ptr<const Kernel> nearest() const override;

  const CudaGpu& gpu() const { return loader_->gpu(); }
  // The kernel's first variant, in the source's own configuration.
  const CudaProgram& program() const { return *program_of(first(false)); }
  // For a sum over nj for ni. What `overrides` leaves open follows from what has been measured, else from the model. A
  // measured configuration that cannot be compiled or loaded is tried once; throws UsageError if the compiler refuses
  // what `overrides` asks for.
  // `exclusions`: launches have a CudaLeftOutTable as a second argument.
  CudaLaunch launch_for(std::int64_t ni, std::int64_t nj, bool exclusions, bool may_load,
                        const LaunchConfig& overrides = {}) const;
  // Null: it would have to be compiled or loaded first, and may not be.
  const CudaProgram* program_of(const CudaVariant& variant, bool may_load = true) const;
  LaunchConfig model_choice(std::int64_t ni, std::int64_t nj) const;
  // What measured configurations of this kernel are kept under.
  CudaTuningSubject tuning_subject() const {
    return {source.pipeline, source.first().source, gpu().model(), gpu().multiprocessors()};
  }

 private:
  CudaVariant first(bool exclusions) const;
  CudaLaunch open(LaunchConfig config, std::int64_t ni, std::int64_t nj, bool exclusions, bool may_load) const;
  LaunchConfig model_choice(const CudaProgram& program, std::int64_t ni, std::int64_t nj) const;
  std::optional<LaunchConfig> tuned_choice(std::int64_t ni, std::int64_t nj, bool exclusions) const;

  std::shared_ptr<CudaLoader> loader_;
  CudaTuningTable tuned_;
  mutable std::mutex mutex_;
  mutable std::map<CudaVariant, std::shared_ptr<const CudaProgram>> programs_;
  mutable std::set<CudaVariant> impossible_;
  mutable std::shared_ptr<const Kernel> nearest_;
};

}  // namespace nbcc
