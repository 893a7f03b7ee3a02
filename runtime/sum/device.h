// What the runtime asks of a device: turn a kernel's text into something that runs, and run sums with it.
// A device is one file pair (cpu_device, ...); nothing outside of it knows which one it is.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "compiler/isa.h"
#include "compiler/kernel_source.h"
#include "runtime/sum/pair_method.h"

namespace nbcc {

// The working memory of one sum on one device, kept from run to run. Used by one thread at a time.
struct Summation {
  virtual ~Summation() = default;
  // The rows of this device, which live as long as it does. Rows that cost the same are chosen in this order.
  virtual std::span<const PairMethod> methods() const = 0;
  // Before a run that checks them: throws UsageError where an index leads out of its table. A GPU finds that while it
  // runs, and reports it when the work is waited for or the next run begins.
  virtual void check_indices(const SumRequest&) {}
  // Copies from the host's memory or the device's.
  virtual void fetch(void* to, const void* from, std::size_t bytes) const;
  // The pairs within the proved reach, but for those left out. Throws UsageError where it cannot search.
  virtual FoundPairs find_pairs(const SumRequest& request);
  // Returns when the work of all runs is done. Throws DeviceError if it failed, and Interrupted, where `progress` is
  // not null and asks for that; the work then goes on.
  virtual void wait(Progress* /*progress*/) {}
  // Whether the indices of a list can be read, and so checked, here.
  virtual bool can_read(const std::int64_t* list) const { return list != nullptr; }
  // Counts the pairs within reach, which takes longer than a run.
  virtual SumStatistics statistics() const { return {}; }
  // Numbers of the launch configuration that runs take from now on; zeros leave the choice. Only GPUs have one.
  virtual void set_launch(const LaunchConfig&) {}
  // In which a run of this size is done, all zeros where there is no choice. Throws UsageError: there can be no such
  // kernel.
  virtual LaunchConfig launch_for(std::int64_t /*ni*/, std::int64_t /*nj*/) { return {}; }
};

// A kernel that is ready to run. Outlives the device that loaded it; may be shared by threads.
struct Kernel {
  explicit Kernel(KernelSource kernel_source) : source(std::move(kernel_source)) {}
  virtual ~Kernel() = default;
  // The kernel must outlive what it returns.
  virtual std::unique_ptr<Summation> start() const = 0;
  // Of source.nearest; null: there is none.
  virtual std::shared_ptr<const Kernel> nearest() const { return nullptr; }

  const KernelSource source;
};

class KernelDevice {
 public:
  virtual ~KernelDevice() = default;
  virtual const std::string& name() const = 0;         // for people: "cpu, avx2, 2 threads"
  virtual std::string_view backend() const = 0;        // the name of its row: "cpu", "cuda" (jit/backend.h)
  virtual Isa isa() const { return {}; }               // of a CPU
  virtual const std::string& dump_folder() const = 0;  // for kernel sources; "": none
  // From memory, else from the disk cache, else compiled. Throws DeviceError, and where the device's compiler refuses
  // the text InternalError (CPU) or TextRefused (CUDA).
  virtual std::shared_ptr<const Kernel> load(KernelSource source) = 0;

  // Memory whose arrays runs read and write where they are, aligned to 64 bytes at least; for 0 bytes not null either.
  // Throws DeviceError without so much of it.
  virtual void* allocate(std::size_t bytes) = 0;
  // The same of the host's memory, which the caller reads and writes as well.
  virtual void* allocate_shared(std::size_t bytes) = 0;
  virtual void release(void* memory) noexcept = 0;
  // Whether an address is in memory that is the device's and not the host's own.
  virtual bool holds(const void* memory) = 0;
  // Between either kind of memory and the host's: begin when what runs were given before in the default stream is done,
  // and return when done themselves. Throw DeviceError.
  virtual void write(void* to, const void* from_host, std::size_t bytes) = 0;
  virtual void read(void* to_host, const void* from, std::size_t bytes) = 0;
};

}  // namespace nbcc
