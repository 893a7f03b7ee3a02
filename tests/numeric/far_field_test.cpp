// Sums with a far field against sums over all pairs.
#include "runtime/far/far_field.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "compiler/text/source.h"
#include "jit/build_kernel.h"
#include "runtime/cpu/cpu_device.h"
#include "tests/support/cpu_toolchain.h"
#include "tests/support/folders.h"

namespace nbcc {
namespace {

TEST(FarField, KeepsTheToleranceOfGravity) {
  CpuDevice device(2, detect_isa(), test::cpu_toolchain(), "", "");
  SumState sum(device.load(
      build_cpu_kernel(read_source(test::source_folder() + "/pipelines/gravity.pipe"), {}, detect_isa(), "")));
  const std::int64_t n = 20'000;
  std::mt19937_64 random(3);
  std::normal_distribution<double> normal;
  std::vector<double> x(std::size_t(3 * n)), m(std::size_t(n), 1.0 / double(n)), acc(std::size_t(3 * n));
  for (double& value : x) value = normal(random);
  for (const char* position : {"xi", "xj"}) sum.bind(position, {x.data(), Element::Double, n, 24, 8});
  sum.bind("mj", {m.data(), Element::Double, n, 8, 8});
  sum.bind("acc", {acc.data(), Element::Double, n, 24, 8});
  sum.ignore("pot");
  sum.run();
  const std::vector<double> exact = acc;
  set_tolerance(sum, 1e-3);
  sum.run();
  EXPECT_EQ(sum.statistics().method, "far field");
  EXPECT_LE(sum.statistics().far.error, 1e-3);
  double squares = 0;
  for (std::size_t i = 0; i < std::size_t(n); ++i) {
    double error = 0, size = 0;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      error += std::pow(acc[3 * i + axis] - exact[3 * i + axis], 2);
      size += std::pow(exact[3 * i + axis], 2);
    }
    squares += error / size;
  }
  EXPECT_LE(std::sqrt(squares / double(n)), 5e-3);
}

TEST(FarField, NeedsNoParams) {
  CpuDevice device(2, detect_isa(), test::cpu_toolchain(), "", "");
  SumState sum(device.load(
      build_cpu_kernel(read_source(test::source_folder() + "/pipelines/bem_single_layer.pipe"), {}, detect_isa(), "")));
  const std::int64_t n = 20'000;
  std::mt19937_64 random(4);
  std::normal_distribution<double> normal;
  std::vector<double> x(std::size_t(3 * n)), w(std::size_t(n), 1.0 / double(n)), sigma(std::size_t(n), 0.0),
      pot(std::size_t(n), 0.0);
  for (double& value : x) value = normal(random);
  for (double& value : sigma) value = normal(random);
  for (const char* position : {"xi", "xj"}) sum.bind(position, {x.data(), Element::Double, n, 24, 8});
  sum.bind("wj", {w.data(), Element::Double, n, 8, 8});
  sum.bind("sigmaj", {sigma.data(), Element::Double, n, 8, 8});
  sum.bind("pot", {pot.data(), Element::Double, n, 8, 8});
  set_tolerance(sum, 1e-3);
  sum.run();
  EXPECT_EQ(sum.statistics().method, "far field");
  EXPECT_LE(sum.statistics().far.error, 1e-3);
}

}  // namespace
}  // namespace nbcc
