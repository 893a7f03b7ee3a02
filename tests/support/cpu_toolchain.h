// The compiler of kernels for the CPU, which compiles each source once in a process. Its entry point is
// cpu_toolchain().
#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "jit/cpu_jit.h"

namespace nbcc::test {

class CachedToolchain final : public CpuToolchain {
 public:
  std::string identity() const override { return compiler_->identity(); }
  std::string compile(const KernelSource& kernel, const KernelVariant& variant) const override {
    const std::lock_guard lock(mutex_);
    std::string& object = objects_[{kernel.target, variant.source}];
    if (object.empty()) object = compiler_->compile(kernel, variant);
    return object;
  }
  std::unique_ptr<CpuCode> load(const std::string& object) const override { return compiler_->load(object); }

 private:
  std::shared_ptr<const CpuToolchain> compiler_ = make_cpu_toolchain();
  mutable std::mutex mutex_;
  mutable std::map<std::pair<std::string, std::string>, std::string> objects_;  // by target and source
};

inline std::shared_ptr<const CpuToolchain> cpu_toolchain() {
  static const auto cached = std::make_shared<CachedToolchain>();
  return cached;
}

}  // namespace nbcc::test
