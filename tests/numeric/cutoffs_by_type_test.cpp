// Cutoffs that a table of params gives for each pair of types: searches find the pairs of all pairs, on the CPU with
// each pair from both ends and once, and on GPUs.
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>

#include "compiler/source/parse.h"
#include "runtime/cuda/program/cuda_device.h"
#include "tests/support/cpu_run.h"
#include "tests/support/cuda_shim.h"

namespace nbcc {
namespace {

using namespace test;

const std::string kFields =
    "input_i vec3 xi; input_i int ti; input_j vec3 xj; input_j int tj;\n"
    "param vec3 box = vec3(4); param real rc[TYPES][TYPES] = {1};\n"
    "output(count) int n; output(sum) int weight; output(min) real least;\n"
    "vec3 dx = nearest_image(xj - xi, box); real r2 = dot(dx, dx);\n";
// The last table is not symmetric: a pair may act on one of its particles only.
const std::string kGuards[] = {"skip_if(i_index == j_index || r2 >= rc[ti][tj] * rc[ti][tj]);\n",
                               "skip_if(r2 > rc[ti][tj]);\n",
                               "skip_if(i_index == j_index || sqrt(r2) >= 0.5 * (rc[ti][tj] + rc[tj][ti]));\n"};
const std::string kEnd = "n += r2 >= 0; weight += 1 + ti + 3 * tj; least = min(least, r2);\n";

std::string text_of(const std::string& guard, int types) {
  std::string text = kFields + guard + kEnd;
  for (auto at = text.find("TYPES"); at != std::string::npos; at = text.find("TYPES"))
    text.replace(at, 5, std::to_string(types));
  return text;
}

OracleInput mixture(std::int64_t n, int types, bool symmetric, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> place(0, 4), size(-0.3, 0.9);
  OracleInput input{.ni = n, .nj = n, .i = {}, .j = {}, .params = {4, 4, 4}};
  for (int axis = 0; axis < 3; ++axis) {
    input.i.emplace_back();
    for (std::int64_t k = 0; k < n; ++k) input.i.back().push_back(std::round(place(random) * 1024) / 1024);
  }
  input.i.emplace_back();
  for (std::int64_t k = 0; k < n; ++k) input.i.back().push_back(double(random() % std::uint64_t(types)));
  input.j = input.i;
  const auto m = std::size_t(types);
  std::vector<double> table(m * m);
  for (double& one : table) one = std::round(size(random) * 64) / 64;
  for (std::size_t k = 0; symmetric && k < m * m; ++k) table[k] = table[k / m < k % m ? k : k % m * m + k / m];
  input.params.insert(input.params.end(), table.begin(), table.end());
  return input;
}

void expect_all(KernelDevice& device, const std::function<KernelSource(const Pipeline&, const Options&)>& build,
                std::int64_t n, int types) {
  for (std::size_t t = 0; t < std::size(kGuards); ++t)
    for (const bool symmetric : {true, false}) {
      const auto precision = Precision(t % 3);
      const std::string text = text_of(kGuards[t], types);
      const auto kernel = device.load(build(parse({"types.pipe", text}), {precision}));
      ASSERT_NE(kernel->source.search.bound, "") << kernel->source.search.obstacle;
      const OracleInput input = mixture(n, types, symmetric, t);
      const auto run = [&](PairChoice pairs, SymmetricChoice once) {
        return run_kernel(kernel, input,
                          {.prepare =
                               [=](SumState& sum) {
                                 sum.set_pairs(pairs);
                                 sum.set_symmetric(once);
                               },
                           .one_set = true});
      };
      const CpuRun::Columns expected = run(PairChoice::All, SymmetricChoice::Off);
      EXPECT_EQ(run(PairChoice::Cutoff, SymmetricChoice::Off), expected) << text;
      EXPECT_EQ(run(PairChoice::Cutoff, SymmetricChoice::Always), expected) << text;
      double pairs = 0;
      for (const double count : expected[0]) pairs += count;
      EXPECT_GT(pairs, double(n));
    }
}

TEST(CutoffsByTypeOnCpu, FindThePairsOfAllPairs) {
  for (const Isa isa : runnable_isas()) {
    CpuDevice device(2, isa, cpu_toolchain(), "", "");
    expect_all(device, [isa](const Pipeline& p, const Options& o) { return build_cpu_kernel(p, o, isa, ""); }, 1500, 3);
  }
}

TEST(CutoffsByTypeOnShim, FindThePairsOfAllPairs) {
  CudaShim shim;
  CudaDevice device(shim.driver(), shim.compiler(), 0, "", "");
  expect_all(device, [](const Pipeline& p, const Options& o) { return build_cuda_kernel(p, o, ""); }, 900, 3);
}

// The most types that a param has room for.
TEST(CutoffsByTypeOnCpu, FindThePairsOfAllPairsOfManyTypes) {
  CpuDevice device(2, detect_isa(), cpu_toolchain(), "", "");
  expect_all(
      device, [](const Pipeline& p, const Options& o) { return build_cpu_kernel(p, o, detect_isa(), ""); }, 1500, 256);
}

TEST(CutoffsByTypeOnShim, FindThePairsOfAllPairsOfManyTypes) {
  CudaShim shim;
  CudaDevice device(shim.driver(), shim.compiler(), 0, "", "");
  expect_all(device, [](const Pipeline& p, const Options& o) { return build_cuda_kernel(p, o, ""); }, 600, 100);
}

}  // namespace
}  // namespace nbcc
