// Searches where few particles are far from all others, or reach far, or where a cell is so narrow that a reach spans
// many of its images: the search gives what all pairs give, and tests few more pairs than without those particles.
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "compiler/source/parse.h"
#include "jit/build_kernel.h"
#include "runtime/cpu/cpu_device.h"
#include "runtime/cuda/program/cuda_device.h"
#include "runtime/sum/run/sum.h"
#include "tests/support/cpu_run.h"
#include "tests/support/cuda_shim.h"
#include "tests/support/on_gpu.h"
#include "tests/support/sampling.h"

namespace nbcc::test {
namespace {

// Particles of one set, count many, uniform in a box of these sides from the origin on.
struct FarCase {
  const char* name;
  const char* difference;
  const char* reach;
  std::array<double, 3> sides{1, 1, 1};
  std::array<double, 3> box{1, 1, 1};
  std::array<std::array<double, 3>, 3> cell{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
  double h = 0.05;
  std::size_t axis = 0;  // along which a few are moved
  double far = 0;        // to here; 0: none is
  double far_h = 0;      // the reach of one particle; 0: that of all others
};
constexpr const char *kOpen = "xj - xi", *kBox = "nearest_image(xj - xi, box)",
                     *kCell = "nearest_image(xj - xi, la, lb, lc)";
const FarCase kCases[] = {
    {.name = "open", .difference = kOpen, .reach = "rc", .far = 1e6},
    {.name = "open_farther", .difference = kOpen, .reach = "rc", .axis = 1, .far = -1e17},
    {.name = "open_reach_of_i", .difference = kOpen, .reach = "hi", .far = 1e6},
    {.name = "box", .difference = kBox, .reach = "rc", .far = 1e6 + 0.25},
    {.name = "box_farther", .difference = kBox, .reach = "max(hi, hj)", .axis = 2, .far = 1e17},
    {.name = "slab", .difference = kBox, .reach = "rc", .box = {1, 1, 1e30}, .axis = 2, .far = 4e29},
    {.name = "open_cell",
     .difference = kCell,
     .reach = "rc",
     .cell = {{{1, 0, 0}, {0.25, 1, 0}, {0, 0, 1e30}}},
     .axis = 2,
     .far = 4e29},
    {.name = "long_cell",
     .difference = kCell,
     .reach = "rc",
     .sides = {1, 1, 1000},
     .cell = {{{1, 0, 0}, {0.25, 1, 0}, {0, 0, 1000}}},
     .h = 0.5,
     .axis = 2,
     .far = 1e17},
    {.name = "narrow_cell",
     .difference = kCell,
     .reach = "rc",
     .sides = {0.01, 0.01, 100},
     .cell = {{{0.01, 0, 0}, {0.0025, 0.01, 0}, {0, 0, 100}}},
     .h = 1},
    {.name = "one_i_that_reaches_all", .difference = kOpen, .reach = "hi", .far_h = 1e20},
    {.name = "one_j_that_reaches_all", .difference = kBox, .reach = "hj", .far_h = 1e20},
};

struct Found {
  std::vector<double> count, weight;
  std::int64_t tested = 0;
};

// Sums of a device over arrays of the host. `far`: how many particles are far, or reach far.
Found run(const std::shared_ptr<const Kernel>& kernel, const FarCase& one, std::size_t n, int far, PairChoice pairs) {
  std::mt19937_64 random(11);
  std::uniform_real_distribution<double> unit(0, 1);
  std::vector<double> x, h(n, one.h);
  for (std::size_t k = 0; k < 3 * n; ++k) x.push_back(one.sides[k % 3] * unit(random));
  for (int k = 0; k < far; ++k) {
    const std::size_t which = (n / 3 + 7 * std::size_t(k)) % n;
    if (one.far != 0) x[3 * which + one.axis] = one.far * (1 + 0.125 * k);
    if (one.far_h != 0) h[which] = one.far_h;
  }
  Found found;
  found.count.resize(n), found.weight.resize(n);
  SumState sum(kernel);
  const auto bind = [&](const char* name, std::vector<double>& values, std::int64_t width) {
    for (const FieldLayout& field : sum.fields())
      if (field.name == name) sum.bind(name, {values.data(), Element::Double, std::int64_t(n), 8 * width, 8});
  };
  for (const char* name : {"xi", "xj"}) bind(name, x, 3);
  for (const char* name : {"hi", "hj"}) bind(name, h, 1);
  bind("count", found.count, 1), bind("weight", found.weight, 1);
  for (const FieldLayout& field : sum.fields()) {
    if (field.name == "rc") sum.set_param("rc", {&one.h, 1});
    if (field.name == "box") sum.set_param("box", one.box);
    const char* const vectors[3] = {"la", "lb", "lc"};
    for (std::size_t k = 0; k < 3; ++k)
      if (field.name == vectors[k]) sum.set_param(field.name, one.cell[k]);
  }
  sum.set_pairs(pairs);
  sum.run();
  sum.wait();
  found.tested = sum.statistics().pairs_tested;
  return found;
}

using Build = std::function<KernelSource(const Pipeline&, const Options&)>;

void expect_few_tests(KernelDevice& device, const Build& build, std::size_t n, const std::vector<std::size_t>& cases) {
  for (const std::size_t number : cases) {
    const FarCase& one = kCases[number];
    const std::string text = std::string(R"(
input_i vec3 xi; input_i real hi; input_j vec3 xj; input_j real hj; param real rc = 1.0;
param vec3 box = vec3(1e30); param vec3 la = vec3(1, 0, 0); param vec3 lb = vec3(0, 1, 0); param vec3 lc = vec3(0, 0, 1);
output(sum) real count; output(sum) real weight;
vec3 dx = )") + one.difference +
                             ";\nreal r2 = dot(dx, dx);\nreal reach = " + one.reach +
                             ";\nskip_if(r2 >= reach * reach);\ncount += 1.0; weight += real(j_index % 7);\n";
    for (const Precision precision : {Precision::Single, number % 2 != 0 ? Precision::Mixed : Precision::Double}) {
      SCOPED_TRACE(std::string(one.name) + ", " + std::string(name(precision)));
      const auto kernel = device.load(build(parse({"far.pipe", text}), {.precision = precision}));
      const Found without = run(kernel, one, n, 0, PairChoice::Cutoff);
      // Candidates in a cube around a group of i, and the groups of few far particles with all j each.
      const double few = one.far == 0 && one.far_h == 0 ? 0 : 3;
      EXPECT_LT(double(without.tested), 0.15 * double(n) * double(n));
      const Found found = run(kernel, one, n, int(few), PairChoice::Cutoff);
      EXPECT_LT(double(found.tested), 1.25 * double(without.tested) + few * 33 * double(n));
      const Found all = run(kernel, one, n, int(few), PairChoice::All);
      EXPECT_EQ(found.count, all.count);
      EXPECT_EQ(found.weight, all.weight);
    }
  }
}

TEST(FarParticles, CostNothingOnTheCpu) {
  CpuDevice device(2, detect_isa(), cpu_toolchain(), "", "");
  const Isa isa = detect_isa();
  expect_few_tests(
      device, [isa](const Pipeline& p, const Options& o) { return build_cpu_kernel(p, o, isa, ""); }, 4000,
      sampled_range(std::size_t(0), std::size(kCases), 3));
}

TEST(FarParticles, CostNothingOnShim) {
  CudaShim shim;
  CudaDevice device(shim.driver(), shim.compiler(), 0, "", "");
  expect_few_tests(
      device, [](const Pipeline& p, const Options& o) { return build_cuda_kernel(p, o, ""); }, 4000,
      sampled_range(std::size_t(0), std::size(kCases), 5));
}

class FarParticlesOnGpu : public OnGpu, public testing::WithParamInterface<std::size_t> {};

TEST_P(FarParticlesOnGpu, CostNothing) {
  expect_few_tests(*device_, [](const Pipeline& p, const Options& o) { return build_cuda_kernel(p, o, ""); }, 40000,
                   {GetParam()});
}

INSTANTIATE_TEST_SUITE_P(Cases, FarParticlesOnGpu, testing::Range(std::size_t(0), std::size(kCases)),
                         [](const auto& info) { return std::string(kCases[info.param].name); });

}  // namespace
}  // namespace nbcc::test
