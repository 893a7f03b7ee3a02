// Works of a GPU -> times. Entry point: GpuTimer.
#include "bench/cuda/gpu_timer.h"

#include <algorithm>

namespace nbcc::bench {
namespace {

constexpr double kRoughSample = 1e-3, kSample = 5e-3;  // seconds; an event's resolution is half a microsecond

int repetitions_for(double seconds, double sample) {
  return int(std::clamp(sample / std::max(seconds, 1e-7), 1.0, 10000.0));
}

}  // namespace

GpuTimer::GpuTimer(const CudaGpu& gpu) : gpu_(gpu) {
  const CudaContextGuard guard(gpu_);
  gpu_.require(gpu_.driver().event_create(&start_, 0), "making an event");
  gpu_.require(gpu_.driver().event_create(&end_, 0), "making an event");
}

GpuTimer::~GpuTimer() {
  gpu_.driver().event_destroy(start_);
  gpu_.driver().event_destroy(end_);
}

double GpuTimer::seconds(const Work& work, int repetitions) const {
  const CudaContextGuard guard(gpu_);
  const CudaDriver& driver = gpu_.driver();
  gpu_.require(driver.event_record(start_, nullptr), "recording an event");
  for (int k = 0; k < repetitions; ++k) work();
  gpu_.require(driver.event_record(end_, nullptr), "recording an event");
  gpu_.require(driver.event_synchronize(end_), "waiting for the GPU");
  float milliseconds = 0;
  gpu_.require(driver.event_elapsed_time(&milliseconds, start_, end_), "reading the time between two events");
  return double(milliseconds) * 1e-3 / repetitions;
}

double GpuTimer::rough_seconds(const Work& work, double best) const {
  double once = seconds(work, 1);
  if (once > 1.3 * best && once > kRoughSample) return once;
  once = std::min(once, seconds(work, 1));
  if (once > kRoughSample) return once;
  const int repetitions = repetitions_for(once, kRoughSample);
  return std::min(seconds(work, repetitions), seconds(work, repetitions));
}

Comparison GpuTimer::compare(const std::vector<Work>& works, int rounds) const {
  std::vector<int> repetitions;
  for (const Work& work : works) repetitions.push_back(repetitions_for(rough_seconds(work), kSample));
  std::vector<std::vector<double>> samples(works.size());
  for (int round = 0; round < rounds; ++round)
    for (std::size_t k = 0; k < works.size(); ++k) {
      const std::size_t at = round % 2 ? works.size() - 1 - k : k;
      samples[at].push_back(seconds(works[at], repetitions[at]));
    }
  return comparison_of(samples);
}

}  // namespace nbcc::bench
