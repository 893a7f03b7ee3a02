// NVRTC: where it is looked for, what it makes of a small kernel, and how it says no. What compiles is skipped on
// machines without it.
#include "runtime/cuda/driver/cuda_compiler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "runtime/cuda/driver/nvrtc.h"
#include "runtime/error.h"
#include "tests/support/scratch_folder.h"

namespace nbcc {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr const char* kTiny =
    "#ifndef NBCC_THREADS\n#define NBCC_THREADS 128\n#endif\n"
    "extern \"C\" __global__ void __launch_bounds__(NBCC_THREADS) nbcc_interact(float* x) {\n"
    "  __shared__ float tile[NBCC_THREADS];\n"
    "  tile[threadIdx.x] = x[threadIdx.x];\n"
    "  __syncthreads();\n"
    "  x[threadIdx.x] = tile[NBCC_THREADS - 1 - threadIdx.x] / 3.0f;\n"
    "}\n";
// More values at once than a thread of so large a block has registers.
constexpr const char* kSpilling =
    "extern \"C\" __global__ void __launch_bounds__(1024) nbcc_interact(float* x) {\n"
    "  float v[128];\n"
    "#pragma unroll\n"
    "  for (int k = 0; k < 128; ++k) v[k] = x[k * 1024 + threadIdx.x];\n"
    "  __syncthreads();\n"
    "#pragma unroll\n"
    "  for (int k = 0; k < 128; ++k) x[k * 1024 + threadIdx.x] = v[127 - k] * v[k];\n"
    "}\n";

template <typename Error, typename Call>
std::string problem_of(const Call& call) {
  try {
    call();
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

class NvrtcTest : public testing::Test {
 protected:
  void SetUp() override {
    try {
      nvrtc_ = make_nvrtc();
    } catch (const DeviceError& e) {
      GTEST_SKIP() << e.what();
    }
  }
  bool knows(const std::string& architecture) const {
    const std::vector<std::string> known = nvrtc_->architectures();
    return std::count(known.begin(), known.end(), architecture) > 0;
  }
  std::shared_ptr<const CudaCompiler> nvrtc_;
};

TEST_F(NvrtcTest, MakesCubinsForEveryArchitectureItKnows) {
  int compiled = 0;
  for (const char* architecture : {"sm_75", "sm_80", "sm_90", "sm_100", "sm_120"}) {
    if (!knows(architecture)) continue;
    const CudaCode code = nvrtc_->compile(kTiny, architecture, {});
    EXPECT_THAT(code.image, StartsWith("\177ELF")) << architecture;
    EXPECT_GT(code.registers, 3) << architecture;
    EXPECT_EQ(code.spilled_bytes, 0) << architecture;
    ++compiled;
  }
  EXPECT_GE(compiled, 2);
}

TEST_F(NvrtcTest, ReadsRegistersAndSpillsOfAKernelThatNeedsTooMany) {
  const CudaCode code = nvrtc_->compile(kSpilling, "sm_80", {});
  EXPECT_GE(code.registers, 32);
  EXPECT_LE(code.registers, 64);
  EXPECT_GT(code.spilled_bytes, 0);
}

TEST_F(NvrtcTest, MakesPtxThatDividesAsIeeeSays) {
  const CudaCode code = nvrtc_->compile(kTiny, "sm_80", {}, CudaCompiler::Form::Ptx);
  EXPECT_THAT(code.image, HasSubstr(".target sm_80"));
  EXPECT_THAT(code.image, HasSubstr(".entry nbcc_interact"));
  EXPECT_THAT(code.image, HasSubstr("div.rn.f32"));
  EXPECT_THAT(code.image, Not(HasSubstr(".ftz")));
  EXPECT_NE(code.image.back(), '\0');
}

TEST_F(NvrtcTest, MachineCodeComesWithThePtxThatWouldBeMadeAlone) {
  const CudaCode both = nvrtc_->compile(kTiny, "sm_90", {}, CudaCompiler::Form::Cubin);
  EXPECT_EQ(both.ptx, nvrtc_->compile(kTiny, "sm_90", {}, CudaCompiler::Form::Ptx).image);
  EXPECT_THAT(both.ptx, HasSubstr(".target sm_90"));
}

TEST_F(NvrtcTest, FusesNothingByItself) {
  const char* const text = "extern \"C\" __global__ void nbcc_interact(float* x) { x[0] = x[1] * x[2] + x[3]; }\n";
  EXPECT_THAT(nvrtc_->compile(text, "sm_80", {}, CudaCompiler::Form::Ptx).image, Not(HasSubstr("fma")));
}

TEST_F(NvrtcTest, TheShapeReachesTheTextAsMacros) {
  const char* const text =
      "static_assert(NBCC_THREADS == 64 && NBCC_I_PER_THREAD == 4 && NBCC_J_TILE == 256 && NBCC_UNROLL == 8);\n"
      "extern \"C\" __global__ void nbcc_interact() {}\n";
  EXPECT_NO_THROW(nvrtc_->compile(text, "sm_80", {64, 4, 256, 8}));
  EXPECT_THROW(nvrtc_->compile(text, "sm_80", {64, 4, 256, 16}), SourceRejected);
  EXPECT_THAT(problem_of<SourceRejected>([&] { nvrtc_->compile(text, "sm_80", {64, 4, 256, 0}); }),
              HasSubstr("identifier \"NBCC_UNROLL\" is undefined"));
}

TEST_F(NvrtcTest, ATextThatIsRefusedComesWithTheLog) {
  const std::string problem = problem_of<SourceRejected>(
      [&] { nvrtc_->compile("extern \"C\" __global__ void nbcc_interact(float* x) {\n  *x = y;\n}\n", "sm_80", {}); });
  EXPECT_THAT(problem, HasSubstr("sm_80"));
  EXPECT_THAT(problem, HasSubstr("kernel.cu(2): error: identifier \"y\" is undefined"));
}

TEST_F(NvrtcTest, AnUnknownArchitectureIsAnsweredWithTheKnown) {
  for (const char* architecture : {"sm_9", "sm_999", "", "90", "--help"}) {
    const std::string problem = problem_of<DeviceError>([&] { nvrtc_->compile(kTiny, architecture, {}); });
    EXPECT_THAT(problem, HasSubstr("'" + std::string(architecture) + "'"));
    EXPECT_THAT(problem, HasSubstr("sm_80, "));
  }
}

TEST_F(NvrtcTest, NamesItselfItsVersionAndItsArchitecturesInOrder) {
  EXPECT_GE(nvrtc_->version(), 11020);
  const std::string version =
      std::to_string(nvrtc_->version() / 1000) + "." + std::to_string(nvrtc_->version() % 1000 / 10);
  EXPECT_THAT(nvrtc_->identity(), StartsWith("NVRTC " + version));
  EXPECT_THAT(nvrtc_->identity(), HasSubstr("--fmad=false"));
  EXPECT_EQ(make_nvrtc()->identity(), nvrtc_->identity());
  const std::vector<std::string> known = nvrtc_->architectures();
  EXPECT_THAT(known, Contains("sm_80"));
  EXPECT_TRUE(std::is_sorted(known.begin(), known.end(), [](const std::string& a, const std::string& b) {
    return std::stoi(a.substr(3)) < std::stoi(b.substr(3));
  }));
}

TEST(NvrtcPlaces, WhatIsNotFoundSaysWhereItWasLookedFor) {
  const std::string problem =
      problem_of<DeviceError>([] { open_nvrtc({{"$SOME_VARIABLE (not set)", {}}, {"/nowhere", {"/nowhere/lib64"}}}); });
  EXPECT_THAT(problem, HasSubstr("no NVRTC"));
  EXPECT_THAT(problem, HasSubstr("\n  $SOME_VARIABLE (not set)\n  /nowhere"));
  EXPECT_THAT(problem, Not(HasSubstr("could not use")));
}

TEST(NvrtcPlaces, ALibraryThatDoesNotOpenIsSaidWithTheReason) {
  const test::ScratchFolder scratch;
  const std::string library = scratch.write("libnvrtc.so.13", "no library");
  const std::string problem =
      problem_of<DeviceError>([&] { open_nvrtc({{"a folder", {library.substr(0, library.rfind('/'))}}}); });
  EXPECT_THAT(problem, HasSubstr("could not use"));
  EXPECT_THAT(problem, HasSubstr(library + ": "));
}

class Environment : public testing::Test {
 protected:
  static constexpr const char* kNames[] = {"CUDA_HOME", "CUDA_PATH", "VIRTUAL_ENV", "CONDA_PREFIX", "HOME"};
  void SetUp() override {
    for (const char* name : kNames) {
      const char* const value = std::getenv(name);
      before_.emplace_back(value != nullptr, value ? value : "");
    }
  }
  void TearDown() override {
    for (std::size_t k = 0; k < before_.size(); ++k) {
      before_[k].first ? setenv(kNames[k], before_[k].second.c_str(), 1) : unsetenv(kNames[k]);
    }
  }
  static LibraryLocation place(const std::string& name) {
    for (const LibraryLocation& candidate : nvrtc_locations()) {
      if (candidate.name.starts_with(name)) return candidate;
    }
    return {};
  }

  test::ScratchFolder scratch_;
  std::vector<std::pair<bool, std::string>> before_;
};

TEST_F(Environment, AToolkitIsLookedForFirstWhereTheVariableSays) {
  std::filesystem::create_directories(scratch_.path("toolkit/lib64"));
  setenv("CUDA_HOME", scratch_.path("toolkit").c_str(), 1);
  const LibraryLocation first = nvrtc_locations().front();
  EXPECT_EQ(first.name, "$CUDA_HOME = " + scratch_.path("toolkit"));
  EXPECT_EQ(first.folders, std::vector{scratch_.path("toolkit/lib64")});
  unsetenv("CUDA_HOME");
  EXPECT_EQ(nvrtc_locations().front().name, "$CUDA_HOME (not set)");
  EXPECT_TRUE(nvrtc_locations().front().folders.empty());
}

TEST_F(Environment, TheWheelsOfPythonsAreFoundTheNewestFirst) {
  for (const char* root :
       {"venv/lib/python3.9/site-packages", "home/.pyenv/versions/3.13.1/lib/python3.13/site-packages"})
    for (const char* wheel : {"/nvidia/cuda_nvrtc/lib", "/nvidia/cu13/lib"})
      std::filesystem::create_directories(scratch_.path(std::string(root) + wheel));
  setenv("VIRTUAL_ENV", scratch_.path("venv").c_str(), 1);
  setenv("HOME", scratch_.path("home").c_str(), 1);
  const std::string packages = scratch_.path("venv/lib/python3.9/site-packages/nvidia");
  EXPECT_THAT(place("$VIRTUAL_ENV").folders,
              testing::ElementsAre(packages + "/cu13/lib", packages + "/cuda_nvrtc/lib", scratch_.path("venv/lib")));
  EXPECT_EQ(place(scratch_.path("home/.pyenv")).folders.size(), 2u);
}

TEST_F(Environment, TheWheelsBesideThePackageAreFoundWithoutAVariable) {
  const std::string packages = scratch_.path("unnamed/lib/python3.12/site-packages");
  for (const char* wheel : {"/nvidia/cuda_nvrtc/lib", "/nvidia/cu13/lib"})
    std::filesystem::create_directories(packages + wheel);
  EXPECT_THAT(wheels_beside(packages + "/nbcc/libnbcc_jit.so").folders,
              testing::ElementsAre(packages + "/nvidia/cu13/lib", packages + "/nvidia/cuda_nvrtc/lib"));
  EXPECT_TRUE(wheels_beside(scratch_.path("bin/nbcc")).folders.empty());
}

TEST(AssemblerReport, TheKernelsNumbersAreTakenAndNotItsNeighbours) {
  constexpr const char* log =
      "ptxas info    : 0 bytes gmem\n"
      "ptxas info    : Compiling entry function 'before' for 'sm_90'\n"
      "ptxas info    : Function properties for before\n"
      "    0 bytes stack frame, 8 bytes spill stores, 8 bytes spill loads\n"
      "ptxas info    : Used 11 registers, used 0 barriers\n"
      "ptxas info    : Compiling entry function 'nbcc_interact' for 'sm_90'\n"
      "ptxas info    : Function properties for called\n"
      "    0 bytes stack frame, 16 bytes spill stores, 16 bytes spill loads\n"
      "ptxas info    : Function properties for nbcc_interact\n"
      "    720 bytes stack frame, 628 bytes spill stores, 640 bytes spill loads\n"
      "ptxas info    : Used 32 registers, used 1 barriers, 720 bytes cumulative stack size\n"
      "ptxas info    : Compiling entry function 'after' for 'sm_90'\n"
      "ptxas info    : Function properties for after\n"
      "    0 bytes stack frame, 4 bytes spill stores, 4 bytes spill loads\n"
      "ptxas info    : Used 99 registers, used 0 barriers\n";
  CudaCode code;
  read_assembler_report(log, code);
  EXPECT_EQ(code.registers, 32);
  EXPECT_EQ(code.spilled_bytes, 640);
}

TEST(AssemblerReport, ALogThatDoesNotSpeakOfItLeavesZeros) {
  CudaCode code;
  read_assembler_report("ptxas info    : Compiling entry function 'other' for 'sm_90'\nUsed 11 registers\n", code);
  EXPECT_EQ(code.registers, 0);
  EXPECT_EQ(code.spilled_bytes, 0);
}

}  // namespace
}  // namespace nbcc
