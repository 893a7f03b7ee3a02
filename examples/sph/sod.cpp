// A shock tube in three dimensions, beside the exact solution. The entry point is sod().
//
// The box is periodic in all directions: along the tube its image in a mirror follows, so that at time t nothing is
// wrong until waves have come to the mirrors. Particles have one mass; where the gas is thin the lattice is wide.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>

#include "chart/chart.h"
#include "examples/sph/programs.h"
#include "examples/support/chart_file.h"
#include "examples/support/failure.h"
#include "examples/support/progress.h"
#include "examples/support/replace_file.h"

namespace examples {
namespace {

// The wall stands at 1/2; the tube goes from 0 to about 1, where the mirrors are.
constexpr double kWall = 0.5;

constexpr double kMost = 1e9;  // particles

struct Tube {
  Particles particles;
  std::array<double, 3> box;
  double right_end() const { return box[0] / 2; }
};

Tube fill(const SodOptions& options) {
  const GasState& left = options.left;
  const GasState& right = options.right;
  const double a = 1.0 / options.cells, width = a * options.across, mass = left.rho * a * a * a / 2;
  const double energy = 1 / (options.gas.gamma - 1);
  const double eta = options.gas.eta;
  Tube tube;
  for (const auto& at : lattice({options.cells, options.across, options.across}, {2 * kWall, width, width}, true))
    tube.particles.add(mass, {at[0] - kWall, at[1] - width / 2, at[2] - width / 2}, {}, energy * left.p / left.rho,
                       eta * std::cbrt(mass / left.rho));
  // On the right as many across as make the cells nearest to cubes, and along whatever gives the density.
  const double wide = std::round(options.across * std::cbrt(right.rho / left.rho));
  const int across = int(std::clamp(wide, 1.0, std::sqrt(kMost)));
  const double b = width / across, along = 2 * mass / (right.rho * b * b);
  const double layers = std::fmax(1, std::round(2 * kWall / along));
  if (!(2 * layers * across * across < kMost))
    throw UsageError("the gas on the right is too dense for so many particles");
  const int cells = int(layers);
  for (const auto& at : lattice({cells, across, across}, {cells * along, width, width}, true))
    tube.particles.add(mass, {kWall + at[0], at[1] - width / 2, at[2] - width / 2}, {}, energy * right.p / right.rho,
                       eta * std::cbrt(mass / right.rho));
  tube.box = {2 * kWall + cells * along, width, width};
  return tube;
}

// A particle in the tube or in the mirror, beside the exact solution at its place.
struct Row {
  double x;
  std::array<double, 4> here, exact;  // density, velocity, pressure, thermal energy
};
constexpr const char* kNames[] = {"density", "velocity", "pressure", "thermal energy"};

std::array<double, 4> numbers_of(const GasState& is, double gamma) {
  return {is.rho, is.v, is.p, is.p / (is.rho * (gamma - 1))};
}

std::vector<Row> compare(const Particles& gas, double box, const Riemann& exact, double gamma, double time) {
  std::vector<Row> rows;
  for (std::size_t k = 0; k < gas.count(); ++k) {
    const double around = gas.x[3 * k] - box * std::round(gas.x[3 * k] / box), x = std::fabs(around);
    const GasState is = exact.at((x - kWall) / time);
    const double rho = gas.rho[k], u = gas.u[k];
    rows.push_back(
        {x, {rho, std::copysign(1.0, around) * gas.v[3 * k], (gamma - 1) * rho * u, u}, numbers_of(is, gamma)});
  }
  std::sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.x < b.x; });
  return rows;
}

// L1: the mean over the tube's volume, of which a particle has 1/rho.
std::array<double, 4> errors(const std::vector<Row>& rows) {
  std::array<double, 4> sum{};
  double volume = 0;
  for (const Row& row : rows) {
    volume += 1 / row.here[0];
    for (std::size_t c = 0; c < 4; ++c) sum[c] += std::fabs(row.here[c] - row.exact[c]) / row.here[0];
  }
  for (double& one : sum) one /= volume;
  return sum;
}

void write(const std::string& path, const std::vector<Row>& rows) {
  replace_file(path, [&](const std::string& draft) {
    std::ofstream out(draft);
    out << "# x rho v p u, and the exact rho v p u\n";
    for (const Row& row : rows) {
      out << row.x;
      for (const double y : row.here) out << ' ' << y;
      for (const double y : row.exact) out << ' ' << y;
      out << '\n';
    }
    if (!out.flush()) throw UsageError("cannot write '" + path + "'");
  });
  std::printf("wrote %s\n", path.c_str());
}

void draw(const std::string& path, const std::vector<Row>& rows, const Riemann& exact, double gamma, double time) {
  using Style = nbcc::ChartSeries::Style;
  const std::array<double, 4> error = errors(rows);
  std::vector<nbcc::Chart> charts;
  for (std::size_t c = 0; c < 4; ++c) {
    const bool has_legend = c == 2;  // below the lower row
    nbcc::ChartSeries line{has_legend ? "exact" : "", {}, Style::Line};
    nbcc::ChartSeries dots{has_legend ? "particles" : "", {}, Style::Dots};
    for (int k = 0; k <= 1000; ++k) {
      const GasState is = exact.at((k / 1000.0 - kWall) / time);
      line.points.push_back({k / 1000.0, numbers_of(is, gamma)[c]});
    }
    for (const Row& row : rows)
      if (row.x <= 1) dots.points.push_back({row.x, row.here[c]});
    char title[80];
    std::snprintf(title, sizeof title, "%s, mean error %.4f", kNames[c], error[c]);
    charts.push_back({title, {"x"}, {}, {line, dots}, {}, kPanelWidth, kPanelHeight});
  }
  write_chart(path, nbcc::svg_of(charts, 2));
}

}  // namespace

void sod(const SodOptions& options) {
  const double gamma = options.gas.gamma;
  const Riemann exact(options.left, options.right, gamma);
  const Tube tube = fill(options);
  if (options.end * -exact.left().head > kWall || options.end * exact.right().head > tube.right_end() - kWall)
    throw UsageError("the waves are past the ends of the tube at that time");
  GasSettings settings = options.gas;
  settings.box = tube.box;
  const nbcc::Device device(options.device);
  Gas gas(device, tube.particles, settings);
  const double before = gas.totals().energy();
  Progress bar;
  while (gas.time() < options.end) {
    gas.step(options.end);
    bar.show(gas.time() / options.end, gas.steps());
  }
  const std::string rate = bar.rate(gas.steps());

  const std::vector<Row> rows = compare(gas.particles(), tube.box[0], exact, gamma, gas.time());
  std::printf("%zu particles on %s, gamma %g, time %g in %lld steps\n", tube.particles.count(), device.name().c_str(),
              gamma, gas.time(), static_cast<long long>(gas.steps()));
  std::printf("energy: relative change %.1e\n", gas.totals().energy() / before - 1);
  const std::array<double, 4> error = errors(rows);
  for (std::size_t c = 0; c < 4; ++c) std::printf("%-14s L1 error %.5f\n", kNames[c], error[c]);
  std::printf("%s\n", rate.c_str());
  if (const nbcc_statistics found = gas.statistics(); found.runs > 0)
    std::printf("neighbours: %.3g pairs tested for a density, %.3g of them within reach\n",
                double(found.pairs_tested) / double(found.runs) / double(tube.particles.count()),
                double(found.pairs_within) / double(tube.particles.count()));
  if (!options.profile.empty()) write(options.profile, rows);
  if (!options.picture.empty()) draw(options.picture, rows, exact, gamma, gas.time());
}

}  // namespace examples
