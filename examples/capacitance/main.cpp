// What charge does a cube hold? Its capacitance by boundary elements: panels of constant charge density, such that the
// potential is 1 at the centre of each. The matrix is never stored: every product with it is a sum over all panels for
// each, which is what nbcc is for.
//
// The charge crowds at the edges, as d^(-1/3) of the distance from one, so that panels are smaller there. Nobody knows
// the capacitance in closed form; 0.660678 4 pi eps0 side is a value on which several methods agree (C.-O. Hwang & M.
// Mascagni, J. Appl. Phys. 95 (2004) 3798, and others).
#include <cmath>
#include <cstdio>
#include <numbers>
#include <numeric>
#include <sstream>

#include "examples/support/open_sum.h"
#include "examples/support/picture.h"
#include "examples/support/program.h"
#include "runtime/api/nbcc.hpp"

namespace {

using Numbers = std::vector<double>;
constexpr double kPublished = 0.660678;

struct Panels {
  Numbers centre, along, across, half, area;
  std::size_t size() const { return area.size(); }
};

// n x n panels on each face of the unit cube, their edges spaced like a cosine.
Panels cube(int n) {
  Panels panels;
  const auto node = [&](int k) { return 0.5 - 0.5 * std::cos(std::numbers::pi * k / n); };
  for (int face = 0; face < 6; ++face) {
    const int normal = face / 2, first = (normal + 1) % 3, second = (normal + 2) % 3;
    for (int a = 0; a < n; ++a) {
      for (int b = 0; b < n; ++b) {
        double centre[3]{}, along[3]{}, across[3]{};
        centre[normal] = face % 2;
        centre[first] = (node(a) + node(a + 1)) / 2;
        centre[second] = (node(b) + node(b + 1)) / 2;
        along[first] = across[second] = 1;
        const double width = node(a + 1) - node(a), height = node(b + 1) - node(b);
        panels.centre.insert(panels.centre.end(), centre, centre + 3);
        panels.along.insert(panels.along.end(), along, along + 3);
        panels.across.insert(panels.across.end(), across, across + 3);
        panels.half.insert(panels.half.end(), {width / 2, height / 2});
        panels.area.push_back(width * height);
      }
    }
  }
  return panels;
}

double dot(const Numbers& a, const Numbers& b) { return std::inner_product(a.begin(), a.end(), b.begin(), 0.0); }
void add(Numbers& a, double factor, const Numbers& b) {
  for (std::size_t k = 0; k < a.size(); ++k) a[k] += factor * b[k];
}

// Stabilised biconjugate gradients (H. van der Vorst 1992) for A x = 1; returns the number of products with A.
template <typename Product>
int solve(const Product& times_a, Numbers& x, double tolerance) {
  Numbers r(x.size(), 1.0), t(x.size()), v(x.size()), p;
  times_a(x, t);
  add(r, -1, t);
  const Numbers shadow = p = r;
  const double wanted = tolerance * std::sqrt(double(x.size()));
  int products = 1;
  for (double rho = dot(shadow, r); std::sqrt(dot(r, r)) > wanted; products += 2) {
    if (products > 1000) throw std::runtime_error("the iteration does not converge");
    times_a(p, v);
    const double alpha = rho / dot(shadow, v);
    add(r, -alpha, v);
    times_a(r, t);
    const double omega = dot(t, r) / dot(t, t);
    add(x, alpha, p);
    add(x, omega, r);
    add(r, -omega, t);
    const double next = dot(shadow, r), beta = next / rho * alpha / omega;
    add(p, -omega, v);
    for (std::size_t k = 0; k < p.size(); ++k) p[k] = r[k] + beta * p[k];
    rho = next;
  }
  return products;
}

void draw(const std::string& path, const Panels& panels, const Numbers& sigma) {
  std::ostringstream script;
  script << "$face << EOD\n";
  for (std::size_t k = 0; k < panels.size() / 6; ++k)
    script << panels.centre[3 * k + 1] << ' ' << panels.centre[3 * k + 2] << ' ' << panels.half[2 * k] << ' '
           << panels.half[2 * k + 1] << ' ' << sigma[k] << '\n';
  script << "EOD\nset size ratio -1\nset xrange [0:1]\nset yrange [0:1]\nset logscale cb\nset title "
            "'charge density on a face of the cube'\nset palette rgbformulae 21,22,23\n"
            "plot $face using 1:2:3:4:5 with boxxyerror fill solid noborder palette notitle\n";
  std::printf("wrote %s\n", examples::draw(path, script.str()).c_str());
}

}  // namespace

int main(int count, char** words) {
  CLI::App app("Capacitance of a cube by boundary elements", "capacitance");
  std::vector<int> sizes{4, 8, 16};
  std::string device = "cpu", picture;
  app.add_option("--panels", sizes, "Panels along an edge, one or several numbers")
      ->check(CLI::Range(1, 200))
      ->capture_default_str();
  examples::add_device(app, device);
  app.add_option("--picture", picture, "A PNG file of the charge density, with the last of these numbers");
  return examples::run_program(app, count, words, [&] {
    const nbcc::Device where(device);
    const nbcc::Pipeline potential = examples::open_pipeline(where, "examples/capacitance/panel.pipe", NBCC_DOUBLE);
    std::printf("%8s %8s %10s %22s %10s\n", "n", "panels", "products", "C / (4 pi eps0 side)", "error");
    for (const int n : sizes) {
      const Panels panels = cube(n);
      nbcc::Sum sum(potential);
      sum.bind("xi", panels.centre).bind("xj", panels.centre).bind("alongj", panels.along);
      sum.bind("acrossj", panels.across).bind("halfj", panels.half);
      const auto times_a = [&](const Numbers& sigma, Numbers& pot) {
        sum.bind("sigmaj", sigma).bind("pot", pot).run().wait();
      };
      Numbers sigma(panels.size(), 0.1);
      const int products = solve(times_a, sigma, 1e-9);
      const double charge = dot(sigma, panels.area);
      std::printf("%8d %8zu %10d %22.6f %10.1e\n", n, panels.size(), products, charge, charge - kPublished);
      if (!picture.empty() && n == sizes.back()) draw(picture, panels, sigma);
    }
  });
}
