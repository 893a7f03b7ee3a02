// Nearest neighbours without a guard: what searches find is what all pairs give, wherever particles stand.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "compiler/source/parse.h"
#include "jit/build_kernel.h"
#include "runtime/cuda/program/cuda_device.h"
#include "runtime/sum/run/sum.h"
#include "tests/support/cpu_run.h"
#include "tests/support/cuda_shim.h"
#include "tests/support/sampling.h"

namespace nbcc {
namespace {

using namespace test;

const std::string kFields =
    "input_i vec3 xi; input_j vec3 xj; input_j real hj; param vec3 box = vec3(9, 9, 9);\n"
    "output(argmin) index near; output(min) real least;\n";
// Each chooses by another number.
const std::string kTexts[] = {
    kFields + "vec3 dx = xj - xi; real d = dot(dx, dx);\n",
    kFields + "vec3 dx = nearest_image(xj - xi, box); real d = sqrt(dot(dx, dx));\n",
    kFields + "vec3 dx = xj - xi; real d = dot(dx, dx) / (hj * hj + 0.25);\nskip_if(i_index == j_index);\n",
    kFields + "vec3 dx = xj - xi; real d = dot(dx, dx);\nskip_if(i_index == j_index || hj < 0.5);\n"};
const std::string kEnd = "near = argmin(near, d); least = min(least, d);\nvoid finish() { least = 2 * least; }\n";

// Several nearest, with payloads; fewer pairs than an argmin keeps.
const std::string kSeveral =
    "input_i vec3 xi; input_j vec3 xj; input_j real hj; param vec3 box = vec3(9, 9, 9);\n"
    "output(argmin) index near[K]; output(at) real d2[K]; output(at) vec3 away[K]; output(min) real least;\n"
    "output(argmin) index first;\n";
const std::string kEndOfSeveral =
    "near = argmin(near, d); d2 = at(near, dot(dx, dx)); away = at(near, dx); least = min(least, d);\n"
    "first = argmin(first, d);\n";

std::string keeping(int k, std::string text) {
  for (std::size_t at; (at = text.find("[K]")) != std::string::npos;)
    text.replace(at, 3, "[" + std::to_string(k) + "]");
  return text;
}

// Clusters of sizes that differ by orders of magnitude; many places are taken twice.
OracleInput clusters(std::int64_t ni, std::int64_t nj, int seed) {
  std::mt19937_64 random(std::uint64_t(seed) + 1);
  std::uniform_real_distribution<double> unit(-1, 1);
  OracleInput input{.ni = ni, .nj = nj, .i = {}, .j = {}, .params = {9, 9, 9}};
  std::vector<std::vector<double>> x(3), h(1);
  for (std::int64_t k = 0; k < std::max(ni, nj); ++k) {
    const double size = std::pow(10.0, -double(random() % 4)), centre = double(random() % 3);
    for (auto& column : x) column.push_back(std::round((centre + size * unit(random)) * 4096) / 4096);
    h[0].push_back(double(random() % 8) / 4);
    if (k > 0 && random() % 5 == 0)
      for (auto& column : x) column[std::size_t(k)] = column[random() % std::uint64_t(k)];
  }
  const auto first = [](std::vector<double> column, std::int64_t n) {
    column.resize(std::size_t(n));
    return column;
  };
  for (const auto& column : x) input.i.push_back(first(column, ni)), input.j.push_back(first(column, nj));
  input.j.push_back(first(h[0], nj));
  input.i_offset = input.j_offset = 3;
  return input;
}

// Equal bits, NaN included.
std::vector<std::vector<std::uint64_t>> bits(const CpuRun::Columns& columns) {
  std::vector<std::vector<std::uint64_t>> all;
  for (const auto& column : columns) {
    all.emplace_back();
    for (const double value : column) all.back().push_back(std::bit_cast<std::uint64_t>(value + 0.0));
  }
  return all;
}

// Texts with one neighbour and with several.
std::vector<std::string> texts_to_try() {
  std::vector<std::string> texts;
  for (const std::string& text : kTexts) texts.push_back(text + kEnd);
  // Minima alone; a minimum of more components than an argmin keeps; a guard that few pairs pass.
  texts.push_back(
      "input_i vec3 xi; input_j vec3 xj; input_j real hj; param vec3 box = vec3(9, 9, 9); output(min) real least;\n"
      "vec3 dx = xj - xi; least = min(least, dot(dx, dx));\n");
  texts.push_back(
      "input_i vec3 xi; input_j vec3 xj; input_j real hj; param vec3 box = vec3(9, 9, 9);\n"
      "output(argmin) index near[2]; output(min) vec3 least;\n"
      "vec3 dx = xj - xi; real d = dot(dx, dx); skip_if(i_index == j_index || j_index % 20 != 0);\n"
      "near = argmin(near, d); least = min(least, vec3(d, d, d));\n");
  for (const int k : {2, 8, 33}) {
    const std::string& text = kTexts[std::size_t(k) % std::size(kTexts)];
    texts.push_back(keeping(k, kSeveral) + text.substr(kFields.size()) + keeping(k, kEndOfSeveral));
  }
  return texts;
}

void expect_nearest(KernelDevice& device, const std::function<KernelSource(const Pipeline&, const Options&)>& build,
                    std::int64_t n, std::size_t period) {
  const std::vector<std::string> texts = texts_to_try();
  for (const std::size_t t : sampled_range(std::size_t(0), texts.size(), period)) {
    const Pipeline pipeline = parse({"nearest.pipe", texts[t]});
    const Options options{.precision = Precision(t % 3)};
    const auto kernel = device.load(build(pipeline, options));
    ASSERT_EQ(kernel->derived("nearest").obstacle, "") << texts[t];
    const std::int64_t few = 0, one_more = 513;
    for (const auto& [ni, nj] :
         {std::pair{n, n}, {n / 3, n}, {n, n / 7}, {std::int64_t(5), n}, {one_more, one_more}, {n, few}}) {
      const OracleInput input = clusters(ni, nj, int(t));
      const auto run = [&](PairChoice pairs, std::int64_t begin = 0) {
        return run_kernel(kernel, input,
                          {.begin = begin,
                           .prepare = [pairs](SumState& sum) { sum.set_pairs(pairs); },
                           .after =
                               [&, nj = nj](SumState& sum) {
                                 const bool searches = pairs == PairChoice::Cutoff && nj > 512;
                                 EXPECT_EQ(sum.statistics().searches > 0, searches);
                               }});
      };
      EXPECT_EQ(bits(run(PairChoice::Cutoff)), bits(run(PairChoice::All))) << texts[t] << ni << " x " << nj;
      EXPECT_EQ(bits(run(PairChoice::Cutoff, ni / 2)), bits(run(PairChoice::All, ni / 2)))
          << texts[t] << ni << " x " << nj;
    }
  }
}

TEST(NearestOnCpu, AreThoseOfAllPairs) {
  CpuDevice device(2, detect_isa(), cpu_toolchain(), "", "");
  const Isa isa = detect_isa();
  expect_nearest(
      device, [isa](const Pipeline& p, const Options& o) { return build_cpu_kernel(p, o, isa, ""); }, 2500, 3);
}

TEST(NearestOnShim, AreThoseOfAllPairs) {
  CudaShim shim;
  CudaDevice device(shim.driver(), shim.compiler(), 0, "", "");
  expect_nearest(device, [](const Pipeline& p, const Options& o) { return build_cuda_kernel(p, o, ""); }, 640, 4);
}

// Who is nowhere makes every minimum NaN, as among all pairs.
TEST(NearestOnCpu, ANumberThatIsNoneIsNotOverlooked) {
  CpuDevice device(2, detect_isa(), cpu_toolchain(), "", "");
  const auto kernel = device.load(build_cpu_kernel(parse({"nearest.pipe", kTexts[0] + kEnd}), {}, detect_isa(), ""));
  OracleInput input = clusters(2000, 20000, 1);
  input.j[1][12345] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(std::isnan(run_kernel(kernel, input)[1][7]));
}

// Where no search can help: a param that is infinite, as the length of an open axis, pairs that are excluded.
template <typename Device>
void expect_all_pairs_elsewhere(Device& device, const KernelSource& source) {
  const auto kernel = device.load(source);
  OracleInput input = clusters(700, 700, 3);
  const auto run = [&](PairChoice pairs) {
    return run_kernel(kernel, input, {.prepare = [&](SumState& sum) {
                        sum.set_pairs(pairs);
                        const std::vector<std::int64_t> first(701, 0);
                        if (input.params[0] == 9) sum.set_exclusions(700, first.data(), 0, first.data());
                      }});
  };
  EXPECT_EQ(run(PairChoice::Cutoff), run(PairChoice::All));
  input.params[0] = std::numeric_limits<double>::infinity();
  EXPECT_EQ(run(PairChoice::Cutoff), run(PairChoice::All));
}

TEST(NearestOnCpu, AreOfAllPairsWhereNoSearchCanHelp) {
  CpuDevice device(2, detect_isa(), cpu_toolchain(), "", "");
  expect_all_pairs_elsewhere(device, build_cpu_kernel(parse({"n.pipe", kTexts[1] + kEnd}), {}, detect_isa(), ""));
}

TEST(NearestOnShim, AreOfAllPairsWhereNoSearchCanHelp) {
  CudaShim shim;
  CudaDevice device(shim.driver(), shim.compiler(), 0, "", "");
  expect_all_pairs_elsewhere(device, build_cuda_kernel(parse({"n.pipe", kTexts[1] + kEnd}), {}, ""));
}

// With arrays on the GPU: searched if all inputs are finite, which the GPU checks.
TEST(NearestOnShim, AreSearchedForInMemoryOfTheGpu) {
  CudaShim shim;
  CudaDevice device(shim.driver(), shim.compiler(), 0, "", "");
  const auto kernel = device.load(build_cuda_kernel(parse({"nearest.pipe", kTexts[3] + kEnd}), {}, ""));
  OracleInput input = clusters(600, 700, 1);
  const auto run = [&](PairChoice pairs, std::string_view method) {
    return bits(run_kernel(kernel, input,
                           {.arrays_on = &device.gpu(),
                            .prepare = [=](SumState& sum) { sum.set_pairs(pairs); },
                            .after = [=](SumState& sum) { EXPECT_EQ(sum.method(), method); }}));
  };
  EXPECT_EQ(run(PairChoice::Cutoff, "nearest"), run(PairChoice::All, "all pairs"));
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (double* const value : {&input.i[2][599], &input.j[3][7], &input.j[0][699]}) {
    const double finite = std::exchange(*value, nan);
    EXPECT_EQ(run(PairChoice::Cutoff, "all pairs"), run(PairChoice::All, "all pairs"));
    *value = finite;
  }
  input = clusters(2000, 70000, 1);
  const auto plan = [](SumState& sum) { EXPECT_EQ(sum.plan().method->name, "nearest"); };
  run_kernel(kernel, input, {.count = 0, .arrays_on = &device.gpu(), .after = plan});
}

// The search is chosen where it takes less time than all pairs.
TEST(NearestOnCpu, AreSearchedForAmongTenThousand) {
  CpuDevice device(2, detect_isa(), cpu_toolchain(), "", "");
  for (const auto& [k, n] : {std::pair{1, 16000}, {8, 9000}}) {
    const std::string text = keeping(k, kSeveral) + kTexts[2].substr(kFields.size()) + keeping(k, kEndOfSeveral);
    const auto kernel = device.load(build_cpu_kernel(parse({"nearest.pipe", text}), {}, detect_isa(), ""));
    const auto plan = [](SumState& sum) { EXPECT_EQ(sum.plan().method->name, "nearest"); };
    run_kernel(kernel, clusters(n, n, 1), {.count = 0, .after = plan});
  }
}

// A search bounds three axes, which exclude few j of a distance along ten.
TEST(NearestOnCpu, AreOfAllPairsAlongManyAxes) {
  CpuDevice device(2, detect_isa(), cpu_toolchain(), "", "");
  constexpr std::int64_t kCount = 20000;
  std::vector<float> x(10 * kCount);
  for (std::size_t k = 0; k < x.size(); ++k) x[k] = std::sin(float(k));
  for (const auto& [axes, method] : {std::pair{3, "nearest"}, {10, "all pairs"}}) {
    const std::string text = fmt::format(
        "input_i real xi[{0}]; input_j real xj[{0}]; output(argmin) index near[8]; real r2 = 0;\n"
        "for (int k = 0; k < {0}; ++k) r2 += (xj[k] - xi[k]) * (xj[k] - xi[k]);\nnear = argmin(near, r2);\n",
        axes);
    SumState sum(device.load(build_cpu_kernel(parse({"near.pipe", text}), {}, detect_isa(), "")));
    std::vector<std::int64_t> near(8 * kCount);
    const ArrayView points{x.data(), Element::Float, kCount, 40, 4};
    sum.bind("xi", points), sum.bind("xj", points);
    sum.bind("near", {near.data(), Element::Int64, kCount, 64, 8});
    EXPECT_EQ(sum.plan().method->name, method);
  }
}

// A guard that few pairs pass: more j near a group are tried until each i has its number. A minimum alone of one set,
// whose kernel could compute each pair once, but then without bounds.
TEST(NearestOnCpu, TestFewPairsOfEveryText) {
  CpuDevice device(2, detect_isa(), cpu_toolchain(), "", "");
  const std::string inputs = "input_i vec3 xi; input_j vec3 xj; input_j real hj; param vec3 box; vec3 dx = xj - xi;\n";
  for (const std::string& text :
       {inputs + "output(argmin) index near[4]; skip_if(i_index == j_index || j_index % 20 != 0);\n"
                 "near = argmin(near, dot(dx, dx));\n",
        inputs + "output(min) real least; skip_if(i_index == j_index); least = min(least, dot(dx, dx));\n"}) {
    const auto kernel = device.load(build_cpu_kernel(parse({"few.pipe", text}), {Precision::Double}, detect_isa(), ""));
    const std::int64_t n = 20000;
    const bool one_set = text.find("output(min)") != std::string::npos;
    run_kernel(kernel, clusters(n, n, 2),
               {.prepare = [](SumState& sum) { sum.set_pairs(PairChoice::Cutoff); },
                .after = [n](SumState& sum) { EXPECT_LT(sum.statistics().pairs_tested, n * n / 5); },
                .one_set = one_set});
  }
}

// About as many pairs for each i, however many there are.
TEST(NearestOnCpu, TestFewPairs) {
  CpuDevice device(2, detect_isa(), cpu_toolchain(), "", "");
  const auto kernel = device.load(build_cpu_kernel(parse({"nearest.pipe", kTexts[0] + kEnd}), {}, detect_isa(), ""));
  for (const std::int64_t n : {20000, 160000}) {
    OracleInput input = clusters(n, n, 2);
    SumState sum(kernel);
    std::vector<double> x, near(static_cast<std::size_t>(n)), least(near);
    for (const auto& column : input.i) x.insert(x.end(), column.begin(), column.end());
    for (const char* const field : {"xi", "xj"}) sum.bind(field, {x.data(), Element::Double, n, 8, 8 * n});
    sum.bind("hj", {input.j[3].data(), Element::Double, n, 8, 8});
    sum.bind("near", {near.data(), Element::Double, n, 8, 8});
    sum.bind("least", {least.data(), Element::Double, n, 8, 8});
    sum.run();
    const double tested = double(sum.statistics().pairs_tested) / double(n);
    EXPECT_GT(tested, 0);
    EXPECT_LT(tested, 1500) << n;
  }
}

}  // namespace
}  // namespace nbcc
