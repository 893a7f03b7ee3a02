// The CPU toolchain: compiles kernel source to object code and loads its functions, by Clang and LLVM in this process.
#pragma once
#include <memory>
#include <string>

#include "compiler/options.h"
#include "runtime/cpu/cpu_toolchain.h"

namespace nbcc {

std::shared_ptr<const CpuToolchain> make_cpu_toolchain();

// The kernel's first variant as assembly, for reading.
std::string cpu_assembly(const KernelSource& kernel);

// Object code to be linked into a library: compiled as by the toolchain, with functions named PREFIX_prepare_i,
// PREFIX_prepare_j etc. and hidden visibility.
std::string cpu_object(const KernelSource& kernel, const KernelVariant& variant, const std::string& prefix);

}  // namespace nbcc
