// Sums with arrays of the host. All work of the shim is done as late as a driver may do it.
#include "runtime/cuda/run/cuda_stage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "runtime/error.h"
#include "tests/support/cuda_experiment.h"
#include "tests/support/cuda_shim.h"

namespace nbcc {
namespace {

using test::CudaExperiment;
using test::CudaShim;
using test::expect_close;
using test::kAllFields;
using test::Numbers;

class CudaStageTest : public testing::Test {
 protected:
  CudaStageTest() {
    shim_.set_lazy(true);
    open();
  }
  void open() { device_.emplace(shim_.driver(), shim_.compiler(), 0, "", ""); }
  void open_with_memory(std::size_t bytes) {
    device_.reset();
    CudaShim::Device small;
    small.memory = bytes;
    shim_.set_device(small);
    open();
  }
  const CudaGpu& gpu() const { return device_->gpu(); }
  Numbers sums_on_device(const std::shared_ptr<const Kernel>& kernel, const Numbers& inputs) {
    CudaExperiment experiment(gpu(), kernel, inputs);
    experiment.sum.run();
    experiment.sum.wait();
    return experiment.outputs();
  }

  CudaShim shim_;
  std::optional<CudaDevice> device_;
};

TEST_F(CudaStageTest, AgreesAtAwkwardSizes) {
  const auto kernel = test::load_experiment(*device_);
  for (const auto& [ni, nj] : {std::pair{1, 1}, {2, 129}, {31, 1000}, {129, 128}, {1000, 1}, {40, 0}, {700, 513}}) {
    const Numbers inputs = test::random_experiment(ni, nj);
    CudaExperiment experiment(gpu(), kernel, inputs, kAllFields);
    experiment.sum.run();
    expect_close(experiment.outputs(), test::expected_sums(inputs));
    EXPECT_EQ(experiment.outputs(), sums_on_device(kernel, inputs));
  }
}

// A stream that nobody waits for: the run has ended when it returns, outputs on the device included.
TEST_F(CudaStageTest, AnyFieldMayBeOnEitherSide) {
  CudaStream* stream = nullptr;
  {
    const CudaContextGuard guard(gpu());
    shim_.driver().stream_create(&stream, kCudaNonBlocking);
  }
  const auto kernel = test::load_experiment(*device_);
  const Numbers inputs = test::random_experiment(200, 300);
  const Numbers expected = sums_on_device(kernel, inputs);
  const auto check = [&](const std::set<std::string>& on_host) {
    CudaExperiment experiment(gpu(), kernel, inputs, on_host);
    experiment.sum.run({.stream = stream});
    EXPECT_EQ(experiment.outputs(), expected) << testing::PrintToString(on_host);
  };
  for (const std::string& field : kAllFields) {
    check({field});
    std::set<std::string> all_but_one = kAllFields;
    all_but_one.erase(field);
    check(all_but_one);
  }
  check({"xi", "hi", "xj", "mj"});
  check({"acc", "pot", "near", "far"});
  check({"xi", "pot"});
  const CudaContextGuard guard(gpu());
  shim_.driver().stream_destroy(stream);
}

TEST_F(CudaStageTest, RangesAndListsOfIWhereverTheyAre) {
  const std::vector<std::int64_t> list{199, 3, 77, 0, 150};
  for (const bool self : {false, true}) {
    const auto kernel = test::load_experiment(*device_, self);
    const Numbers inputs = test::random_experiment(200, 200);
    test::DeviceArray on_device(gpu(), list.size() * 8);
    on_device.put(list.data(), list.size() * 8);
    const auto* device_list = static_cast<const std::int64_t*>(on_device.data());
    for (const RunChoice& choice :
         {RunChoice{.i_begin = 50, .i_count = 100}, RunChoice{.i_count = 5, .i_list = list.data()},
          RunChoice{.i_count = 5, .i_list = device_list}}) {
      CudaExperiment reference(gpu(), kernel, inputs);
      reference.sum.run(choice);
      reference.sum.wait();
      for (const std::set<std::string>& on_host : {kAllFields, {"xi"}, {"xi", "pot"}, {"xj", "acc"}, {"near", "far"}}) {
        CudaExperiment experiment(gpu(), kernel, inputs, on_host);
        experiment.sum.run(choice);
        EXPECT_EQ(experiment.outputs(), reference.outputs()) << self << testing::PrintToString(on_host);
      }
    }
  }
}

TEST_F(CudaStageTest, ADeviceListIsCheckedWhereTheHostReadsIt) {
  const std::int64_t list[] = {20};
  test::DeviceArray on_device(gpu(), 8);
  on_device.put(list, 8);
  CudaExperiment experiment(gpu(), test::load_experiment(*device_), test::random_experiment(20, 20), kAllFields);
  const RunChoice choice{.i_count = 1, .i_list = static_cast<const std::int64_t*>(on_device.data())};
  EXPECT_THROW(experiment.sum.run(choice), UsageError);
}

TEST_F(CudaStageTest, AccumulateAndOffsetsAndIgnoredOutputs) {
  const Numbers inputs = test::random_experiment(100, 100);
  CudaExperiment experiment(gpu(), test::load_experiment(*device_, true), inputs, {"xi", "acc", "pot", "near", "far"});
  experiment.sum.set_offsets(1000, 990);
  experiment.sum.ignore("far");
  experiment.sum.run();
  Numbers expected = test::expected_sums(inputs, true, 1000, 990);
  expected["far"].assign(100, -7);
  expect_close(experiment.outputs(), expected);
  experiment.sum.ignore("near");
  experiment.sum.run({.accumulate = true});
  for (const char* field : {"acc", "pot"}) {
    for (double& number : expected[field]) number *= 2;
  }
  expect_close(experiment.outputs(), expected);
}

// The shim sees to it that nothing is copied which nobody wrote; without a list nothing needs to be cleared for that.
TEST_F(CudaStageTest, RowsThatAListPassesOverAreClearedBeforeTheyAreCopied) {
  const auto kernel = test::load_experiment(*device_, /*self=*/true);
  const Numbers inputs = test::random_experiment(200, 200);
  const std::int64_t list[] = {199, 3};
  CudaExperiment experiment(gpu(), kernel, inputs, kAllFields);
  experiment.sum.run();
  shim_.forget_calls();
  experiment.sum.run();
  EXPECT_EQ(shim_.calls("memset_d32_async"), 0);
  CudaExperiment chosen(gpu(), kernel, inputs, kAllFields);
  chosen.sum.run({.i_count = 2, .i_list = list});
  EXPECT_EQ(chosen.get("pot")[3], experiment.get("pot")[3]);
}

// ---- chunks

TEST_F(CudaStageTest, ManyJPassInChunks) {
  const auto kernel = test::load_experiment(*device_);
  const Numbers inputs = test::random_experiment(3, kCudaJChunk + 77);
  CudaExperiment experiment(gpu(), kernel, inputs, kAllFields);
  shim_.forget_calls();
  experiment.sum.run();
  EXPECT_EQ(shim_.calls("launch_kernel_ex"), 2);
  const Numbers once = experiment.outputs();
  expect_close(once, test::expected_sums(inputs), 2e-5);
  experiment.sum.keep_j(true);
  experiment.sum.run();
  EXPECT_EQ(experiment.outputs(), once);
  experiment.sum.run();
  EXPECT_EQ(experiment.outputs(), once);
}

TEST_F(CudaStageTest, WithLittleMemoryIPassesInChunksAndToTheSameBits) {
  const Numbers inputs = test::random_experiment(40'000, 500);
  Numbers whole;
  {
    CudaExperiment experiment(gpu(), test::load_experiment(*device_), inputs, kAllFields);
    experiment.sum.run();
    whole = experiment.outputs();
  }
  open_with_memory(8 << 20);
  CudaExperiment experiment(gpu(), test::load_experiment(*device_), inputs, kAllFields);
  shim_.forget_calls();
  experiment.sum.run();
  EXPECT_GT(shim_.calls("launch_kernel_ex"), 1);
  EXPECT_EQ(experiment.outputs(), whole);
}

// Smaller chunks of j are the last resort: terms then join in another order, in double precision.
TEST_F(CudaStageTest, WithLessMemoryJPassesInSmallerChunks) {
  const Numbers inputs = test::random_experiment(2000, 20'000);
  Numbers whole;
  {
    CudaExperiment experiment(gpu(), test::load_experiment(*device_), inputs, kAllFields);
    experiment.sum.run();
    whole = experiment.outputs();
  }
  open_with_memory(2 << 20);
  CudaExperiment experiment(gpu(), test::load_experiment(*device_), inputs, kAllFields);
  experiment.sum.run();
  expect_close(experiment.outputs(), whole, 1e-13);
  EXPECT_LE(shim_.peak_allocated(), std::size_t(64) << 20);
}

TEST_F(CudaStageTest, OutOfMemoryFallsBackToSmallerChunks) {
  const auto kernel = test::load_experiment(*device_);
  const Numbers inputs = test::random_experiment(40'000, 100);
  CudaExperiment whole(gpu(), kernel, inputs, kAllFields);
  whole.sum.run();
  for (int k = 1; k < 8; ++k) {
    CudaExperiment experiment(gpu(), kernel, inputs, kAllFields);
    shim_.fail("mem_alloc", k, kCudaOutOfMemory);
    experiment.sum.run();
    EXPECT_EQ(experiment.outputs(), whole.outputs()) << k;
    shim_.succeed("mem_alloc");
  }
}

TEST_F(CudaStageTest, WithoutMemoryTheErrorSaysHowMuchIsNeeded) {
  CudaExperiment experiment(gpu(), test::load_experiment(*device_), test::random_experiment(100, 100), kAllFields);
  const Numbers before = experiment.outputs();
  shim_.fail_from("mem_alloc", 1, kCudaOutOfMemory);
  try {
    experiment.sum.run();
    ADD_FAILURE() << "no error";
  } catch (const DeviceError& e) {
    EXPECT_THAT(e.what(), testing::ContainsRegex("needs [0-9]+ bytes at least"));
  }
  EXPECT_EQ(experiment.outputs(), before);
  shim_.succeed("mem_alloc");
  experiment.sum.run();
}

// ---- resident j

TEST_F(CudaStageTest, ResidentJAreCopiedOnce) {
  const auto kernel = test::load_experiment(*device_);
  const Numbers inputs = test::random_experiment(100, 400), others = test::random_experiment(100, 400, /*seed=*/2);
  CudaExperiment experiment(gpu(), kernel, inputs, {"xj", "mj"});
  experiment.sum.keep_j(true);
  experiment.sum.run();
  const Numbers first = experiment.outputs();
  std::memcpy(experiment.data("xj"), others.at("xj").data(), 8 * others.at("xj").size());
  shim_.forget_calls();
  experiment.sum.run();
  EXPECT_EQ(shim_.calls("memcpy_htod_async"), 0);
  EXPECT_EQ(experiment.outputs(), first);
  experiment.sum.j_changed();
  experiment.sum.run();
  EXPECT_NE(experiment.outputs(), first);
  Numbers mixed = inputs;
  mixed["xj"] = others.at("xj");
  expect_close(experiment.outputs(), test::expected_sums(mixed));
}

TEST_F(CudaStageTest, ResidentJThatDoNotFitAreAnError) {
  open_with_memory(1 << 20);
  CudaExperiment experiment(gpu(), test::load_experiment(*device_), test::random_experiment(10, 200'000), kAllFields);
  experiment.sum.keep_j(true);
  EXPECT_THROW(experiment.sum.run(), DeviceError);
  experiment.sum.keep_j(false);
  experiment.sum.run();
  expect_close({{"pot", experiment.get("pot")}},
               {{"pot", test::expected_sums(test::random_experiment(10, 200'000)).at("pot")}}, 2e-5);
}

// ---- failures

TEST_F(CudaStageTest, AFailureAtAnyCallLeavesOutputsAndDeviceAsTheyWere) {
  const auto kernel = test::load_experiment(*device_);
  const Numbers inputs = test::random_experiment(60, 300);
  const Numbers sound = sums_on_device(kernel, inputs);
  const std::set<std::string> everywhere[] = {kAllFields, {"xi", "mj", "pot", "far"}};
  for (const std::set<std::string>& on_host : everywhere) {
    for (const char* function :
         {"mem_get_info", "mem_alloc", "mem_host_alloc", "memcpy_htod_async", "memcpy_dtoh_async", "memset_d32_async",
          "launch_kernel_ex", "stream_create", "stream_synchronize", "stream_wait_event", "event_create",
          "event_record", "event_synchronize"}) {
      int failed = 0;
      for (int k = 1; k < 7; ++k) {
        CudaExperiment experiment(gpu(), kernel, inputs, on_host);
        const Numbers before = experiment.outputs();
        shim_.fail(function, k, 999);
        bool threw = false;
        try {
          experiment.sum.run();
        } catch (const DeviceError&) {
          threw = true;
          ++failed;
        }
        shim_.succeed(function);
        // Of the launch that stores outputs on the device nobody can tell what it did, if waiting for it fails.
        const bool all = &on_host == &everywhere[0] || function != std::string("stream_synchronize");
        for (const auto& [field, numbers] : before) {
          if (threw && (all || on_host.contains(field))) {
            EXPECT_EQ(experiment.get(field), numbers) << function << ", call " << k << ": " << field;
          }
        }
        experiment.sum.run();
        EXPECT_EQ(experiment.outputs(), sound) << function << ", call " << k;
      }
      EXPECT_GE(failed, 1) << function;
    }
  }
}

TEST_F(CudaStageTest, ACaptureRefusesArraysOfTheHost) {
  CudaStream* stream = nullptr;
  {
    const CudaContextGuard guard(gpu());
    shim_.driver().stream_create(&stream, kCudaNonBlocking);
  }
  {
    CudaExperiment experiment(gpu(), test::load_experiment(*device_), test::random_experiment(10, 10), {"hi"});
    experiment.sum.run({.stream = stream});
    shim_.begin_capture(stream);
    EXPECT_THROW(experiment.sum.run({.stream = stream}), DeviceError);
    shim_.end_capture(stream);
  }
  const CudaContextGuard guard(gpu());
  shim_.driver().stream_destroy(stream);
}

}  // namespace
}  // namespace nbcc
