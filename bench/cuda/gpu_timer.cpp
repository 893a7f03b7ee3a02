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

double GpuTimer::seconds(const Work& work, int repetitions) const {
  const CudaContextGuard guard(gpu_);
  start_.record(nullptr);
  for (int k = 0; k < repetitions; ++k) work();
  end_.record(nullptr);
  end_.wait();
  return end_.seconds_since(start_) / repetitions;
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
