// The pipelines of the library and the hand-written CUDA kernels as they were when this was built, so that the programs
// run where the sources are not.
#pragma once
#include <string_view>

namespace nbcc::bench {

// By file name without extension; empty if there is none.
std::string_view embedded_pipeline(std::string_view name);
std::string_view embedded_cuda_kernel(std::string_view name);

}  // namespace nbcc::bench
