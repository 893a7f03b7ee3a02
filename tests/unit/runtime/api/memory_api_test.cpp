// Memory that a GPU shares with the host: runs read and write it where it is.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/api/handles.h"
#include "runtime/api/nbcc.hpp"
#include "runtime/cuda/program/cuda_device.h"
#include "tests/support/cuda_experiment.h"
#include "tests/support/cuda_shim.h"

namespace {

using nbcc::test::Numbers;

constexpr std::int64_t kCount = 40;

class SharedMemoryTest : public testing::Test {
 protected:
  SharedMemoryTest()
      : cuda_(std::make_shared<nbcc::CudaDevice>(shim_.driver(), shim_.compiler(), 0, "", "")),
        device_(new nbcc_device{cuda_}),
        pot_(device_, kCount * sizeof(double), true),
        list_(device_, kCount * sizeof(std::int64_t), true) {}

  // A sum for all of some particles whose inputs are in the GPU's own memory, the potentials in pot_.
  nbcc::Sum sum() {
    nbcc::Sum made(nbcc::Pipeline(new nbcc_pipeline{nbcc::test::load_experiment(*cuda_)}));
    for (const auto& [field, numbers] : inputs_) {
      const int width = field == "xi" || field == "xj" ? 3 : 1;
      auto& memory =
          memory_.emplace_back(std::make_unique<nbcc::DeviceMemory>(device_, numbers.size() * sizeof(double)));
      memory->write(0, numbers.data(), memory->bytes());
      made.bind(field, nbcc::view(static_cast<double*>(memory->data()), kCount, width * std::int64_t(sizeof(double))));
    }
    made.bind("pot", nbcc::view(pot(), kCount)).ignore("acc").ignore("near").ignore("far");
    return made;
  }
  double* pot() { return static_cast<double*>(pot_.data()); }
  std::int64_t* list() { return static_cast<std::int64_t*>(list_.data()); }

  nbcc::test::CudaShim shim_;
  std::shared_ptr<nbcc::CudaDevice> cuda_;
  nbcc::Device device_;
  Numbers inputs_ = nbcc::test::random_experiment(kCount, kCount);
  std::vector<std::unique_ptr<nbcc::DeviceMemory>> memory_;
  nbcc::DeviceMemory pot_, list_;
};

TEST_F(SharedMemoryTest, ARunStoresThereWithoutACopy) {
  nbcc::Sum sum = this->sum();
  shim_.forget_calls();
  sum.run().wait();
  EXPECT_EQ(shim_.calls("memcpy_dtoh_async"), 0);
  const std::vector<double> expected = nbcc::test::expected_sums(inputs_).at("pot");
  for (std::size_t k = 0; k < expected.size(); ++k) EXPECT_NEAR(pot()[k], expected[k], 2e-6 * std::fabs(expected[k]));
}

TEST_F(SharedMemoryTest, AListIsReadThere) {
  nbcc::Sum sum = this->sum();
  for (std::int64_t k = 0; k < kCount; ++k) pot()[k] = -7;
  list()[0] = 31;
  list()[1] = 4;
  shim_.forget_calls();
  sum.run_device_list(list(), 2).wait();
  EXPECT_EQ(shim_.calls("memcpy_htod_async"), 0);
  const std::vector<double> expected = nbcc::test::expected_sums(inputs_).at("pot");
  for (std::int64_t k = 0; k < kCount; ++k) {
    const double want = k == 31 || k == 4 ? expected[std::size_t(k)] : -7;
    EXPECT_NEAR(pot()[k], want, 2e-6 * std::fabs(want));
  }
}

TEST_F(SharedMemoryTest, ItIsWrittenAndReadAsTheDevicesOwn) {
  const double seven = 7;
  double back = 0;
  pot_.write(8, &seven, sizeof seven);
  EXPECT_EQ(pot()[1], 7);
  pot_.read(8, &back, sizeof back);
  EXPECT_EQ(back, 7);
}

TEST_F(SharedMemoryTest, ItIsPinnedMemoryThatIsGivenBack) {
  shim_.forget_calls();
  {
    const nbcc::DeviceMemory memory(device_, 0, true);
  }
  EXPECT_EQ(shim_.calls("mem_host_alloc"), 1);
  EXPECT_EQ(shim_.calls("mem_free_host"), 1);
  EXPECT_EQ(shim_.calls("mem_free"), 0);
}

TEST_F(SharedMemoryTest, WhatIsBehindItIsNotShared) {
  EXPECT_TRUE(cuda_->gpu().shares(reinterpret_cast<std::byte*>(pot()) + pot_.bytes() - 1));
  EXPECT_FALSE(cuda_->gpu().shares(reinterpret_cast<std::byte*>(pot()) + pot_.bytes()));
}

TEST(SharedMemory, OfTheCpuIsTheHosts) {
  const nbcc::Device device("cpu");
  const nbcc::DeviceMemory memory(device, sizeof(double), true);
  const double one = 1;
  ASSERT_EQ(nbcc_device_write(device.get(), memory.data(), &one, sizeof one, nullptr), NBCC_OK);
  EXPECT_EQ(*static_cast<const double*>(memory.data()), 1);
  EXPECT_EQ(nbcc_device_allocate_shared(device.get(), 8, nullptr, nullptr), NBCC_ERROR_USAGE);
}

}  // namespace
