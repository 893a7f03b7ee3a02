// The chosen of a GPU's kernel as a caller chooses it, through nbcc.h and nbcc.hpp.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "runtime/api/handles.h"
#include "runtime/api/nbcc.hpp"
#include "runtime/cuda/program/cuda_device.h"
#include "tests/support/cuda_experiment.h"
#include "tests/support/cuda_shim.h"
#include "tests/support/scratch_folder.h"

namespace {

using nbcc::LaunchConfiguration;
using nbcc::test::Numbers;
using testing::HasSubstr;

constexpr std::int64_t kNi = 300, kNj = 1000;

std::string message(nbcc_status status, const std::function<void()>& call) {
  try {
    call();
  } catch (const nbcc::Error& e) {
    EXPECT_EQ(e.status(), status);
    return e.what();
  }
  return "no error";
}

class LaunchConfigurationTest : public testing::Test {
 protected:
  LaunchConfigurationTest()
      : cuda_(std::make_shared<nbcc::CudaDevice>(shim_.driver(), shim_.compiler(), 0, "", "")),
        device_(new nbcc_device{cuda_}),
        inputs_(nbcc::test::random_experiment(kNi, kNj)),
        expected_(nbcc::test::expected_sums(inputs_).at("pot")) {}

  nbcc::Sum sum() {
    const nbcc::Pipeline pipeline(new nbcc_pipeline{nbcc::test::load_experiment(*cuda_)});
    nbcc::Sum made(pipeline);
    for (const auto& [field, numbers] : inputs_) {
      const int width = field == "xi" || field == "xj" ? 3 : 1;
      nbcc::DeviceMemory& memory = allocate(numbers.size());
      memory.write(0, numbers.data(), memory.bytes());
      made.bind(field, view(memory, width));
    }
    pot_ = &allocate(std::size_t(kNi));
    made.bind("pot", view(*pot_, 1)).ignore("acc").ignore("near").ignore("far");
    return made;
  }
  // How the run was launched. Its results are what they should be.
  std::vector<unsigned> run(nbcc::Sum& sum) {
    sum.run().wait();
    std::vector<double> got(std::size_t{kNi});
    pot_->read(0, got.data(), pot_->bytes());
    for (std::size_t k = 0; k < got.size(); ++k) {
      EXPECT_NEAR(got[k], expected_[k], 2e-6 * std::fabs(expected_[k]));
    }
    return shim_.last_launch();
  }

  nbcc::test::CudaShim shim_;
  std::shared_ptr<nbcc::CudaDevice> cuda_;
  nbcc::Device device_;

 private:
  nbcc::DeviceMemory& allocate(std::size_t numbers) {
    return *memory_.emplace_back(std::make_unique<nbcc::DeviceMemory>(device_, numbers * sizeof(double)));
  }
  static nbcc::View view(const nbcc::DeviceMemory& memory, int width) {
    const std::int64_t stride = width * std::int64_t(sizeof(double));
    return nbcc::view(static_cast<double*>(memory.data()), std::int64_t(memory.bytes()) / stride, stride);
  }
  Numbers inputs_;
  std::vector<double> expected_;
  std::vector<std::unique_ptr<nbcc::DeviceMemory>> memory_;
  nbcc::DeviceMemory* pot_ = nullptr;
};

TEST_F(LaunchConfigurationTest, EveryNumberIsTakenAsItIs) {
  nbcc::Sum sum = this->sum();
  const LaunchConfiguration chosen{64, 2, 128, 8, 2, 3};
  EXPECT_EQ(run(sum.launch_configuration(chosen)), (std::vector<unsigned>{5, 3, 1, 64, 1, 1}));
  EXPECT_EQ(sum.launch_configuration(kNi, kNj), chosen);
}

TEST_F(LaunchConfigurationTest, NoChoiceIsTheModelsAgain) {
  nbcc::Sum sum = this->sum();
  const std::vector<unsigned> model = run(sum);
  const LaunchConfiguration chosen = sum.launch_configuration(kNi, kNj);
  EXPECT_EQ(unsigned(chosen.threads), model[3]);
  EXPECT_EQ(unsigned(chosen.j_splits), model[1]);
  EXPECT_NE(run(sum.launch_configuration({.threads = 64, .j_splits = 2})), model);
  EXPECT_EQ(run(sum.launch_configuration({})), model);
  EXPECT_EQ(sum.launch_configuration(kNi, kNj), chosen);
}

TEST_F(LaunchConfigurationTest, WhatIsNotChosenIsAsItWouldBe) {
  nbcc::Sum sum = this->sum();
  LaunchConfiguration expected = sum.launch_configuration(kNi, kNj);
  expected.unroll = 2;
  LaunchConfiguration got = sum.launch_configuration({.unroll = 2}).launch_configuration(kNi, kNj);
  EXPECT_GE(got.j_splits, 1);
  got.j_splits = expected.j_splits;
  EXPECT_EQ(got, expected);
  run(sum);
  expected = sum.launch_configuration({}).launch_configuration(kNi, kNj);
  const int other = expected.j_splits == 2 ? 1 : 2;
  expected.j_splits = other;
  EXPECT_EQ(sum.launch_configuration({.j_splits = other}).launch_configuration(kNi, kNj), expected);
  EXPECT_EQ(run(sum)[1], unsigned(other));
}

TEST_F(LaunchConfigurationTest, WhatIsNotChosenIsAsItWasMeasured) {
  nbcc::test::ScratchFolder scratch;
  const nbcc::CudaTunings tunings(scratch.path("cache"));
  const auto kernel = nbcc::test::load_experiment(*cuda_);
  const nbcc::LaunchConfig measured{64, 2, 128, 8, 1, 3};
  ASSERT_TRUE(tunings.store(dynamic_cast<const nbcc::CudaKernel&>(*kernel).tuning_subject(), nbcc::size_class(kNi, kNj),
                            {measured, 2e9, 1e9}));
  cuda_->set_tunings(tunings);
  nbcc::Sum sum = this->sum();
  EXPECT_EQ(sum.launch_configuration(kNi, kNj), (LaunchConfiguration{64, 2, 128, 8, 1, 3}));
  EXPECT_EQ(run(sum.launch_configuration({.threads = 128}))[3], 128U);
  EXPECT_EQ(sum.launch_configuration(kNi, kNj).i_per_thread, 2);
}

TEST_F(LaunchConfigurationTest, SplitsAreNoMoreThanTiles) {
  nbcc::Sum sum = this->sum();
  EXPECT_EQ(sum.launch_configuration({.j_tile = 512, .j_splits = 100}).launch_configuration(kNi, kNj).j_splits, 2);
  EXPECT_EQ(run(sum)[1], 2U);
}

TEST_F(LaunchConfigurationTest, SumsOfOneKernelHaveConfigurationsOfTheirOwn) {
  nbcc::Sum one = sum();
  const LaunchConfiguration before = one.launch_configuration(kNi, kNj);
  nbcc::Sum(sum()).launch_configuration({.threads = 32});
  EXPECT_EQ(one.launch_configuration(kNi, kNj), before);
}

TEST_F(LaunchConfigurationTest, ANumberThatCanNotBeIsRefusedAtOnce) {
  nbcc::Sum sum = this->sum();
  const LaunchConfiguration before = sum.launch_configuration(kNi, kNj);
  EXPECT_EQ(message(NBCC_ERROR_USAGE, [&] { sum.launch_configuration({.threads = 2048}); }),
            "launch configuration: threads must be from 1 to 1024, or 0 for no choice; got 2048");
  EXPECT_THAT(message(NBCC_ERROR_USAGE, [&] { sum.launch_configuration({.j_splits = -1}); }),
              HasSubstr("j_splits must be"));
  EXPECT_EQ(sum.launch_configuration(kNi, kNj), before);
}

TEST_F(LaunchConfigurationTest, AConfigurationThatTheCompilerRefusesIsAnErrorOfTheRun) {
  nbcc::Sum sum = this->sum();
  sum.launch_configuration({.threads = 64, .j_slices = 3});
  EXPECT_THAT(
      message(NBCC_ERROR_USAGE, [&] { sum.run(); }),
      testing::AllOf(HasSubstr("pipeline 'experiment' cannot be compiled with the launch configuration 64 threads"),
                     HasSubstr("j_slices 3"), HasSubstr("j-slices divide the threads of a block")));
  EXPECT_THAT(message(NBCC_ERROR_USAGE, [&] { sum.launch_configuration(kNi, kNj); }), HasSubstr("j_slices 3"));
  sum.launch_configuration({.unroll = 3});
  EXPECT_THAT(message(NBCC_ERROR_USAGE, [&] { sum.run(); }), HasSubstr("a power of two times"));
  run(sum.launch_configuration({}));
}

TEST_F(LaunchConfigurationTest, TheCallersStructMayBeAnOlderOne) {
  nbcc::Sum sum = this->sum();
  nbcc_launch_configuration chosen{};
  chosen.size = offsetof(nbcc_launch_configuration, i_per_thread);
  chosen.threads = 32;
  chosen.j_splits = -1;  // beyond what the size says
  ASSERT_EQ(nbcc_sum_set_launch_configuration(sum.get(), &chosen, nullptr), NBCC_OK);
  chosen.threads = 0;
  ASSERT_EQ(nbcc_sum_get_launch_configuration(sum.get(), kNi, kNj, &chosen, nullptr), NBCC_OK);
  EXPECT_EQ(chosen.threads, 32);
  EXPECT_EQ(chosen.j_splits, -1);
  ASSERT_EQ(nbcc_sum_set_launch_configuration(sum.get(), nullptr, nullptr), NBCC_OK);
  EXPECT_NE(sum.launch_configuration(kNi, kNj).threads, 32);
}

TEST_F(LaunchConfigurationTest, WrongCallsAreRefused) {
  nbcc::Sum sum = this->sum();
  nbcc_launch_configuration chosen{};
  EXPECT_EQ(nbcc_sum_set_launch_configuration(nullptr, &chosen, nullptr), NBCC_ERROR_USAGE);
  EXPECT_EQ(nbcc_sum_set_launch_configuration(sum.get(), &chosen, nullptr), NBCC_ERROR_USAGE);  // without a size
  EXPECT_EQ(nbcc_sum_get_launch_configuration(sum.get(), 1, 1, &chosen, nullptr), NBCC_ERROR_USAGE);
  chosen.size = sizeof chosen;
  EXPECT_EQ(nbcc_sum_get_launch_configuration(nullptr, 1, 1, &chosen, nullptr), NBCC_ERROR_USAGE);
  EXPECT_EQ(nbcc_sum_get_launch_configuration(sum.get(), 1, 1, nullptr, nullptr), NBCC_ERROR_USAGE);
  EXPECT_THAT(message(NBCC_ERROR_USAGE, [&] { sum.launch_configuration(0, 1); }), HasSubstr("got 0 and 1"));
}

}  // namespace
