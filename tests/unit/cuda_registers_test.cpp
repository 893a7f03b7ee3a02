// Every pipeline of the library through NVRTC, for GPUs from Turing to Blackwell, in the shape that the text itself
// asks for: no warning, no spilled register. Single precision for all of them; mixed and double, which would take two
// thirds of the time, for the oldest and for one of the GPUs that have a double-precision unit of full width. Registers
// are written to cuda_registers/PIPELINE.txt of the build folder, a line for each kernel, the same from run to run.
// Skipped where NVRTC is not installed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "compiler/emit/cuda/emit_cuda.h"
#include "compiler/passes/optimize.h"
#include "compiler/source/parse.h"
#include "fmt/format.h"
#include "runtime/cuda/cuda_compiler.h"
#include "tests/support/folders.h"
#include "tests/support/installed_nvrtc.h"

namespace nbcc {
namespace {

// NVRTC 13 begins with sm_75; NVRTC before 12.8 does not know the last two.
struct Target {
  const char* architecture;
  bool every_precision;
};
constexpr Target kTargets[] = {
    {"sm_75", true}, {"sm_80", false}, {"sm_90", true}, {"sm_100", false}, {"sm_120", false}};

std::vector<std::string> library() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(test::source_folder() + "/pipelines")) {
    if (entry.path().extension() == ".pipe") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

void write_table(const std::string& pipeline, const std::string& lines) {
  const std::filesystem::path folder = test::build_folder() + "/cuda_registers";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / (pipeline + ".txt")) << lines;
}

class CudaRegisters : public testing::TestWithParam<std::string> {};

TEST_P(CudaRegisters, SufficeOnEveryArchitecture) {
  NBCC_NEEDS_NVRTC();
  const CudaCompiler* const nvrtc = test::installed_nvrtc();
  const std::vector<std::string> known = nvrtc->architectures();
  const Pipeline pipeline = parse(read_source(test::source_folder() + "/pipelines/" + GetParam() + ".pipe"));
  std::string lines;
  for (const Precision precision : {Precision::Single, Precision::Mixed, Precision::Double}) {
    const Options options{.precision = precision};
    const std::string text = emit_cuda(optimize(pipeline, options, cuda_target()), options).text;
    for (const auto& [architecture, every_precision] : kTargets) {
      if (precision != Precision::Single && !every_precision) continue;
      if (std::find(known.begin(), known.end(), architecture) == known.end()) continue;
      const std::string kernel = fmt::format("{:<24}{:<8}{:<8}", GetParam(), name(precision), architecture);
      const CudaCode code = nvrtc->compile(text, architecture, {});
      EXPECT_GT(code.registers, 0) << kernel << code.log;
      EXPECT_EQ(code.spilled_bytes, 0) << kernel;
      EXPECT_THAT(code.log, testing::Not(testing::HasSubstr("warning"))) << kernel;
      RecordProperty(fmt::format("{}_{}", name(precision), architecture), code.registers);
      lines += fmt::format("{}{:>4} registers {:>6} bytes spilled\n", kernel, code.registers, code.spilled_bytes);
    }
  }
  ASSERT_FALSE(lines.empty()) << "NVRTC knows none of the architectures";
  write_table(GetParam(), lines);
}

// Room asked for more threads than there are registers for: fewer get it.
TEST(CudaRegisters, AreNotSpilledForTheSakeOfMoreThreads) {
  NBCC_NEEDS_NVRTC();
  const CudaCompiler* const nvrtc = test::installed_nvrtc();
  const Pipeline pipeline = parse(read_source(test::source_folder() + "/pipelines/sph_force.pipe"));
  const std::string text = emit_cuda(optimize(pipeline, {}, cuda_target()), {}).text;
  const CudaShape shape{.threads = 128, .i_per_thread = 2, .j_tile = 256, .unroll = 0, .lanes = 1};
  const CudaCode code = nvrtc->compile("#define NBCC_RESIDENT 1024\n" + text, "sm_90", shape);
  EXPECT_EQ(code.spilled_bytes, 0);
  EXPECT_GT(code.registers, 64);
}

std::string by_name(const testing::TestParamInfo<std::string>& info) { return info.param; }
INSTANTIATE_TEST_SUITE_P(Library, CudaRegisters, testing::ValuesIn(library()), by_name);

}  // namespace
}  // namespace nbcc
