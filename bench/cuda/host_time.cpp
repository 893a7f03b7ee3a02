// Bursts of calls, shorter than the queue of a stream, between waits: what is longer would wait for the GPU.
#include "bench/cuda/host_time.h"

#include <algorithm>
#include <chrono>

namespace nbcc::bench {
namespace {

constexpr int kCalls = 100, kBursts = 101;

// The median of the bursts, in microseconds per call.
double microseconds(const Work& call, const Work& wait) {
  std::vector<double> times;
  for (int burst = 0; burst < kBursts; ++burst) {
    wait();
    const auto begin = std::chrono::steady_clock::now();
    for (int k = 0; k < kCalls; ++k) call();
    times.push_back(std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count() /
                    kCalls);
  }
  wait();
  std::nth_element(times.begin(), times.begin() + kBursts / 2, times.end());
  return times[kBursts / 2];
}

}  // namespace

std::vector<Row> host_times(const Gpu& gpu) {
  DeviceSum generated(gpu.gpu, gpu.device, "gravity_acc", NBCC_SINGLE);
  const std::vector<HandFamily> families = hand_families("gravity_acc", NBCC_SINGLE);
  const HandSum by_hand(gpu.gpu, gpu.compiler, families.front(), families.front().shapes.front(), nullptr);
  std::vector<Row> rows;
  for (const std::int64_t n : {256, 2048}) {
    const Particles particles = plummer(n);
    const HandArrays arrays(gpu.gpu, families.front(), particles, 1);
    generated.bind(particles, Arrays::OfDevice);
    const auto wait = [&] { generated.wait(); };
    generated.run();
    rows.push_back({{"N", n},
                    {"nbcc_sum_run_us", microseconds([&] { generated.run(); }, wait)},
                    {"bare_launch_us", microseconds([&] { by_hand.run(arrays, 1); },
                                                    [&] {
                                                      generated.run();
                                                      generated.wait();
                                                    })}});
  }
  return rows;
}

}  // namespace nbcc::bench
