// Kernel source -> functions on a GPU: from memory, else from the disk cache, else compiled.
// Tested by tests/unit/runtime/cuda/program/cuda_device_test.cpp.
#pragma once
#include <memory>
#include <string>

#include "compiler/kernel_source.h"
#include "runtime/cache/disk_cache.h"
#include "runtime/cache/load_once.h"
#include "runtime/cuda/driver/choose_launch.h"
#include "runtime/cuda/driver/cuda_compiler.h"
#include "runtime/cuda/driver/cuda_memory.h"
#include "runtime/cuda/program/cuda_variants.h"

namespace nbcc {

// One variant of a kernel, loaded.
class CudaProgram {
 public:
  // `shared_bytes`: dynamic shared memory with which nbcc_interact is launched.
  CudaProgram(std::shared_ptr<const CudaGpu> gpu, const std::string& image, const LaunchConfig& config,
              int shared_bytes);
  ~CudaProgram();
  CudaProgram(const CudaProgram&) = delete;
  CudaProgram& operator=(const CudaProgram&) = delete;

  CudaFunction* function() const { return function_; }
  CudaFunction* find(const char* name) const;             // another kernel of the source
  const LaunchConfig& config() const { return config_; }  // without j_splits
  CudaOccupancy occupancy() const { return {gpu_->multiprocessors(), blocks_, gpu_->rates()}; }
  int local_bytes() const;  // local memory per thread: arrays and spilled registers
  // True if the kernels wait for earlier launches of the stream before they access memory (griddepcontrol.wait). Only
  // such kernels may be launched with programmatic dependent launch (PDL).
  bool waits() const { return waits_; }

 private:
  std::shared_ptr<const CudaGpu> gpu_;
  LaunchConfig config_;
  CudaModule* module_ = nullptr;
  CudaFunction* function_ = nullptr;
  int blocks_ = 1;
  bool waits_ = false;
};

class CudaLoader {
 public:
  // cache_folder, dump_folder: "" means none.
  CudaLoader(std::shared_ptr<const CudaGpu> gpu, std::shared_ptr<const CudaCompiler> compiler, std::string cache_folder,
             std::string dump_folder);

  // All numbers of the variant's configuration must be set except j_splits, which is ignored. Throws DeviceError and
  // SourceRejected.
  std::shared_ptr<const CudaProgram> load(const KernelSource& kernel, const CudaVariant& variant);

  const CudaGpu& gpu() const { return *gpu_; }
  const std::string& dump_folder() const { return dump_folder_; }
  const std::string& cache_folder() const { return cache_.folder(); }

 private:
  std::string source_for(const KernelSource& kernel, const CudaVariant& variant) const;
  std::string key_of(const KernelSource& kernel, const LaunchConfig& config, const std::string& source) const;
  std::shared_ptr<const CudaProgram> make(const KernelSource& kernel, const CudaVariant& variant,
                                          const std::string& source, const std::string& key);
  [[noreturn]] void fail_to_open(const KernelSource& kernel, const std::string& problem) const;

  std::shared_ptr<const CudaGpu> gpu_;
  std::shared_ptr<const CudaCompiler> compiler_;
  std::string compiled_for_;  // the GPU's architecture, or the newest older one that the compiler knows
  CudaCompiler::Form form_ = CudaCompiler::Form::Cubin;
  DiskCache cache_;
  std::string dump_folder_;
  LoadOnce<CudaProgram> loaded_;
};

}  // namespace nbcc
