// A pipeline compiled for one instruction set and run on an oracle's input, below the C interface: so that a test may
// choose the passes' result, the root mode and the target. Its entry point is CpuRun.
#pragma once
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "compiler/ir/ir.h"
#include "compiler/options.h"
#include "jit/build_kernel.h"
#include "runtime/cpu/cpu_device.h"
#include "runtime/sum/derived/for_callers.h"
#include "tests/support/cpu_toolchain.h"
#include "tests/support/kernel_run.h"
#include "tests/support/sampling.h"

namespace nbcc::test {

// The instruction sets that this machine can run.
inline std::vector<Isa> runnable_isas() {
  std::vector<Isa> isas;
  for (const IsaFacts& isa : kIsas)
    if (isa.is_here()) isas.push_back(isa.isa);
  return isas;
}

// Each instruction set of this machine with one of the precisions, which the number of the sample chooses (all with all
// if tests_all()). `turn` is the number of the family, so that families differ in what they combine.
inline std::vector<std::pair<Isa, Precision>> isas_with_precisions(std::size_t turn = 0) {
  std::vector<std::pair<Isa, Precision>> all;
  for (const Isa isa : runnable_isas())
    for (const Precision precision : sampled({Precision::Single, Precision::Mixed, Precision::Double}, 3, turn++))
      all.emplace_back(isa, precision);
  return all;
}

inline std::string describe(const Options& options, Isa isa) {
  std::string text(name(isa));
  for (const std::string_view part : {name(options.precision), name(options.math), name(options.root)}) {
    text += "." + std::string(part);
  }
  return text;
}

class CpuRun {
 public:
  using Columns = test::Columns;

  CpuRun(const Pipeline& pipeline, const Options& options, Isa isa, int threads = 1)
      : device_(threads, isa, cpu_toolchain(), "", ""),
        kernel_(for_callers(device_.load(build_cpu_kernel(pipeline, options, isa, "")))) {}

  const KernelSource& source() const { return kernel_->source; }

  // For all i, or for `count` from `begin` on.
  Columns operator()(const OracleInput& input, std::int64_t begin = 0, std::int64_t count = -1) const {
    return run_kernel(kernel_, input, {begin, count, nullptr, {}, {}, {}});
  }

 private:
  CpuDevice device_;
  std::shared_ptr<const Kernel> kernel_;
};

}  // namespace nbcc::test
