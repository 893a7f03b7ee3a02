// Sums from arrays on the device: one launch, no copies, in the caller's stream.
#include "runtime/cuda/run/cuda_sum.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "runtime/error.h"
#include "tests/support/cuda_experiment.h"
#include "tests/support/cuda_shim.h"

namespace nbcc {
namespace {

using test::CudaExperiment;
using test::CudaShim;
using test::expect_close;
using test::Numbers;

class CudaSumTest : public testing::Test {
 protected:
  CudaSumTest() { device_.emplace(shim_.driver(), shim_.compiler(), 0, "", ""); }

  CudaStream* make_stream() {
    const CudaContextGuard guard(device_->gpu());
    CudaStream* stream = nullptr;
    shim_.driver().stream_create(&stream, kCudaNonBlocking);
    return stream;
  }
  void destroy(CudaStream* stream) {
    const CudaContextGuard guard(device_->gpu());
    shim_.driver().stream_destroy(stream);
  }

  CudaShim shim_;
  std::optional<CudaDevice> device_;
};

TEST_F(CudaSumTest, AgreesAtAwkwardSizes) {
  const auto kernel = test::load_experiment(*device_);
  for (const auto& [ni, nj] : {std::pair{1, 1}, {2, 129}, {31, 1000}, {129, 128}, {1000, 1}, {700, 513}}) {
    const Numbers inputs = test::random_experiment(ni, nj);
    CudaExperiment experiment(device_->gpu(), kernel, inputs);
    experiment.sum.run();
    expect_close(experiment.outputs(), test::expected_sums(inputs));
  }
}

TEST_F(CudaSumTest, EmptySetsGiveEmptySums) {
  const auto kernel = test::load_experiment(*device_);
  const Numbers inputs = test::random_experiment(40, 0);
  CudaExperiment without_j(device_->gpu(), kernel, inputs);
  without_j.sum.run();
  expect_close(without_j.outputs(), test::expected_sums(inputs));
  CudaExperiment without_i(device_->gpu(), kernel, test::random_experiment(0, 40));
  shim_.forget_calls();
  without_i.sum.run();
  EXPECT_EQ(shim_.calls("launch_kernel_ex"), 0);
}

TEST_F(CudaSumTest, ASecondSmallRunIsOneLaunchAndNothingElse) {
  CudaExperiment experiment(device_->gpu(), test::load_experiment(*device_), test::random_experiment(200, 300));
  experiment.sum.run();
  shim_.forget_calls();
  experiment.sum.run();
  EXPECT_EQ(shim_.calls("launch_kernel_ex"), 1);
  for (const char* function :
       {"mem_alloc", "mem_host_alloc", "mem_free", "mem_get_info", "memcpy_htod_async", "memcpy_dtoh_async",
        "memset_d32_async", "stream_synchronize", "event_synchronize", "event_record", "stream_wait_event",
        "module_load_data", "pointer_get_attributes", "stream_is_capturing"}) {
    EXPECT_EQ(shim_.calls(function), 0) << function;
  }
}

TEST_F(CudaSumTest, RunsAreEqualBitForBitAndDoNotDependOnTheOrderOfBlocks) {
  const auto kernel = test::load_experiment(*device_);
  const Numbers inputs = test::random_experiment(300, 2000);
  CudaExperiment first(device_->gpu(), kernel, inputs);
  first.sum.run();
  for (const auto kind : {test::ShimOrder::Kind::Backward, test::ShimOrder::Kind::Shuffled}) {
    shim_.set_block_order({kind, 5});
    CudaExperiment again(device_->gpu(), kernel, inputs);
    again.sum.run();
    EXPECT_EQ(again.outputs(), first.outputs());
  }
  EXPECT_GT(shim_.last_launch()[1], 1U);  // or the order would be no matter
}

TEST_F(CudaSumTest, ARangeOfIAndAListOfI) {
  const auto kernel = test::load_experiment(*device_, /*self=*/true);
  const Numbers inputs = test::random_experiment(200, 200);
  const Numbers expected = test::expected_sums(inputs, true);
  const std::vector<std::int64_t> list{199, 3, 77, 0, 150};
  test::DeviceArray on_device(device_->gpu(), list.size() * 8);
  on_device.put(list.data(), list.size() * 8);

  CudaExperiment range(device_->gpu(), kernel, inputs);
  range.sum.run({.i_begin = 50, .i_count = 100});
  CudaExperiment by_list(device_->gpu(), kernel, inputs);
  by_list.sum.run({.i_count = 5, .i_list = list.data()});
  CudaExperiment by_device_list(device_->gpu(), kernel, inputs);
  by_device_list.sum.run({.i_count = 5, .i_list = static_cast<const std::int64_t*>(on_device.data())});
  EXPECT_EQ(by_list.outputs(), by_device_list.outputs());

  const std::vector<double> from_range = range.get("pot"), from_list = by_list.get("pot");
  for (std::int64_t i = 0; i < 200; ++i) {
    const auto k = std::size_t(i);
    const bool in_range = i >= 50 && i < 150, in_list = std::count(list.begin(), list.end(), i) > 0;
    EXPECT_NEAR(from_range[k], in_range ? expected.at("pot")[k] : -7, 1e-3);
    EXPECT_NEAR(from_list[k], in_list ? expected.at("pot")[k] : -7, 1e-3);
  }
}

TEST_F(CudaSumTest, ASecondListWaitsForTheFirstToBeSent) {
  shim_.set_lazy(true);
  const Numbers inputs = test::random_experiment(200, 100);
  CudaExperiment experiment(device_->gpu(), test::load_experiment(*device_), inputs);
  std::vector<std::int64_t> list{1, 2, 3};
  experiment.sum.run({.i_count = 3, .i_list = list.data()});
  list = {4, 5, 6};
  experiment.sum.run({.i_count = 3, .i_list = list.data()});
  experiment.sum.wait();
  const std::vector<double> pot = experiment.get("pot");
  for (std::size_t k = 0; k < 8; ++k) EXPECT_EQ(pot[k] != -7, k >= 1 && k <= 6) << k;
}

TEST_F(CudaSumTest, AnIndexOutsideOfAHostListIsSaid) {
  CudaExperiment experiment(device_->gpu(), test::load_experiment(*device_), test::random_experiment(20, 20));
  const std::int64_t list[] = {20};
  EXPECT_THROW(experiment.sum.run({.i_count = 1, .i_list = list}), UsageError);
}

TEST_F(CudaSumTest, OffsetsParamsAndIgnoredOutputs) {
  const Numbers inputs = test::random_experiment(100, 100);
  CudaExperiment experiment(device_->gpu(), test::load_experiment(*device_, true), inputs);
  experiment.sum.set_offsets(1000, 990);
  experiment.sum.ignore("far");
  experiment.sum.run();
  Numbers expected = test::expected_sums(inputs, true, 1000, 990);
  expected["far"].assign(100, -7);
  expect_close(experiment.outputs(), expected);
  const double eps2 = 100;
  experiment.sum.set_param("eps2", {&eps2, 1});
  experiment.sum.run();
  EXPECT_LT(std::fabs(experiment.get("pot")[0]), std::fabs(expected["pot"][0]) / 2);
}

TEST_F(CudaSumTest, AccumulateAddsAndTakesTheMaximum) {
  const Numbers inputs = test::random_experiment(100, 100);
  CudaExperiment experiment(device_->gpu(), test::load_experiment(*device_), inputs);
  experiment.sum.ignore("near");
  experiment.put("far", std::vector<double>(100, 1e6));
  experiment.sum.run({.accumulate = true});
  Numbers expected = test::expected_sums(inputs);
  expected["near"].assign(100, -7);
  expected["far"].assign(100, 1e6);
  for (const char* field : {"acc", "pot"}) {
    for (double& number : expected[field]) number -= 7;
  }
  expect_close(experiment.outputs(), expected);
}

TEST_F(CudaSumTest, MisalignedDataIsAnErrorThatNamesTheField) {
  CudaExperiment experiment(device_->gpu(), test::load_experiment(*device_), test::random_experiment(10, 10));
  const auto message = [&](ArrayView view) {
    experiment.sum.bind("xj", view);
    try {
      experiment.sum.run();
    } catch (const UsageError& e) {
      return std::string(e.what());
    }
    return std::string("no error");
  };
  ArrayView view = experiment.view("xj");
  view.data = static_cast<std::byte*>(view.data) + 4;
  EXPECT_THAT(message(view), testing::AllOf(testing::HasSubstr("'xj'"), testing::HasSubstr("8 bytes")));
  view = experiment.view("xj");
  view.stride = 20;
  EXPECT_THAT(message(view), testing::HasSubstr("stride must be"));
  view = experiment.view("xj");
  view.component_stride = 4;
  EXPECT_THAT(message(view), testing::HasSubstr("component_stride"));
  EXPECT_EQ(message(experiment.view("xj")), "no error");
}

TEST_F(CudaSumTest, MemoryOfAnotherGpuIsAnErrorThatNamesTheField) {
  CudaDevice other(shim_.driver(), shim_.compiler(), 1, "", "");
  const test::DeviceArray there(other.gpu(), 8 * 10);
  CudaExperiment experiment(device_->gpu(), test::load_experiment(*device_), test::random_experiment(10, 10));
  ArrayView view = experiment.view("hi");
  view.data = there.data();
  experiment.sum.bind("hi", view);
  try {
    experiment.sum.run();
    ADD_FAILURE() << "no error";
  } catch (const UsageError& e) {
    EXPECT_THAT(e.what(), testing::AllOf(testing::HasSubstr("'hi'"), testing::HasSubstr("cuda:1")));
  }
}

TEST_F(CudaSumTest, TwoGpusEachInItsContext) {
  CudaDevice other(shim_.driver(), shim_.compiler(), 1, "", "");
  const Numbers inputs = test::random_experiment(100, 100);
  CudaExperiment a(device_->gpu(), test::load_experiment(*device_), inputs);
  CudaExperiment b(other.gpu(), test::load_experiment(other), inputs);
  a.sum.run();
  b.sum.run();
  EXPECT_EQ(a.outputs(), b.outputs());
  CudaContext* current = nullptr;
  shim_.driver().ctx_get_current(&current);
  EXPECT_EQ(current, nullptr);
  const CudaContextGuard callers(other.gpu());
  a.sum.run();
  shim_.driver().ctx_get_current(&current);
  EXPECT_EQ(current, other.gpu().context());
}

// ---- outputs that are inputs

TEST_F(CudaSumTest, AnOutputMayBeAnInputOfTheSameParticles) {
  const Numbers inputs = test::random_experiment(300, 200);
  CudaExperiment experiment(device_->gpu(), test::load_experiment(*device_), inputs);
  experiment.sum.bind("acc", experiment.view("xi"));
  shim_.forget_calls();
  experiment.sum.run();
  EXPECT_EQ(shim_.calls("launch_kernel_ex"), 1);
  const Numbers expected = test::expected_sums(inputs);
  expect_close({{"acc", experiment.get("xi")}}, {{"acc", expected.at("acc")}});
}

TEST_F(CudaSumTest, AnOutputMayBeAnInputOfJ) {
  const Numbers inputs = test::random_experiment(700, 700);
  CudaExperiment experiment(device_->gpu(), test::load_experiment(*device_), inputs);
  experiment.sum.bind("acc", experiment.view("xj"));
  shim_.forget_calls();
  experiment.sum.run();
  EXPECT_EQ(shim_.calls("launch_kernel_ex"), 2);
  const Numbers expected = test::expected_sums(inputs);
  expect_close({{"acc", experiment.get("xj")}, {"pot", experiment.get("pot")}},
               {{"acc", expected.at("acc")}, {"pot", expected.at("pot")}});
}

// Output k lies where input k + 1 does: no order of blocks would be right.
TEST_F(CudaSumTest, AnOutputMayOverlapInputsOfOtherParticles) {
  const Numbers inputs = test::random_experiment(601, 100);
  CudaExperiment experiment(device_->gpu(), test::load_experiment(*device_), inputs);
  ArrayView shifted = experiment.view("hi"), half = experiment.view("pot");
  for (const char* field : {"xi", "hi", "acc", "pot", "near", "far"}) {
    ArrayView view = experiment.view(field);
    view.count = 600;
    experiment.sum.bind(field, view);
  }
  shifted.data = static_cast<double*>(shifted.data) + 1;
  shifted.count = half.count = 600;
  experiment.sum.bind("pot", shifted);
  experiment.sum.run();
  std::vector<double> expected = test::expected_sums(inputs).at("pot"), got = experiment.get("hi");
  expected.pop_back();
  got.erase(got.begin());
  expect_close({{"pot", got}}, {{"pot", expected}});
}

// ---- streams

TEST_F(CudaSumTest, RunsInDifferentStreamsDoTheirWorkInOrder) {
  shim_.set_lazy(true);
  CudaStream *const a = make_stream(), *const b = make_stream();
  const Numbers inputs = test::random_experiment(100, 2000);
  {
    CudaExperiment experiment(device_->gpu(), test::load_experiment(*device_), inputs);
    experiment.sum.run({.stream = a});
    experiment.sum.ignore("near");
    experiment.sum.run({.accumulate = true, .stream = b});
    destroy(a);  // the caller's affair
    {
      const CudaContextGuard guard(device_->gpu());
      shim_.driver().stream_synchronize(b);
    }
    Numbers expected = test::expected_sums(inputs);
    for (const char* field : {"acc", "pot"}) {
      for (double& number : expected[field]) number *= 2;
    }
    expect_close(experiment.outputs(), expected);
  }
  destroy(b);
}

TEST_F(CudaSumTest, ARunReturnsBeforeItsWorkIsDoneAndWaitAfter) {
  shim_.set_lazy(true);
  CudaStream* const stream = make_stream();
  const Numbers inputs = test::random_experiment(10, 10);
  CudaExperiment experiment(device_->gpu(), test::load_experiment(*device_), inputs);
  experiment.sum.run({.stream = stream});
  EXPECT_EQ(experiment.get("pot")[0], -7);  // a stream that nobody waited for
  experiment.sum.wait();
  expect_close(experiment.outputs(), test::expected_sums(inputs));
  destroy(stream);
}

TEST_F(CudaSumTest, ACaptureTakesARunThatHasBeenRunBefore) {
  CudaStream* const stream = make_stream();
  const Numbers inputs = test::random_experiment(100, 2000);
  {
    CudaExperiment experiment(device_->gpu(), test::load_experiment(*device_), inputs);
    shim_.begin_capture(stream);
    EXPECT_THROW(experiment.sum.run({.stream = stream}), DeviceError);
    shim_.end_capture(stream);
    experiment.sum.run();
    const Numbers once = experiment.outputs();
    shim_.begin_capture(stream);
    experiment.sum.run({.stream = stream});
    const std::int64_t list[] = {1};
    EXPECT_THROW(experiment.sum.run({.i_count = 1, .i_list = list, .stream = stream}), DeviceError);
    shim_.end_capture(stream);
    experiment.put("pot", std::vector<double>(100, -7.0));
    // Its working memory stays where it is, also when that of later runs has grown.
    CudaExperiment larger(device_->gpu(), test::load_experiment(*device_), test::random_experiment(5000, 10));
    experiment.sum.bind("xi", larger.view("xi"));
    for (const char* field : {"hi", "acc", "pot", "near", "far"}) experiment.sum.bind(field, larger.view(field));
    experiment.sum.run();
    shim_.replay(stream);
    EXPECT_EQ(experiment.outputs(), once);
  }
  destroy(stream);
}

// ---- failures

TEST_F(CudaSumTest, AFailureAtAnyCallLeavesOutputsAndDeviceAsTheyWere) {
  const auto kernel = test::load_experiment(*device_);
  const Numbers inputs = test::random_experiment(100, 300);
  CudaExperiment sound(device_->gpu(), kernel, inputs);
  sound.sum.run();
  int failed = 0;
  for (const char* function : {"ctx_get_current", "ctx_push_current", "pointer_get_attributes", "mem_alloc",
                               "memset_d32_async", "launch_kernel_ex", "mem_free", "event_record"}) {
    for (int k = 1; k < 4; ++k) {
      CudaExperiment experiment(device_->gpu(), kernel, inputs);
      const Numbers before = experiment.outputs();
      shim_.fail(function, k, 999);
      try {
        experiment.sum.run();
      } catch (const DeviceError& e) {
        EXPECT_THAT(e.what(), testing::HasSubstr(": "));
        EXPECT_EQ(experiment.outputs(), before) << function << ", call " << k;
        ++failed;
      }
      shim_.succeed(function);
      experiment.sum.run();
      EXPECT_EQ(experiment.outputs(), sound.outputs()) << function << ", call " << k;
    }
  }
  EXPECT_GE(failed, 5);
}

TEST_F(CudaSumTest, WithLittleMemoryManyISumInPiecesAndToTheSameBits) {
  const auto kernel = test::load_experiment(*device_);
  const Numbers inputs = test::random_experiment(3000, 1000);
  CudaExperiment whole(device_->gpu(), kernel, inputs);
  whole.sum.run();
  CudaExperiment pieces(device_->gpu(), kernel, inputs);
  shim_.fail("mem_alloc", 1, kCudaOutOfMemory);
  shim_.forget_calls();
  pieces.sum.run();
  EXPECT_GE(shim_.calls("launch_kernel_ex"), 2);
  EXPECT_EQ(pieces.outputs(), whole.outputs());
}

// What runtime/api/nbcc.h says of a run in pieces.
TEST_F(CudaSumTest, APieceThatCannotBeLaunchedIsNotStoredNorAreThoseAfterIt) {
  const auto kernel = test::load_experiment(*device_);
  const Numbers inputs = test::random_experiment(3000, 1000);
  CudaExperiment whole(device_->gpu(), kernel, inputs), pieces(device_->gpu(), kernel, inputs);
  whole.sum.run();
  shim_.fail("mem_alloc", 1, kCudaOutOfMemory);
  shim_.fail("launch_kernel_ex", 2, 999);
  EXPECT_THROW(pieces.sum.run(), DeviceError);
  const std::vector<double> got = pieces.get("pot"), all = whole.get("pot");
  const auto stored = std::size_t(std::find(got.begin(), got.end(), -7) - got.begin());
  EXPECT_GT(stored, 0U);
  EXPECT_TRUE(std::equal(got.begin(), got.begin() + std::ptrdiff_t(stored), all.begin()));
  EXPECT_EQ(std::count(got.begin(), got.end(), -7), std::ptrdiff_t(got.size() - stored));
  pieces.sum.run();
  EXPECT_EQ(pieces.outputs(), whole.outputs());
}

TEST_F(CudaSumTest, AFailureInAStreamThatIsThenDestroyedLeavesTheSumUsable) {
  const Numbers inputs = test::random_experiment(100, 300);
  CudaExperiment experiment(device_->gpu(), test::load_experiment(*device_), inputs);
  CudaStream* const stream = make_stream();
  shim_.fail("launch_kernel_ex", 1, 999);
  EXPECT_THROW(experiment.sum.run({.stream = stream}), DeviceError);
  destroy(stream);
  experiment.sum.run();
  expect_close(experiment.outputs(), test::expected_sums(inputs));
}

TEST_F(CudaSumTest, ARunWhoseEndCannotBeMarkedWaitsForIt) {
  shim_.set_lazy(true);
  const Numbers inputs = test::random_experiment(100, 300);
  CudaExperiment experiment(device_->gpu(), test::load_experiment(*device_), inputs);
  CudaStream* const stream = make_stream();
  shim_.fail("event_record", 1, 999);
  experiment.sum.run({.stream = stream});
  expect_close(experiment.outputs(), test::expected_sums(inputs));
  destroy(stream);
  experiment.sum.wait();
}

TEST_F(CudaSumTest, ManagedMemoryIsReadAndWrittenWhereItIs) {
  const Numbers inputs = test::random_experiment(50, 70);
  CudaExperiment experiment(device_->gpu(), test::load_experiment(*device_), inputs);
  CudaDevicePointer memory = 0;
  const CudaContextGuard guard(device_->gpu());
  ASSERT_EQ(shim_.driver().mem_alloc_managed(&memory, 50 * 8, kCudaGlobal), kCudaSuccess);
  auto* const pot = reinterpret_cast<double*>(memory);
  ArrayView view = experiment.view("pot");
  view.data = pot;
  experiment.sum.bind("pot", view);
  experiment.sum.run();
  shim_.forget_calls();
  experiment.sum.run();
  EXPECT_EQ(shim_.calls("memcpy_dtoh_async"), 0);
  expect_close({{"pot", {pot, pot + 50}}}, {{"pot", test::expected_sums(inputs).at("pot")}});
  shim_.driver().mem_free(memory);
}

TEST_F(CudaSumTest, WithoutMemoryTheErrorSaysHowMuchIsNeeded) {
  CudaExperiment experiment(device_->gpu(), test::load_experiment(*device_), test::random_experiment(1000, 1000));
  shim_.fail_from("mem_alloc", 1, kCudaOutOfMemory);
  try {
    experiment.sum.run();
    ADD_FAILURE() << "no error";
  } catch (const DeviceError& e) {
    EXPECT_THAT(e.what(), testing::ContainsRegex("[0-9]+ bytes are needed"));
  }
  shim_.succeed("mem_alloc");
  experiment.sum.run();
}

}  // namespace
}  // namespace nbcc
