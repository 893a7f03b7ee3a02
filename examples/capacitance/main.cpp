// What charge does a cube hold? Its capacitance by boundary elements: panels of constant charge density, such that the
// potential is 1 at the centre of each. The matrix is never stored: every product with it is a sum over all panels for
// each, which is what nbcc is for. The program's input are its options, its output is a table with a row for each
// number of panels along an edge.
//
// Nobody knows the capacitance in closed form; 0.66067815 4 pi eps0 side is a value on which several methods agree
// (C.-O. Hwang & M. Mascagni, J. Appl. Phys. 95 (2004) 3798; J. Helsing & K.-M. Perfekt, On the polarizability and
// capacitance of the cube, arXiv:1203.5997; and others).
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <random>

#include "chart/chart.h"
#include "examples/capacitance/gmres.h"
#include "examples/capacitance/potential.h"
#include "examples/support/chart_file.h"
#include "examples/support/failure.h"
#include "examples/support/program.h"

namespace {

using namespace examples;
constexpr double kPublished = 0.66067815;
constexpr double kExactResidual = 1e-9;  // of the equations over all pairs

// The first n x n panels are the face x = 0: n columns of one y, whose n rows have ascending z.
void draw(const std::string& path, int n, const Panels& panels, const Numbers& sigma) {
  nbcc::HeatMap map{{0}, {}, {}, nbcc::ColourMap::Viridis, true, "charge density, in 4πε₀V / side"};
  for (int column = 0; column < n; ++column)
    map.x_edges.push_back(map.x_edges.back() + 2 * panels.half[2 * std::size_t(column) * std::size_t(n)]);
  map.y_edges = map.x_edges;
  for (int row = 0; row < n; ++row)
    for (int column = 0; column < n; ++column) map.values.push_back(sigma[std::size_t(column * n + row)]);
  const double corner = sigma[0], centre = sigma[std::size_t(n / 2 * n + n / 2)];
  char title[100];
  std::snprintf(title, sizeof title,
                "Charge of a cube collects at its edges: %.0f times as dense in a corner as in the middle of a face",
                corner / centre);
  write_chart(path, nbcc::svg_of({title, {"y / side"}, {"z / side"}, {}, map, 340, 340}));
}

std::size_t checked_centres(const PanelPotential& potential) {
  return std::min<std::size_t>(256, potential.panels().size());
}

// How far the potential is from 1 at centres drawn at random, over all pairs in double precision: root mean square. It
// has the errors of the far field, of the quadrature and of the solver, and does not depend on what these say of
// themselves. Throws std::runtime_error if it is more than the three together may be.
double checked_residual(PanelPotential& potential, const Numbers& sigma, double tolerance) {
  std::vector<std::int64_t> centres(sigma.size());
  std::iota(centres.begin(), centres.end(), 0);
  std::shuffle(centres.begin(), centres.end(), std::mt19937_64(1));
  centres.resize(checked_centres(potential));
  double sum = 0;
  for (const double value : potential.sum_exactly(sigma, centres)) sum += (value - 1) * (value - 1);
  const double residual = std::sqrt(sum / double(centres.size()));
  if (!(residual <= 3 * tolerance)) {
    char text[160];
    std::snprintf(text, sizeof text,
                  "over all pairs the potential differs from 1 by %.1e at %zu centres, expected at most %.1e", residual,
                  centres.size(), 3 * tolerance);
    throw std::runtime_error(text);
  }
  return residual;
}

// What a solution to a tolerance is worth, and what it has cost.
void report(PanelPotential& potential, double residual, double seconds) {
  const nbcc_statistics far = potential.far_statistics(), near = potential.near_statistics();
  std::printf("%8s over all pairs, the potential at %zu centres differs from 1 by %.1e\n", "",
              checked_centres(potential), residual);
  if (far.order > 0)
    std::printf(
        "%8s far field: error %.1e, largest %.1e, order %d, leaf %d, %s precision, %.0f pairs for each centre\n", "",
        far.error, far.largest_error, far.order, far.leaf, far.precision, far.pairs_per_i);
  else if (far.sampled > 0)
    std::printf("%8s method: all pairs, error %.1e, largest %.1e, %s precision (%s)\n", "", far.error,
                far.largest_error, far.precision, far.reason);
  else
    std::printf("%8s method: %s (%s)\n", "", far.method, far.reason);
  if (near.pairs_within > 0)
    std::printf("%8s near panels: %.0f for each centre, found in %lld of %lld sums\n", "",
                double(near.pairs_within) / double(potential.panels().size()), (long long)near.searches,
                (long long)near.runs);
  std::printf("%8s %.2g s for each product on average\n", "", seconds);
}

}  // namespace

int main(int count, char** words) {
  CLI::App app("Capacitance of a cube by boundary elements", "capacitance");
  std::vector<int> sizes{4, 8, 16};
  std::string device = "cpu", picture;
  double tolerance = 0;
  app.add_option("--panels", sizes, "Panels along an edge, one or several numbers")
      ->check(CLI::Range(1, 200))
      ->capture_default_str();
  app.add_option("--tolerance", tolerance,
                 "Sum and solve to this error, from 1e-8 to 1e-3, for many panels; without it over all pairs")
      ->check(examples::positive());
  examples::add_device(app, device);
  app.add_option("--picture", picture, "An SVG file of the charge density, with the last of these numbers")
      ->check(chart_file());
  return examples::run_program(app, count, words, [&] {
    if (tolerance > 0 && !(tolerance >= 1e-8 && tolerance <= 1e-3))
      throw UsageError("--tolerance: expected a number from 1e-8 to 1e-3, got " +
                       app.get_option("--tolerance")->as<std::string>());
    const nbcc::Device where(device);
    std::printf("%8s %8s %10s %22s %10s\n", "n", "panels", "products", "C / (4 pi eps0 side)", "error");
    for (const int n : sizes) {
      PanelPotential potential(where, cube(n), tolerance);
      const Panels& panels = potential.panels();
      // Positive densities, since the first sum chooses the numbers of the far field.
      Numbers sigma(panels.size(), 0.1);
      const auto start = std::chrono::steady_clock::now();
      const Solved solved =
          solve([&](const Numbers& s, Numbers& product) { potential.sum(s, product); }, own_potential(panels),
                Numbers(panels.size(), 1.0), sigma, tolerance > 0 ? tolerance : kExactResidual);
      const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
      const double residual = tolerance > 0 ? checked_residual(potential, sigma, tolerance) : solved.residual;
      const double charge = std::inner_product(sigma.begin(), sigma.end(), panels.area.begin(), 0.0);
      std::printf("%8d %8zu %10d %22.8f %10.1e\n", n, panels.size(), solved.products, charge, charge - kPublished);
      if (tolerance > 0) report(potential, residual, seconds.count() / solved.products);
      if (!picture.empty() && n == sizes.back()) draw(picture, n, panels, sigma);
    }
  });
}
