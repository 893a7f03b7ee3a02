// Measures runs of a sum. Entry points: measure() and RandomBinding. Measures through the public interface. Prints
// nothing.
#include "cli/sum/measure_sum.h"

#include <algorithm>
#include <chrono>
#include <vector>

#include "runtime/api/nbcc.hpp"
#include "runtime/error.h"

namespace nbcc {
namespace {

// Seconds. Shorter runs are repeated within one sample, because the clock's resolution and the waking of threads would
// distort the time.
constexpr double kShortestSample = 5e-3;

void to_working_precision(ParticleTable& table, const KernelChoice& choice) {
  for (ParticleColumn& column : table.columns) {
    if (choice.options.precision == Precision::Single && column.type() == ElementType::Double) {
      column = convert(column, ElementType::Float);
    }
  }
}

}  // namespace

double timed(const std::function<void()>& action) {
  const auto start = std::chrono::steady_clock::now();
  action();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

Times measure(ParticleSum& sum, int repeat) {
  // Warm-up: allocates memory, starts threads, packs resident j, loads the kernel for this size.
  sum.run();
  sum.wait();
  const double once = timed([&] {
    sum.run();
    sum.wait();
  });
  const int inner = std::max(1, int(kShortestSample / std::max(once, 1e-7)));
  std::vector<double> samples;
  for (int k = 0; k < repeat; ++k) {
    const double whole = timed([&] {
      for (int run = 0; run < inner; ++run) sum.run();
      sum.wait();
    });
    samples.push_back(whole / inner);
  }
  std::ranges::sort(samples);
  const std::size_t middle = samples.size() / 2;
  const double median = samples.size() % 2 == 1 ? samples[middle] : (samples[middle - 1] + samples[middle]) / 2;
  return {median, samples.front(), samples.back()};
}

std::optional<Times> measure_in(ParticleSum& sum, const LaunchConfig& config, int repeat) {
  try {
    sum.set_launch(config);
    return measure(sum, repeat);
  } catch (const Error& e) {
    // The compiler refuses the configuration, the registers do not suffice for its threads, or memory for the partial
    // sums of its j_splits is missing.
    if (e.status() == NBCC_ERROR_USAGE || e.status() == NBCC_ERROR_DEVICE) return {};
    throw;
  }
}

RandomBinding::RandomBinding(ParticleSum& sum, std::int64_t ni, std::int64_t nj, const KernelChoice& choice,
                             ParticleSum::Arrays arrays, const PairsChoice& pairs)
    : i_sides_(random_particles(sum.inputs(), ni, 1)), j_sides_(random_particles(sum.inputs(), nj, 2)) {
  if (arrays == ParticleSum::Arrays::OfDevice) {
    to_working_precision(i_sides_.i, choice);
    to_working_precision(j_sides_.j, choice);
  }
  const RandomPairs acting = random_pairs(pairs, ni, nj);
  sum.set_pairs(acting);
  std::vector<BoundField> bound = bind_particles(sum.inputs(), {&i_sides_.i, "i"}, {&j_sides_.j, "j"}, {});
  pairs_ = random_particles(sum.pair_inputs(), acting.pairs(), 3);
  if (arrays == ParticleSum::Arrays::OfDevice) to_working_precision(pairs_.i, choice);
  for (BoundField& field : bind_particles(sum.pair_inputs(), {&pairs_.i, "pairs"}, {&pairs_.i, "pairs"}, {}))
    bound.push_back(std::move(field));
  sum.bind(bound, ni, nj, arrays);
  sum.particles_are_random();
}

}  // namespace nbcc
