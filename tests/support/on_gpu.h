// A fixture for tests on the first GPU of the machine.
#pragma once
#include <gtest/gtest.h>

#include <optional>

#include "runtime/cuda/program/cuda_device.h"
#include "runtime/error.h"

namespace nbcc::test {

// Skips the test, with the reason, where there is no GPU. Who overrides SetUp() calls this one first and asks
// IsSkipped().
class OnGpu : public testing::Test {
 protected:
  void SetUp() override {
    try {
      device_.emplace(cuda_driver(), make_nvrtc(), 0, "", "");
    } catch (const DeviceError& e) {
      GTEST_SKIP() << e.what();
    }
  }
  const CudaGpu& gpu() const { return device_->gpu(); }

  std::optional<CudaDevice> device_;
};

}  // namespace nbcc::test
