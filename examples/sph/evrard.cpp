// The collapse of a cold ball of gas under its own gravity, after A. E. Evrard, MNRAS 235 (1988) 911. The entry point
// is evrard().
//
// M = R = G = 1, density 1 / (2 pi r), thermal energy 0.05 per unit of mass. The gas falls to the centre, a shock goes
// out from there, and what remains comes to rest: twice the thermal energy is then minus the potential.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numbers>

#include "chart/chart.h"
#include "examples/sph/programs.h"
#include "examples/support/chart_file.h"
#include "examples/support/progress.h"

namespace examples {
namespace {

// A uniform ball of a lattice, stretched: the mass inside of radius s goes as s^3, and has to go as r^2.
Particles ball(const EvrardOptions& options) {
  std::vector<std::array<double, 3>> inside;
  const int n = options.cells;
  for (const auto& at : lattice({n, n, n}, {2, 2, 2}, true)) {
    const std::array<double, 3> x{at[0] - 1, at[1] - 1, at[2] - 1};
    if (std::hypot(x[0], x[1], x[2]) <= 1) inside.push_back(x);
  }
  const double count = double(inside.size()), mass = 1 / count;
  // The ball's edge is rough: its radius is that of as many particles' volume.
  const double cell = 2.0 / n, radius = std::cbrt(count * cell * cell * cell / 2 * 3 / (4 * std::numbers::pi));
  Particles gas;
  for (const auto& x : inside) {
    const double s = std::hypot(x[0], x[1], x[2]) / radius, r = s * std::sqrt(s), stretch = r / (s * radius);
    const double rho = 1 / (2 * std::numbers::pi * r);
    gas.add(mass, {x[0] * stretch, x[1] * stretch, x[2] * stretch}, {}, 0.05, options.gas.eta * std::cbrt(mass / rho));
  }
  return gas;
}

struct Report {
  double time;
  Totals totals;
};

using Numbers = std::vector<double>;

nbcc::Chart chart_of_energies(const std::vector<Report>& reports) {
  const char* const names[] = {"kinetic", "thermal", "potential", "total"};
  double worst = 0;
  for (const Report& one : reports)
    worst = std::max(worst, std::fabs(one.totals.energy() / reports.front().totals.energy() - 1));
  char title[80];
  std::snprintf(title, sizeof title, "Total energy changes by at most %.1e", worst);
  nbcc::Chart chart{title, {"time"}, {"energy"}, {}, {}, kPanelWidth, kPanelHeight};
  for (const char* const name : names) chart.series.push_back({name, {}, nbcc::ChartSeries::Style::Line});
  for (const Report& one : reports) {
    const Totals& now = one.totals;
    const double energies[] = {now.kinetic, now.thermal, now.potential, now.energy()};
    for (std::size_t k = 0; k < chart.series.size(); ++k) chart.series[k].points.push_back({one.time, energies[k]});
  }
  return chart;
}

// radii, numbers: one for each particle.
nbcc::Chart profile_of(const std::string& title, const std::string& quantity, const Numbers& radii,
                       const Numbers& numbers, bool logarithmic) {
  nbcc::ChartSeries dots{"", {}, nbcc::ChartSeries::Style::Dots};
  for (std::size_t k = 0; k < radii.size(); ++k) dots.points.push_back({radii[k], numbers[k]});
  return {title, {"radius", true}, {quantity, logarithmic}, {dots}, {}, kPanelWidth, kPanelHeight};
}

void draw(const std::string& path, const std::vector<Report>& reports, const Particles& gas, double gamma,
          double time) {
  Numbers radii, velocities, entropies;
  for (std::size_t k = 0; k < gas.count(); ++k) {
    const double *const x = &gas.x[3 * k], *const v = &gas.v[3 * k], r = std::hypot(x[0], x[1], x[2]);
    radii.push_back(r);
    velocities.push_back((x[0] * v[0] + x[1] * v[1] + x[2] * v[2]) / r);
    entropies.push_back((gamma - 1) * gas.u[k] / std::pow(gas.rho[k], gamma - 1));
  }
  const auto ratio = [](const Numbers& numbers) { return std::ranges::max(numbers) / std::ranges::min(numbers); };
  char fall[80], dense[80], shock[80];
  std::snprintf(fall, sizeof fall, "At time %g gas falls at up to %.2f", time, -std::ranges::min(velocities));
  std::snprintf(dense, sizeof dense, "Densities differ by a factor of %.0f", ratio(gas.rho));
  std::snprintf(shock, sizeof shock, "p / density^γ differs by a factor of %.0f", ratio(entropies));
  write_chart(path, nbcc::svg_of({profile_of(fall, "radial velocity", radii, velocities, false),
                                  chart_of_energies(reports), profile_of(dense, "density", radii, gas.rho, true),
                                  profile_of(shock, "p / density^γ", radii, entropies, true)},
                                 2));
}

}  // namespace

void evrard(const EvrardOptions& options) {
  const Particles start = ball(options);
  const nbcc::Device device(options.device);
  Gas gas(device, start, options.gas);
  std::printf("# %zu particles on %s\n", start.count(), device.name().c_str());
  std::printf("# %6s %10s %10s %10s %10s %10s\n", "time", "kinetic", "thermal", "potential", "total", "dE/|E|");
  std::vector<Report> reports;
  Particles profile;
  double hottest = 0, when = 0, at = 0;
  // Energies are kept for the picture five times as often as they are printed.
  Progress bar;
  const auto parts = std::int64_t(std::ceil(5 * options.end / options.every - 1e-9));
  for (std::int64_t part = 0; part <= parts; ++part) {
    const double until = std::min(double(part) * options.every / 5, options.end);
    while (gas.time() < until) {
      const bool is_next = profile.count() == 0 && options.profile_at <= until;
      gas.step(is_next ? options.profile_at : until);
      if (is_next && gas.time() == options.profile_at) profile = gas.particles(), at = gas.time();
      if (gas.thermal() > hottest) hottest = gas.thermal(), when = gas.time();
      bar.show(gas.time() / options.end, gas.steps());
    }
    const Totals now = gas.totals();
    reports.push_back({gas.time(), now});
    if (part % 5 != 0 && part != parts) continue;
    const double first = reports.front().totals.energy();
    std::printf("%8.4f %10.6f %10.6f %10.6f %10.6f %10.2e\n", gas.time(), now.kinetic, now.thermal, now.potential,
                now.energy(), (now.energy() - first) / std::fabs(first));
    std::fflush(stdout);
  }
  double worst = 0;
  for (const Report& one : reports) {
    const double error = std::fabs(one.totals.energy() / reports.front().totals.energy() - 1);
    if (!(error <= worst)) worst = error;  // also NaN, which later energies then are, too
  }
  std::printf("# %s; thermal energy is largest, %.4f, at time %.3f; |dE/E| at most %.1e\n",
              bar.rate(gas.steps()).c_str(), hottest, when, worst);
  if (options.picture.empty()) return;
  if (profile.count() == 0) profile = gas.particles(), at = gas.time();
  draw(options.picture, reports, profile, options.gas.gamma, at);
}

}  // namespace examples
