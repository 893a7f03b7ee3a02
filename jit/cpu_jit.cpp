// Compiles kernel source to relocatable objects, and loads these as callable functions. Entry points:
// make_cpu_toolchain(), cpu_assembly(), cpu_object(). No cache; KernelSource names the target.
#include "jit/cpu_jit.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "compiler/emit/cpu/cpu_spelling.h"
#include "compiler/isa.h"
#include "compiler/text/diagnostic.h"
#include "jit/clang_compile.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/ExecutionEngine/Orc/ObjectTransformLayer.h"
#include "runtime/cpu/cpu_functions.h"
#include "runtime/error.h"

namespace nbcc {
namespace {

// Clang's options for every kernel; compiler/isa.h has the options of an instruction set. Both are part of the cache
// key. The stack is realigned because Clang would otherwise spill vectors to unaligned addresses, which costs up to
// half the speed. Contraction is off because the source contains explicit fma calls. Built-in functions are off because
// LLVM would otherwise replace calls: sin and cos of one number by sincos, exp2 of integers by ldexp, pow(10, x) by
// exp10; kernels may not call these functions.
constexpr std::string_view kArguments =
    "-x c++ -std=c++20 -nostdsysteminc -nobuiltininc -fno-builtin -O3 -ffp-contract=off -fwrapv -mstackrealign "
    "-mrelocation-model pic -pic-level 2";

std::string options_of(const IsaFacts& isa) { return fmt::format("-triple {} {}", isa.triple, isa.clang_options); }

std::string arguments_for(const std::string& target) {
  const auto found = std::ranges::find(kIsas, target, [](const IsaFacts& isa) { return cpu_target_name(isa.isa); });
  if (found == kIsas.end()) throw InternalError(fmt::format("no CPU target is named '{}'", target));
  return fmt::format("{} {}", options_of(*found), kArguments);
}

ClangJob job_of(const KernelSource& kernel, const KernelVariant& variant) {
  return {fmt::format("the kernel text of '{}' for {}", kernel.pipeline, kernel.target),
          {{"/kernel.cpp", variant.source}},
          "/kernel.cpp",
          arguments_for(kernel.target)};
}

// The functions that a kernel may call: functions of libm that the emitter uses, and functions that code generation
// inserts. No other symbol of this process is visible to a kernel.
bool is_allowed(llvm::StringRef symbol) {
  static constexpr std::array kInserted{"memcpy", "memset", "memmove"};
  if (std::ranges::any_of(kInserted, [&](const char* n) { return symbol == n; })) return true;
  const auto is = [&](std::string_view function) {  // the function for double, or with the suffix f for float
    return !function.empty() && symbol.starts_with(function) &&
           (symbol.size() == function.size() || symbol.substr(function.size()) == "f");
  };
  // LLVM calls these functions if the processor has no such instruction.
  static constexpr std::array<std::string_view, 5> kRounding{"fma", "round", "trunc", "floor", "ceil"};
  return std::ranges::any_of(kRounding, is) || std::ranges::any_of(cpu_spellings(), is, &CpuSpelling::libm);
}

template <typename T>
T expect(llvm::Expected<T> value) {
  if (!value)
    throw DeviceError(fmt::format("the kernel's object code cannot be loaded: {}", llvm::toString(value.takeError())));
  return std::move(*value);
}

void expect(llvm::Error error) {
  if (error)
    throw DeviceError(fmt::format("the kernel's object code cannot be loaded: {}", llvm::toString(std::move(error))));
}

struct LoadedCode : CpuCode {
  std::unique_ptr<llvm::orc::LLJIT> jit;  // owns the memory of the functions
};

class ClangToolchain : public CpuToolchain {
 public:
  std::string identity() const override {
    std::string all = fmt::format("clang " LLVM_VERSION_STRING " {}", kArguments);
    for (const IsaFacts& isa : kIsas) all += fmt::format("; {}: {}", cpu_target_name(isa.isa), options_of(isa));
    return all;
  }
  std::string compile(const KernelSource& kernel, const KernelVariant& variant) const override {
    return compile_in_memory(job_of(kernel, variant));
  }

  std::unique_ptr<CpuCode> load(const std::string& object) const override {
    register_llvm_targets();
    auto code = std::make_unique<LoadedCode>();
    llvm::orc::LLJITBuilder builder;
    builder.setJITTargetMachineBuilder(llvm::orc::JITTargetMachineBuilder(llvm::Triple(std::string(kHostTriple))));
    // No platform support: kernels have no constructors, no thread-local data and no exceptions.
    builder.setPlatformSetUp(llvm::orc::setUpInactivePlatform);
    builder.setLinkProcessSymbolsByDefault(false);
    code->jit = expect(builder.create());
    // Collect LLVM's messages instead of printing them to stderr: they name a missing symbol, lookup()'s error does
    // not.
    const auto log = std::make_shared<std::string>();
    code->jit->getExecutionSession().setErrorReporter(
        [log](llvm::Error error) { *log += llvm::toString(std::move(error)) + "\n"; });
    llvm::orc::JITDylib& library = code->jit->getMainJITDylib();
    const char prefix = code->jit->getDataLayout().getGlobalPrefix();
    const auto allow = [](const llvm::orc::SymbolStringPtr& symbol) { return is_allowed(*symbol); };
    library.addGenerator(expect(llvm::orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(prefix, allow)));
    library.addGenerator(expect(llvm::orc::DynamicLibrarySearchGenerator::Load("libm.so.6", prefix, allow)));
    expect(code->jit->addObjectFile(llvm::MemoryBuffer::getMemBufferCopy(object, "kernel.o")));
    const auto find = [&](const char* name) {
      auto address = code->jit->lookup(name);
      if (!address)
        throw DeviceError(fmt::format("the kernel's object code cannot be loaded: {}\n{}",
                                      llvm::toString(address.takeError()), *log));
      return *address;
    };
    for (const CpuFunctionRow& row : kCpuFunctions) {
      const std::string name = fmt::format("nbcc_{}", row.name);
      if (row.is_in_all) find(name.c_str());
      auto address = code->jit->lookup(name);
      if (address)
        row.set(*code, address->toPtr<CpuFunction>());
      else
        llvm::consumeError(address.takeError());
    }
    if (!code->interact && !code->interact_excluding && !code->interact_listed_once) find("nbcc_interact");
    return code;
  }
};

}  // namespace

std::shared_ptr<const CpuToolchain> make_cpu_toolchain() { return std::make_shared<ClangToolchain>(); }

std::string cpu_assembly(const KernelSource& kernel) {
  return compile_in_memory(job_of(kernel, kernel.first()), ClangForm::Assembly);
}

std::string cpu_object(const KernelSource& kernel, const KernelVariant& variant, const std::string& prefix) {
  ClangJob job = job_of(kernel, variant);
  job.arguments += " -fvisibility=hidden";
  for (const CpuFunctionRow& row : kCpuFunctions) job.arguments += fmt::format(" -Dnbcc_{0}={1}_{0}", row.name, prefix);
  return compile_in_memory(job);
}

}  // namespace nbcc
