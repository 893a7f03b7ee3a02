// Sums to a tolerance on several simulated GPUs whose arrays are in the memory of one of them: the bits of one GPU,
// what passes from GPU to GPU, and failures of one GPU in the middle of a run.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/cuda/group/cuda_group.h"
#include "runtime/cuda/program/cuda_device.h"
#include "runtime/error.h"
#include "tests/support/cuda_shim.h"
#include "tests/support/device_array.h"
#include "tests/support/far_trial.h"
#include "tests/support/sampling.h"

namespace nbcc::test {
namespace {

using Arrays = std::map<std::string, std::vector<double>>;

constexpr FarChoice kSmallLeaves{.order = 3, .leaf = 16, .separation = 0.5};

// A sum on `count` simulated GPUs. Its arrays are in the memory of GPU `owner`, or of the host if `owner` is negative.
class SharedTrial {
 public:
  SharedTrial(int count, int owner, const std::string& pipeline) : owner_(owner) {
    shim.set_device_count(3);
    for (int k = 0; k < 3; ++k)
      gpus_.push_back(std::make_shared<CudaDevice>(shim.driver(), shim.compiler(), k, "", ""));
    const std::vector members(gpus_.begin(), gpus_.begin() + count);
    std::shared_ptr<KernelDevice> device = gpus_.front();
    if (count > 1) device = std::make_shared<CudaGroup>(members, true);
    trial_.emplace(FarTrial::library(pipeline), Precision::Single, device);
  }

  FarTrial& trial() { return *trial_; }

  // Results, by the names of outputs.
  Arrays run(const RunChoice& choice = {}) {
    trial().bind();
    if (owner_ >= 0) put();
    trial().sum.run(choice);
    trial().sum.wait();
    Arrays found;
    for (const FieldLayout& field : trial().sum.fields()) {
      if (field.role != Role::Output) continue;
      std::vector<double>& values = trial().arrays.at(field.name);
      if (owner_ >= 0) on_gpu_.at(field.name)->get(values.data(), values.size() * sizeof(double));
      found[field.name] = values;
    }
    return found;
  }

  // The same of the i of a list, which is where the arrays are.
  Arrays run_of(const std::vector<std::int64_t>& list) {
    RunChoice choice{.i_count = std::int64_t(list.size()), .i_list = list.data()};
    std::optional<DeviceArray> on_gpu;
    if (owner_ >= 0) {
      on_gpu.emplace(gpus_[std::size_t(owner_)]->gpu(), list.size() * sizeof(std::int64_t));
      on_gpu->put(list.data(), list.size() * sizeof(std::int64_t));
      choice.i_list = static_cast<const std::int64_t*>(on_gpu->data());
    }
    return run(choice);
  }

  CudaShim shim;

 private:
  void put() {
    for (const FieldLayout& field : trial().sum.fields()) {
      if (field.role == Role::Param) continue;
      std::vector<double>& values = trial().arrays.at(field.name);
      const std::size_t bytes = values.size() * sizeof(double);
      std::unique_ptr<DeviceArray>& array = on_gpu_[field.name];
      if (!array) array = std::make_unique<DeviceArray>(gpus_[std::size_t(owner_)]->gpu(), bytes);
      array->put(values.data(), bytes);
      const int width = field.components();
      trial().sum.bind(field.name, {array->data(), Element::Double, std::int64_t(values.size()) / width, 8 * width, 8});
    }
  }

  const int owner_;
  std::vector<std::shared_ptr<CudaDevice>> gpus_;
  std::map<std::string, std::unique_ptr<DeviceArray>> on_gpu_;
  std::optional<FarTrial> trial_;
};

// Some particles, and runs of them.
struct Case {
  std::string name, pipeline, shape;
  std::int64_t ni, nj;
  bool one_set = true;
  FarChoice numbers = kSmallLeaves;
};

// Runs of all i, of some i, of all i again where some particles have moved, and with excluded pairs.
std::vector<Arrays> runs_of(const Case& of, int count, int owner) {
  SharedTrial shared(count, owner, of.pipeline);
  FarTrial& trial = shared.trial();
  trial.fill(of.shape, of.ni, of.nj, of.one_set, 5);
  set_tolerance(trial.sum, 1e-2, of.numbers);
  std::vector<Arrays> found{shared.run()};
  EXPECT_TRUE(trial.was_far()) << trial.sum.statistics().reason;
  found.push_back(shared.run());  // the particles are where they were
  if (of.ni > 10) {
    found.push_back(shared.run({.i_begin = of.ni / 5, .i_count = of.ni / 2}));
    std::vector<std::int64_t> list;
    for (std::int64_t i = of.ni - 1; i >= 0; i -= 3) list.push_back(i);
    found.push_back(shared.run_of(list));
  }
  for (const char* const name : {"xi", "xj"}) {
    const auto array = trial.arrays.find(name);
    if (array == trial.arrays.end()) continue;
    for (std::size_t k = 0; k < array->second.size(); k += 7) array->second[k] += 0.01;
  }
  found.push_back(shared.run());
  std::vector<std::vector<std::int64_t>> excluded;
  for (std::int64_t i = 0; i < of.ni; ++i) excluded.push_back({i % of.nj, (i + of.nj / 2) % of.nj});
  trial.exclude(excluded);
  found.push_back(shared.run());
  return found;
}

class FarFieldOnGpus : public testing::TestWithParam<Case> {};

TEST_P(FarFieldOnGpus, HasTheBitsOfOneGpu) {
  const std::vector<Arrays> expected = runs_of(GetParam(), 1, 0);
  for (const int count : {2, 3})
    for (const int owner : sampled({-1, 0, 1}, 2)) {
      SCOPED_TRACE(testing::Message() << count << " GPUs, arrays on " << owner);
      const std::vector<Arrays> found = runs_of(GetParam(), count, owner);
      ASSERT_EQ(found.size(), expected.size());
      for (std::size_t run = 0; run < found.size(); ++run) EXPECT_EQ(found[run], expected[run]) << "run " << run;
    }
}

// Coincident: 25 particles at each of 60 places, so that ranges of the tree end between particles of one key, and
// leaves have more particles than the limit. One cell: fewer leaves than GPUs. Two particles: fewer particles than
// GPUs.
INSTANTIATE_TEST_SUITE_P(Cases, FarFieldOnGpus,
                         testing::Values(Case{"Gravity", "gravity", "plummer", 1500, 1500},
                                         Case{"TwoSets", "gravity_jerk", "clumps", 900, 1300, false},
                                         Case{"GridsOfJ", "cunbody_gravity", "uniform", 1000, 700, false},
                                         Case{"Plane", "laplace_log_2d", "uniform", 1100, 1100},
                                         Case{"Coincident", "gravity", "coincident", 1500, 1500},
                                         Case{"OneCell", "gravity", "uniform", 40, 40, true,
                                              FarChoice{.order = 3, .leaf = 64, .separation = 0.5}},
                                         Case{"TwoParticles", "gravity", "uniform", 2, 2},
                                         Case{"Line", "gravity", "line", 300, 300}),
                         [](const auto& info) { return info.param.name; });

// Copies and launches are done when something waits for them, so that a GPU that does not wait for the grids or totals
// of another finds what was there before.
TEST(FarFieldOnSeveralGpus, WaitForEachOther) {
  const Case of{"", "gravity", "plummer", 900, 900};
  const std::vector<Arrays> expected = runs_of(of, 1, 0);
  SharedTrial shared(3, 0, of.pipeline);
  shared.shim.set_lazy(true);
  FarTrial& trial = shared.trial();
  trial.fill(of.shape, of.ni, of.nj, of.one_set, 5);
  set_tolerance(trial.sum, 1e-2, of.numbers);
  for (int run = 0; run < 2; ++run) EXPECT_EQ(shared.run(), expected[std::size_t(run)]) << "run " << run;
}

// The other GPU copies its three inputs, xi, xj and mj; the first GPU copies the four numbers of the other one's i,
// and, because it measures the error in each of these small runs, the order of the particles in its tree.
TEST(FarFieldOnSeveralGpus, CopyInputsAndTotalsOncePerRun) {
  SharedTrial shared(2, 0, "gravity");
  FarTrial& trial = shared.trial();
  trial.fill("plummer", 600, 600, true, 5);
  set_tolerance(trial.sum, 1e-2, kSmallLeaves);
  shared.run();
  shared.shim.forget_calls();
  trial.sum.run();
  trial.sum.wait();
  ASSERT_TRUE(trial.was_far());
  EXPECT_EQ(shared.shim.calls("memcpy_async"), 3 + 4 + 1);
}

// In the middle of a run, on any GPU: the run fails once, all threads end, nothing is left behind, and the next run has
// the bits of the first one.
TEST(FarFieldOnSeveralGpus, AFailureOfOneEndsTheRunOfAll) {
  constexpr CudaResult kLaunchFailed = 719;
  SharedTrial shared(3, 0, "gravity");
  FarTrial& trial = shared.trial();
  trial.fill("plummer", 400, 400, true, 5);
  set_tolerance(trial.sum, 1e-2, kSmallLeaves);
  for (int run = 0; run < 6; ++run) {  // runs in which everything is made again have the most events
    for (const char* const name : {"xi", "xj"}) trial.arrays[name][0] += run % 2 == 0 ? 0.25 : -0.25;
    shared.run();
  }
  const Arrays expected = shared.run();
  const int held = shared.shim.held();
  for (const char* const function : {"launch_kernel_ex", "launch_kernel", "memcpy_async", "memcpy_dtoh_async",
                                     "stream_synchronize", "stream_wait_event", "event_record"}) {
    shared.shim.forget_calls();
    trial.sum.run();
    trial.sum.wait();
    const int calls = shared.shim.calls(function);
    for (const int call : sampled({1, calls / 4, calls / 2, 3 * calls / 4, calls}, 3)) {
      if (call < 1) continue;
      SCOPED_TRACE(testing::Message() << function << " " << call << " of " << calls);
      shared.shim.fail(function, call, kLaunchFailed);
      try {
        EXPECT_EQ(shared.run(), expected);
        // A sum that cannot record the event of its end waits for its stream instead.
        EXPECT_STREQ(function, "event_record");
      } catch (const DeviceError&) {
        // The run of all GPUs has failed.
      }
      shared.shim.succeed(function);
      EXPECT_EQ(shared.run(), expected);
      EXPECT_EQ(shared.shim.held(), held);
    }
  }
}

TEST(FarFieldOnSeveralGpus, HaveBatches) {
  std::vector<Arrays> found;
  for (const int count : {1, 3}) {
    SharedTrial shared(count, 0, "gravity");
    FarTrial& trial = shared.trial();
    trial.fill("uniform", 800, 800, true, 5);
    std::vector<std::int64_t> ids(800, 0);
    std::fill(ids.begin() + 350, ids.end(), 1);
    trial.set_batches(2, ids, ids);
    set_tolerance(trial.sum, 1e-2, kSmallLeaves);
    found.push_back(shared.run());
    EXPECT_EQ(trial.sum.statistics().method, "far batches") << trial.sum.statistics().reason;
    for (const auto& [name, values] : shared.run()) found.back()[name + ", again"] = values;
  }
  EXPECT_EQ(found[1], found[0]);
}

}  // namespace
}  // namespace nbcc::test
