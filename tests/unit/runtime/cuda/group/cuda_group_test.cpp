// Several GPUs as one device: their names, the order of their work, and what goes wrong. What they sum up is
// tests/numeric/cuda_group_test.cpp's.
#include "runtime/cuda/group/cuda_group.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <typeinfo>

#include "jit/backend.h"
#include "jit/build_kernel.h"
#include "runtime/api/handles.h"
#include "runtime/api/open_device.h"
#include "runtime/cpu/cpu_device.h"
#include "runtime/cuda/run/cuda_copies.h"
#include "runtime/error.h"
#include "runtime/sum/run/sum.h"
#include "tests/support/cuda_experiment.h"
#include "tests/support/cuda_shim.h"

namespace nbcc {
namespace {

using test::CudaExperiment;
using test::CudaShim;
using test::Numbers;

class CudaGroupTest : public testing::Test {
 protected:
  CudaGroupTest() {
    shim_.set_device_count(3);
    for (int k = 0; k < 3; ++k)
      gpus_.push_back(std::make_shared<CudaDevice>(shim_.driver(), shim_.compiler(), k, "", ""));
  }
  std::shared_ptr<KernelDevice> group(int count) {
    if (count == 1) return gpus_[0];
    return std::make_shared<CudaGroup>(std::vector(gpus_.begin(), gpus_.begin() + count), true);
  }

  CudaShim shim_;
  std::vector<std::shared_ptr<CudaDevice>> gpus_;
};

// Nothing is done before somebody waits, and then in the order of streams and events.
TEST_F(CudaGroupTest, OrdersItsWorkByEvents) {
  const Numbers inputs = test::random_experiment(900, 200);
  CudaExperiment one(gpus_[0]->gpu(), test::load_experiment(*gpus_[0]), inputs);
  CudaExperiment several(gpus_[0]->gpu(), test::load_experiment(*group(3)), inputs);
  one.sum.run();
  several.sum.run();  // loads and sizes
  several.sum.wait();
  several.put("acc", std::vector<double>(2700, -7));
  shim_.set_lazy(true);
  several.sum.run();
  {
    const CudaContextGuard guard(gpus_[0]->gpu());
    shim_.driver().stream_synchronize(nullptr);  // the caller's stream, and nothing else
  }
  shim_.set_lazy(false);
  EXPECT_EQ(several.get("acc"), one.get("acc"));
}

TEST_F(CudaGroupTest, RefusesGpusThatCannotWorkTogether) {
  const auto failure = [&](const std::vector<std::shared_ptr<CudaDevice>>& members) -> std::string {
    try {
      const CudaGroup made(members);
    } catch (const DeviceError& e) {
      return e.what();
    }
    return "no error";
  };
  EXPECT_EQ(failure({gpus_[0], gpus_[1], gpus_[0]}), "cuda:0 is named twice");
  shim_.set_linked(false);
  EXPECT_EQ(failure({gpus_[0], gpus_[1]}), "cuda:0 and cuda:1 cannot reach each other's memory");
  EXPECT_EQ(group(1)->name(), "cuda:0, Shim GPU, sm_90");
  shim_.set_linked(true);
  EXPECT_EQ(group(3)->name(), "cuda:0,1,2, 3 x Shim GPU, sm_90");
}

// They may be two allocations, across whose border a driver copies nothing.
TEST_F(CudaGroupTest, CopiesArraysThatTouchOneByOne) {
  const CudaGpu& gpu = gpus_[0]->gpu();
  const KernelSource source = build_cuda_kernel(
      Source{"touch.pipe", "input_i real xi; input_j real xj; output(sum) real s; s += xj - xi;"}, Options{}, "");
  const test::DeviceArray both(gpu, 16 * 8);
  auto* const data = static_cast<std::byte*>(both.data());
  const ArrayView xi{data, Element::Double, 8, 8, 8}, xj{data + 64, Element::Double, 8, 8, 8};
  const std::vector<ArrayView> views{xi, xj, {}};
  EXPECT_EQ(copied_bytes(source, views), 128U);
  const CudaContextGuard guard(gpus_[1]->gpu());
  CudaCopies copies(gpus_[1]->gpu());
  const int before = shim_.calls("memcpy_async");
  const std::vector<ArrayView> there = copies.copy(source, views, nullptr, false);
  EXPECT_EQ(shim_.calls("memcpy_async") - before, 2);
  EXPECT_NE(there[1].data, static_cast<std::byte*>(there[0].data) + 64);
}

// Whoever takes a device takes several GPUs: texts, and libraries.
TEST_F(CudaGroupTest, IsADeviceOfTheInterface) {
  nbcc_device device{group(3)};
  constexpr const char* kText = "input_i real xi; input_j real xj; output(sum) real s; s += xj - xi;";
  nbcc_pipeline* made = nullptr;
  ASSERT_EQ(nbcc_pipeline_from_text(&device, kText, "pull.pipe", nullptr, &made, nullptr), NBCC_OK);
  const std::unique_ptr<nbcc_pipeline> pipeline(made);
  SumState sum(pipeline->kernel);
  std::vector<double> xi(600, 1), xj{10, 20, 30}, s(600);
  sum.bind("xi", {xi.data(), Element::Double, 600, 8, 8});
  sum.bind("xj", {xj.data(), Element::Double, 3, 8, 8});
  sum.bind("s", {s.data(), Element::Double, 600, 8, 8});
  sum.run();
  EXPECT_EQ(s, std::vector<double>(600, 57));
}

TEST_F(CudaGroupTest, OfOneGpuTheFirstIsKnown) {
  EXPECT_EQ(first_gpu(*gpus_[1]), gpus_[1].get());
  EXPECT_EQ(first_gpu(*group(2)), gpus_[0].get());
  const CpuDevice cpu(1, detect_isa(), nullptr, "", "");
  EXPECT_EQ(first_gpu(cpu), nullptr);
}

// A compiler is not given to a device of another backend's type.
TEST_F(CudaGroupTest, RefusesTheCompilerOfTheCpu) {
  EXPECT_THROW(backend_named("cpu").provide_compiler(*gpus_[0]), std::bad_cast);
}

// A sum that one GPU has done before the others have its arrays.
TEST_F(CudaGroupTest, LeavesSmallSumsToOneGpu) {
  const Numbers inputs = test::random_experiment(700, 300);
  CudaGroup two({gpus_[0], gpus_[1]});
  const auto kernel = test::load_experiment(two);
  for (const std::set<std::string>& host : {std::set<std::string>(), test::kAllFields}) {
    CudaExperiment one(gpus_[1]->gpu(), test::load_experiment(*gpus_[1]), inputs, host);
    CudaExperiment several(gpus_[1]->gpu(), kernel, inputs, host);
    one.sum.run();
    one.sum.wait();
    const int before = shim_.calls("launch_kernel_ex");
    several.sum.run();
    several.sum.wait();
    EXPECT_EQ(shim_.calls("launch_kernel_ex") - before, 1);
    EXPECT_EQ(several.outputs(), one.outputs());
  }
}

TEST_F(CudaGroupTest, AGpuThatFailsFailsTheRun) {
  const Numbers inputs = test::random_experiment(900, 200);
  for (const std::set<std::string>& host : {std::set<std::string>(), test::kAllFields}) {
    CudaExperiment several(gpus_[0]->gpu(), test::load_experiment(*group(3)), inputs, host);
    several.sum.run();
    shim_.fail("launch_kernel_ex", 2, 719);
    EXPECT_THROW(several.sum.run(), DeviceError);
    several.sum.run();
    several.sum.wait();
    CudaExperiment one(gpus_[0]->gpu(), test::load_experiment(*gpus_[0]), inputs, host);
    one.sum.run();
    EXPECT_EQ(several.outputs(), one.outputs());
  }
}

TEST_F(CudaGroupTest, NamesOfDevices) {
  EXPECT_EQ(cuda_ordinals("cuda"), std::vector{0});
  EXPECT_EQ(cuda_ordinals("cuda:3"), std::vector{3});
  EXPECT_EQ(cuda_ordinals("cuda:0,2,10"), (std::vector{0, 2, 10}));
  EXPECT_EQ(cuda_ordinals("cuda:all"), std::vector<int>());
  for (const char* wrong : {"cpu", "cuda:", "cuda:0,", "cuda:,1", "cuda:0;1", "cuda:-1", "cuda:alle", "cuda0,1"})
    EXPECT_FALSE(cuda_ordinals(wrong)) << wrong;
  EXPECT_EQ(cuda_ordinal("cuda:2"), 2);
  EXPECT_FALSE(cuda_ordinal("cuda:0,1"));
  EXPECT_FALSE(cuda_ordinal("cuda:all"));
  // Of several names with commas between them, as $NBCC_DEVICE has.
  EXPECT_EQ(first_device_name("cuda:0,2,10"), "cuda:0,2,10");
  EXPECT_EQ(first_device_name("cuda:0,2,cpu"), "cuda:0,2");
  EXPECT_EQ(first_device_name("cuda:0,cuda:1"), "cuda:0");
  EXPECT_EQ(first_device_name("cpu"), "cpu");
}

}  // namespace
}  // namespace nbcc
