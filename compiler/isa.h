// The table of CPU instruction sets, one row each. Its columns hold everything that the emitter, Clang's command line
// and the CPU device need to know about an instruction set; no other source file branches on one. Plain data, which the
// runtime includes too. How to add a row: CONTRIBUTING.md. Tested by tests/unit/compiler/isa_test.cpp.
#pragma once
#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "compiler/target.h"

namespace nbcc {

// Sets with the same triple are in ascending order: a processor that has one also runs code for the earlier ones.
enum class Isa { Sse2, Avx2, Avx512, Neon };

inline constexpr std::string_view kX86 = "x86_64-unknown-linux-gnu", kArm = "aarch64-unknown-linux-gnu";

// NBCC_X86_HAS: true if this processor has the feature and the operating system saves its registers. A macro, because
// __builtin_cpu_supports accepts only a literal.
#if defined(__x86_64__)
inline constexpr std::string_view kHostTriple = kX86;
#define NBCC_X86_HAS(feature) (static_cast<void>(__builtin_cpu_init()), __builtin_cpu_supports(feature) != 0)
#else
#if defined(__aarch64__)
inline constexpr std::string_view kHostTriple = kArm;
#else
inline constexpr std::string_view kHostTriple = "";  // no table row is for this processor
#endif
#define NBCC_X86_HAS(feature) false
#endif

struct IsaFacts {
  Isa isa;
  std::string_view name;           // in options, targets, file names and descriptions of libraries
  std::string_view triple;         // LLVM target triple; code with the same triple can be linked into one library
  std::string_view clang_options;  // in addition to the triple; part of the cache key
  bool (*is_here)();               // true if this machine runs it
  int register_bytes;              // bytes of a vector register
  int registers;                   // number of vector registers
  bool memory_operands = true;     // an arithmetic instruction may take an operand from memory
  Target target;                   // error of the rsqrt estimate, fused multiply-add
  // Templates with fused(), rounding and rsqrt_estimate(); unused entries at the end are empty.
  std::array<std::string_view, 2> templates;
  std::string_view table_template;  // template with of_row(), a permute of two registers; empty: no such instruction
  std::string_view math_template = {};  // template with functions that this set does better than cpu_elementary.h
};

inline constexpr std::array kIsas = std::to_array<IsaFacts>({
    {.isa = Isa::Sse2,
     .name = "sse2",
     .triple = kX86,
     .clang_options = "-target-cpu x86-64",
     .is_here = [] { return kHostTriple == kX86; },
     .register_bytes = 16,
     .registers = 16,
     .target = {.rsqrt_error_float = 1.5 * 0x1p-12, .fused = false},
     .templates = {"cpu_sse2.h"},
     .table_template = ""},
    {.isa = Isa::Avx2,
     .name = "avx2",
     .triple = kX86,
     .clang_options = "-target-cpu x86-64-v3",
     .is_here = [] { return NBCC_X86_HAS("avx2") && NBCC_X86_HAS("fma"); },
     .register_bytes = 32,
     .registers = 16,
     .target = {.rsqrt_error_float = 1.5 * 0x1p-12},
     .templates = {"cpu_rounding.h", "cpu_avx2.h"},
     .table_template = "cpu_tables_avx2.h"},
    {.isa = Isa::Avx512,
     .name = "avx512",
     .triple = kX86,
     // Without the width option LLVM splits 512-bit vectors on some processors.
     .clang_options = "-target-cpu x86-64-v4 -mprefer-vector-width=512",
     .is_here =
         [] {
           return NBCC_X86_HAS("avx2") && NBCC_X86_HAS("fma") && NBCC_X86_HAS("avx512f") && NBCC_X86_HAS("avx512dq") &&
                  NBCC_X86_HAS("avx512bw") && NBCC_X86_HAS("avx512vl");
         },
     .register_bytes = 64,
     .registers = 32,
     .target = {.rsqrt_error_float = 0x1p-14, .rsqrt_error_double = 0x1p-14},
     .templates = {"cpu_rounding.h", "cpu_avx512.h"},
     .table_template = "cpu_tables_avx512.h",
     .math_template = "cpu_elementary_avx512.h"},
    {.isa = Isa::Neon,
     .name = "neon",
     .triple = kArm,
     .clang_options = "-target-cpu generic -target-feature +neon",
     .is_here = [] { return kHostTriple == kArm; },
     .register_bytes = 16,
     .registers = 32,
     .memory_operands = false,
     // The estimate's own error is 2^-8.25. A Newton step makes 1.5 e^2 of an error e: one step for floats, two for
     // doubles, and roundings.
     .target = {.rsqrt_error_float = 0x1.1p-16, .rsqrt_error_double = 0x1.bp-32},
     .templates = {"cpu_rounding.h", "cpu_neon.h"},
     .table_template = ""},
});
#undef NBCC_X86_HAS

constexpr const IsaFacts& facts(Isa isa) { return kIsas[std::size_t(isa)]; }
constexpr std::string_view name(Isa isa) { return facts(isa).name; }

// KernelSource::target of a kernel for this instruction set.
inline std::string cpu_target_name(Isa isa) { return "cpu-" + std::string(name(isa)); }

// True if a processor with `has` runs code for `needs`.
constexpr bool runs(Isa has, Isa needs) { return facts(has).triple == facts(needs).triple && has >= needs; }

static_assert([] {
  for (std::size_t k = 0; k < kIsas.size(); ++k)
    if (kIsas[k].isa != Isa(k)) return false;
  return true;
}());

}  // namespace nbcc
