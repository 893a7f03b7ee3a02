// The CPU toolchain: kernel text -> object code -> functions, by Clang and LLVM inside this process.
#pragma once
#include <memory>
#include <string>

#include "compiler/options.h"
#include "runtime/cpu/cpu_toolchain.h"

namespace nbcc {

std::shared_ptr<const CpuToolchain> make_cpu_toolchain();

// The kernel's first variant as assembly, for people.
std::string cpu_assembly(const KernelSource& kernel);

// Object code to be linked into a library: the toolchain's own, its functions named PREFIX_prepare_i, PREFIX_prepare_j
// and so on, and visible inside that library alone.
std::string cpu_object(const KernelSource& kernel, const KernelVariant& variant, const std::string& prefix);

}  // namespace nbcc
