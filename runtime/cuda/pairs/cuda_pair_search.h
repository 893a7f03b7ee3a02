// The search for pairs in the memory of a GPU: launches of templates/cuda/pairs/cuda_pair_search.cu.in in the caller's
// stream. Tested by tests/numeric/pair_search_test.cpp.
#pragma once
#include <memory>

#include "runtime/cuda/program/cuda_device.h"
#include "runtime/pairs/pair_search.h"

namespace nbcc {

// Compiles the program, or finds it in the cache. The first GPU of a group searches.
std::unique_ptr<PairSearch> cuda_pair_search(KernelDevice& device);

// The source of the kernels. `real`: the type of the positions, "float" or "double".
KernelSource pair_search_source(const char* real);

}  // namespace nbcc
