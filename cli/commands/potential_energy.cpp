// Sums the potential energy of a particle table. Entry point: potential_energy(). Does not change the table.
#include "cli/commands/potential_energy.h"

#include <fmt/core.h>

#include <cstdio>
#include <string>

#include "cli/report/progress_bar.h"
#include "cli/sum/particle_sum.h"

namespace nbcc {
namespace {

// Adding and subtracting 768 = 1.5 * 2^9 rounds a number below 256 to a multiple of 2^-43, which is the unit in the
// last place of doubles from 512 to 1024. --math precise does not simplify the two operations.
constexpr const char* kText = R"(
input_i vec3 x_i;
input_j vec3 x_j;
input_j real m;
output(sum) real potential;
vec3 dx = x_j - x_i;
real d2 = dot(dx, dx);
skip_if(d2 == 0.0);
potential -= (m / sqrt(d2) + 768.0) - 768.0;
)";

constexpr double kPairsToAnnounce = 1e9;

std::string duration(double seconds) {
  return seconds < 100 ? fmt::format("{:.0f} s", seconds) : fmt::format("{:.0f} min", seconds / 60);
}

void announce(double pairs, double seconds, const std::string& device) {
  fmt::print(stderr,
             "nbcc: scaling to K = 1/4 and U = -1/2 sums over {:.3g} pairs, about {} on {}; --no-scale skips this\n",
             pairs, duration(seconds), device);
}

}  // namespace

double potential_energy(const ParticleTable& table, const KernelChoice& choice,
                        const std::shared_ptr<KernelDevice>& given) {
  KernelChoice precise = choice;
  precise.options = {.precision = Precision::Double, .math = Math::Precise, .root = RootMode::Exact};
  ParticleSum sum(ParticleSum::Text{"potential_energy.pipe", kText}, precise, {}, given);
  const ParticleColumn& x = *table.find("x");
  const ParticleColumn& m = *table.find("m");
  sum.bind(
      {{"x_i", false, {{&x, 0}, {&x, 1}, {&x, 2}}}, {"x_j", true, {{&x, 0}, {&x, 1}, {&x, 2}}}, {"m", true, {{&m, 0}}}},
      table.rows, table.rows);
  const double pairs = double(table.rows) * double(table.rows);
  bool announced = pairs < kPairsToAnnounce;
  ProgressBar bar;
  const ProgressBar::Clock::time_point start = ProgressBar::Clock::now();
  sum.set_progress([&](double done) {
    const double seconds = std::chrono::duration<double>(ProgressBar::Clock::now() - start).count();
    if (!announced && done > 0) announce(pairs, seconds / done, sum.device_name());
    announced = announced || done > 0;
    bar.show(done);
  });
  sum.run();
  const auto& potential = std::get<std::vector<double>>(sum.outputs()[0].data);
  double energy = 0;
  for (std::size_t k = 0; k < potential.size(); ++k)
    energy += 0.5 * ColumnComponent{&m, 0}.at(std::int64_t(k)) * potential[k];
  return energy;
}

}  // namespace nbcc
