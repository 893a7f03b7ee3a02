// A pipeline compiled for one instruction set and run on an oracle's input, below the C interface: so that a test may
// choose the passes' result, the root mode and the target. Its one door is CpuRun.
#pragma once
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "compiler/interpret.h"
#include "compiler/ir.h"
#include "compiler/options.h"
#include "jit/build_kernel.h"
#include "jit/cpu_jit.h"
#include "runtime/cpu_device.h"
#include "runtime/sum.h"

namespace nbcc::test {

// Those that this machine can run.
inline std::vector<Isa> runnable_isas() {
  std::vector<Isa> isas;
  for (const Isa isa : {Isa::Sse2, Isa::Avx2, Isa::Avx512, Isa::Neon}) {
    const bool x86 = detect_isa() != Isa::Neon;
    if (x86 ? isa <= detect_isa() : isa == Isa::Neon) isas.push_back(isa);
  }
  return isas;
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
  using Columns = std::vector<std::vector<double>>;  // [output component][chosen i]

  CpuRun(const Pipeline& pipeline, const Options& options, Isa isa, int threads = 1)
      : device_(threads, isa, make_cpu_toolchain(), "", ""),
        kernel_(device_.load(build_cpu_kernel(pipeline, options, isa, ""))) {}

  const KernelSource& source() const { return kernel_->source; }

  // For all i, or for `count` from `begin` on.
  Columns operator()(const OracleInput& input, std::int64_t begin = 0, std::int64_t count = -1) const {
    SumState sum(kernel_);
    sum.set_counts(input.ni, input.nj);
    sum.set_offsets(input.i_offset, input.j_offset);
    std::vector<std::vector<double>> held;  // a field's components, one after the other
    std::vector<std::pair<std::size_t, const FieldLayout*>> outputs;
    for (const FieldLayout& field : source().fields) {
      const auto first = std::size_t(field.first), components = std::size_t(field.components());
      if (field.role == FieldLayout::Role::Param) {
        sum.set_param(field.name, {input.params.data() + first, components});
        continue;
      }
      const bool of_j = field.role == FieldLayout::Role::InputJ, output = field.role == FieldLayout::Role::Output;
      const std::int64_t n = of_j ? input.nj : input.ni;
      std::vector<double>& column = held.emplace_back();
      column.reserve(std::size_t(n) * components + 1);
      if (output) {
        column.assign(std::size_t(n) * components, 0.0);
        outputs.emplace_back(held.size() - 1, &field);
      } else {
        for (std::size_t c = first; c < first + components; ++c) {
          const std::vector<double>& from = of_j ? input.j[c] : input.i[c];
          column.insert(column.end(), from.begin(), from.end());
        }
      }
      sum.bind(field.name, {column.data(), Element::Double, n, 8, 8 * n});
    }
    RunChoice choice;
    choice.i_begin = begin;
    choice.i_count = count;
    sum.run(choice);
    Columns columns;
    const std::int64_t taken = count < 0 ? input.ni - begin : count;
    for (const auto& [at, field] : outputs) {
      for (std::int64_t c = 0; c < field->components(); ++c) {
        const double* const from = held[at].data() + c * input.ni + begin;
        columns.emplace_back(from, from + taken);
      }
    }
    return columns;
  }

 private:
  CpuDevice device_;
  std::shared_ptr<const Kernel> kernel_;
};

}  // namespace nbcc::test
