// Which lines of a pipeline a device compiler's complaints come from. Tested by tests/unit/blame_test.cpp.
#pragma once
#include <string>

#include "compiler/kernel_source.h"

namespace nbcc {

// For each line of `source`, a variant of the kernel, that the log reports an error in, as NVRTC does
// ("gravity.cu(471): error: ..."): what stands there, and the line of the pipeline that it was made of, where it was
// made of one. Ends with a newline unless empty.
std::string blame(const KernelSource& kernel, const std::string& source, const std::string& log);

}  // namespace nbcc
