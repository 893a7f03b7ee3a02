// A toolchain without a compiler: its kernels are functions of the test program, written against the kernel interface
// with loops over doubles. So the runtime's packing, blocking and threads are tested where there is no LLVM.
#pragma once
#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "runtime/cpu/cpu_toolchain.h"

namespace nbcc::test {

// Fields of the one pipeline, "fake":
//   input_i vec3 xi; input_j vec3 xj; input_j real mj; param real eps2; param real g = 1;
//   output(sum) vec3 acc; output(sum) real pot; output(argmin) index near; output(max) real seen;
// acc and pot are softened gravity with the constant g; near is the j of the nearest other particle (by index);
// seen is i_index. lanes 8, i_block 16. g enters the derived j column g * mj; finish() negates pot.
KernelSource fake_source(int tile = 32);

// How often a kernel was called outside of its contract (ranges, alignment) since the program began.
int contract_violations();

class FakeToolchain final : public CpuToolchain {
 public:
  std::string identity() const override { return identity_text; }
  std::string compile(const KernelSource& kernel, const KernelVariant& variant) const override;
  std::unique_ptr<CpuCode> load(const std::string& object) const override;

  std::string identity_text = "fake 1";
  mutable std::atomic<int> compiled{0};
};

}  // namespace nbcc::test
