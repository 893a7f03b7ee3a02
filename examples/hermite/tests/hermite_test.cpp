// The scheme on a GPU that is made of this CPU: what goes over the bus, and that the bodies move as they do elsewhere.
#include "examples/hermite/hermite.h"

#include <gtest/gtest.h>

#include "examples/support/plummer.h"
#include "runtime/api/handles.h"
#include "runtime/cuda/program/cuda_device.h"
#include "tests/support/cuda_shim.h"

namespace examples {
namespace {

constexpr std::int64_t kCount = 8;

class HermiteTest : public testing::TestWithParam<int> {
 protected:
  HermiteTest()
      : gpu_(new nbcc_device{std::make_shared<nbcc::CudaDevice>(shim_.driver(), shim_.compiler(), 0, "", "")}) {
    settings_.order = GetParam();
  }

  nbcc::test::CudaShim shim_;
  nbcc::Device gpu_;
  HermiteSettings settings_;
};

TEST_P(HermiteTest, ABlockIsFourLaunchesWithoutACopy) {
  Hermite system(gpu_, plummer(kCount, 1), settings_);
  shim_.forget_calls();
  system.go_to(0.125);
  EXPECT_GT(system.statistics().blocks(), 2);
  EXPECT_EQ(shim_.calls("launch_kernel_ex"), 4 * system.statistics().blocks());
  EXPECT_EQ(shim_.calls("memcpy_htod_async"), 0);
  EXPECT_EQ(shim_.calls("memcpy_dtoh_async"), 0);
  EXPECT_EQ(shim_.calls("event_synchronize"), system.statistics().blocks());
}

TEST_P(HermiteTest, BodiesMoveAsOnTheCpu) {
  shim_.set_lazy(true);
  settings_.precision = NBCC_DOUBLE;
  const Bodies start = plummer(kCount, 1);
  const nbcc::Device cpu("cpu");
  Hermite there(gpu_, start, settings_), here(cpu, start, settings_);
  there.go_to(0.125);
  here.go_to(0.125);
  EXPECT_EQ(there.statistics().steps(), here.statistics().steps());
  const Bodies got = there.bodies(), expected = here.bodies();
  for (std::size_t k = 0; k < expected.x.size(); ++k) EXPECT_NEAR(got.x[k], expected.x[k], 1e-12);
}

TEST_P(HermiteTest, WaitingForEachPartChangesNothing) {
  const Bodies start = plummer(kCount, 1);
  Hermite plain(gpu_, start, settings_);
  settings_.apart = true;
  Hermite watched(gpu_, start, settings_);
  plain.go_to(0.125);
  watched.go_to(0.125);
  EXPECT_EQ(watched.bodies().x, plain.bodies().x);
}

INSTANTIATE_TEST_SUITE_P(Orders, HermiteTest, testing::Values(4, 6));

}  // namespace
}  // namespace examples
