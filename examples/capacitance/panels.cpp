// A number of panels along an edge -> the panels of a cube and their Gauss points. Its main functions are cube() and
// gauss_points(). Computes no potential but that of a panel at its own centre.
#include "examples/capacitance/panels.h"

#include <array>
#include <cmath>
#include <numbers>

namespace examples {
namespace {

struct Node {
  double position, weight;  // in units of half of a side
};
const std::array<Node, 3> kNodes{{{-std::sqrt(0.6), 5.0 / 9}, {0, 8.0 / 9}, {std::sqrt(0.6), 5.0 / 9}}};
static_assert(kPointsPerPanel == std::tuple_size_v<decltype(kNodes)> * std::tuple_size_v<decltype(kNodes)>);

}  // namespace

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

Numbers own_potential(const Panels& panels) {
  Numbers potential(panels.size());
  for (std::size_t j = 0; j < panels.size(); ++j) {
    const double a = panels.half[2 * j], b = panels.half[2 * j + 1];
    potential[j] = 4 * (a * std::asinh(b / a) + b * std::asinh(a / b));
  }
  return potential;
}

GaussPoints gauss_points(const Panels& panels) {
  GaussPoints points;
  points.position.reserve(3 * kPointsPerPanel * panels.size());
  points.weight.reserve(kPointsPerPanel * panels.size());
  for (std::size_t j = 0; j < panels.size(); ++j) {
    for (const Node& u : kNodes) {
      for (const Node& v : kNodes) {
        for (std::size_t k = 3 * j; k < 3 * j + 3; ++k)
          points.position.push_back(panels.centre[k] + u.position * panels.half[2 * j] * panels.along[k] +
                                    v.position * panels.half[2 * j + 1] * panels.across[k]);
        points.weight.push_back(u.weight * v.weight / 4 * panels.area[j]);
      }
    }
  }
  return points;
}

}  // namespace examples
