// What a small run costs the host: the time of a call that puts the sum into the device's stream and does not wait.
#pragma once
#include <vector>

#include "bench/cuda/contest.h"

namespace nbcc::bench {

// One row per number of particles, all of whose arrays are on the device: gravity's generated kernel through the C
// interface, and the bare launch of a kernel by hand.
std::vector<Row> host_times(const Gpu& gpu);

}  // namespace nbcc::bench
