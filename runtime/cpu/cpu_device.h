// The CPU as a device: kernel sources -> kernels that run on this machine's cores. A toolchain compiles
// (cpu_toolchain.h), CpuSummation runs (cpu_sum.h).
// Tested by tests/unit/runtime/cpu/cpu_device_test.cpp.
#pragma once
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "compiler/isa.h"
#include "runtime/cache/disk_cache.h"
#include "runtime/cache/load_once.h"
#include "runtime/cpu/cpu_toolchain.h"
#include "runtime/for_each.h"
#include "runtime/sum/plan/device.h"

namespace nbcc {

class ThreadPool;

// The widest instruction set that both this processor and its operating system offer.
Isa detect_isa();
// `name` is an IsaFacts::name. Throws UsageError for any other name.
Isa isa_from_name(std::string_view name);

class CpuDevice final : public KernelDevice {
 public:
  static constexpr std::string_view kBackend = "cpu";
  // threads: 0 means all available cores. toolchain: null if there is none, or if provide() sets it later.
  // cache_folder, dump_folder: "" means none. Throws UsageError for a negative number of threads and DeviceError for an
  // instruction set that this machine does not have.
  CpuDevice(int threads, Isa isa, std::shared_ptr<const CpuToolchain> toolchain, std::string cache_folder,
            std::string dump_folder);
  ~CpuDevice() override;

  const std::string& name() const override { return name_; }
  std::string_view backend() const override { return kBackend; }
  Isa isa() const override { return isa_; }
  const std::string& dump_folder() const override;
  // Throws UsageError without a toolchain.
  std::shared_ptr<const Kernel> load(KernelSource source) override;
  void* allocate(std::size_t bytes) override;
  void* allocate_shared(std::size_t bytes) override;
  void release(void* memory) noexcept override;
  bool holds(const void*) override { return false; }
  void write(void* to, const void* from_host, std::size_t bytes) override;
  void read(void* to_host, const void* from, std::size_t bytes) override;
  // Loads the code of a variant.
  using LoadCode = std::function<std::shared_ptr<const CpuCode>(const KernelSource&, const KernelVariant&)>;
  // Makes a kernel from existing code, to run on this device's threads. `lists`: the code of Frame::Lists; `load`: that
  // of derived kernels, null if there are none.
  std::shared_ptr<const Kernel> adopt(KernelSource source, std::shared_ptr<const CpuCode> code,
                                      std::shared_ptr<const CpuCode> lists, LoadCode load = {});
  // Sets the toolchain of a device that was opened without one; else does nothing.
  void provide(const std::shared_ptr<const CpuToolchain>& toolchain);

  int threads() const;
  // A loop on the device's threads.
  ForEach on_threads() const;
  const DiskCache& cache() const;

 private:
  struct Loader;

  Isa isa_;
  std::shared_ptr<const CpuToolchain> toolchain_;
  std::shared_ptr<ThreadPool> pool_;
  std::shared_ptr<Loader> loader_;  // shared with the kernels
  std::string name_;
  std::mutex mutex_;  // protects toolchain_
};

}  // namespace nbcc
