// A CUDA GPU as a device.
// Tested by tests/unit/cuda_device_test.cpp and, on a GPU, by tests/numeric/cuda_device_test.cpp.
#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "runtime/cuda/cuda_loader.h"
#include "runtime/cuda/cuda_split.h"
#include "runtime/cuda/cuda_tunings.h"
#include "runtime/sum/device.h"

namespace nbcc {

// Of a device's name: "cuda" is the first, "cuda:N" the one of that number; nothing for any other name.
std::optional<int> cuda_ordinal(std::string_view name);

// How a sum of some size is launched.
struct CudaCut {
  const CudaProgram* program = nullptr;  // null: it would have to be compiled or loaded first, and may not be
  int parts = 1;                         // of j
  int short_parts = 0;                   // of them, one tile each
};

class CudaKernel final : public Kernel {
 public:
  // `tuning` takes the place of `tuned`, what has been measured, and that of the model.
  CudaKernel(KernelSource source, std::shared_ptr<CudaLoader> loader, const CudaTuning& tuning,
             CudaTuningTable tuned = {});
  std::unique_ptr<Summation> start() const override;

  const CudaGpu& gpu() const { return loader_->gpu(); }
  // In the shape that the text or the tuning says.
  const CudaProgram& program() const { return *program_; }
  // For a sum over nj for ni. A measured cut that cannot be compiled or loaded is tried once, then the model decides.
  // The numbers of `told` that are not 0 are taken as they are; throws UsageError if the compiler refuses them.
  CudaCut cut(std::int64_t ni, std::int64_t nj, bool may_load, const CudaTuning& told = {}) const;
  // What the model, where it was not told otherwise, finds fastest.
  CudaTuning model_choice(std::int64_t ni, std::int64_t nj) const;
  // What measured cuts of this kernel are kept under.
  CudaTuningSubject tuning_subject() const;

 private:
  const CudaProgram* program(const CudaShape& shape, bool may_load) const;
  CudaSplitQuestion question(const CudaProgram& given, std::int64_t ni, std::int64_t nj, bool only_this_shape) const;
  std::optional<CudaTuning> tuned_choice(std::int64_t ni, std::int64_t nj) const;
  CudaCut find_cut(std::int64_t ni, std::int64_t nj, bool may_load, const CudaTuning& told) const;
  std::optional<CudaCut> tuned_cut(std::int64_t ni, std::int64_t nj, bool may_load) const;
  CudaCut told_cut(std::int64_t ni, std::int64_t nj, bool may_load, const CudaTuning& told) const;

  std::shared_ptr<CudaLoader> loader_;
  CudaTuning tuning_;
  CudaTuningTable tuned_;
  std::shared_ptr<const CudaProgram> program_;
  mutable std::mutex mutex_;
  mutable std::map<CudaShape, std::shared_ptr<const CudaProgram>> variants_;
  mutable std::set<CudaShape> impossible_;
};

class CudaDevice final : public KernelDevice {
 public:
  // `ordinal` counts the driver's devices from 0. cache_folder, dump_folder: "" means none. The driver's table must
  // outlive everything made here. Throws DeviceError.
  CudaDevice(const CudaDriver& driver, std::shared_ptr<const CudaCompiler> compiler, int ordinal,
             std::string cache_folder, std::string dump_folder);

  const std::string& name() const override { return name_; }  // "cuda:0, NVIDIA H200, sm_90"
  std::shared_ptr<const Kernel> load(KernelSource source) override;
  void* allocate(std::size_t bytes) override;
  void* allocate_shared(std::size_t bytes) override;
  void release(void* memory) noexcept override;
  void write(void* to, const void* from_host, std::size_t bytes) override;
  void read(void* to_host, const void* from, std::size_t bytes) override;

  const std::string& arch() const { return loader_->gpu().architecture(); }  // "sm_90"
  const CudaGpu& gpu() const { return loader_->gpu(); }
  const std::string& dump_folder() const { return loader_->dump_folder(); }
  const std::string& cache_folder() const { return loader_->cache_folder(); }
  // Both of kernels that are loaded from now on. Zeros of `tuning` leave the choice; where all are zero, what is found
  // among `tunings` decides, at first nothing.
  void set_tuning(const CudaTuning& tuning) { tuning_ = tuning; }
  void set_tunings(CudaTunings tunings) { tunings_ = std::move(tunings); }
  const CudaTunings& tunings() const { return tunings_; }

 private:
  std::shared_ptr<CudaLoader> loader_;
  std::string name_;
  CudaTuning tuning_;
  CudaTunings tunings_;
};

}  // namespace nbcc
