#include "runtime/cuda/cuda_launch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "runtime/cuda/cuda_split.h"
#include "runtime/error.h"
#include "tests/support/cuda_experiment.h"
#include "tests/support/cuda_shim.h"

namespace nbcc {
namespace {

// Two blocks for every four that are resident at once: two and four parts fill whole rounds.
TEST(CudaLaunch, PartsBeyondWholeRoundsTakeOneTileEach) {
  test::CudaShim shim;
  CudaDevice device(shim.driver(), shim.compiler(), 0, "", "");
  const auto loaded = test::load_experiment(device);
  const auto& kernel = dynamic_cast<const CudaKernel&>(*loaded);
  const CudaTuning told{{64, 1, 16, 2, 1}, 5};
  const CudaProgram* const program = kernel.cut(1, 1, true, told).program;
  ASSERT_NE(program, nullptr);
  const std::int64_t together = std::int64_t(program->blocks_per_multiprocessor()) * kernel.gpu().multiprocessors();
  ASSERT_EQ(together % 2, 0);
  const std::int64_t ni = together / 2 * 64, nj = 20 * 16;
  EXPECT_EQ(kernel.cut(ni, nj, true, told).short_parts, 1);

  // Everything is read from one number, and no output is wanted.
  const CudaCurrent current(kernel.gpu());
  CudaBuffer one(kernel.gpu());
  ASSERT_TRUE(one.reserve(sizeof(double)));
  kernel.gpu().driver().memset_d32_async(one.data(), 0, 2, nullptr);
  CudaLauncher launcher(kernel);
  for (int c = 0; c < 4; ++c) {
    launcher.arguments().i(c) = {one.data(), 0, std::int64_t(Element::Double)};
    launcher.arguments().j(c) = {one.data(), 0, std::int64_t(Element::Double)};
  }
  launcher.set_cut(told);
  launcher.cut_for(ni, nj, true);
  ASSERT_TRUE(launcher.reserve(ni, nullptr));
  const auto short_parts_with = [&](std::int64_t j_of_a_chunk) {
    launcher.launch({.ni = ni, .nj = j_of_a_chunk}, nullptr);
    return launcher.arguments().run().short_parts;
  };
  EXPECT_EQ(short_parts_with(nj), 1);
  // A chunk of as many tiles as parts has none longer than others.
  EXPECT_EQ(short_parts_with(5 * 16), 0);
}

// ---- launches that begin early

KernelSource edited(KernelSource source, const std::string& old, const std::string& text) {
  const std::size_t at = source.text.find(old);
  if (at == std::string::npos) throw std::logic_error("not in the text: " + old);
  source.text.replace(at, old.size(), text);
  return source;
}

// Two sums in a row, the first of which writes what the second reads as masses. Throws what waiting for them throws.
std::vector<double> chained(test::CudaShim& shim, CudaDevice& device, const std::shared_ptr<const Kernel>& kernel) {
  const test::Numbers inputs = test::random_experiment(40, 40);
  test::CudaExperiment first(device.gpu(), kernel, inputs), second(device.gpu(), kernel, inputs);
  second.sum.bind("mj", first.view("pot"));
  CudaQueue queue(device.gpu());
  CudaStream* const stream = [&] {
    const CudaCurrent current(device.gpu());
    return queue.get();
  }();
  // The first runs clear memory between their launches.
  first.sum.run({.stream = stream});
  second.sum.run({.stream = stream});
  second.sum.wait();
  first.put("pot", std::vector<double>(40, -7.0));
  shim.set_lazy(true);
  first.sum.run({.stream = stream});
  second.sum.run({.stream = stream});
  shim.set_lazy(false);
  {
    const CudaCurrent current(device.gpu());
    queue.wait();
  }
  return second.get("pot");
}

TEST(CudaLaunch, SeesWhatTheLaunchBeforeItHasWritten) {
  test::CudaShim shim;
  CudaDevice device(shim.driver(), shim.compiler(), 0, "", "");
  const auto kernel = test::load_experiment(device);
  test::Numbers inputs = test::random_experiment(40, 40);
  inputs["mj"] = test::expected_sums(inputs).at("pot");
  const std::vector<double> expected = test::expected_sums(inputs).at("pot"), got = chained(shim, device, kernel);
  for (std::size_t k = 0; k < expected.size(); ++k) EXPECT_NEAR(got[k], expected[k], 1e-4 * std::abs(expected[k]));

  const KernelSource& source = dynamic_cast<const CudaKernel&>(*kernel).source;
  const std::string wait = "  wait_for_earlier_launches();\n", combine = "  // What a group has is stored";
  EXPECT_NE(chained(shim, device, device.load(edited(edited(source, wait, ""), combine, wait + combine))), got);
  EXPECT_THAT(shim.take_failures(), testing::IsEmpty());
  EXPECT_THROW(chained(shim, device, device.load(edited(source, wait, ""))), DeviceError);
  EXPECT_THAT(shim.take_failures(), testing::Contains(testing::HasSubstr("waits for no earlier launch")));
}

// Not code for older GPUs, which does not wait, nor by a driver without the function, nor into a graph.
TEST(CudaLaunch, BeginsEarlyOnlyWhereTheCodeWaitsAndTheDriverCan) {
  const auto early_launches = [](int ptx_version, bool has_function, bool captured) {
    test::CudaShim shim;
    shim.set_device({.ptx_version = ptx_version});
    CudaDriver driver = shim.driver();
    if (!has_function) driver.launch_kernel_ex = nullptr;
    CudaDevice device(driver, shim.compiler(), 0, "", "");
    test::CudaExperiment experiment(device.gpu(), test::load_experiment(device), test::random_experiment(4, 4));
    CudaQueue queue(device.gpu());
    const CudaCurrent current(device.gpu());
    experiment.sum.run({.stream = queue.get()});
    experiment.sum.wait();
    shim.forget_calls();
    if (captured) shim.begin_capture(queue.get());
    experiment.sum.run({.stream = queue.get()});
    if (captured) shim.end_capture(queue.get());
    experiment.sum.wait();
    EXPECT_EQ(shim.calls("launch_kernel") + shim.calls("launch_kernel_ex"), 1);
    return shim.calls("launch_kernel_ex");
  };
  EXPECT_EQ(early_launches(90, true, false), 1);
  EXPECT_EQ(early_launches(89, true, false), 0);
  EXPECT_EQ(early_launches(90, false, false), 0);
  EXPECT_EQ(early_launches(90, true, true), 0);
}

}  // namespace
}  // namespace nbcc
