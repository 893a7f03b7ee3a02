// A kernel whose symmetric form has groups of several tiles, also for few particles.
#pragma once
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include "compiler/derived_kernels.h"

namespace nbcc::test {

class LargeGroups final : public Derivations {
 public:
  LargeGroups(const Derivations& of, std::int64_t most_bytes) : made_(of.row("symmetric", Precision::Single)) {
    KernelSource changed = *made_.kernels.front().source;
    for (KernelVariant& variant : changed.variants) variant.most_bytes = most_bytes;
    made_.kernels.front().source = std::make_shared<const KernelSource>(std::move(changed));
  }
  const DerivedKernels& row(std::string_view, Precision) const override { return made_; }

 private:
  DerivedKernels made_;
};

// A kernel whose symmetric form may use so much memory for slots that its groups have several tiles.
inline KernelSource with_large_groups(KernelSource source, std::int64_t most_bytes) {
  source.derivations = std::make_shared<const LargeGroups>(*source.derivations, most_bytes);
  return source;
}

}  // namespace nbcc::test
