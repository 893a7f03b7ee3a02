// A device with tunings: which launch configuration a sum takes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "runtime/cuda/program/cuda_device.h"
#include "runtime/cuda/program/cuda_tunings.h"
#include "runtime/error.h"
#include "tests/support/cuda_experiment.h"
#include "tests/support/cuda_shim.h"
#include "tests/support/scratch_folder.h"

namespace nbcc {
namespace {

using Launch = std::vector<unsigned>;
using test::CudaExperiment;

// Refuses some kernels.
struct ChoosyCompiler final : CudaCompiler {
  explicit ChoosyCompiler(std::shared_ptr<const CudaCompiler> compiler) : inner(std::move(compiler)) {}
  std::string identity() const override { return inner->identity(); }
  std::vector<std::string> architectures() const override { return inner->architectures(); }
  CudaCode compile(const std::string& text, const std::string& architecture, const LaunchConfig& config,
                   Form form) const override {
    if (config.j_tile == 64) {
      ++refused;
      throw SourceRejected("too much shared memory");
    }
    return inner->compile(text, architecture, config, form);
  }

  std::shared_ptr<const CudaCompiler> inner;
  mutable int refused = 0;
};

constexpr std::int64_t kNi = 300, kNj = 1000;
const LaunchConfig kChoice{64, 2, 128, 8, 1, 3};
const Launch kChosen{3, 3, 1, 64, 1, 1};

class CudaTunedTest : public testing::Test {
 protected:
  CudaTunedTest()
      : compiler_(std::make_shared<ChoosyCompiler>(shim_.compiler())),
        device_(shim_.driver(), compiler_, 0, "", ""),
        untuned_(run(test::load_experiment(device_))) {
    device_.set_tunings(tunings_);
  }

  CudaTuningSubject subject() {
    return dynamic_cast<const CudaKernel&>(*test::load_experiment(device_)).tuning_subject();
  }
  void keep(const LaunchConfig& choice, std::int64_t ni = kNi, std::int64_t nj = kNj) {
    ASSERT_TRUE(tunings_.store(subject(), size_class(ni, nj), {choice, 2e9, 1e9}));
  }
  // How a run is launched. Its results are what they should be.
  Launch run(const std::shared_ptr<const Kernel>& kernel, std::int64_t ni = kNi, std::int64_t nj = kNj) {
    const test::Numbers inputs = test::random_experiment(ni, nj);
    CudaExperiment experiment(device_.gpu(), kernel, inputs);
    experiment.sum.run();
    const std::vector<double> got = experiment.get("pot"), expected = test::expected_sums(inputs).at("pot");
    for (std::size_t k = 0; k < got.size(); ++k) {
      EXPECT_NEAR(got[k], expected[k], 2e-6 * std::fabs(expected[k]));
    }
    return shim_.last_launch();
  }
  Launch run() { return run(test::load_experiment(device_)); }

  test::CudaShim shim_;
  test::ScratchFolder scratch_;
  std::shared_ptr<ChoosyCompiler> compiler_;
  CudaDevice device_;
  CudaTunings tunings_{scratch_.path("cache")};
  Launch untuned_;
};

TEST_F(CudaTunedTest, AStoredChoiceTakesThePlaceOfTheModels) {
  EXPECT_NE(untuned_, kChosen);
  EXPECT_EQ(run(), untuned_);
  keep(kChoice);
  EXPECT_EQ(run(), kChosen);
}

TEST_F(CudaTunedTest, TheModelChoosesSplitsWhereTheStoreDoesNot) {
  keep(kChoice.compiled());
  const Launch launch = run();
  EXPECT_EQ(launch[0], kChosen[0]);
  EXPECT_EQ(launch[3], kChosen[3]);
  EXPECT_GT(launch[1], 1u);
}

TEST_F(CudaTunedTest, OtherSizesAreTheModels) {
  keep(kChoice, 16 * kNi, 16 * kNj);
  EXPECT_EQ(run(), untuned_);
}

TEST_F(CudaTunedTest, ANeighbouringSizeLendsItsKernel) {
  keep(kChoice, 2 * kNi, kNj);
  const Launch launch = run();
  EXPECT_EQ(launch[0], kChosen[0]);
  EXPECT_EQ(launch[3], kChosen[3]);
}

TEST_F(CudaTunedTest, WhereTheModelWasFoundBestItDecides) {
  keep(kChoice, 2 * kNi, kNj);
  keep(LaunchConfig{});
  EXPECT_EQ(run(), untuned_);
}

TEST_F(CudaTunedTest, OneSumTakesTheChoiceOfEachSize) {
  keep(kChoice);
  const auto kernel = test::load_experiment(device_);
  EXPECT_EQ(run(kernel), kChosen);
  run(kernel, 16 * kNi, kNj);
  EXPECT_EQ(run(kernel), kChosen);
}

TEST_F(CudaTunedTest, WithoutTuningsNoneIsFound) {
  keep(kChoice);
  device_.set_tunings(CudaTunings());
  EXPECT_EQ(run(), untuned_);
}

TEST_F(CudaTunedTest, AKernelLooksOnce) {
  const auto before = test::load_experiment(device_);
  keep(kChoice);
  EXPECT_EQ(run(before), untuned_);
}

TEST_F(CudaTunedTest, AChoiceThatCannotBeCompiledIsTriedOnceAndLeftAside) {
  LaunchConfig impossible = kChoice;
  impossible.j_tile = 64;
  keep(impossible);
  const auto kernel = test::load_experiment(device_);
  EXPECT_EQ(run(kernel), untuned_);
  EXPECT_EQ(run(kernel), untuned_);
  EXPECT_EQ(compiler_->refused, 1);
}

TEST_F(CudaTunedTest, AChoiceThatCannotBeLoadedIsLeftAside) {
  keep(kChoice);
  const auto kernel = test::load_experiment(device_);
  shim_.fail("module_load_data", 1, kCudaOutOfMemory);
  EXPECT_EQ(run(kernel), untuned_);
}

TEST_F(CudaTunedTest, WhatTheModelChoosesCanBeAsked) {
  keep(kChoice);
  const auto loaded = test::load_experiment(device_);
  const LaunchConfig model = dynamic_cast<const CudaKernel&>(*loaded).model_choice(kNi, kNj);
  EXPECT_EQ(unsigned(model.threads), untuned_[3]);
  EXPECT_EQ(unsigned(model.j_splits), untuned_[1]);
}

}  // namespace
}  // namespace nbcc
