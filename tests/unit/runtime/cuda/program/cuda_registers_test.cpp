// Every pipeline of the library through NVRTC, for GPUs from Turing to Blackwell: no warning, no spilled register
// except those of kSpills, and in NVIDIA's occupancy calculator at least the resident blocks that the source and the
// model of launches count on. NVRTC takes half a second for a source, so that a run takes a fifth of the
// pipelines (sampling.h), and compiles a pipeline for some targets only (targets(), 150 s of one core for all
// pipelines). NBCC_GPU_TARGETS=all compiles every variant of every pipeline in every precision for every architecture,
// which takes hours. Registers are written to cuda_registers/PIPELINE.txt of the build folder, a line for each kernel,
// equal from run to run. Skipped without NVRTC.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <string>
#include <vector>

#include "compiler/source/parse.h"
#include "fmt/format.h"
#include "jit/build_kernel.h"
#include "runtime/cuda/driver/choose_launch.h"
#include "runtime/cuda/program/cuda_tunings.h"
#include "runtime/cuda/program/cuda_variants.h"
#include "tests/support/folders.h"
#include "tests/support/installed_nvrtc.h"
#include "tests/support/occupancy.h"
#include "tests/support/sampling.h"

namespace nbcc {
namespace {

using test::GpuLimits;
using test::KernelReport;

constexpr Precision kPrecisions[] = {Precision::Single, Precision::Mixed, Precision::Double};
constexpr Frame kFrames[] = {Frame::AllPairs, Frame::Search, Frame::Lists, Frame::ListedPairs, Frame::IndexChecks};
constexpr const char* kFrameNames[] = {"all pairs", "search", "lists", "listed pairs", "indices"};

// Spilled bytes that are accepted. `pipeline`, `kernel` null: all; `architecture` 0: all.
struct Spill {
  Frame frame;
  const char *pipeline, *kernel;
  int architecture, bytes;
};
constexpr Spill kSpills[] = {
    // Values that are more than the 255 registers of a thread: queries, keys, values and sums of 16 dimensions;
    // matrices
    // of two molecules, in long unrolled loops; the best eight of a thread.
    {Frame::AllPairs, "attention", "nbcc_interact", 100, 124},
    {Frame::AllPairs, "attention", "nbcc_interact", 0, 64},
    {Frame::AllPairs, "gay_berne", "nbcc_interact", 75, 32},
    {Frame::AllPairs, "gay_berne", "nbcc_interact", 80, 32},
    {Frame::AllPairs, "gay_berne", "nbcc_interact", 86, 40},
    {Frame::AllPairs, "gay_berne", "nbcc_interact", 89, 40},
    {Frame::AllPairs, "gay_berne", "nbcc_interact", 90, 56},
    {Frame::AllPairs, "gay_berne", "nbcc_interact", 100, 72},
    {Frame::AllPairs, "gay_berne", "nbcc_interact", 120, 56},
    {Frame::AllPairs, "k_nearest", "nbcc_interact", 120, 156},
    // Searches and lists have launch bounds for many resident blocks, which are faster on Hopper in spite of spills.
    // The
    // numbers are the largest of all architectures; those of Hopper are among them.
    {Frame::Search, nullptr, "nbcc_interact", 0, 256},
    {Frame::Search, nullptr, "nbcc_find_extent", 0, 88},
    {Frame::Search, nullptr, "nbcc_arrange", 0, 8},
    {Frame::Lists, "k_nearest", "nbcc_interact", 0, 552},
    {Frame::Lists, "gay_berne", "nbcc_interact", 0, 360},
    {Frame::Lists, nullptr, "nbcc_interact", 0, 276},
    {Frame::ListedPairs, nullptr, "nbcc_interact", 0, 164},
};

struct Target {
  Precision precision;
  GpuLimits gpu;
  CudaVariant variant;
};

bool tries_all() {
  const char* const given = std::getenv("NBCC_GPU_TARGETS");
  return given && std::string(given) == "all";
}

// NVRTC before 12.8 does not know sm_100 and sm_120, later versions may not know sm_75.
std::vector<GpuLimits> known_gpus() {
  const std::vector<std::string> known = test::installed_nvrtc()->architectures();
  std::vector<GpuLimits> gpus;
  for (const GpuLimits& gpu : test::kGpuLimits)
    if (std::ranges::find(known, gpu.name()) != known.end()) gpus.push_back(gpu);
  return gpus;
}

Pipeline from_library(const std::string& file) {
  return parse(read_source(test::source_folder() + "/pipelines/" + file + ".pipe"));
}

KernelSource kernel_of(const Pipeline& pipeline, Precision precision) {
  return build_cuda_kernel(pipeline, {.precision = precision}, "");
}

// All pairs in the source's own configuration: single precision for the smallest GPU and for Hopper, mixed and double
// precision for one GPU each, in turn. Of the variants of other frames an eighth, for one GPU in one precision, in
// turn.
std::vector<Target> targets(const Pipeline& pipeline, std::size_t turn) {
  const std::vector<GpuLimits> gpus = known_gpus();
  const auto is_wanted = [&](std::size_t p, std::size_t g, const CudaVariant& variant) {
    const auto frame = std::size_t(std::ranges::find(kFrames, variant.frame) - kFrames);
    if (frame > 0) {
      const std::size_t number = turn + frame + (variant.exclusions ? 1 : 0) + (variant.reads_in_place ? 2 : 0);
      return number % 8 == 0 && p == number / 8 % 3 && g == (turn + 3 * frame) % gpus.size();
    }
    if (variant.exclusions) return false;
    return p == 0 ? g == 0 || gpus[g].architecture == 90 : g == (turn + 4 * (p - 1)) % gpus.size();
  };
  std::vector<Target> all;
  for (std::size_t p = 0; p < std::size(kPrecisions); ++p) {
    const KernelSource kernel = kernel_of(pipeline, kPrecisions[p]);
    for (std::size_t g = 0; g < gpus.size(); ++g) {
      for (const CudaVariant& variant : all_variants(kernel)) {
        const bool is_first = variant.config == kernel.find(variant.frame)->launches.front();
        const bool is_wanted_here =
            tries_all() ? is_first || variant.frame != Frame::AllPairs : is_first && is_wanted(p, g, variant);
        if (is_wanted_here) all.push_back({kPrecisions[p], gpus[g], variant});
      }
    }
  }
  return all;
}

void write_table(const std::string& pipeline, const std::string& lines) {
  const std::filesystem::path folder = test::build_folder() + "/cuda_registers";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / (pipeline + ".txt")) << lines;
}

int allowed_spill(const std::string& file, const Target& target, const std::string& kernel) {
  for (const Spill& spill : kSpills)
    if (target.variant.frame == spill.frame && (!spill.pipeline || file == spill.pipeline) && kernel == spill.kernel &&
        (spill.architecture == 0 || target.gpu.architecture == spill.architecture))
      return spill.bytes;
  return 0;
}

// The resident blocks of nbcc_interact that a search counts on: those of its launch bounds, on Turing at most three.
int promised_blocks(const Target& target, const std::string& source) {
  std::smatch found;
  if (target.variant.frame != Frame::Search ||
      !std::regex_search(source, found, std::regex("__launch_bounds__\\(32 \\* kWarps, ([0-9]+)\\)")))
    return 1;
  const int blocks = std::stoi(found[1]);
  return target.gpu.architecture == 75 ? std::min(blocks, 3) : blocks;
}

// Of a pipeline's number.
class CudaRegisters : public testing::TestWithParam<std::size_t> {};

TEST_P(CudaRegisters, SufficeOnEveryArchitecture) {
  NBCC_NEEDS_NVRTC();
  const std::string file = test::library()[GetParam()];
  const Pipeline pipeline = from_library(file);
  std::string lines;
  for (const Target& target : targets(pipeline, GetParam())) {
    const CudaVariant& variant = target.variant;
    const std::string source = source_of(kernel_of(pipeline, target.precision), variant);
    const auto frame = std::size_t(std::ranges::find(kFrames, variant.frame) - kFrames);
    const std::string what =
        fmt::format("{:<24}{:<8}{:<8}{:<13}{}", file, name(target.precision), target.gpu.name(), kFrameNames[frame],
                    variant.exclusions       ? "exclusions "
                    : variant.reads_in_place ? "in place "
                                             : "");
    SCOPED_TRACE(what + describe(variant.config));
    const CudaCode code = test::installed_nvrtc()->compile(source, target.gpu.name(), variant.config);
    EXPECT_THAT(code.log, testing::Not(testing::HasSubstr("warning")));
    const std::vector<KernelReport> reports = test::kernel_reports(code.log);
    EXPECT_EQ(std::ranges::count(reports, "nbcc_interact", &KernelReport::name), 1) << code.log;
    for (const KernelReport& kernel : reports) {
      EXPECT_GT(kernel.registers, 0) << kernel.name;
      EXPECT_LE(kernel.spilled_bytes, allowed_spill(file, target, kernel.name)) << kernel.name;
      lines += fmt::format("{}{:<21}{:>4} registers {:>6} bytes spilled\n", what, kernel.name, kernel.registers,
                           kernel.spilled_bytes);
      if (kernel.name != "nbcc_interact" || !test::has_occupancy_calculator()) continue;
      const int blocks =
          test::resident_blocks(target.gpu, variant.config.threads, kernel.registers, kernel.shared_bytes);
      EXPECT_GE(blocks, promised_blocks(target, source)) << kernel.shared_bytes << " bytes of shared memory";
    }
  }
  write_table(file, lines);
}

// The model of launches asks the driver for the resident blocks of the first configuration and estimates those of the
// others, which are not compiled yet. The estimate may be one block too many (in 91 cases of all), since registers and
// shared memory of configurations differ. Tries the estimates for every sixth pipeline, on one GPU in one precision, in
// turn.
TEST_P(CudaRegisters, LeaveTheResidentBlocksThatTheModelOfLaunchesEstimates) {
  NBCC_NEEDS_NVRTC();
  NBCC_NEEDS_OCCUPANCY_CALCULATOR();
  const std::string file = test::library()[GetParam()];
  const std::size_t turn = GetParam() / 6;
  if (!tries_all() && GetParam() % 6 != 0) return;
  const std::vector<GpuLimits> gpus = known_gpus();
  for (std::size_t number = 0; number < 3 * gpus.size(); ++number) {
    const Precision precision = kPrecisions[number % 3];
    const GpuLimits& gpu = gpus[number / 3];
    if (!tries_all() && number != turn * 4 % (3 * gpus.size())) continue;
    const KernelSource kernel = kernel_of(from_library(file), precision);
    if (kernel.first().frame != Frame::AllPairs) return;
    const auto blocks_of = [&](const LaunchConfig& config) {
      const CudaCode code = test::installed_nvrtc()->compile(kernel.first().source, gpu.name(), config);
      const KernelReport report = test::kernel_reports(code.log).front();
      EXPECT_LE(report.spilled_bytes, allowed_spill(file, {precision, gpu, {Frame::AllPairs, config}}, report.name));
      return test::resident_blocks(gpu, config.threads, report.registers, report.shared_bytes);
    };
    const std::vector<LaunchConfig>& launches = kernel.first().launches;
    int known = 0;
    for (const LaunchConfig& config : launches) {
      SCOPED_TRACE(fmt::format("{}, {}, {}, {}", file, name(precision), gpu.name(), describe(config)));
      const int blocks = blocks_of(config);
      if (known == 0) known = blocks;
      EXPECT_GE(blocks, 1);
      EXPECT_GE(blocks + 1, estimate_resident_blocks(config, launches.front(), known));
    }
  }
}

// Room asked for more threads than there are registers for: fewer get it.
TEST(CudaRegisters, AreNotSpilledForTheSakeOfMoreThreads) {
  NBCC_NEEDS_NVRTC();
  const CudaCompiler* const nvrtc = test::installed_nvrtc();
  const std::string text = kernel_of(from_library("sph_force"), Precision::Single).first().source;
  const LaunchConfig config{.threads = 128, .i_per_thread = 2, .j_tile = 256};
  const CudaCode code = nvrtc->compile("#define NBCC_RESIDENT 1024\n" + text, "sm_90", config);
  EXPECT_EQ(code.spilled_bytes, 0);
  EXPECT_GT(code.registers, 64);
}

INSTANTIATE_TEST_SUITE_P(Library, CudaRegisters,
                         testing::ValuesIn(test::sampled_range(std::size_t(0), test::library().size(), 5)),
                         [](const auto& info) { return test::library()[info.param]; });

}  // namespace
}  // namespace nbcc
