// From how many particles on a GPU computes each pair of one set once.
#include <gtest/gtest.h>

#include <vector>

#include "compiler/source/parse.h"
#include "jit/build_kernel.h"
#include "runtime/cuda/program/cuda_device.h"
#include "runtime/sum/run/sum.h"
#include "tests/support/cuda_shim.h"
#include "tests/support/folders.h"

namespace nbcc {
namespace {

// With the multiprocessors of an H200, 16384 particles make 4 pairs of groups for each of them. Idle ones then cost
// gravity more than it saves, as was measured there (bench/RESULTS.md).
TEST(SymmetricChoiceOnShim, CountsIdleMultiprocessors) {
  test::CudaShim shim;
  test::CudaShim::Device like_h200;
  like_h200.multiprocessors = 132;
  shim.set_device(like_h200);
  CudaDevice device(shim.driver(), shim.compiler(), 0, "", "");
  const Pipeline pipeline = parse(read_source(test::source_folder() + "/pipelines/gravity.pipe"));
  SumState sum(device.load(build_cuda_kernel(pipeline, {}, "")));
  sum.set_param("eps2", std::vector<double>{0.01});
  std::vector<double> x(3 * 65536, 0.5);
  const auto method = [&](std::int64_t n) {
    for (const char* const field : {"xi", "xj", "acc"}) sum.bind(field, {x.data(), Element::Double, n, 24, 8});
    for (const char* const field : {"mj", "pot"}) sum.bind(field, {x.data(), Element::Double, n, 8, 8});
    return sum.plan().method->name;
  };
  EXPECT_EQ(method(8192), "all pairs");  // too few to occupy the GPU
  EXPECT_EQ(method(16384), "all pairs");
  EXPECT_EQ(method(32768), "symmetric");
  sum.set_symmetric(SymmetricChoice::Always);
  EXPECT_EQ(method(16384), "symmetric");
}

}  // namespace
}  // namespace nbcc
