// The interface of a device: KernelDevice compiles a kernel's source, Kernel is the result, Summation runs sums with
// it. A device is one file pair (cpu_device, ...); code outside of that pair does not depend on the kind of device.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "compiler/derived_kernels.h"
#include "compiler/isa.h"
#include "compiler/kernel_source.h"
#include "runtime/sum/plan/pair_method.h"

namespace nbcc {

struct Kernel;
class FarBackend;    // runtime/far/far_backend.h
class TotalSteps;    // totals.h
class DeviceCopies;  // device_copies.h

// One sum on one device, with its working memory, which is kept from run to run. Used by one thread at a time.
struct Summation {
  virtual ~Summation() = default;
  // The pair methods of this device; they live as long as this object. Of methods with equal costs the first is chosen.
  virtual std::span<const PairMethod> methods() const = 0;
  // Called before a run that checks table indices: throws UsageError if an index is outside of its table. A GPU checks
  // indices while it runs, and reports the error when the caller waits for the work or begins the next run.
  virtual void check_indices(const SumRequest&) {}
  // Copies `bytes` bytes from host or device memory to host memory.
  virtual void fetch(void* to, const void* from, std::size_t bytes) const;
  // The opposite direction.
  virtual void put(void* to, const void* from, std::size_t bytes) const;
  // The pairs within the proved reach, without excluded pairs. Throws UsageError if the device cannot search.
  virtual FoundPairs find_pairs(const SumRequest& request);
  // Returns when the work of all runs is done. Throws DeviceError if the work failed, and Interrupted if `progress` is
  // not null and asks for an interrupt; the work then continues on the device.
  virtual void wait(Progress* /*progress*/) {}
  // Whether the host can read this memory, so that indices in it can be checked.
  virtual bool can_read(const std::int64_t* list) const { return list != nullptr; }
  // True while the work of this stream is recorded into a graph and not done. GPUs only.
  virtual bool is_captured(void* /*stream*/) const { return false; }
  // Includes a count of the pairs within reach, which takes longer than a run.
  virtual SumStatistics statistics() const { return {}; }
  // True for a kernel of nearest neighbours (passes/derived/nearest.h) if a search lowers the bounds that are bound,
  // which are doubles in host memory, by itself: infinite ones will do.
  virtual bool finds_bounds() const { return false; }
  // Sets the launch configuration of later runs; numbers that are 0 are chosen automatically. GPUs only.
  virtual void set_launch(const LaunchConfig&) {}
  // For sums with a far field in the memory of this device, or of each of several; empty: in the memory of the host.
  // `callers`: the kernel as callers see it, which must outlive them. `orders`: of the grids that runs will probably
  // have. Throws UsageError if the pipeline has no far field.
  virtual std::vector<std::shared_ptr<FarBackend>> far_backends(const Kernel& /*callers*/, Precision /*at_least*/,
                                                                std::span<const int> /*orders*/) const {
    return {};
  }
  // The steps of totals in the memory where this device stores results; on the host unless a device has its own.
  virtual std::unique_ptr<TotalSteps> total_steps();
  // Copies of particles in the memory of this device, if all of these arrays are in it, aligned as their elements are.
  // Null: the host makes copies. The object lives as long as this one.
  virtual DeviceCopies* device_copies(std::span<const ArrayView> /*arrays*/) { return nullptr; }
  // Returns when the work in a caller's stream is done.
  virtual void synchronize(void* /*stream*/) const {}
  // A loop (for_each.h) on the threads of the device's host work.
  virtual void on_host_threads(std::int64_t count, const std::function<void(std::int64_t)>& body) const {
    for (std::int64_t item = 0; item < count; ++item) body(item);
  }
  // The launch configuration of a run of this size; all zeros on devices without one. Throws UsageError if no kernel
  // can have the configuration that was set.
  virtual LaunchConfig launch_for(std::int64_t /*ni*/, std::int64_t /*nj*/) { return {}; }
};

// A kernel that is ready to run. Outlives the device that loaded it; may be shared by threads.
struct Kernel {
  explicit Kernel(KernelSource kernel_source) : source(std::move(kernel_source)) {
    for (const FieldLayout& field : source.fields) types.push_back(type_name(field));
  }
  virtual ~Kernel() = default;
  // Makes a sum. The kernel must outlive it.
  virtual std::unique_ptr<Summation> start() const = 0;
  // Another kernel on the same device; null in compiled libraries, which have no compiler.
  virtual std::shared_ptr<const Kernel> load(const KernelSource&) const { return nullptr; }
  // A row of the kernels that are derived from this one (compiler/derived_kernels.h), made when first asked for.
  const DerivedKernels& derived(std::string_view row, Precision at_least = Precision::Single) const;
  // One kernel of a row that has no obstacle, on the same device: loaded when first asked for, for all sums of this
  // kernel. Null if the row has no kernel of this name, or if the device cannot load it.
  std::shared_ptr<const Kernel> load_derived(std::string_view row, std::string_view name,
                                             Precision at_least = Precision::Single) const;

  const KernelSource source;
  std::vector<std::string> types;  // [field] as declared

 private:
  mutable std::mutex mutex_;
  mutable std::map<std::tuple<std::string, std::string, Precision>, std::shared_ptr<const Kernel>> derived_;
};

class KernelDevice {
 public:
  virtual ~KernelDevice() = default;
  virtual const std::string& name() const = 0;         // for people: "cpu, avx2, 2 threads"
  virtual std::string_view backend() const = 0;        // the backend's name: "cpu", "cuda" (jit/backend.h)
  virtual Isa isa() const { return {}; }               // the instruction set of a CPU
  virtual const std::string& dump_folder() const = 0;  // folder to which kernel sources are written; "": none
  // Takes the kernel from memory, else from the disk cache, else compiles it. Throws DeviceError; if the device's
  // compiler rejects the source, InternalError (CPU) or SourceRejected (CUDA).
  virtual std::shared_ptr<const Kernel> load(KernelSource source) = 0;

  // Allocates memory that runs read and write without a copy, aligned to at least 64 bytes; not null for 0 bytes
  // either. Throws DeviceError if there is not enough memory.
  virtual void* allocate(std::size_t bytes) = 0;
  // The same with host memory, which the caller can also read and write.
  virtual void* allocate_shared(std::size_t bytes) = 0;
  virtual void release(void* memory) noexcept = 0;
  // True if an address is in device memory rather than in ordinary host memory.
  virtual bool holds(const void* memory) = 0;
  // Copy between memory of either kind and ordinary host memory. A copy begins when earlier work of runs in the default
  // stream is done, and returns when the copy is done. Throw DeviceError.
  virtual void write(void* to, const void* from_host, std::size_t bytes) = 0;
  virtual void read(void* to_host, const void* from, std::size_t bytes) = 0;
};

}  // namespace nbcc
