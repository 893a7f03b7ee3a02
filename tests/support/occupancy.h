// The limits of GPUs, and NVIDIA's occupancy calculator (cuda_occupancy.h of the CUDA toolkit, which needs no GPU), for
// tests of kernels for GPUs that are not here.
#pragma once
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace nbcc::test {

// Of a multiprocessor: CUDA C++ Programming Guide, "Technical Specifications per Compute Capability".
struct GpuLimits {
  int architecture;  // 75: sm_75
  int threads, blocks;
  int shared_bytes, reserved_bytes;  // shared memory; what the system reserves of it for each block
  std::string name() const { return "sm_" + std::to_string(architecture); }
};
inline constexpr GpuLimits kGpuLimits[] = {
    {75, 1024, 16, 64 << 10, 0},         {80, 2048, 32, 164 << 10, 1 << 10}, {86, 1536, 16, 100 << 10, 1 << 10},
    {89, 1536, 24, 100 << 10, 1 << 10},  {90, 2048, 32, 228 << 10, 1 << 10}, {100, 2048, 32, 228 << 10, 1 << 10},
    {120, 1536, 24, 100 << 10, 1 << 10},
};

// False if the tests were built without the calculator. Then the functions below return -1.
bool has_occupancy_calculator();
// What the calculator itself states about an architecture.
int max_shared_bytes(int architecture);
int max_blocks(int architecture);
// Resident blocks of a multiprocessor; 0: the kernel cannot be launched.
int resident_blocks(const GpuLimits& gpu, int threads, int registers, int shared_bytes);

// An entry of the report of ptxas.
struct KernelReport {
  std::string name;
  int registers = 0, spilled_bytes = 0, shared_bytes = 0;
};
std::vector<KernelReport> kernel_reports(std::string_view log);

}  // namespace nbcc::test

#define NBCC_NEEDS_OCCUPANCY_CALCULATOR() \
  if (!nbcc::test::has_occupancy_calculator()) GTEST_SKIP() << "the tests were built without cuda_occupancy.h"
