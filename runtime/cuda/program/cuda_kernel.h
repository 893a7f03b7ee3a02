// A CUDA kernel with all its programs. Chooses the program and the j-splits for the size of a sum.
// Tested by tests/unit/runtime/cuda/program/cuda_tuned_test.cpp and launch_configuration_test.cpp.
#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>

#include "runtime/cuda/program/cuda_loader.h"
#include "runtime/cuda/program/cuda_tunings.h"
#include "runtime/sum/plan/device.h"

namespace nbcc {

// The program and the number of j-splits for a sum.
struct CudaLaunch {
  const CudaProgram* program = nullptr;  // null: it is not loaded, and loading is not allowed now (stream capture)
  int j_splits = 1;
};

class CudaKernel final : public Kernel {
 public:
  CudaKernel(KernelSource source, std::shared_ptr<CudaLoader> loader, CudaTuningTable tuned = {});
  std::unique_ptr<Summation> start() const override;  // cuda_sum.cpp
  std::shared_ptr<const Kernel> load(const KernelSource& other) const override;

  const CudaGpu& gpu() const { return loader_->gpu(); }
  // The kernel's first variant, in the source's own configuration.
  const CudaProgram& program() const { return *program_of(first(false)); }
  // For a sum over nj j for each of ni i. Zeros of `overrides` are filled from a stored tuning, else from the model. A
  // tuned configuration that cannot be compiled or loaded is tried once. Throws UsageError if the compiler rejects a
  // configuration with `overrides`. `exclusions`: launches have an ExclusionTable as a second argument.
  CudaLaunch launch_for(std::int64_t ni, std::int64_t nj, bool exclusions, bool may_load,
                        const LaunchConfig& overrides = {}) const;
  // Null if the program is not loaded and may_load is false.
  const CudaProgram* program_of(const CudaVariant& variant, bool may_load = true) const;
  LaunchConfig model_choice(std::int64_t ni, std::int64_t nj) const;
  // Compiles a program of another kernel for the same GPU, so that later loads find it.
  void compile(const KernelSource& other, const CudaVariant& variant) const { loader_->load(other, variant); }
  // The key of this kernel's stored tunings.
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
};

}  // namespace nbcc
