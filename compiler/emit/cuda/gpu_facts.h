// Resources of a multiprocessor that an emitted source is laid out for. A source is emitted once for all architectures;
// on a GPU with fewer resources it runs with fewer blocks at a time, which the runtime asks the driver for.
#pragma once

namespace nbcc {

struct GpuFacts {
  int compute_capability;      // 90: 9.0
  int registers;               // 32-bit registers of a multiprocessor
  int shared_bytes;            // shared memory of a multiprocessor
  int shared_bytes_per_block;  // shared memory that a block can declare statically
  int reserved_shared_bytes;   // shared memory of each block that the system reserves
};

// CUDA C++ Programming Guide, "Technical Specifications per Compute Capability".
inline constexpr GpuFacts kComputeCapability90{.compute_capability = 90,
                                               .registers = 64 << 10,
                                               .shared_bytes = 228 << 10,
                                               .shared_bytes_per_block = 48 << 10,
                                               .reserved_shared_bytes = 1 << 10};

inline constexpr const GpuFacts& kEmittedFor = kComputeCapability90;

}  // namespace nbcc
