// Opening GPUs, and loading kernels for them: memory, disk cache, compiler.
#include "runtime/cuda/program/cuda_device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <optional>
#include <thread>

#include "runtime/error.h"
#include "tests/support/cuda_experiment.h"
#include "tests/support/cuda_shim.h"
#include "tests/support/scratch_folder.h"

namespace nbcc {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

// The shim's compiler under another name, which counts, and notes what it was asked for.
struct CountingCompiler final : CudaCompiler {
  explicit CountingCompiler(std::shared_ptr<const CudaCompiler> compiler) : inner(std::move(compiler)) {}
  std::string identity() const override { return name; }
  int version() const override { return 13000; }
  std::vector<std::string> architectures() const override { return known; }
  CudaCode compile(const std::string& text, const std::string& architecture, const LaunchConfig& config,
                   Form form) const override {
    ++compiled;
    last_architecture = architecture;
    last_form = form;
    if (broken) return {"not an image", 0, 0};
    if (refuses) throw SourceRejected("the log\n" + refused_line(text) + ": error: no");
    return inner->compile(text, inner->architectures().back(), config, form);
  }

  // NVRTC's way to say where the first value is defined.
  static std::string refused_line(const std::string& text) {
    const std::size_t at = text.find("const float t");
    return "kernel.cu(" + std::to_string(1 + std::count(text.begin(), text.begin() + std::ptrdiff_t(at), '\n')) + ")";
  }

  std::shared_ptr<const CudaCompiler> inner;
  std::string name = "counting 1";
  std::vector<std::string> known{"sm_75", "sm_80", "sm_90"};
  bool broken = false, refuses = false;
  mutable int compiled = 0;
  mutable std::string last_architecture;
  mutable Form last_form = Form::Cubin;
};

class CudaDeviceTest : public testing::Test {
 protected:
  CudaDevice open(const std::string& dump = "") { return {shim_.driver(), compiler_, 0, folder_.path("cache"), dump}; }
  void set_architecture(int major, int minor) {
    test::CudaShim::Device kind;
    kind.major = major;
    kind.minor = minor;
    shim_.set_device(kind);
  }

  test::CudaShim shim_;
  test::ScratchFolder folder_;
  std::shared_ptr<CountingCompiler> compiler_ = std::make_shared<CountingCompiler>(shim_.compiler());
};

std::string failure_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const DeviceError& e) {
    return e.what();
  }
  return "no error";
}

TEST_F(CudaDeviceTest, NamesItselfAndItsArchitecture) {
  const CudaDevice device = open();
  EXPECT_EQ(device.name(), "cuda:0, Shim GPU, sm_90");
  EXPECT_EQ(device.arch(), "sm_90");
}

TEST_F(CudaDeviceTest, NamesOfDevices) {
  EXPECT_EQ(cuda_ordinal("cuda"), 0);
  EXPECT_EQ(cuda_ordinal("cuda:0"), 0);
  EXPECT_EQ(cuda_ordinal("cuda:12"), 12);
  for (const char* other : {"", "cpu", "cuda:", "cuda:x", "cuda:-1", "cuda:1x", "cuda1", "CUDA", "cuda:99999999999"}) {
    EXPECT_EQ(cuda_ordinal(other), std::nullopt) << other;
  }
}

TEST_F(CudaDeviceTest, AGpuThatIsNotThereIsSaidWithThoseThatAre) {
  const auto opening = [&] { CudaDevice(shim_.driver(), compiler_, 7, "", ""); };
  EXPECT_THAT(failure_of(opening), testing::AllOf(HasSubstr("cuda:7"), HasSubstr("cuda:1")));
}

TEST_F(CudaDeviceTest, CompilesOnceThenComesFromMemoryThenFromDisk) {
  CudaDevice first = open();
  test::load_experiment(first);
  test::load_experiment(first);
  EXPECT_EQ(compiler_->compiled, 1);
  CudaDevice second = open();
  test::load_experiment(second);
  EXPECT_EQ(compiler_->compiled, 1);
}

TEST_F(CudaDeviceTest, TextConfigurationArchitectureAndCompilerAreTheKey) {
  {
    CudaDevice device = open();
    test::load_experiment(device, false);
    test::load_experiment(device, true);
    EXPECT_EQ(compiler_->compiled, 2);
    const auto kernel = test::load_experiment(device, false);
    dynamic_cast<const CudaKernel&>(*kernel).launch_for(1, 1, false, true, {.j_tile = 64});
    EXPECT_EQ(compiler_->compiled, 3);
  }
  compiler_->name = "counting 2";
  CudaDevice device = open();
  test::load_experiment(device);
  EXPECT_EQ(compiler_->compiled, 4);
  set_architecture(8, 0);
  CudaDevice older = open();
  test::load_experiment(older);
  EXPECT_EQ(compiler_->compiled, 5);
  EXPECT_EQ(compiler_->last_architecture, "sm_80");
}

TEST_F(CudaDeviceTest, AGpuNewerThanTheCompilerGetsPtxOfTheNewestItKnows) {
  set_architecture(12, 0);
  CudaDevice device = open();
  test::load_experiment(device);
  EXPECT_EQ(compiler_->last_architecture, "sm_90");
  EXPECT_EQ(compiler_->last_form, CudaCompiler::Form::Ptx);
}

TEST_F(CudaDeviceTest, AGpuOlderThanTheCompilerIsSaid) {
  set_architecture(6, 1);
  EXPECT_THAT(failure_of([&] { open(); }), testing::AllOf(HasSubstr("sm_61"), HasSubstr("the oldest is sm_75")));
}

TEST_F(CudaDeviceTest, ACachedImageThatDoesNotLoadIsCompiledAgain) {
  compiler_->broken = true;
  CudaDevice device = open();
  EXPECT_THROW(test::load_experiment(device), DeviceError);
  compiler_->broken = false;
  test::load_experiment(device);
  // What another driver would leave behind: whole, and of no use here.
  const DiskCache cache(folder_.path("cache"));
  ASSERT_EQ(cache.list().size(), 1U);
  shim_.fail("module_load_data", 1, 200);
  CudaDevice again = open();
  test::load_experiment(again);
  EXPECT_EQ(compiler_->compiled, 3);
  CudaDevice third = open();
  test::load_experiment(third);
  EXPECT_EQ(compiler_->compiled, 3);
}

TEST_F(CudaDeviceTest, ADriverOlderThanTheCompilerIsExplained) {
  shim_.set_driver_version(12020);
  CudaDevice device = open();
  shim_.fail_from("module_load_data", 1, 222);
  const std::string message = failure_of([&] { test::load_experiment(device); });
  EXPECT_THAT(message, testing::AllOf(HasSubstr("driver is of CUDA 12.2"), HasSubstr("older than counting 1")));
  shim_.succeed("module_load_data");
  test::load_experiment(device);
}

TEST_F(CudaDeviceTest, AFailureThatIsNotTheImagesKeepsTheCache) {
  {
    CudaDevice device = open();
    test::load_experiment(device);
  }
  CudaDevice device = open();
  shim_.fail("module_load_data", 1, kCudaOutOfMemory);
  EXPECT_THROW(test::load_experiment(device), DeviceError);
  test::load_experiment(device);
  EXPECT_EQ(compiler_->compiled, 1);
}

TEST_F(CudaDeviceTest, DumpsTextAndImageAndNamesTheTextThatIsRefused) {
  {
    CudaDevice device = open(folder_.path("dump"));
    test::load_experiment(device);
  }
  std::vector<std::string> endings;
  for (const auto& entry : fs::directory_iterator(folder_.path("dump"))) {
    EXPECT_TRUE(entry.path().filename().string().starts_with("experiment-cuda-sm_90-"));
    endings.push_back(entry.path().extension());
  }
  EXPECT_THAT(endings, testing::UnorderedElementsAre(".cu", ".cubin"));
  compiler_->refuses = true;
  CudaDevice device = open(folder_.path("dump"));
  try {
    test::load_experiment(device, true);
    ADD_FAILURE() << "no error";
  } catch (const SourceRejected& e) {
    EXPECT_THAT(e.what(), testing::AllOf(HasSubstr("the log"), HasSubstr(folder_.path("dump"))));
  }
}

TEST_F(CudaDeviceTest, ATextThatIsRefusedIsKeptToBeLookedAt) {
  compiler_->refuses = true;
  CudaDevice device = open();
  try {
    test::load_experiment(device, true);
    ADD_FAILURE() << "no error";
  } catch (const SourceRejected& e) {
    const std::string message = e.what(), place = fs::temp_directory_path().string();
    EXPECT_THAT(message, HasSubstr("of pipeline 'experiment'")) << message;
    const std::size_t at = message.find(place + "/experiment-cuda-sm_90-");
    ASSERT_NE(at, std::string::npos) << message;
    const std::string file = message.substr(at);
    EXPECT_GT(fs::file_size(file), 0u);
    fs::remove(file);
  }
}

TEST_F(CudaDeviceTest, ThreadsThatLoadOneKernelCompileOnce) {
  CudaDevice device = open();
  std::vector<std::thread> threads;
  for (int k = 0; k < 4; ++k) threads.emplace_back([&] { test::load_experiment(device); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(compiler_->compiled, 1);
}

TEST_F(CudaDeviceTest, AKernelOutlivesItsDevice) {
  std::shared_ptr<const Kernel> kernel;
  {
    CudaDevice device = open();
    kernel = test::load_experiment(device);
  }
  CudaDevice other = open();
  test::CudaExperiment experiment(other.gpu(), kernel, test::random_experiment(10, 10));
  experiment.sum.run();
  EXPECT_NE(experiment.get("pot")[0], -7);
}

TEST_F(CudaDeviceTest, FewIGetAKernelWithFewerPerThread) {
  CudaDevice device = open();
  const auto kernel = test::load_experiment(device);
  const int before = compiler_->compiled;
  test::CudaExperiment few(device.gpu(), kernel, test::random_experiment(100, 1000));
  few.sum.run();
  EXPECT_GT(compiler_->compiled, before);
  const int after = compiler_->compiled;
  test::CudaExperiment again(device.gpu(), kernel, test::random_experiment(100, 1000));
  again.sum.run();
  EXPECT_EQ(compiler_->compiled, after);
}

}  // namespace
}  // namespace nbcc
