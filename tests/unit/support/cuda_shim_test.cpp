// The shim itself, on small CUDA texts: what is right gives the right numbers in whatever order, what is wrong is
// noticed. What its compiler does alone is in cuda_shim_compiler_test.cpp.
#include "tests/support/cuda_shim.h"

#include <gmock/gmock.h>
#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

namespace nbcc::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr unsigned kThreads = 32;

// Every block turns its 32 numbers round, through shared memory.
constexpr char kReverse[] = R"(
struct Arguments { const float* from; float* to; };
extern "C" __global__ void __launch_bounds__(32, 1) reverse(const __grid_constant__ Arguments a) {
  __shared__ float staged[32];
  const unsigned at = blockIdx.x * 32 + threadIdx.x;
  staged[threadIdx.x] = a.from[at];
  __syncthreads();
  a.to[at] = staged[31 - threadIdx.x];
}
)";

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  const std::size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return text.replace(at, what.size(), with);
}

class cuda_shim : public testing::Test {
 protected:
  cuda_shim() : driver(shim.driver()) {
    ok(driver.device_primary_ctx_retain(&context, 0));
    ok(driver.ctx_push_current(context));
  }
  ~cuda_shim() override {
    for (CudaDevicePointer block : blocks) ok(driver.mem_free(block));
    for (CudaModule* module : modules) ok(driver.module_unload(module));
    ok(driver.ctx_pop_current(nullptr));
    ok(driver.device_primary_ctx_release(0));
  }
  static void ok(CudaResult result) { EXPECT_EQ(result, kCudaSuccess); }

  CudaDevicePointer block(std::size_t bytes) {
    CudaDevicePointer made = 0;
    ok(driver.mem_alloc(&made, bytes));
    blocks.push_back(made);
    return made;
  }
  CudaDevicePointer numbers(std::size_t count) {
    std::vector<float> values(count);
    for (std::size_t k = 0; k < count; ++k) values[k] = float(k);
    const CudaDevicePointer made = block(4 * count);
    ok(driver.memcpy_htod_async(made, values.data(), 4 * count, nullptr));
    return made;
  }
  std::vector<float> read(CudaDevicePointer from, std::size_t count) {
    std::vector<float> values(count);
    ok(driver.memcpy_dtoh_async(values.data(), from, 4 * count, nullptr));
    return values;
  }
  CudaFunction* function(const std::string& text, const char* name) {
    CudaModule* module = nullptr;
    ok(driver.module_load_data(&module, shim.compiler()->compile(text, "sm_90", {}).image.data()));
    modules.push_back(module);
    CudaFunction* found = nullptr;
    ok(driver.module_get_function(&found, module, name));
    return found;
  }
  struct FromTo {
    CudaDevicePointer from, to;
  };
  CudaResult launch(CudaFunction* kernel, FromTo arguments, unsigned blocks_x, CudaStream* stream = nullptr,
                    unsigned threads = kThreads) {
    void* list[] = {&arguments};
    return driver.launch_kernel(kernel, blocks_x, 1, 1, threads, 1, 1, 0, stream, list, nullptr);
  }
  // What `text` makes of 0, 1, 2, ... in two blocks.
  std::vector<float> reversed(const std::string& text) {
    const FromTo arguments{numbers(64), block(4 * 64)};
    launch(function(text, "reverse"), arguments, 2);
    return read(arguments.to, 64);
  }
  static std::vector<float> right() {
    std::vector<float> values;
    for (int k = 0; k < 64; ++k) values.push_back(float(k / 32 * 32 + 31 - k % 32));
    return values;
  }

  CudaShim shim;
  const CudaDriver& driver;
  CudaContext* context = nullptr;
  std::vector<CudaDevicePointer> blocks;
  std::vector<CudaModule*> modules;
};

constexpr ShimOrder kOrders[] = {{ShimOrder::Kind::Forward},
                                 {ShimOrder::Kind::Backward},
                                 {ShimOrder::Kind::Shuffled, 1},
                                 {ShimOrder::Kind::Shuffled, 2}};

// ---- kernels

TEST_F(cuda_shim, a_good_kernel_is_right_in_every_order) {
  for (const ShimOrder blocks_in : kOrders) {
    for (const ShimOrder threads_in : kOrders) {
      shim.set_block_order(blocks_in);
      shim.set_thread_order(threads_in);
      EXPECT_EQ(reversed(kReverse), right());
    }
  }
}

TEST_F(cuda_shim, a_missing_barrier_shows) { EXPECT_NE(reversed(replaced(kReverse, "__syncthreads();", "")), right()); }

TEST_F(cuda_shim, what_nobody_staged_is_nan_in_every_block) {
  const std::string text = replaced(kReverse, "staged[threadIdx.x] =", "if (blockIdx.x == 0) staged[threadIdx.x] =");
  const std::vector<float> got = reversed(text);
  EXPECT_EQ(got[0], 31);
  for (int k = 32; k < 64; ++k) EXPECT_TRUE(std::isnan(got[std::size_t(k)])) << k;
}

TEST_F(cuda_shim, a_thread_that_leaves_before_a_barrier_is_reported) {
  reversed(replaced(kReverse, "  __sync", "  if (threadIdx.x == 7) return;\n  __sync"));
  EXPECT_THAT(
      shim.take_failures(),
      ElementsAre("reverse, block (0, 0): 1 threads of 32 have left the kernel while others wait at the barrier "
                  "of line 8"));
}

TEST_F(cuda_shim, a_divergent_barrier_is_reported) {
  reversed(
      replaced(kReverse, "  __syncthreads();", "  if (threadIdx.x < 4)\n__syncthreads();\nelse\n__syncthreads();"));
  EXPECT_THAT(shim.take_failures(), ElementsAre(HasSubstr("28 threads of 32 wait at the barrier of line 10, others at "
                                                          "that of line 8")));
}

TEST_F(cuda_shim, a_launch_after_a_failed_one_is_right) {
  const FromTo arguments{numbers(64), block(4 * 64)};
  CudaFunction* const bad = function(replaced(kReverse, "  __sync", "  if (threadIdx.x) return;\n  __sync"), "reverse");
  EXPECT_EQ(launch(bad, arguments, 2), 719);
  EXPECT_EQ(shim.take_failures().size(), 1u);
  EXPECT_EQ(reversed(kReverse), right());
}

TEST_F(cuda_shim, a_kernel_that_writes_behind_a_block_is_reported) {
  const FromTo arguments{numbers(64), block(4 * 63)};
  EXPECT_EQ(launch(function(kReverse, "reverse"), arguments, 2), 719);
  EXPECT_THAT(shim.take_failures(), ElementsAre("something was written behind the end of a device block of 252 bytes"));
  blocks.pop_back();
  driver.mem_free(arguments.to);
  shim.take_failures();  // its end is still as it was
}

TEST_F(cuda_shim, what_lies_behind_a_block_reads_as_nan) {
  const FromTo arguments{numbers(63), block(4 * 64)};
  ok(launch(function(kReverse, "reverse"), arguments, 2));
  EXPECT_TRUE(std::isnan(read(arguments.to, 64)[32]));
}

TEST_F(cuda_shim, more_threads_than_the_launch_bounds_are_refused) {
  const FromTo arguments{numbers(64), block(4 * 64)};
  EXPECT_EQ(launch(function(kReverse, "reverse"), arguments, 1, nullptr, 64), 1);
  EXPECT_EQ(launch(function(kReverse, "reverse"), arguments, 0), 1);
}

TEST_F(cuda_shim, blocks_count_themselves_with_atomics) {
  constexpr char kCount[] = R"(
extern "C" __global__ void count(unsigned* counter, unsigned add) {
  if (threadIdx.x == 0) atomicAdd(counter, add * gridDim.x + blockIdx.y);
})";
  CudaDevicePointer counter = block(4);
  ok(driver.memset_d32_async(counter, 5, 1, nullptr));
  unsigned add = 100;
  void* list[] = {&counter, &add};
  ok(driver.launch_kernel(function(kCount, "count"), 2, 3, 1, kThreads, 1, 1, 0, nullptr, list, nullptr));
  unsigned value = 0;
  ok(driver.memcpy_dtoh_async(&value, counter, 4, nullptr));
  EXPECT_EQ(value, 5u + 6 * 200 + 2 * (0 + 1 + 2));
  EXPECT_THAT(shim.last_launch(), ElementsAre(2, 3, 1, 32, 1, 1));
}

// The double seed is so bad that a refinement that is left out shows; the float one needs none.
TEST_F(cuda_shim, estimates_are_as_bad_as_the_gpus) {
  constexpr char kEstimates[] = R"(
struct Arguments { double* at; };
extern "C" __global__ void estimate(Arguments a) {
  double worst = 0, worst_float = 0;
  for (int k = 0; k < 10000; ++k) {
    const double x = 1 + k * 0.0003;
    worst = fmax(worst, fabs(rsqrt_estimate(x) * sqrt(x) - 1));
    worst_float = fmax(worst_float, fabs((double)rsqrt_estimate((float)x) * sqrt((double)(float)x) - 1));
  }
  a.at[0] = worst;
  a.at[1] = worst_float;
  a.at[2] = rsqrt_estimate(0.0f);
  a.at[3] = rsqrt_estimate(-1.0);
  a.at[4] = reciprocal(__int_as_float(0x7f800000));
  a.at[5] = rsqrt_estimate(1e-40f);
  a.at[6] = sinpi(1e15 + 0.5);
  a.at[7] = cospif(-2.0f / 3);
})";
  CudaDevicePointer at = block(8 * 8);
  void* list[] = {&at};
  ok(driver.launch_kernel(function(kEstimates, "estimate"), 1, 1, 1, 1, 1, 1, 0, nullptr, list, nullptr));
  double got[8];
  ok(driver.memcpy_dtoh_async(got, at, sizeof got, nullptr));
  EXPECT_GT(got[0], 0x1p-21);
  EXPECT_LT(got[0], 0x1p-20);
  EXPECT_GT(got[1], 0x1p-24);
  EXPECT_LT(got[1], 0x1.12p-23);
  EXPECT_EQ(got[2], INFINITY);
  EXPECT_TRUE(std::isnan(got[3]));
  EXPECT_EQ(got[4], 0);
  EXPECT_EQ(got[5], INFINITY);
  EXPECT_EQ(got[6], 1);
  EXPECT_NEAR(got[7], -0.5, 1e-6);
}

// ---- the compiler

TEST_F(cuda_shim, the_shape_reaches_the_text) {
  constexpr char kShape[] = R"(
extern "C" __global__ void shape(float* at) {
  *at = NBCC_THREADS * 1000 + NBCC_I_PER_THREAD * 100 + NBCC_J_TILE * 10 + NBCC_UNROLL;
})";
  CudaModule* module = nullptr;
  ok(driver.module_load_data(&module, shim.compiler()->compile(kShape, "sm_75", {1, 2, 3, 4}).image.data()));
  modules.push_back(module);
  CudaFunction* kernel = nullptr;
  ok(driver.module_get_function(&kernel, module, "shape"));
  CudaDevicePointer at = block(4);
  void* list[] = {&at};
  ok(driver.launch_kernel(kernel, 1, 1, 1, 1, 1, 1, 0, nullptr, list, nullptr));
  EXPECT_THAT(read(at, 1), ElementsAre(1234));
}

TEST_F(cuda_shim, other_images_are_refused) {
  CudaModule* module = nullptr;
  EXPECT_EQ(driver.module_load_data(&module, "no image"), 200);
  CudaFunction* kernel = function(kReverse, "reverse");
  EXPECT_EQ(driver.module_get_function(&kernel, modules.back(), "other"), 500);
}

// ---- calls, contexts, leaks

TEST_F(cuda_shim, calls_are_counted_and_fail_when_planned) {
  shim.forget_calls();
  shim.fail("mem_alloc", 2, kCudaOutOfMemory);
  CudaDevicePointer at = 0;
  block(4);
  EXPECT_EQ(driver.mem_alloc(&at, 4), kCudaOutOfMemory);
  block(4);
  EXPECT_EQ(shim.calls("mem_alloc"), 3);
  EXPECT_EQ(shim.calls("mem_free"), 0);
  shim.fail_from("mem_alloc", 1, 719);
  EXPECT_EQ(driver.mem_alloc(&at, 4), 719);
  EXPECT_EQ(driver.mem_alloc(&at, 4), 719);
  shim.succeed("mem_alloc");
  block(4);
  EXPECT_THROW(shim.calls("cuMemAlloc"), std::invalid_argument);
}

TEST_F(cuda_shim, errors_have_names) {
  const char* text = nullptr;
  ok(driver.get_error_name(kCudaOutOfMemory, &text));
  EXPECT_STREQ(text, "CUDA_ERROR_OUT_OF_MEMORY");
  EXPECT_EQ(driver.get_error_string(-1, &text), 1);
}

TEST_F(cuda_shim, a_call_without_a_context_is_reported) {
  ok(driver.ctx_pop_current(nullptr));
  CudaDevicePointer at = 0;
  EXPECT_EQ(driver.mem_alloc(&at, 4), 201);
  EXPECT_THAT(shim.take_failures(), ElementsAre("a call without a context"));
  ok(driver.ctx_push_current(context));
}

TEST_F(cuda_shim, a_function_belongs_to_its_device) {
  CudaFunction* const kernel = function(kReverse, "reverse");
  CudaContext* other = nullptr;
  ok(driver.device_primary_ctx_retain(&other, 1));
  ok(driver.ctx_push_current(other));
  EXPECT_EQ(launch(kernel, {}, 1), 400);
  EXPECT_THAT(shim.take_failures(), ElementsAre("reverse of device 0 is launched on device 1"));
  ok(driver.ctx_pop_current(nullptr));
  ok(driver.device_primary_ctx_release(1));
}

TEST(cuda_shim_alone, leaks_are_reported) {
  testing::TestPartResultArray results;
  {
    testing::ScopedFakeTestPartResultReporter reporter(
        testing::ScopedFakeTestPartResultReporter::INTERCEPT_ONLY_CURRENT_THREAD, &results);
    CudaShim shim;
    const CudaDriver& driver = shim.driver();
    CudaContext* context = nullptr;
    driver.device_primary_ctx_retain(&context, 0);
    driver.ctx_push_current(context);
    CudaDevicePointer at = 0;
    driver.mem_alloc(&at, 12);
    CudaStream* stream = nullptr;
    driver.stream_create(&stream, 0);
  }
  std::vector<std::string> messages;
  for (int k = 0; k < results.size(); ++k) messages.emplace_back(results.GetTestPartResult(k).message());
  EXPECT_THAT(messages, ElementsAre(HasSubstr("device block of 12 bytes"), HasSubstr("1 streams left"),
                                    HasSubstr("1 retains of a primary context left"), HasSubstr("pushed 1 times")));
}

// ---- streams

class cuda_shim_streams : public cuda_shim {
 protected:
  cuda_shim_streams() {
    for (CudaStream*& stream : streams) ok(driver.stream_create(&stream, kCudaNonBlocking));
    ok(driver.event_create(&event, kCudaNoTiming));
    ok(driver.mem_host_alloc(reinterpret_cast<void**>(&pinned), 4 * 64, 0));
    for (int k = 0; k < 64; ++k) pinned[k] = float(k);
  }
  ~cuda_shim_streams() override {
    ok(driver.mem_free_host(pinned));
    ok(driver.event_destroy(event));
    for (CudaStream* stream : streams) ok(driver.stream_destroy(stream));
  }
  // Copies there in the first stream, the kernel and the copy back in the second.
  void give_work(bool with_wait) {
    const FromTo arguments{block(4 * 64), block(4 * 64)};
    CudaFunction* const kernel = function(kReverse, "reverse");
    ok(driver.memcpy_htod_async(arguments.from, pinned, 4 * 64, streams[0]));
    ok(driver.event_record(event, streams[0]));
    if (with_wait) ok(driver.stream_wait_event(streams[1], event, 0));
    ok(launch(kernel, arguments, 2, streams[1]));
    ok(driver.memcpy_dtoh_async(pinned, arguments.to, 4 * 64, streams[1]));
  }
  std::vector<float> held() const { return {pinned, pinned + 64}; }

  CudaStream* streams[2] = {};
  CudaEvent* event = nullptr;
  float* pinned = nullptr;
};

TEST_F(cuda_shim_streams, work_is_done_at_once_or_when_somebody_waits) {
  give_work(true);
  EXPECT_EQ(held(), right());
  for (int k = 0; k < 64; ++k) pinned[k] = float(k);
  shim.set_lazy(true);
  give_work(true);
  EXPECT_EQ(pinned[0], 0);
  ok(driver.stream_synchronize(streams[1]));
  EXPECT_EQ(held(), right());
}

TEST_F(cuda_shim_streams, a_forgotten_wait_shows_when_work_is_lazy) {
  shim.set_lazy(true);
  give_work(false);
  ok(driver.stream_synchronize(streams[1]));
  EXPECT_TRUE(std::isnan(pinned[0]));
  EXPECT_THAT(shim.take_failures(), ElementsAre(HasSubstr("never written")));
}

TEST_F(cuda_shim_streams, an_event_is_reached_when_it_is_waited_for) {
  shim.set_lazy(true);
  const CudaDevicePointer at = block(4);
  ok(driver.event_query(event));  // never recorded
  ok(driver.memset_d32_async(at, 0, 1, streams[0]));
  ok(driver.event_record(event, streams[0]));
  EXPECT_EQ(driver.event_query(event), kCudaNotReady);
  ok(driver.event_query(event));
  ok(driver.event_record(event, streams[0]));
  ok(driver.event_synchronize(event));
  float ms = 0;
  EXPECT_EQ(driver.event_elapsed_time(&ms, event, event), 400);  // made without a clock
}

TEST_F(cuda_shim_streams, a_late_failure_is_told_to_who_waits) {
  shim.set_lazy(true);
  const FromTo arguments{numbers(64), block(4 * 64)};
  CudaFunction* const bad = function(replaced(kReverse, "  __sync", "  if (threadIdx.x) return;\n  __sync"), "reverse");
  ok(launch(bad, arguments, 1, streams[0]));
  EXPECT_THAT(shim.take_failures(), IsEmpty());
  EXPECT_EQ(driver.stream_synchronize(streams[0]), 719);
  ok(driver.stream_synchronize(streams[0]));
  EXPECT_EQ(shim.take_failures().size(), 1u);
}

// Numbers to numbers and back, the second time early.
TEST_F(cuda_shim_streams, an_early_launch_sees_the_one_before_it_only_after_it_has_waited) {
  const std::string good = replaced(kReverse, "  __shared__", "  pdl_wait();\n  __shared__");
  const std::string late = replaced(kReverse, "  __sync", "  pdl_wait();\n  __sync");
  const FromTo there{numbers(64), block(4 * 64)}, back{there.to, block(4 * 64)};
  const auto early = [&](CudaFunction* kernel) {
    CudaLaunchAttribute attribute{kCudaProgrammaticStreamSerialization, 0, {1}};
    const CudaLaunchConfig config{2, 1, 1, kThreads, 1, 1, 0, streams[0], &attribute, 1};
    FromTo arguments = back;
    void* list[] = {&arguments};
    return driver.launch_kernel_ex(&config, kernel, list, nullptr);
  };
  const auto after_both = [&](const std::string& text) {
    ok(driver.memset_d32_async(there.to, 0, 64, streams[0]));
    ok(launch(function(good, "reverse"), there, 2, streams[0]));
    ok(driver.event_record(event, streams[0]));
    ok(early(function(text, "reverse")));
    driver.stream_synchronize(streams[0]);
    return read(back.to, 64)[31];
  };
  EXPECT_EQ(after_both(late), 31);
  shim.set_lazy(true);
  EXPECT_EQ(after_both(good), 31);
  EXPECT_EQ(after_both(late), 0);
  EXPECT_THAT(shim.take_failures(), IsEmpty());
  after_both(kReverse);
  EXPECT_THAT(shim.take_failures(), ElementsAre(HasSubstr("waits for no earlier launch")));
}

TEST_F(cuda_shim_streams, a_capture_is_replayed_with_the_arguments_of_then) {
  const FromTo arguments{numbers(64), block(4 * 64)};
  CudaFunction* const kernel = function(kReverse, "reverse");
  shim.begin_capture(streams[0]);
  int status = 0;
  ok(driver.stream_is_capturing(streams[0], &status));
  EXPECT_NE(status, 0);
  ok(launch(kernel, arguments, 2, streams[0]));
  EXPECT_EQ(driver.stream_synchronize(streams[0]), 900);
  CudaDevicePointer at = 0;
  EXPECT_EQ(driver.mem_alloc(&at, 4), 900);
  shim.end_capture(streams[0]);
  EXPECT_TRUE(std::isnan(read(arguments.to, 1)[0]));
  shim.replay(streams[0]);
  EXPECT_EQ(read(arguments.to, 64), right());
}

TEST_F(cuda_shim, the_default_stream_takes_turns_with_blocking_ones) {
  shim.set_lazy(true);
  CudaStream* stream = nullptr;
  ok(driver.stream_create(&stream, 0));
  const CudaDevicePointer at = block(4);
  ok(driver.memset_d32_async(at, 0, 1, stream));
  EXPECT_THAT(read(at, 1), ElementsAre(0));
  ok(driver.stream_destroy(stream));
}

}  // namespace
}  // namespace nbcc::test
