// Maps error messages of the device compiler to lines of the pipeline. Tested by
// tests/unit/runtime/cuda/program/blame_test.cpp.
#pragma once
#include <string>

#include "compiler/kernel_source.h"

namespace nbcc {

// `source` is a variant of the kernel, `log` the compiler's log. For each source line with an error, in NVRTC's format
// ("gravity.cu(471): error: ..."), the result quotes the line and names the pipeline line from which it was generated,
// if there is one. Ends with a newline unless empty.
std::string blame(const KernelSource& kernel, const std::string& source, const std::string& log);

}  // namespace nbcc
