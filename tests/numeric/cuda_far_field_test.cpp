// Far fields in the memory of a GPU, simulated and real, against exact sums of the CPU, and the same bits from run to
// run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "runtime/api/open_device.h"
#include "runtime/cuda/group/cuda_group.h"
#include "runtime/cuda/program/cuda_device.h"
#include "runtime/error.h"
#include "runtime/far/far_run.h"
#include "tests/support/cuda_shim.h"
#include "tests/support/expect_far_measured.h"
#include "tests/support/far_trial.h"
#include "tests/support/on_gpu.h"
#include "tests/support/sampling.h"
#include "tests/support/scratch_folder.h"

namespace nbcc::test {
namespace {

// Grids on both sides, factors of i, grids of j alone, and two axes.
const char* const kPipelines[] = {"gravity", "gravity_jerk", "cunbody_gravity", "laplace_log_2d"};

// Numbers with which few particles have a far field, and lists that are longer than an item.
constexpr FarChoice kNumbers{.order = 4, .leaf = 16, .separation = 0.4};

std::shared_ptr<KernelDevice> device_of(const CudaShim& shim) {
  return std::make_shared<CudaDevice>(shim.driver(), shim.compiler(), 0, "", "");
}

class FarFieldOnShim : public testing::TestWithParam<const char*> {};

TEST_P(FarFieldOnShim, AgreesWithTheHost) {
  const Source source = FarTrial::library(GetParam());
  for (const bool one_set : {true, false}) {
    SCOPED_TRACE(one_set ? "one set" : "two sets");
    FarTrial host(source, Precision::Single);
    host.fill("plummer", 1500, one_set ? 1500 : 900, one_set, 5);
    set_tolerance(host.sum, 1e-3, kNumbers);
    host.run();
    const CudaShim shim;
    FarTrial trial(source, Precision::Single, device_of(shim));
    trial.fill("plummer", 1500, one_set ? 1500 : 900, one_set, 5);
    set_tolerance(trial.sum, 1e-3, kNumbers);
    trial.run();
    ASSERT_TRUE(trial.was_far()) << trial.sum.statistics().reason;
    // Cells at the limit may be judged differently in single precision.
    EXPECT_NEAR(trial.sum.statistics().far.pairs_per_i, host.sum.statistics().far.pairs_per_i,
                0.01 * host.sum.statistics().far.pairs_per_i);
    EXPECT_GT(trial.error(), 0.5 * host.error());
    EXPECT_LT(trial.error(), 1.5 * host.error());
  }
}

TEST_P(FarFieldOnShim, HasTheSameBitsInEveryOrderOfBlocks) {
  std::vector<std::map<std::string, std::vector<double>>> found;
  for (const std::uint64_t seed : {1, 2}) {
    CudaShim shim;
    shim.set_block_order({ShimOrder::Kind::Shuffled, seed});
    FarTrial trial(FarTrial::library(GetParam()), Precision::Single, device_of(shim));
    trial.fill("plummer", 1500, 1500, true, 5);
    set_tolerance(trial.sum, 1e-3, kNumbers);
    trial.run();
    ASSERT_TRUE(trial.was_far());
    found.push_back(trial.arrays);
  }
  EXPECT_EQ(found[0], found[1]);
}

INSTANTIATE_TEST_SUITE_P(Library, FarFieldOnShim,
                         testing::ValuesIn(sampled(std::vector(std::begin(kPipelines), std::end(kPipelines)), 4)));

// The second text compares i_index and j_index.
TEST(FarFieldOnShim, ComputesSubsetsAndMovedParticles) {
  const Source index{"index.pipe",
                     "input_i vec3 xi; input_j vec3 xj; input_j real mj; output(sum) vec3 acc;\n"
                     "skip_if(i_index == j_index); vec3 d = xj - xi; real r = rsqrt(dot(d, d));\n"
                     "acc += mj * r * r * r * d;"};
  for (const Source& source : sampled({FarTrial::library("gravity"), index}, 2)) {
    SCOPED_TRACE(source.name());
    const CudaShim shim;
    FarTrial trial(source, Precision::Single, device_of(shim));
    trial.fill("uniform", 1200, 1200, true, 9);
    set_tolerance(trial.sum, 1e-3, kNumbers);
    std::vector<std::int64_t> range;
    for (std::int64_t i = 200; i < 1100; ++i) range.push_back(i);
    trial.run({.i_begin = 200, .i_count = 900});
    ASSERT_TRUE(trial.was_far()) << trial.sum.statistics().reason;
    EXPECT_LT(trial.error(range), 1e-2);
    trial.run();
    EXPECT_LT(trial.error(), 1e-2);
    for (const char* const name : {"xi", "xj"}) trial.arrays[name][0] += 0.5;
    trial.run();
    EXPECT_LT(trial.error(), 1e-2);
    for (double& mass : trial.arrays["mj"]) mass *= 2;  // the places stay
    trial.run();
    EXPECT_LT(trial.error(), 1e-2);
  }
}

TEST(FarFieldOnShim, ChangedWeightsAreMeasured) {
  const CudaShim shim;
  FarTrial trial(gaussians(), Precision::Single, device_of(shim));
  expect_errors_of_changed_weights(trial, 1200, true);
}

// The table of errors sums lists of many sizes, of arrays of the host, for which kernels of all pairs have other launch
// configurations.
TEST(FarFieldOnShim, CompilesNoKernelOfAllPairsForListsOfSomeSize) {
  const CudaShim shim;
  const ScratchFolder dumped;
  const auto device = std::make_shared<CudaDevice>(shim.driver(), shim.compiler(), 0, "", dumped.path(""));
  FarTrial trial(FarTrial::library("gravity"), Precision::Single, device);
  trial.fill("plummer", 1500, 1500, true, 5);
  for (const int order : {3, 4, 5}) {
    set_tolerance(trial.sum, 1e-3, {.order = order, .leaf = 16});
    trial.run();
    ASSERT_TRUE(trial.was_far()) << trial.sum.statistics().reason;
  }
  std::map<std::string, int> programs;  // by text
  for (const auto& file : std::filesystem::directory_iterator(dumped.path("")))
    if (file.path().extension() == ".cu" && file.path().filename().string().starts_with("gravity_distant")) {
      const std::string text = dumped.read(file.path().filename().string());
      if (text.find("A direct sum over all pairs") != std::string::npos) ++programs[text];
    }
  EXPECT_GE(programs.size(), 2) << "of pairs and of errors";
  for (const auto& [text, count] : programs) EXPECT_EQ(count, 1) << text.substr(0, text.find('\n'));
}

// Work that waits in the stream of an earlier run is not part of a run's time.
TEST(FarFieldOnShim, TimesEachRunInItsStream) {
  CudaShim shim;
  shim.set_lazy(true);
  const auto device = std::make_shared<CudaDevice>(shim.driver(), shim.compiler(), 0, "", "");
  const CudaContextGuard guard(device->gpu());
  CudaOwnStream first(device->gpu()), second(device->gpu());
  FarTrial trial(FarTrial::library("gravity"), Precision::Single, device);
  trial.fill("plummer", 1500, 1500, true, 5);
  set_tolerance(trial.sum, 1e-3, kNumbers);
  trial.run({.stream = first.get()});
  CudaBuffer waiting(device->gpu());
  ASSERT_TRUE(waiting.reserve(64));
  device->gpu().require(shim.driver().memset_d32_async(waiting.data(), 0, 16, first.get()), "clearing");
  trial.run({.stream = second.get()});
  ASSERT_TRUE(trial.was_far()) << trial.sum.statistics().reason;
  EXPECT_GT(trial.sum.statistics().far.seconds.near, 0);
}

// A run that fails between two events leaves the sum able to run, and a sum that is destroyed while its stream fails
// leaves no event.
TEST(FarFieldOnShim, DestroysItsEventsAfterFailures) {
  constexpr CudaResult kLaunchFailed = 719;
  CudaShim shim;
  const std::shared_ptr<KernelDevice> device = device_of(shim);
  std::optional<FarTrial> trial;
  const int held = shim.held();
  for (const int failing_record : {1, 2}) {
    SCOPED_TRACE(failing_record);
    trial.emplace(FarTrial::library("gravity"), Precision::Single, device);
    trial->fill("plummer", 1500, 1500, true, 5);
    set_tolerance(trial->sum, 1e-3, kNumbers);
    trial->run();
    ASSERT_TRUE(trial->was_far()) << trial->sum.statistics().reason;
    const auto sound = trial->arrays;
    shim.fail("event_record", failing_record, kLaunchFailed);
    EXPECT_THROW(trial->run(), DeviceError);
    trial->run();
    EXPECT_EQ(trial->arrays, sound);
    EXPECT_GT(trial->sum.statistics().far.seconds.near, 0);
    shim.fail_from("stream_synchronize", 1, kLaunchFailed);
    trial.reset();
    shim.succeed("stream_synchronize");
    EXPECT_EQ(shim.held(), held) << "memory, streams or events are left";
  }
}

// The steps of a sum whose particles are prepared and whose sample is drawn; then weights change.
void expect_the_changes_of_the_host(const std::string& name, const std::shared_ptr<KernelDevice>& device) {
  constexpr std::int64_t kCount = 3000;
  FarTrial host(FarTrial::library(name), Precision::Single), gpu(FarTrial::library(name), Precision::Single, device);
  FarRun on_host(host.sum.kernel(), host.sum.summation(), Precision::Single, 1e-3);
  FarRun on_gpu(gpu.sum.kernel(), gpu.sum.summation(), Precision::Single, 1e-3);
  for (FarTrial* trial : {&host, &gpu}) trial->fill("uniform", kCount, kCount, true, 9);
  const auto prepare = [&] {
    EXPECT_EQ(on_host.prepare(host.sum.plan().request, 64), "");
    EXPECT_EQ(on_gpu.prepare(gpu.sum.plan().request, 64), "");
  };
  bool has_kept = false, has_changed = false;
  for (unsigned weights = 0; weights < kFarWeights; ++weights) {
    prepare();
    EXPECT_EQ(on_host.draw_sample(host.sum.plan().request, 8), "");
    EXPECT_EQ(on_gpu.draw_sample(gpu.sum.plan().request, 8), "");
    for (FarTrial* trial : {&host, &gpu}) {
      std::mt19937_64 random(weights);
      trial->reweigh(FarWeights(weights), random);
    }
    prepare();
    for (const double spread : {1.0, 1.2, 1.5, 2.0}) {
      const bool changed = on_host.have_values_changed(spread);
      EXPECT_EQ(on_gpu.have_values_changed(spread), changed) << name << ": " << weights << ", " << spread;
      (changed ? has_changed : has_kept) = true;
    }
  }
  EXPECT_TRUE(has_kept && has_changed);
}

TEST(FarFieldOnShim, KnowsWhetherWeightsHaveChanged) {
  const CudaShim shim;
  for (const char* const name : sampled({"gravity", "gravity_jerk", "stokeslet"}, 3))
    expect_the_changes_of_the_host(name, device_of(shim));
}

TEST(FarFieldOnShim, TermsTooSmallForSinglePrecision) {
  const CudaShim shim;
  FarTrial trial(FarTrial::library("gaussian_rbf"), Precision::Single, device_of(shim));
  expect_all_pairs_of_tiny_terms(trial);
}

TEST(FarFieldOnShim, AnIWithoutAFinitePositionIsNaN) {
  const CudaShim shim;
  FarTrial trial(FarTrial::library("gravity"), Precision::Single, device_of(shim));
  trial.fill("uniform", 900, 1100, false, 9);
  set_tolerance(trial.sum, 1e-3, kNumbers);
  const double position = std::exchange(trial.arrays["xi"][3 * 7 + 1], std::nan(""));
  std::vector<std::int64_t> others;
  for (std::int64_t i = 0; i < 900; ++i)
    if (i != 7) others.push_back(i);
  trial.run();
  ASSERT_TRUE(trial.was_far()) << trial.sum.statistics().reason;
  EXPECT_LT(trial.error(others), 1e-2);
  for (const std::size_t c : {21, 22, 23}) EXPECT_TRUE(std::isnan(trial.arrays["acc"][c]));
  EXPECT_TRUE(std::isnan(trial.arrays["pot"][7]));
  trial.arrays["xi"][3 * 7 + 1] = position;
  trial.run();
  EXPECT_LT(trial.error(), 1e-2);
}

TEST(FarFieldOnShim, WithoutFinitePositionsAllPairsRun) {
  const CudaShim shim;
  FarTrial trial(FarTrial::library("gravity"), Precision::Single, device_of(shim));
  trial.fill("uniform", 500, 500, true, 9);
  set_tolerance(trial.sum, 1e-3, kNumbers);
  trial.arrays["xj"][7] = std::nan("");
  trial.run();
  EXPECT_EQ(trial.sum.statistics().method, "all pairs");
  EXPECT_NE(trial.sum.statistics().reason.find("is not finite"), std::string::npos) << trial.sum.statistics().reason;
}

TEST(FarFieldOnShim, WhatDoesNotFitIsRefusedWithTheNumber) {
  CudaShim shim;
  CudaShim::Device small;
  small.memory = 40 << 20;
  shim.set_device(small);
  FarTrial trial(FarTrial::library("gravity"), Precision::Single, device_of(shim));
  trial.fill("uniform", 200000, 200000, true, 9);
  set_tolerance(trial.sum, 1e-3, {});
  try {
    trial.sum.run();
    FAIL() << "it ran";
  } catch (const DeviceError& e) {
    EXPECT_THAT(e.what(),
                testing::MatchesRegex("tolerance: a far field of 200000 i and 200000 j needs about 0.[0-9]+ GB "
                                      "of memory, but cuda:0 has 0.0[0-9]+ GB for it"));
  }
}

// The first run at new positions builds no trees if it is refused; the next run at these positions has to.
TEST(FarFieldOnShim, ARefusedRunLeavesNoTreesBehind) {
  const CudaShim shim;
  FarTrial trial(FarTrial::library("gravity"), Precision::Single, device_of(shim));
  trial.fill("uniform", 1200, 1200, true, 9);
  set_tolerance(trial.sum, 1e-3, kNumbers);
  trial.run();
  ASSERT_TRUE(trial.was_far());
  for (const char* const name : {"xi", "xj"}) std::ranges::reverse(trial.arrays[name]);
  const double weight = std::exchange(trial.arrays["mj"][7], std::numeric_limits<double>::infinity());
  trial.run();
  EXPECT_FALSE(trial.was_far());
  trial.arrays["mj"][7] = weight;
  trial.run();
  EXPECT_TRUE(trial.was_far());
  EXPECT_LT(trial.error(), 1e-2);
}

// The bits of one GPU on two and on three.
TEST(FarFieldOnShim, HasTheSameBitsOnSeveralGpus) {
  std::vector<std::map<std::string, std::vector<double>>> found;
  std::vector<int> counts = sampled({2, 3}, 2);
  counts.insert(counts.begin(), 1);
  for (const int count : counts) {
    CudaShim shim;
    shim.set_device_count(3);
    std::vector<std::shared_ptr<CudaDevice>> gpus;
    for (int k = 0; k < count; ++k)
      gpus.push_back(std::make_shared<CudaDevice>(shim.driver(), shim.compiler(), k, "", ""));
    std::shared_ptr<KernelDevice> device = gpus.front();
    if (count > 1) device = std::make_shared<CudaGroup>(gpus, count > 2);
    FarTrial trial(FarTrial::library("gravity_jerk"), Precision::Single, device);
    trial.fill("plummer", 1500, 1500, true, 5);
    set_tolerance(trial.sum, 1e-3, kNumbers);
    trial.run();
    ASSERT_TRUE(trial.was_far()) << trial.sum.statistics().reason;
    found.push_back(trial.arrays);
    trial.run({.i_begin = 200, .i_count = 900});
    found.back().insert({"of some i", trial.arrays["acc"]});
    found.back().insert({"pairs of each i", {trial.sum.statistics().far.pairs_per_i}});
    std::vector<std::vector<std::int64_t>> excluded;
    for (std::int64_t i = 0; i < 1500; ++i) excluded.push_back({i, (i + 700) % 1500});
    trial.exclude(excluded);
    trial.run();
    found.back().insert({"with exclusions", trial.arrays["acc"]});
    trial.exclude({});
    // The first limit suits both params, so that the setting is the same, but the lists are others.
    set_tolerance(trial.sum, 1e-2, {.order = 4, .leaf = 16});
    for (const double eps2 : {1e-4, 1.0}) {
      trial.set_param("eps2", {eps2});
      trial.run();
      ASSERT_TRUE(trial.was_far());
      EXPECT_LE(trial.error(), 1e-2);
    }
    found.back().insert({"other params", trial.arrays["acc"]});
  }
  for (std::size_t k = 1; k < found.size(); ++k) {
    const auto& several = found[k];
    // Cells with i of two GPUs are counted twice.
    EXPECT_GE(several.at("pairs of each i")[0], found[0].at("pairs of each i")[0]);
    EXPECT_LT(several.at("pairs of each i")[0], 1.1 * found[0].at("pairs of each i")[0]);
    for (const auto& [name, values] : several) {
      if (name == "pairs of each i") continue;
      EXPECT_EQ(values, found[0].at(name)) << name;
    }
  }
}

class FarFieldOnGpu : public OnGpu {};

class FarFieldOfLibraryOnGpu : public OnGpu, public testing::WithParamInterface<const char*> {};

TEST_P(FarFieldOfLibraryOnGpu, KeepsTheTolerance) {
  for (const double tolerance : {1e-3, 1e-8}) {
    for (const std::string shape : {"plummer", "clumps"}) {
      SCOPED_TRACE(shape);
      FarTrial trial(FarTrial::library(GetParam()), Precision::Single,
                     std::shared_ptr<KernelDevice>(std::shared_ptr<void>(), &*device_));
      trial.fill(shape, 6000, 6000, true, 5);
      set_tolerance(trial.sum, tolerance, {.leaf = 64});
      trial.run();
      EXPECT_LE(trial.error(), tolerance) << trial.sum.statistics().method << ": " << trial.sum.statistics().reason;
      const auto first = trial.arrays;
      trial.sum.run();
      trial.sum.wait();
      EXPECT_EQ(first, trial.arrays);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Library, FarFieldOfLibraryOnGpu,
                         testing::Values("gravity", "gravity_jerk", "gravity_snap", "cunbody_gravity", "laplace_log_2d",
                                         "matern"));

TEST_F(FarFieldOnGpu, KnowsWhetherWeightsHaveChanged) {
  for (const char* const name : {"gravity", "gravity_jerk", "stokeslet"})
    expect_the_changes_of_the_host(name, std::shared_ptr<KernelDevice>(std::shared_ptr<void>(), &*device_));
}

TEST_F(FarFieldOnGpu, ChangedWeightsAreMeasured) {
  FarTrial trial(gaussians(), Precision::Single, std::shared_ptr<KernelDevice>(std::shared_ptr<void>(), &*device_));
  expect_errors_of_changed_weights(trial, 3000, true);
}

TEST_F(FarFieldOnGpu, TermsTooSmallForSinglePrecision) {
  FarTrial trial(FarTrial::library("gaussian_rbf"), Precision::Single,
                 std::shared_ptr<KernelDevice>(std::shared_ptr<void>(), &*device_));
  expect_all_pairs_of_tiny_terms(trial);
}

TEST_F(FarFieldOnGpu, HasTheSameBitsOnAllGpus) {
  int count = 0;
  check(cuda_driver(), cuda_driver().device_get_count(&count), "counting the GPUs");
  if (count < 2) GTEST_SKIP() << "there is one GPU";
  for (const char* const name : {"gravity", "gravity_jerk", "matern"}) {
    std::vector<std::map<std::string, std::vector<double>>> found;
    for (const char* const device : {"cuda", "cuda:all"}) {
      FarTrial trial(FarTrial::library(name), Precision::Single, open_device(device, {}));
      trial.fill("plummer", 6000, 6000, true, 5);
      set_tolerance(trial.sum, 1e-3, {.order = 4, .leaf = 64, .separation = 0.6});
      trial.run();
      ASSERT_TRUE(trial.was_far()) << trial.sum.statistics().reason;
      found.push_back(trial.arrays);
    }
    EXPECT_EQ(found[0], found[1]) << name;
  }
}

}  // namespace
}  // namespace nbcc::test
