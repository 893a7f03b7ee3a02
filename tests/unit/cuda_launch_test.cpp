#include "runtime/cuda_launch.h"

#include <gtest/gtest.h>

#include <memory>

#include "runtime/cuda_split.h"
#include "tests/support/cuda_experiment.h"
#include "tests/support/cuda_shim.h"

namespace nbcc {
namespace {

// Two blocks for every four that are resident at once: two and four parts fill whole rounds.
TEST(CudaLaunch, PartsBeyondWholeRoundsTakeOneTileEach) {
  test::CudaShim shim;
  CudaDevice device(shim.driver(), shim.compiler(), 0, "", "");
  const auto loaded = test::load_experiment(device);
  const auto& kernel = dynamic_cast<const CudaKernel&>(*loaded);
  const CudaTuning told{{64, 1, 16, 2, 1}, 5};
  const CudaProgram* const program = kernel.cut(1, 1, true, told).program;
  ASSERT_NE(program, nullptr);
  const std::int64_t together = std::int64_t(program->blocks_per_multiprocessor()) * kernel.gpu().multiprocessors();
  ASSERT_EQ(together % 2, 0);
  const std::int64_t ni = together / 2 * 64, nj = 20 * 16;
  EXPECT_EQ(kernel.cut(ni, nj, true, told).short_parts, 1);

  // Everything is read from one number, and no output is wanted.
  const CudaCurrent current(kernel.gpu());
  CudaBuffer one(kernel.gpu());
  ASSERT_TRUE(one.reserve(sizeof(double)));
  kernel.gpu().driver().memset_d32_async(one.data(), 0, 2, nullptr);
  CudaLauncher launcher(kernel);
  for (int c = 0; c < 4; ++c) {
    launcher.arguments().i(c) = {one.data(), 0, std::int64_t(Element::Double)};
    launcher.arguments().j(c) = {one.data(), 0, std::int64_t(Element::Double)};
  }
  launcher.set_cut(told);
  launcher.cut_for(ni, nj, true);
  ASSERT_TRUE(launcher.reserve(ni, nullptr));
  const auto short_parts_with = [&](std::int64_t j_of_a_chunk) {
    launcher.launch({.ni = ni, .nj = j_of_a_chunk}, nullptr);
    return launcher.arguments().run().short_parts;
  };
  EXPECT_EQ(short_parts_with(nj), 1);
  // A chunk of as many tiles as parts has none longer than others.
  EXPECT_EQ(short_parts_with(5 * 16), 0);
}

}  // namespace
}  // namespace nbcc
