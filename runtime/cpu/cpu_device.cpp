// Kernel source -> a Kernel that runs on this machine's cores: from memory, from the disk cache, or through the
// toolchain. Interface: CpuDevice::load; CpuDevice::adopt for existing code. cpu_sum.cpp runs sums.
#include "runtime/cpu/cpu_device.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <limits>
#include <map>
#include <new>
#include <utility>

#include "fmt/format.h"
#include "runtime/cache/dump.h"
#include "runtime/cpu/cpu_sum.h"
#include "runtime/error.h"
#include "runtime/thread_pool.h"

namespace nbcc {
namespace {

using Load = CpuDevice::LoadCode;

struct CpuKernel final : Kernel {
  // `lists_code`: the code of Frame::Lists; null if `loader` loads it when a run needs it.
  CpuKernel(KernelSource kernel_source, std::shared_ptr<const CpuCode> kernel_code,
            std::shared_ptr<const CpuCode> lists_code, Load loader, std::shared_ptr<ThreadPool> threads)
      : Kernel(std::move(kernel_source)),
        code(std::move(kernel_code)),
        load_code(std::move(loader)),
        pool(std::move(threads)) {
    if (lists_code) more[Frame::Lists] = std::move(lists_code);
  }
  std::unique_ptr<Summation> start() const override {
    return std::make_unique<CpuSummation>(
        source, *code, [this](Frame frame) -> const CpuCode& { return code_of(frame); }, *pool);
  }
  const CpuCode& code_of(Frame frame) const {
    const std::lock_guard lock(mutex);
    std::shared_ptr<const CpuCode>& found = more[frame];
    if (!found) found = load_code(source, *source.find(frame));
    return *found;
  }
  std::shared_ptr<const Kernel> load(const KernelSource& other) const override;

  const std::shared_ptr<const CpuCode> code;
  const Load load_code;  // null for a compiled library without derived kernels; it has the code of both variants
  const std::shared_ptr<ThreadPool> pool;
  mutable std::mutex mutex;
  mutable std::map<Frame, std::shared_ptr<const CpuCode>> more;  // of the variants that runs have needed
};

std::shared_ptr<const Kernel> load_kernel(KernelSource source, const Load& load, std::shared_ptr<ThreadPool> pool) {
  auto code = load(source, source.first());
  return std::make_shared<CpuKernel>(std::move(source), std::move(code), nullptr, load, std::move(pool));
}

std::shared_ptr<const Kernel> CpuKernel::load(const KernelSource& other) const {
  return load_code ? load_kernel(other, load_code, pool) : nullptr;
}

constexpr std::align_val_t kMemoryAlignment{64};

// Listings of the cache show the first line.
std::string cache_key(const KernelSource& kernel, const KernelVariant& variant, const CpuToolchain& toolchain) {
  return fmt::format("{}, {}\n{}\n{}", kernel.pipeline, kernel.target, toolchain.identity(), variant.source);
}

}  // namespace

Isa detect_isa() {
  Isa best{};
  for (const IsaFacts& isa : kIsas)
    if (isa.is_here()) best = isa.isa;
  return best;
}

Isa isa_from_name(std::string_view name) {
  const auto found = std::ranges::find(kIsas, name, &IsaFacts::name);
  if (found != kIsas.end()) return found->isa;
  std::string known;
  for (const IsaFacts& isa : kIsas) known += (known.empty() ? "" : ", ") + std::string(isa.name);
  throw UsageError(fmt::format("unknown instruction set '{}'; known are {}", name, known));
}

// Variants -> code: from memory, from the disk cache, or through the toolchain.
struct CpuDevice::Loader {
  Loader(std::string cache_folder, std::string dumps) : cache(std::move(cache_folder)), dump_folder(std::move(dumps)) {}
  std::shared_ptr<const CpuCode> load(const KernelSource& kernel, const KernelVariant& variant,
                                      const CpuToolchain& toolchain);
  std::shared_ptr<const CpuCode> make(const KernelSource& kernel, const KernelVariant& variant, const std::string& key,
                                      const CpuToolchain& toolchain) const;

  const DiskCache cache;
  const std::string dump_folder;
  LoadOnce<CpuCode> loaded;
};

CpuDevice::CpuDevice(int threads, Isa isa, std::shared_ptr<const CpuToolchain> toolchain, std::string cache_folder,
                     std::string dump_folder)
    : isa_(isa),
      toolchain_(std::move(toolchain)),
      loader_(std::make_shared<Loader>(std::move(cache_folder), std::move(dump_folder))) {
  if (threads < 0) throw UsageError(fmt::format("threads: expected 0 (all cores) or more, got {}", threads));
  if (!facts(isa).is_here()) {
    throw DeviceError(
        fmt::format("this machine does not have {}; its best is {}", nbcc::name(isa), nbcc::name(detect_isa())));
  }
  pool_ = std::make_shared<ThreadPool>(threads);
  name_ = fmt::format("cpu, {}, {} thread{}", nbcc::name(isa), pool_->threads(), pool_->threads() == 1 ? "" : "s");
}

CpuDevice::~CpuDevice() = default;

const std::string& CpuDevice::dump_folder() const { return loader_->dump_folder; }
const DiskCache& CpuDevice::cache() const { return loader_->cache; }

int CpuDevice::threads() const { return pool_->threads(); }

ForEach CpuDevice::on_threads() const {
  return [pool = pool_](std::int64_t count, const ThreadPool::Body& body) { pool->parallel_for(count, body); };
}

void CpuDevice::provide(const std::shared_ptr<const CpuToolchain>& toolchain) {
  std::lock_guard lock(mutex_);
  if (!toolchain_) toolchain_ = toolchain;
}

std::shared_ptr<const Kernel> CpuDevice::adopt(KernelSource source, std::shared_ptr<const CpuCode> code,
                                               std::shared_ptr<const CpuCode> lists, LoadCode load) {
  return std::make_shared<CpuKernel>(std::move(source), std::move(code), std::move(lists), std::move(load), pool_);
}

std::shared_ptr<const Kernel> CpuDevice::load(KernelSource source) {
  std::shared_ptr<const CpuToolchain> toolchain;
  {
    std::lock_guard lock(mutex_);
    toolchain = toolchain_;
  }
  if (!toolchain) throw UsageError(fmt::format("{}: there is no compiler for kernel sources", name_));
  return load_kernel(
      std::move(source),
      [loader = loader_, toolchain](const KernelSource& kernel, const KernelVariant& variant) {
        return loader->load(kernel, variant, *toolchain);
      },
      pool_);
}

std::shared_ptr<const CpuCode> CpuDevice::Loader::load(const KernelSource& kernel, const KernelVariant& variant,
                                                       const CpuToolchain& toolchain) {
  const std::string key = cache_key(kernel, variant, toolchain);
  return loaded.get(key, [&] { return make(kernel, variant, key, toolchain); });
}

std::shared_ptr<const CpuCode> CpuDevice::Loader::make(const KernelSource& kernel, const KernelVariant& variant,
                                                       const std::string& key, const CpuToolchain& toolchain) const {
  std::string stem;
  if (!dump_folder.empty()) {
    // Dump the source before anything can fail.
    stem = dump_stem(dump_folder, kernel, key);
    write_dump(stem + ".cpp", variant.source);
  }
  bool compiled = false;
  const auto compile = [&] {
    compiled = true;
    return toolchain.compile(kernel, variant);
  };
  std::string object = cache.get_or_make(key, compile);
  std::shared_ptr<const CpuCode> code;
  try {
    code = toolchain.load(object);
  } catch (const DeviceError&) {
    if (compiled) throw;
    // The entry is intact, but this toolchain cannot load it: treat it like a corrupt entry.
    cache.remove(key);
    object = compile();  // not get_or_make(): a shared cache would return the same entry again
    code = toolchain.load(object);
    cache.store(key, object);
  }
  if (!stem.empty()) write_dump(stem + ".o", object);
  return code;
}

void* CpuDevice::allocate(std::size_t bytes) {
  // Sizes near the maximum would overflow to 0 when rounded up to the alignment.
  if (bytes > std::size_t(std::numeric_limits<std::ptrdiff_t>::max())) throw std::bad_alloc();
  return ::operator new(bytes, kMemoryAlignment);
}
void* CpuDevice::allocate_shared(std::size_t bytes) { return allocate(bytes); }
void CpuDevice::release(void* memory) noexcept { ::operator delete(memory, kMemoryAlignment); }
void CpuDevice::write(void* to, const void* from_host, std::size_t bytes) { std::memmove(to, from_host, bytes); }
void CpuDevice::read(void* to_host, const void* from, std::size_t bytes) { std::memmove(to_host, from, bytes); }

}  // namespace nbcc
