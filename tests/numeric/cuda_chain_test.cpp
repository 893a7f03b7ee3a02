// Runs in a row on the first GPU, each of which reads what the one before it wrote, while nobody waits in between: in
// one stream, from stream to stream by events, and captured into a graph. What is launched before the launch ahead of
// it has ended must not show. Skipped, with the reason, where there is no GPU.
//
// A kernel that lets the next one begin at once and waits for none fails where one stream takes all. That it forgets to
// wait, and nothing else, need not show on a GPU; tests/unit/runtime/cuda/launch/cuda_launch_test.cpp sees that.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "runtime/error.h"
#include "tests/support/cuda_experiment.h"
#include "tests/support/on_gpu.h"

namespace nbcc::test {
namespace {

// What the runtime leaves to its callers: functions of the driver for graphs.
class Graphs {
 public:
  Graphs() {
    void* const driver = ::dlopen("libcuda.so.1", RTLD_NOW);
    take(driver, begin, "cuStreamBeginCapture_v2");
    take(driver, end, "cuStreamEndCapture");
    take(driver, instantiate, "cuGraphInstantiateWithFlags");
    take(driver, launch, "cuGraphLaunch");
    take(driver, destroy_graph, "cuGraphDestroy");
    take(driver, destroy, "cuGraphExecDestroy");
  }
  CudaResult (*begin)(CudaStream* stream, int mode) = nullptr;
  CudaResult (*end)(CudaStream* stream, void** graph) = nullptr;
  CudaResult (*instantiate)(void** executable, void* graph, unsigned long long flags) = nullptr;
  CudaResult (*launch)(void* executable, CudaStream* stream) = nullptr;
  CudaResult (*destroy_graph)(void* graph) = nullptr;
  CudaResult (*destroy)(void* executable) = nullptr;

 private:
  template <typename Function>
  static void take(void* driver, Function*& member, const char* symbol) {
    member = reinterpret_cast<Function*>(::dlsym(driver, symbol));
    if (!member) throw DeviceError(symbol);
  }
};

constexpr int kRounds = 12;

// Two sums, the potentials of each of which are the masses of the other.
class ChainsOnGpu : public OnGpu, public testing::WithParamInterface<std::int64_t> {
 protected:
  void SetUp() override {
    OnGpu::SetUp();
    if (IsSkipped()) return;
    const std::int64_t n = GetParam();
    Numbers inputs = random_experiment(n, n);
    // Masses stay within bounds.
    for (double& factor : inputs["hi"]) factor = -1 / double(n);
    masses_ = inputs.at("mj");
    const auto kernel = load_experiment(*device_);
    a_.emplace(gpu(), kernel, inputs);
    b_.emplace(gpu(), kernel, inputs);
    b_->sum.bind("mj", a_->view("pot"));
    b_->sum.bind("pot", a_->view("mj"));
    current_.emplace(gpu());
    one_.emplace(gpu()), other_.emplace(gpu());
    // Kernels and memory are there before anything is captured.
    b_->sum.run();
    a_->sum.run();
    wait();
  }
  void TearDown() override { current_.reset(); }

  void wait() {
    a_->sum.wait();
    b_->sum.wait();
  }
  // Potentials and forces, begun anew.
  std::pair<std::vector<double>, std::vector<double>> after(const std::function<void()>& rounds) {
    a_->put("mj", masses_);
    rounds();
    wait();
    one_->wait(), other_->wait();
    return {a_->get("pot"), b_->get("acc")};
  }

  std::optional<CudaExperiment> a_, b_;
  std::vector<double> masses_;
  std::optional<CudaContextGuard> current_;
  std::optional<CudaOwnStream> one_, other_;
};

TEST_P(ChainsOnGpu, GiveTheSameBitsWhetherSomebodyWaitsOrNot) {
  const auto expected = after([&] {
    for (int k = 0; k < kRounds; ++k) {
      a_->sum.run(), wait();
      b_->sum.run(), wait();
    }
  });
  CudaStream *const one = one_->get(), *const other = other_->get();
  const auto in = [&](CudaStream* stream) {
    for (int k = 0; k < kRounds; ++k) a_->sum.run({.stream = stream}), b_->sum.run({.stream = stream});
  };
  for (int k = 0; k < 5; ++k) {
    EXPECT_EQ(after([&] { in(nullptr); }), expected) << "the default stream";
    EXPECT_EQ(after([&] { in(one); }), expected) << "a stream";
  }

  CudaEventOwner a_done(gpu()), b_done(gpu());
  const auto between = [&] {
    for (int k = 0; k < kRounds; ++k) {
      a_->sum.run({.stream = one});
      a_done.record(one), a_done.make_wait(other);
      b_->sum.run({.stream = other});
      b_done.record(other), b_done.make_wait(one);
    }
  };
  for (int k = 0; k < 5; ++k) EXPECT_EQ(after(between), expected) << "from stream to stream";

  const Graphs graphs;
  for (const auto& work : {std::function<void()>([&] { in(one); }), std::function<void()>(between)}) {
    void *graph = nullptr, *executable = nullptr;
    ASSERT_EQ(graphs.begin(one, 2), kCudaSuccess);  // CU_STREAM_CAPTURE_MODE_RELAXED
    work();
    ASSERT_EQ(graphs.end(one, &graph), kCudaSuccess);
    ASSERT_EQ(graphs.instantiate(&executable, graph, 0), kCudaSuccess);
    for (int k = 0; k < 5; ++k) {
      const auto got = after([&] { EXPECT_EQ(graphs.launch(executable, one), kCudaSuccess); });
      EXPECT_EQ(got, expected) << "a graph";
    }
    graphs.destroy(executable);
    graphs.destroy_graph(graph);
  }
}

INSTANTIATE_TEST_SUITE_P(Particles, ChainsOnGpu, testing::Values(1, 300, 2048, 10'000, 40'000));

}  // namespace
}  // namespace nbcc::test
