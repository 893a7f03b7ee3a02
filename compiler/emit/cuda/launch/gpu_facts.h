// Resources of GPUs that emitted sources are laid out for: CUDA C++ Programming Guide, "Technical Specifications per
// Compute Capability". A source is emitted once for all architectures; what differs among them, the source selects by
// __CUDA_ARCH__. Tested by tests/unit/compiler/emit/cuda/launch/gpu_facts_test.cpp.
#pragma once

namespace nbcc {

// Equal on all GPUs from compute capability 7.5 on.
inline constexpr int kGpuRegisters = 64 << 10;            // 32-bit registers of a multiprocessor
inline constexpr int kGpuSharedBytesPerBlock = 48 << 10;  // shared memory that a block can declare statically

// Shared memory of the architectures from one on, up to the next row.
struct GpuSharedMemory {
  int architecture;    // compute capability, major * 10 + minor
  int bytes;           // of a multiprocessor
  int reserved_bytes;  // of each block, reserved by the system
};
inline constexpr GpuSharedMemory kGpuSharedMemory[] = {
    {75, 64 << 10, 0},        {80, 164 << 10, 1 << 10}, {86, 100 << 10, 1 << 10},  {87, 164 << 10, 1 << 10},
    {88, 100 << 10, 1 << 10}, {90, 228 << 10, 1 << 10}, {120, 100 << 10, 1 << 10},
};

}  // namespace nbcc
