// Every cell of the table of capabilities (docs/reference/what_goes_together.md) in random runs: on the CPU, on the
// shim with one GPU and with two, and on the GPUs of this machine. A cell is shown once, or kTimesOfAll times where all
// cases run. NBCC_DRAW=ROW:FEATURE:SEED, which a failure prints, runs that one alone.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <tuple>

#include "runtime/cuda/group/cuda_group.h"
#include "runtime/error.h"
#include "tests/support/cpu_run.h"
#include "tests/support/crossed_run.h"
#include "tests/support/cuda_shim.h"
#include "tests/support/library_device.h"
#include "tests/support/sampling.h"

namespace nbcc::test {
namespace {

constexpr int kTimesOfAll = 20, kMostFailures = 12;
std::uint64_t variety() { return tests_all() ? 24 : 6; }

KernelSource build_for_gpus(const Pipeline& p, const Options& o) { return build_cuda_kernel(p, o, ""); }

KernelSource build_as_in_library(const Pipeline& p, const Options& o) {
  return as_in_library(build_cpu_kernel(p, o, detect_isa(), ""), o.precision);
}

// Draws each cell until it was shown as often as it should be.
void expect_table(CrossedTrials& trials) {
  if (const char* const draw = std::getenv("NBCC_DRAW")) {
    const std::string text = draw;
    const std::size_t first = text.find(':'), second = text.find(':', first + 1);
    const auto feature = Feature(std::stoi(text.substr(first + 1)));
    const std::string row = text.substr(0, first);
    EXPECT_EQ(
        trials(draw_crossed(find_capability(row)->name, feature, std::stoull(text.substr(second + 1)), variety())), "");
    return;
  }
  const int times = tests_all() ? kTimesOfAll : 1;
  std::uint64_t seed = 1000 * sample_number();
  int failures = 0;
  for (const Capability& row : capabilities())
    for (const FeatureFacts& column : features()) {
      const auto count = [&] {
        const auto found = trials.shown().find({row.name, column.feature});
        return found == trials.shown().end() ? 0 : found->second;
      };
      for (int tries = 0; count() < times && tries < 4 * times; ++tries) {
        const std::string fault = trials(draw_crossed(row.name, column.feature, ++seed, variety()));
        if (fault.empty()) continue;
        ADD_FAILURE() << fault;
        if (++failures == kMostFailures) return;
      }
      EXPECT_GE(count(), times) << row.name << " with " << column.name << " was not shown";
    }
}

TEST(WhatGoesTogether, OnCpu) {
  const std::vector<Isa> isas = runnable_isas();
  const Isa other = isas[sample_number() % isas.size()];
  std::vector<CrossedDevice> devices;
  for (const auto& [isa, threads, twin] : {std::tuple{detect_isa(), 3, 1}, {detect_isa(), 1, 0}, {other, 2, -1}})
    devices.push_back({fmt::format("{} with {} threads", name(isa), threads),
                       std::make_shared<CpuDevice>(threads, isa, cpu_toolchain(), "", ""),
                       [isa](const Pipeline& p, const Options& o) { return build_cpu_kernel(p, o, isa, ""); },
                       {},
                       twin});
  devices.push_back({"a compiled library's kernels",
                     std::make_shared<CpuDevice>(2, detect_isa(), cpu_toolchain(), "", ""),
                     build_as_in_library,
                     {},
                     0});
  CrossedTrials trials(std::move(devices));
  expect_table(trials);
}

// One GPU, and two as one device.
std::vector<CrossedDevice> gpus_of(const std::vector<std::shared_ptr<CudaDevice>>& gpus) {
  std::vector<CrossedDevice> devices{{"a GPU", gpus[0], build_for_gpus, {&gpus[0]->gpu()}}};
  if (gpus.size() > 1) {
    devices[0].twin = 1;
    devices.push_back(
        {"two GPUs", std::make_shared<CudaGroup>(gpus, true), build_for_gpus, {&gpus[0]->gpu(), &gpus[1]->gpu()}, 0});
  }
  return devices;
}

TEST(WhatGoesTogetherOnShim, OneAndTwoGpus) {
  CudaShim shim;
  shim.allow_minus_one();
  shim.set_device_count(2);
  const ShimOrder::Kind kinds[] = {ShimOrder::Kind::Forward, ShimOrder::Kind::Backward, ShimOrder::Kind::Shuffled};
  shim.set_block_order({kinds[sample_number() % 3], 7});
  shim.set_thread_order({kinds[sample_number() / 3 % 3], 5});
  std::vector<std::shared_ptr<CudaDevice>> gpus;
  for (int k = 0; k < 2; ++k) gpus.push_back(std::make_shared<CudaDevice>(shim.driver(), shim.compiler(), k, "", ""));
  std::vector<CrossedDevice> devices = gpus_of(gpus);
  const auto library = std::make_shared<LibraryDevice>(gpus[0], shim.compiler());
  devices.push_back({"a GPU with a compiled library", library, build_for_gpus, {&gpus[0]->gpu()}, 0});
  CrossedTrials trials(std::move(devices));
  expect_table(trials);
  EXPECT_THAT(library->unknown(), testing::IsEmpty());
}

TEST(WhatGoesTogetherOnGpu, OneAndTwoGpus) {
  std::vector<std::shared_ptr<CudaDevice>> gpus;
  try {
    gpus.push_back(std::make_shared<CudaDevice>(cuda_driver(), make_nvrtc(), 0, "", ""));
  } catch (const DeviceError& e) {
    GTEST_SKIP() << e.what();
  }
  int count = 1;
  check(cuda_driver(), cuda_driver().device_get_count(&count), "counting the GPUs");
  if (count > 1) gpus.push_back(std::make_shared<CudaDevice>(cuda_driver(), make_nvrtc(), 1, "", ""));
  CrossedTrials trials(gpus_of(gpus));
  expect_table(trials);
}

}  // namespace
}  // namespace nbcc::test
