// The kernels of grids on a GPU against runtime/far/far_grids.h. Many blocks run at once, which the simulated GPU of
// tests/unit/runtime/cuda/far/cuda_far_grids_test.cpp does not do.
#include "runtime/cuda/far/cuda_far_grids.h"

#include <gtest/gtest.h>

#include "tests/support/far_grids_on_gpu.h"
#include "tests/support/on_gpu.h"

namespace nbcc {
namespace {

class CudaFarGridsOnGpu : public test::OnGpu {};

TEST_F(CudaFarGridsOnGpu, GiveTheResultsOfTheHost) {
  const std::shared_ptr<const Kernel> any = device_->load(test::no_kernel());
  for (const test::GridCase& of :
       {test::GridCase{"Order4", 3, 4, 128, 200'000, 1, 4}, test::GridCase{"Order6", 3, 6, 200, 200'000, 2, 5, true},
        test::GridCase{"Order13", 3, 13, 100, 30'000, 1, 2}, test::GridCase{"Plane", 2, 7, 64, 100'000, 2, 3},
        test::GridCase{"Line", 1, 5, 16, 100'000, 1, 4}}) {
    SCOPED_TRACE(of.name);
    test::expect_results_of_far_grids(dynamic_cast<const CudaKernel&>(*any), of);
  }
}

// The order in which blocks arrive differs from run to run.
TEST_F(CudaFarGridsOnGpu, GiveTheSameBitsInEveryRun) {
  const std::shared_ptr<const Kernel> any = device_->load(test::no_kernel());
  const test::GridCase of{"Order4", 3, 4, 32, 300'000, 1, 4};
  const test::TwoTrees trees(gpu(), of);
  CudaFarGrids grids(dynamic_cast<const CudaKernel&>(*any), of.axes, of.order);
  grids.set_tree(trees.gpu(), nullptr);
  test::Columns first_weights, first_sums;
  for (int run = 0; run < 10; ++run) {
    const test::GpuColumns weights(gpu(), test::random_columns(of.up, grids.points(), -1, 2));
    grids.go_up(weights.get(), of.up, grids.all_positions(), nullptr);
    const test::GpuColumns sums(gpu(), test::random_columns(of.down, grids.points(), -1, 3));
    grids.go_down(sums.get(), of.down, grids.all_positions(), nullptr);
    if (run == 0) first_weights = weights.read(), first_sums = sums.read();
    ASSERT_TRUE(weights.read() == first_weights && sums.read() == first_sums) << "run " << run;
  }
}

}  // namespace
}  // namespace nbcc
