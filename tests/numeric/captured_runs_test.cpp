// Runs captured into a graph: replays give the results for what the arrays have then; what must read the device is an
// error by name.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "compiler/source/parse.h"
#include "jit/backend.h"
#include "jit/build_kernel.h"
#include "runtime/cuda/group/cuda_group.h"
#include "runtime/error.h"
#include "runtime/sum/run/sum.h"
#include "runtime/tolerance/tolerance.h"
#include "tests/support/cuda_shim.h"
#include "tests/support/device_array.h"

namespace nbcc::test {
namespace {

struct Captured {
  const char* name;
  std::string text;
  PairChoice pairs = PairChoice::All;
  bool accumulate = false;
  std::int64_t i_begin = 0;  // the chosen i: all from this one on
};

std::vector<Captured> cases() {
  const std::string points =
      "input_i vec3 xi; input_j vec3 xj; param real rc = 1.5;\nvec3 d = xj - xi;\nreal r2 = dot(d, d);\n";
  const std::string near = points + "skip_if(r2 >= rc * rc || i_index == j_index);\n";
  return {
      {"total_histogram", points + "output(total) int bins[8]; bins[int(2.0 * r2)] += 1;\n"},
      {"real_histogram", points + "output(total) real bins[8]; bins[int(r2)] += d.x * xi.x * 1e-30 - 1e20 * d.y * "
                                  "xi.y; output(sum) real s; s += r2;\n"},
      {"real_histogram_accumulated", points + "output(total) real bins[8]; bins[int(r2)] += d.x * xi.x;\n",
       PairChoice::All, true},
      {"histogram_of_i",
       points + "output(sum) real bins[6]; bins[int(r2)] += d.z * xi.z; output(total) real e; e += r2;\n"},
      {"histogram_of_chosen_i", points + "output(sum) int bins[6]; bins[int(r2)] += 1;\n", PairChoice::All, false, 3},
      {"searched_histogram", near + "output(total) real bins[4]; bins[int(r2)] += r2;\n", PairChoice::Cutoff},
      {"search", near + "output(sum) vec3 f; f += d * r2; output(argmin) index n; n = argmin(n, r2);\n",
       PairChoice::Cutoff},
      {"symmetric", near + "output(sum) vec3 f; f += d / (r2 + 0.1);\n"},
      {"element_loop",
       "input_i real xi[90]; input_j real xj[90]; output(sum) real s; param real rc = 1.5; real r2 = 0.0;\n"
       "for (int k = 0; k < 90; ++k) r2 += (xj[k] - xi[k]) * (xj[k] - xi[k]);\ns += exp(-rc * r2);\n"},
  };
}

class CapturedRuns : public testing::TestWithParam<std::tuple<std::size_t, bool>> {};

TEST_P(CapturedRuns, GiveTheResultsOfTheirReplay) {
  const Captured one = cases().at(std::get<0>(GetParam()));
  CudaShim shim;
  shim.set_device_count(2);
  shim.allow_minus_one();
  std::vector<std::shared_ptr<CudaDevice>> gpus;
  for (int k = 0; k < 2; ++k) gpus.push_back(std::make_shared<CudaDevice>(shim.driver(), shim.compiler(), k, "", ""));
  CudaGroup group({gpus[0], gpus[1]}, true);
  KernelDevice& device = std::get<1>(GetParam()) ? static_cast<KernelDevice&>(group) : *gpus[0];
  const CudaGpu& gpu = gpus[0]->gpu();
  const auto kernel = device.load(build_cuda_kernel(parse({one.name, one.text}), {Precision::Double}, ""));
  SumState sum(kernel);
  constexpr std::int64_t kCount = 700;
  std::mt19937_64 random(7);
  struct Array {
    std::vector<double> here;
    std::unique_ptr<DeviceArray> there;
    bool is_input;
  };
  std::vector<Array> arrays;
  arrays.reserve(kernel->source.fields.size());
  std::size_t of_i = 0;
  for (const FieldLayout& field : kernel->source.fields) {
    if (field.role == Role::Param) continue;
    const std::int64_t rows = field.is_total() ? 1 : kCount, numbers = field.numbers();
    const bool is_input = field.role != Role::Output;
    if (field.role == Role::InputJ) {  // one set
      sum.bind(field.name, sum.bound("xi"));
      continue;
    }
    if (field.role == Role::InputI) of_i = arrays.size();
    Array& array = arrays.emplace_back();
    array.is_input = is_input;
    array.here.resize(std::size_t(rows * numbers), 0.5);
    array.there = std::make_unique<DeviceArray>(gpu, 8 * array.here.size());
    sum.bind(field.name, {array.there->data(), Element::Double, rows, 8 * numbers, 8});
  }
  sum.set_pairs(one.pairs);
  const auto fill = [&] {
    for (double& x : arrays[of_i].here) x = std::uniform_real_distribution<double>(0, 4)(random);
    for (Array& array : arrays) {
      if (!array.is_input) std::ranges::fill(array.here, 0.5);
      array.there->put(array.here.data(), 8 * array.here.size());
    }
  };
  const auto results = [&] {
    std::vector<std::vector<double>> all;
    for (Array& array : arrays)
      if (!array.is_input) array.there->get(array.here.data(), 8 * array.here.size()), all.push_back(array.here);
    return all;
  };
  CudaOwnStream stream(gpu);
  const CudaContextGuard guard(gpu);
  const RunChoice choice{.i_begin = one.i_begin, .accumulate = one.accumulate, .stream = stream.get()};
  const auto capture = [&]() -> std::string {
    shim.begin_capture(stream.get());
    std::string failure;
    try {
      sum.run(choice);
    } catch (const DeviceError& error) {
      failure = error.what();
    }
    shim.end_capture(stream.get());
    return failure;
  };
  fill();
  EXPECT_NE(capture().find("run once before the capture"), std::string::npos);
  sum.run(choice);
  sum.wait();
  ASSERT_EQ(capture(), "");
  for (int replay = 0; replay < 2; ++replay) {
    fill();
    const std::vector<std::vector<double>> inputs{arrays[of_i].here};
    shim.replay(stream.get());
    gpu.synchronize(stream.get());
    const auto replayed = results();
    for (Array& array : arrays)
      if (!array.is_input)
        std::ranges::fill(array.here, 0.5), array.there->put(array.here.data(), 8 * array.here.size());
    sum.run(choice);
    sum.wait();
    EXPECT_EQ(replayed, results());
  }
}

TEST(CapturedRunsOnShim, RefuseAFarFieldByName) {
  CudaShim shim;
  CudaDevice device(shim.driver(), shim.compiler(), 0, "", "");
  const auto kernel =
      device.load(build_cuda_kernel(parse({"far.pipe",
                                           "input_i vec3 xi; input_j vec3 xj; input_j real mj; output(sum) real pot;\n"
                                           "vec3 d = xj - xi; pot += mj / sqrt(dot(d, d) + 0.01);\n"}),
                                    {Precision::Double}, ""));
  SumState sum(kernel);
  constexpr std::int64_t kCount = 300;
  const DeviceArray x(device.gpu(), 24 * kCount), m(device.gpu(), 8 * kCount), pot(device.gpu(), 8 * kCount);
  for (const char* name : {"xi", "xj"}) sum.bind(name, {x.data(), Element::Double, kCount, 24, 8});
  sum.bind("mj", {m.data(), Element::Double, kCount, 8, 8});
  sum.bind("pot", {pot.data(), Element::Double, kCount, 8, 8});
  set_tolerance(sum, 1e-3, {.leaf = 32});
  CudaOwnStream stream(device.gpu());
  const CudaContextGuard guard(device.gpu());
  shim.begin_capture(stream.get());
  try {
    sum.run({.stream = stream.get()});
    ADD_FAILURE() << "it ran";
  } catch (const DeviceError& error) {
    EXPECT_STREQ(error.what(), "a far field cannot be captured: the host reads the tree of its particles");
  }
  shim.end_capture(stream.get());
}

INSTANTIATE_TEST_SUITE_P(OnShim, CapturedRuns,
                         testing::Combine(testing::Range(std::size_t(0), cases().size()), testing::Bool()),
                         [](const auto& one) {
                           return std::string(cases().at(std::get<0>(one.param)).name) +
                                  (std::get<1>(one.param) ? "_two_gpus" : "");
                         });

}  // namespace
}  // namespace nbcc::test
