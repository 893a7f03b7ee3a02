// The collapse of a cold ball of gas under its own gravity, after A. E. Evrard, MNRAS 235 (1988) 911. The entry point
// is evrard().
//
// M = R = G = 1, density 1 / (2 pi r), thermal energy 0.05 per unit of mass. The gas falls to the centre, a shock goes
// out from there, and what remains comes to rest: twice the thermal energy is then minus the potential.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numbers>
#include <sstream>

#include "examples/sph/programs.h"
#include "examples/support/picture.h"
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

void draw(const std::string& path, const std::vector<Report>& reports, const Particles& gas, double gamma,
          double time) {
  std::ostringstream script;
  script.precision(4);
  script << "$energies << EOD\n";
  for (const Report& one : reports)
    script << one.time << ' ' << one.totals.kinetic << ' ' << one.totals.thermal << ' ' << one.totals.potential << ' '
           << one.totals.energy() << '\n';
  script << "EOD\n$gas << EOD\n";
  for (std::size_t k = 0; k < gas.count(); ++k) {
    const double *const x = &gas.x[3 * k], *const v = &gas.v[3 * k], r = std::hypot(x[0], x[1], x[2]);
    script << r << ' ' << gas.rho[k] << ' ' << (x[0] * v[0] + x[1] * v[1] + x[2] * v[2]) / r << ' '
           << (gamma - 1) * gas.u[k] / std::pow(gas.rho[k], gamma - 1) << '\n';
  }
  script << "EOD\nset multiplot layout 2,2\nset grid\nset title 'energies'\nset xlabel 'time'\nset offsets 0,0,graph "
            "0.4,0\n"
         << "plot $energies using 1:2 with lines lw 2 title 'kinetic', '' using 1:3 with lines lw 2 title 'thermal', "
         << "'' using 1:4 with lines lw 2 title 'potential', '' using 1:5 with lines lw 2 lc 'black' title 'total'\n"
         << "unset offsets\nset xlabel 'radius'\nset logscale x\nset title 'radial velocity, time " << time
         << "'\nplot $gas using 1:3 with points pt 7 ps 0.2 lc 'red' notitle\nset logscale y\nset format y '10^{%T}'\n"
         << "set title 'density'\nplot $gas using 1:2 with points pt 7 ps 0.2 lc 'red' notitle\n"
         << "set title 'pressure / density^{gamma}'\nplot $gas using 1:4 with points pt 7 ps 0.2 lc 'red' notitle\n";
  std::printf("wrote %s\n", examples::draw(path, script.str()).c_str());
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
