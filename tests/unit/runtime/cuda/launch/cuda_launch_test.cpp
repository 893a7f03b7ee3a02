#include "runtime/cuda/launch/cuda_launch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "runtime/cuda/program/cuda_device.h"
#include "runtime/error.h"
#include "tests/support/cuda_experiment.h"
#include "tests/support/cuda_shim.h"

namespace nbcc {
namespace {

KernelSource edited(KernelSource source, const std::string& old, const std::string& text) {
  const std::size_t at = source.first().source.find(old);
  if (at == std::string::npos) throw std::logic_error("not in the text: " + old);
  source.first().source.replace(at, old.size(), text);
  return source;
}

// Two sums in a row, the first of which writes what the second reads as masses. Throws what waiting for them throws.
std::vector<double> chained(test::CudaShim& shim, CudaDevice& device, const std::shared_ptr<const Kernel>& kernel) {
  const test::Numbers inputs = test::random_experiment(40, 40);
  test::CudaExperiment first(device.gpu(), kernel, inputs), second(device.gpu(), kernel, inputs);
  second.sum.bind("mj", first.view("pot"));
  CudaOwnStream queue(device.gpu());
  CudaStream* const stream = [&] {
    const CudaContextGuard guard(device.gpu());
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
    const CudaContextGuard guard(device.gpu());
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
  const std::string wait = "  pdl_wait();\n", combine = "  // The partial of a group of splits";
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
    CudaOwnStream queue(device.gpu());
    const CudaContextGuard guard(device.gpu());
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
