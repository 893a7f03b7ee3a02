// The CPU toolchain: kernel text -> object code -> functions, by Clang and LLVM inside this process.
#pragma once
#include <memory>
#include <string>

#include "compiler/options.h"
#include "runtime/cpu_toolchain.h"

namespace nbcc {

std::shared_ptr<const CpuToolchain> make_cpu_toolchain();

// The same text as assembly, for people.
std::string cpu_assembly(const KernelSource& source);

}  // namespace nbcc
