// Kernel text -> functions on a GPU: from memory, else from the disk cache, else compiled.
// Tested by tests/unit/cuda_device_test.cpp.
#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "compiler/kernel_source.h"
#include "runtime/cache/disk_cache.h"
#include "runtime/cuda/cuda_compiler.h"
#include "runtime/cuda/cuda_memory.h"

namespace nbcc {

// nbcc_interact of one text in one shape, loaded.
class CudaProgram {
 public:
  CudaProgram(std::shared_ptr<const CudaGpu> gpu, const std::string& image, const CudaShape& shape);
  ~CudaProgram();
  CudaProgram(const CudaProgram&) = delete;
  CudaProgram& operator=(const CudaProgram&) = delete;

  CudaFunction* function() const { return function_; }
  const CudaShape& shape() const { return shape_; }  // nothing but unroll is ever 0
  int blocks_per_multiprocessor() const { return blocks_; }
  // The code lets earlier launches of its stream come to their end before it touches memory.
  bool waits() const { return waits_; }

 private:
  std::shared_ptr<const CudaGpu> gpu_;
  CudaShape shape_;
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

  // Zeros in `shape` leave what the text says. Throws DeviceError, and TextRefused.
  std::shared_ptr<const CudaProgram> load(const KernelSource& source, const CudaShape& shape);

  const CudaGpu& gpu() const { return *gpu_; }
  const std::string& dump_folder() const { return dump_folder_; }
  const std::string& cache_folder() const { return cache_.folder(); }

 private:
  // Each program is compiled by one thread while others that want the same one wait for it, and no others.
  struct Loaded {
    std::mutex mutex;
    std::shared_ptr<const CudaProgram> program;
  };
  std::string key_of(const KernelSource& source, const CudaShape& shape) const;
  std::shared_ptr<const CudaProgram> make(const KernelSource& source, const CudaShape& shape, const std::string& key);
  std::shared_ptr<const CudaProgram> open(const KernelSource& source, const CudaShape& shape,
                                          const std::string& image) const;
  std::string compile(const KernelSource& source, const CudaShape& shape) const;
  [[noreturn]] void fail_to_open(const KernelSource& source, const std::string& problem) const;

  std::shared_ptr<const CudaGpu> gpu_;
  std::shared_ptr<const CudaCompiler> compiler_;
  std::string compiled_for_;  // the GPU's architecture, or the newest before it that the compiler knows
  CudaCompiler::Form form_ = CudaCompiler::Form::Cubin;
  DiskCache cache_;
  std::string dump_folder_;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Loaded>> loaded_;
};

}  // namespace nbcc
