// Every pipeline of the library through NVRTC, for GPUs from Turing to Blackwell, in the shape that the text itself
// asks for: no warning, no spilled register. NVRTC is slow, so each goes through it four times: in single precision for
// Hopper and for one of the others, in mixed and double for Turing and Hopper, in turn. Registers are written to
// cuda_registers/PIPELINE.txt of the build folder, a line for each kernel, the same from run to run. Skipped where
// NVRTC is not installed.
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

struct Target {
  Precision precision;
  std::string architecture;
};

// NVRTC 13 begins with sm_75; NVRTC before 12.8 does not know the last two.
std::vector<Target> targets(std::size_t turn, const std::vector<std::string>& known) {
  std::vector<std::string> others{"sm_75", "sm_80", "sm_100", "sm_120"};
  std::erase_if(others, [&](const std::string& name) { return std::ranges::count(known, name) == 0; });
  std::vector<Target> all{{Precision::Single, "sm_90"},
                          {Precision::Mixed, turn % 2 == 0 ? "sm_75" : "sm_90"},
                          {Precision::Double, turn % 2 == 0 ? "sm_90" : "sm_75"}};
  if (!others.empty()) all.push_back({Precision::Single, others[turn % others.size()]});
  return all;
}

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

// Of a pipeline's number.
class CudaRegisters : public testing::TestWithParam<std::size_t> {};

TEST_P(CudaRegisters, SufficeOnEveryArchitecture) {
  NBCC_NEEDS_NVRTC();
  const CudaCompiler* const nvrtc = test::installed_nvrtc();
  const std::string file = library()[GetParam()];
  const Pipeline pipeline = parse(read_source(test::source_folder() + "/pipelines/" + file + ".pipe"));
  std::string lines;
  for (const auto& [precision, architecture] : targets(GetParam(), nvrtc->architectures())) {
    const Options options{.precision = precision};
    const std::string text = emit_cuda(optimize(pipeline, options, cuda_target()), options).first().source;
    const std::string kernel = fmt::format("{:<24}{:<8}{:<8}", file, name(precision), architecture);
    const CudaCode code = nvrtc->compile(text, architecture, {});
    EXPECT_GT(code.registers, 0) << kernel << code.log;
    // Queries, keys, values and sums of 16 dimensions in doubles are more than a thread's 255 registers.
    const bool is_too_much = file == "attention" && precision == Precision::Double;
    EXPECT_LE(code.spilled_bytes, is_too_much ? 64 : 0) << kernel;
    EXPECT_THAT(code.log, testing::Not(testing::HasSubstr("warning"))) << kernel;
    RecordProperty(fmt::format("{}_{}", name(precision), architecture), code.registers);
    lines += fmt::format("{}{:>4} registers {:>6} bytes spilled\n", kernel, code.registers, code.spilled_bytes);
  }
  write_table(file, lines);
}

// Room asked for more threads than there are registers for: fewer get it.
TEST(CudaRegisters, AreNotSpilledForTheSakeOfMoreThreads) {
  NBCC_NEEDS_NVRTC();
  const CudaCompiler* const nvrtc = test::installed_nvrtc();
  const Pipeline pipeline = parse(read_source(test::source_folder() + "/pipelines/sph_force.pipe"));
  const std::string text = emit_cuda(optimize(pipeline, {}, cuda_target()), {}).first().source;
  const LaunchConfig config{.threads = 128, .i_per_thread = 2, .j_tile = 256};
  const CudaCode code = nvrtc->compile("#define NBCC_RESIDENT 1024\n" + text, "sm_90", config);
  EXPECT_EQ(code.spilled_bytes, 0);
  EXPECT_GT(code.registers, 64);
}

INSTANTIATE_TEST_SUITE_P(Library, CudaRegisters, testing::Range(std::size_t(0), library().size()),
                         [](const auto& info) { return library()[info.param]; });

}  // namespace
}  // namespace nbcc
