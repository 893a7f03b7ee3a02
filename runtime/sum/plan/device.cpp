// The derived kernels of a kernel, and the default implementations of Summation's functions.
#include "runtime/sum/plan/device.h"

#include <cstring>

#include "runtime/error.h"

namespace nbcc {

void Summation::fetch(void* to, const void* from, std::size_t bytes) const { std::memcpy(to, from, bytes); }
void Summation::put(void* to, const void* from, std::size_t bytes) const { std::memcpy(to, from, bytes); }

const DerivedKernels& Kernel::derived(std::string_view row, Precision at_least) const {
  static const DerivedKernels none{"the library has no kernel for it"};
  return source.derivations ? source.derivations->row(row, at_least) : none;
}

std::shared_ptr<const Kernel> Kernel::load_derived(std::string_view row, std::string_view name,
                                                   Precision at_least) const {
  const DerivedKernel* const made = derived(row, at_least).find(name);
  if (!made) return nullptr;
  const std::lock_guard lock(mutex_);
  std::shared_ptr<const Kernel>& loaded = derived_[{std::string(row), std::string(name), at_least}];
  if (!loaded) loaded = load(*made->source);
  return loaded;
}

FoundPairs Summation::find_pairs(const SumRequest&) {
  throw UsageError("neighbours: this device does not return them; the CPU does");
}

}  // namespace nbcc
