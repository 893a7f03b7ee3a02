// On the first GPU: every file of pipelines/ against the oracle, from arrays on the host and on the device, in every
// precision and floating point policy; random pipelines; and what an array may be there. Skipped, with the reason,
// where there is no GPU. Random pipelines go through the whole runtime on the shim's GPU as well.
#include "runtime/cuda/program/cuda_device.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "compiler/source/parse.h"
#include "jit/build_kernel.h"
#include "runtime/cuda/program/cuda_tunings.h"
#include "runtime/error.h"
#include "tests/support/cuda_experiment.h"
#include "tests/support/cuda_shim.h"
#include "tests/support/every_pipeline.h"
#include "tests/support/kernel_run.h"
#include "tests/support/on_gpu.h"
#include "tests/support/random_pipeline.h"
#include "tests/support/sampling.h"

namespace nbcc::test {
namespace {

// A GPU's context lives as long as one device of it is open. Making it takes a second, and every test opens devices.
class GpuKeptOpen : public testing::Environment {
 public:
  void SetUp() override {
    try {
      device_.emplace(cuda_driver(), make_nvrtc(), 0, "", "");
    } catch (const DeviceError&) {  // the tests skip themselves
    }
  }
  void TearDown() override { device_.reset(); }

 private:
  std::optional<CudaDevice> device_;
};
const testing::Environment* const kGpuKeptOpen = testing::AddGlobalTestEnvironment(new GpuKeptOpen);

class EveryPipelineOnGpu : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    try {
      cuda_driver();
      make_nvrtc();
    } catch (const DeviceError& e) {
      GTEST_SKIP() << e.what();
    }
  }
};

std::vector<Choice> choices() {
  std::vector<Choice> all;
  for (const nbcc_precision precision : {NBCC_SINGLE, NBCC_MIXED, NBCC_DOUBLE}) {
    for (const nbcc_math math : {NBCC_FAST, NBCC_PRECISE}) {
      for (const bool arrays_on_device : {false, true}) {
        all.push_back({.precision = precision, .math = math, .device = "cuda", .arrays_on_device = arrays_on_device});
      }
    }
  }
  return all;
}

void expect_oracle(const std::string& name, nbcc_precision precision) {
  const Oracle oracle(name);
  const std::vector<Case> cases = all_cases(oracle);
  for (const Choice& choice : choices()) {
    if (choice.precision != precision) continue;
    Summation device(name, choice);
    for (const Case& expected : cases) expect_case(device, expected, precision, describe(choice));
  }
}

TEST_P(EveryPipelineOnGpu, AgreesWithTheOracleInSingle) { expect_oracle(GetParam(), NBCC_SINGLE); }
TEST_P(EveryPipelineOnGpu, AgreesWithTheOracleInMixed) { expect_oracle(GetParam(), NBCC_MIXED); }
TEST_P(EveryPipelineOnGpu, AgreesWithTheOracleInDouble) { expect_oracle(GetParam(), NBCC_DOUBLE); }

void expect_same_bits(const Values& a, const Values& b, const std::string& what) {
  for (const auto& [field, values] : a) {
    EXPECT_EQ(std::memcmp(values.data(), b.at(field).data(), values.size() * sizeof(double)), 0)
        << what << ": " << field;
  }
}

TEST_P(EveryPipelineOnGpu, TwentyRunsAreEqualBitForBit) {
  const Oracle oracle(GetParam());
  for (const std::int64_t n : {100, 3000}) {
    const Particles particles = random_particles(oracle.pipeline(), n, 5000, /*seed=*/53);
    for (const Choice& choice : choices()) {
      Summation device(GetParam(), choice);
      const Values first = device(particles);
      for (int run = 1; run < 20; ++run) expect_same_bits(first, device.again(), describe(choice));
    }
  }
}

TEST_P(EveryPipelineOnGpu, HostAndDeviceArraysGiveTheSameBits) {
  const Oracle oracle(GetParam());
  const Particles particles = random_particles(oracle.pipeline(), 777, 3333, /*seed=*/59);
  Summation here(GetParam(), {.device = "cuda"}), there(GetParam(), {.device = "cuda", .arrays_on_device = true});
  expect_same_bits(here(particles), there(particles), GetParam());
}

std::string by_name(const testing::TestParamInfo<std::string>& info) { return info.param; }

INSTANTIATE_TEST_SUITE_P(Library, EveryPipelineOnGpu, testing::ValuesIn(library()), by_name);

// ---- random pipelines

constexpr int kSeedsOfGroup = 3;

// A seed takes one precision and policy: compiling is what this waits for. For the same reason it takes one of the
// configurations that the device may choose from, in several splits, beside those that it does choose.
void expect_agreement(CudaDevice& device, std::uint64_t seed) {
  const std::string text = random_pipeline_text(seed);
  const Pipeline pipeline = parse({"random.pipe", text});
  const Options options{.precision = Precision(seed % 3), .math = Math(seed / 3 % 2)};
  const std::shared_ptr<const Kernel> kernel = device.load(build_cuda_kernel(pipeline, options, ""));
  const std::vector<LaunchConfig>& launches = kernel->source.first().launches;
  LaunchConfig in_splits = launches[seed % launches.size()];
  in_splits.j_splits = 2 + int(seed / launches.size() % 3);
  for (const auto& [ni, nj] : {std::pair{5, 37}, {3, 1000}, {130, 600}, {1, 1}, {2, 0}}) {
    const OracleInput input = random_pipeline_input(pipeline, ni, nj, seed);
    const Expectation expected = random_pipeline_expectation(pipeline, input, options.precision);
    for (const KernelRunChoice& choice : {KernelRunChoice{}, KernelRunChoice{.arrays_on = &device.gpu()},
                                          KernelRunChoice{.arrays_on = &device.gpu(), .launch = in_splits}}) {
      const Columns got = run_kernel(kernel, input, choice);
      EXPECT_EQ(random_pipeline_difference(pipeline, got, expected), "")
          << "seed " << seed << ", " << name(options.precision) << ", " << name(options.math) << ", " << ni << " x "
          << nj << (choice.arrays_on ? ", arrays there, " : ", arrays here, ") << describe(choice.launch) << "\n"
          << text;
    }
  }
}

class RandomPipelinesOnGpu : public testing::TestWithParam<int> {};

TEST_P(RandomPipelinesOnGpu, AgreeWithTheInterpreter) {
  std::optional<CudaDevice> device;
  try {
    device.emplace(cuda_driver(), make_nvrtc(), 0, "", "");
  } catch (const DeviceError& e) {
    GTEST_SKIP() << e.what();
  }
  for (int k = 0; k < kSeedsOfGroup; ++k) expect_agreement(*device, std::uint64_t(GetParam() * kSeedsOfGroup + k));
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomPipelinesOnGpu, testing::Range(0, 40));

class RandomPipelinesOnShim : public testing::TestWithParam<int> {};

TEST_P(RandomPipelinesOnShim, AgreeWithTheInterpreter) {
  CudaShim shim;
  CudaDevice device(shim.driver(), shim.compiler(), 0, "", "");
  expect_agreement(device, std::uint64_t(GetParam()));
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomPipelinesOnShim, testing::ValuesIn(sampled_range(200, 206, 4)),
                         testing::PrintToStringParamName());

// ---- what an array may be

class SumsOnGpu : public OnGpu {};

TEST_F(SumsOnGpu, AnyFieldMayBeOnEitherSide) {
  const auto kernel = load_experiment(*device_);
  const Numbers inputs = random_experiment(3000, 5000);
  CudaExperiment there(gpu(), kernel, inputs);
  there.sum.run();
  const Numbers expected = there.outputs();
  for (const std::string& field : kAllFields) {
    std::set<std::string> all_but_one = kAllFields;
    all_but_one.erase(field);
    for (const std::set<std::string>& on_host : {{field}, all_but_one}) {
      CudaExperiment experiment(gpu(), kernel, inputs, on_host);
      experiment.sum.run();
      EXPECT_EQ(experiment.outputs(), expected) << testing::PrintToString(on_host);
    }
  }
}

TEST_F(SumsOnGpu, ChosenIGetTheirsAndOthersNothing) {
  const auto kernel = load_experiment(*device_, /*self=*/true);
  const Numbers inputs = random_experiment(500, 500);
  const std::vector<std::int64_t> list{499, 3, 77, 0, 250};
  DeviceArray there(gpu(), 8 * list.size());
  there.put(list.data(), 8 * list.size());
  const std::vector<double> expected = expected_sums(inputs, true).at("pot");
  for (const std::set<std::string>& on_host : {std::set<std::string>{}, kAllFields, {"xi", "acc"}}) {
    for (const void* const indices : {static_cast<const void*>(list.data()), static_cast<const void*>(there.data())}) {
      CudaExperiment experiment(gpu(), kernel, inputs, on_host);
      experiment.sum.run({.i_count = 5, .i_list = static_cast<const std::int64_t*>(indices)});
      const std::vector<double> got = experiment.get("pot");
      for (std::int64_t i = 0; i < 500; ++i) {
        const auto k = std::size_t(i);
        const bool chosen = std::count(list.begin(), list.end(), i) > 0;
        EXPECT_NEAR(got[k], chosen ? expected[k] : -7, chosen ? 1e-5 * std::fabs(expected[k]) : 0) << i;
      }
    }
  }
}

TEST_F(SumsOnGpu, ManagedMemoryIsReadAndWrittenWhereItIs) {
  const auto kernel = load_experiment(*device_);
  const Numbers inputs = random_experiment(700, 900);
  CudaExperiment experiment(gpu(), kernel, inputs);
  experiment.sum.run();
  const Numbers expected = experiment.outputs();
  const CudaContextGuard guard(gpu());
  CudaDevicePointer memory = 0;
  gpu().require(gpu().driver().mem_alloc_managed(&memory, 8 * (3 * 900 + 700), kCudaGlobal), "allocating for a test");
  auto* const xj = reinterpret_cast<double*>(memory);
  double* const pot = xj + std::ptrdiff_t(3 * 900);
  std::copy(inputs.at("xj").begin(), inputs.at("xj").end(), xj);
  ArrayView view = experiment.view("xj");
  view.data = xj;
  experiment.sum.bind("xj", view);
  view = experiment.view("pot");
  view.data = pot;
  experiment.sum.bind("pot", view);
  experiment.sum.run();
  experiment.sum.wait();
  EXPECT_EQ(std::vector<double>(pot, pot + 700), expected.at("pot"));
  EXPECT_EQ(experiment.get("acc"), expected.at("acc"));
  gpu().driver().mem_free(memory);
}

class TwoSumsOnGpus : public SumsOnGpu {
 protected:
  void SetUp() override {
    SumsOnGpu::SetUp();
    if (IsSkipped()) return;
    int count = 0;
    cuda_driver().device_get_count(&count);
    if (count < 2) GTEST_SKIP() << "there is one GPU only";
    second_.emplace(cuda_driver(), make_nvrtc(), 1, "", "");
  }

  std::optional<CudaDevice> second_;
};

TEST_F(TwoSumsOnGpus, AtTheSameTimeGiveWhatEachGivesAlone) {
  const Numbers inputs = random_experiment(30'000, 30'000);
  CudaExperiment a(gpu(), load_experiment(*device_), inputs);
  CudaExperiment b(second_->gpu(), load_experiment(*second_), inputs);
  a.sum.run();
  const Numbers a_alone = a.outputs();
  b.sum.run();
  const Numbers b_alone = b.outputs();
  for (CudaExperiment* const experiment : {&a, &b}) {
    for (const char* field : {"acc", "pot", "near", "far"})
      experiment->put(field, std::vector<double>(experiment->get(field).size(), -7.0));
  }
  // Neither run waits for its work.
  a.sum.run();
  b.sum.run();
  b.sum.wait();
  a.sum.wait();
  EXPECT_EQ(a.outputs(), a_alone);
  EXPECT_EQ(b.outputs(), b_alone);
  if (gpu().model() == second_->gpu().model()) {
    EXPECT_EQ(a_alone, b_alone);
  }
}

TEST_F(TwoSumsOnGpus, RefuseEachOthersArrays) {
  const Numbers inputs = random_experiment(10, 10);
  CudaExperiment experiment(gpu(), load_experiment(*device_), inputs);
  const DeviceArray there(second_->gpu(), 8 * 10);
  ArrayView view = experiment.view("hi");
  view.data = there.data();
  experiment.sum.bind("hi", view);
  EXPECT_THROW(experiment.sum.run(), UsageError);
  experiment.sum.bind("hi", experiment.view("hi"));
  experiment.sum.run();
  EXPECT_NEAR(experiment.get("pot")[0], expected_sums(inputs).at("pot")[0], 1e-4);
}

}  // namespace
}  // namespace nbcc::test
