// What the numbers of a GPU program were measured with.
#pragma once
#include "bench/cuda/contest.h"

namespace nbcc::bench {

Row describe_machine(const Gpu& gpu);
// "NVIDIA H200, sm_90, 132 multiprocessors; driver 13.0, NVRTC 13.0"
std::string machine_line(const Row& machine);

}  // namespace nbcc::bench
