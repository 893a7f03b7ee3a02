#include "compiler/emit/cuda/launch/gpu_facts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <string>

#include "fmt/format.h"
#include "tests/support/installed_nvrtc.h"
#include "tests/support/occupancy.h"

namespace nbcc::test {
namespace {

using testing::HasSubstr;
using testing::Not;

const GpuSharedMemory& row_of(int architecture) {
  const GpuSharedMemory* row = std::begin(kGpuSharedMemory);
  while (std::next(row) != std::end(kGpuSharedMemory) && std::next(row)->architecture <= architecture) ++row;
  return *row;
}

// Every architecture that the calculator of CUDA 13 knows.
TEST(GpuFacts, SharedMemoryIsAsTheOccupancyCalculatorStates) {
  NBCC_NEEDS_OCCUPANCY_CALCULATOR();
  for (const int architecture : {75, 80, 86, 87, 88, 89, 90, 100, 101, 103, 120, 121})
    EXPECT_EQ(row_of(architecture).bytes, max_shared_bytes(architecture)) << architecture;
}

TEST(GpuFacts, LimitsOfTheTestsAreThoseOfTheFactsAndTheCalculator) {
  NBCC_NEEDS_OCCUPANCY_CALCULATOR();
  for (const GpuLimits& gpu : kGpuLimits) {
    EXPECT_EQ(gpu.shared_bytes, row_of(gpu.architecture).bytes) << gpu.name();
    EXPECT_EQ(gpu.reserved_bytes, row_of(gpu.architecture).reserved_bytes) << gpu.name();
    EXPECT_EQ(gpu.blocks, max_blocks(gpu.architecture)) << gpu.name();
  }
}

// The assembler ignores launch bounds with a warning if a multiprocessor has not so many threads or blocks.
TEST(GpuFacts, LimitsOfTheTestsAreThoseOfTheAssembler) {
  NBCC_NEEDS_NVRTC();
  const std::vector<std::string> known = installed_nvrtc()->architectures();
  const auto log_of = [](const GpuLimits& gpu, int threads, int blocks) {
    const std::string text =
        fmt::format("extern \"C\" __global__ void __launch_bounds__({}, {}) nbcc_interact(float* x) {{ *x = 1; }}\n",
                    threads, blocks);
    return installed_nvrtc()->compile(text, gpu.name(), {}).log;
  };
  for (const GpuLimits& gpu : kGpuLimits) {
    if (std::ranges::find(known, gpu.name()) == known.end()) continue;
    SCOPED_TRACE(gpu.name());
    EXPECT_THAT(log_of(gpu, 256, gpu.threads / 256), Not(HasSubstr("warning")));
    EXPECT_THAT(log_of(gpu, 256, gpu.threads / 256 + 1), HasSubstr("warning"));
    EXPECT_THAT(log_of(gpu, 32, gpu.blocks), Not(HasSubstr("warning")));
    EXPECT_THAT(log_of(gpu, 32, gpu.blocks + 1), HasSubstr("warning"));
  }
}

}  // namespace
}  // namespace nbcc::test
