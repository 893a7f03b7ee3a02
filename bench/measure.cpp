// Works -> times. Entry points: compare(), comparison_of(), clock_gigahertz().
#include "bench/measure.h"

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace nbcc::bench {
namespace {

constexpr double kSample = 0.01;

double seconds(const Work& work, int repetitions) {
  const double start = now();
  for (int k = 0; k < repetitions; ++k) work();
  return (now() - start) / repetitions;
}

int repetitions_for(const Work& work) {
  work();  // buffers are filled, pages are touched
  int repetitions = 1;
  while (repetitions < 1 << 20) {
    const double all = seconds(work, repetitions) * repetitions;
    if (all >= kSample) break;
    repetitions = all < kSample / 16 ? repetitions * 16 : repetitions * 2;
  }
  return repetitions;
}

}  // namespace

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

double clock_gigahertz() {
#ifdef __x86_64__
  constexpr int kSteps = 500000;
  std::uint64_t x = 1;
  const double start = now();
  for (int k = 0; k < kSteps; ++k) asm volatile("add $1, %0\nadd $1, %0\nadd $1, %0\nadd $1, %0\n" : "+r"(x));
  return 4.0 * kSteps / (now() - start) * 1e-9;
#else
  return 0;
#endif
}

Comparison comparison_of(const std::vector<std::vector<double>>& samples) {
  Comparison result;
  for (const std::vector<double>& of_work : samples) {
    const auto [best, worst] = std::minmax_element(of_work.begin(), of_work.end());
    result.times.push_back({median(of_work), *best, *worst});
    std::vector<double> ratios;
    for (std::size_t k = 0; k < of_work.size(); ++k) ratios.push_back(samples[0][k] / of_work[k]);
    result.ratios.push_back(median(ratios));
  }
  return result;
}

Comparison compare(const std::vector<Work>& works, int rounds) {
  std::vector<int> repetitions;
  for (const Work& work : works) repetitions.push_back(repetitions_for(work));
  std::vector<std::vector<double>> samples(works.size());
  std::vector<double> clocks;
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t k = 0; k < works.size(); ++k) {
      const std::size_t at = round % 2 ? works.size() - 1 - k : k;
      samples[at].push_back(seconds(works[at], repetitions[at]));
    }
    clocks.push_back(clock_gigahertz());
  }
  Comparison result = comparison_of(samples);
  result.gigahertz = median(clocks);
  return result;
}

}  // namespace nbcc::bench
