// Numbers of a kernel and of a GPU -> resident blocks, by cuda_occupancy.h, if the build has found this header of the
// CUDA toolkit; the report of ptxas -> KernelReport. Opens no GPU.
#include "tests/support/occupancy.h"

#include <algorithm>
#include <charconv>

#if __has_include(<cuda_occupancy.h>)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#include <cuda_occupancy.h>
#pragma GCC diagnostic pop
#endif

namespace nbcc::test {

#if __has_include(<cuda_occupancy.h>)
namespace {

cudaOccDeviceProp properties_of(const GpuLimits& gpu) {
  cudaOccDeviceProp device;
  device.computeMajor = gpu.architecture / 10;
  device.computeMinor = gpu.architecture % 10;
  device.maxThreadsPerBlock = 1024;
  device.maxThreadsPerMultiprocessor = gpu.threads;
  device.regsPerBlock = device.regsPerMultiprocessor = 64 << 10;
  device.warpSize = 32;
  device.sharedMemPerBlock = 48 << 10;
  device.sharedMemPerMultiprocessor = std::size_t(gpu.shared_bytes);
  device.numSms = 1;
  device.sharedMemPerBlockOptin = std::size_t(gpu.shared_bytes - gpu.reserved_bytes);
  device.reservedSharedMemPerBlock = std::size_t(gpu.reserved_bytes);
  return device;
}

}  // namespace

bool has_occupancy_calculator() { return true; }

int max_shared_bytes(int architecture) {
  const cudaOccDeviceProp device = properties_of({architecture, 1024, 16, 64 << 10, 0});
  int largest = 0;
  for (int kilobytes = 1; kilobytes <= 1024; ++kilobytes) {
    std::size_t size = std::size_t(kilobytes) << 10;
    if (cudaOccAlignUpShmemSizeVoltaPlus(&size, &device) == CUDA_OCC_SUCCESS) largest = kilobytes << 10;
  }
  return largest;
}

int max_blocks(int architecture) {
  const cudaOccDeviceProp device = properties_of({architecture, 1024, 16, 64 << 10, 0});
  int blocks = -1;
  return cudaOccMaxBlocksPerMultiprocessor(&blocks, &device) == CUDA_OCC_SUCCESS ? blocks : -1;
}

int resident_blocks(const GpuLimits& gpu, int threads, int registers, int shared_bytes) {
  const cudaOccDeviceProp device = properties_of(gpu);
  cudaOccFuncAttributes kernel;
  kernel.maxThreadsPerBlock = 1024;
  kernel.numRegs = registers;
  kernel.sharedSizeBytes = std::size_t(shared_bytes);
  kernel.partitionedGCConfig = PARTITIONED_GC_OFF;
  kernel.shmemLimitConfig = FUNC_SHMEM_LIMIT_DEFAULT;
  kernel.maxDynamicSharedSizeBytes = 0;
  kernel.numBlockBarriers = 1;
  kernel.virtualResourceCount = 0;
  const cudaOccDeviceState state;
  cudaOccResult result;
  const cudaOccError error = cudaOccMaxActiveBlocksPerMultiprocessor(&result, &device, &kernel, &state, threads, 0);
  return error == CUDA_OCC_SUCCESS ? result.activeBlocksPerMultiprocessor : -1;
}
#else
bool has_occupancy_calculator() { return false; }
int max_shared_bytes(int) { return -1; }
int max_blocks(int) { return -1; }
int resident_blocks(const GpuLimits&, int, int, int) { return -1; }
#endif

namespace {

// The number before the first occurrence of `unit` in a line; 0 if there is none.
int number_before(std::string_view line, std::string_view unit) {
  const std::size_t end = line.find(unit);
  if (end == std::string_view::npos) return 0;
  const std::size_t begin = line.find_last_not_of("0123456789", end - 1) + 1;
  int number = 0;
  std::from_chars(line.data() + begin, line.data() + end, number);
  return number;
}

}  // namespace

std::vector<KernelReport> kernel_reports(std::string_view log) {
  constexpr std::string_view kEntry = "Compiling entry function '";
  std::vector<KernelReport> reports;
  while (!log.empty()) {
    const std::string_view line = log.substr(0, log.find('\n'));
    log.remove_prefix(std::min(log.size(), line.size() + 1));
    if (const std::size_t at = line.find(kEntry); at != std::string_view::npos) {
      const std::string_view rest = line.substr(at + kEntry.size());
      reports.push_back({std::string(rest.substr(0, rest.find('\'')))});
    }
    if (reports.empty()) continue;
    KernelReport& last = reports.back();
    const int spilled = std::max(number_before(line, " bytes spill stores"), number_before(line, " bytes spill loads"));
    last.spilled_bytes = std::max(last.spilled_bytes, spilled);
    last.registers = std::max(last.registers, number_before(line, " registers"));
    last.shared_bytes = std::max(last.shared_bytes, number_before(line, " bytes smem"));
  }
  return reports;
}

}  // namespace nbcc::test
