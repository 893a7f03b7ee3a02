// Gauss-Legendre nodes, and points that integrate over a sphere: what turns a closed-form integral into a sum over
// particles.
#pragma once
#include <array>
#include <cmath>
#include <numbers>
#include <vector>

namespace nbcc::test {

struct Node {
  double at, weight;
};

// n nodes on [low, high], exact for polynomials of degree 2n - 1.
inline std::vector<Node> gauss_legendre(int n, double low = -1, double high = 1) {
  std::vector<Node> nodes;
  for (int k = 0; k < n; ++k) {
    double x = std::cos(std::numbers::pi * (k + 0.75) / (n + 0.5)), slope = 1;
    for (int step = 0; step < 100; ++step) {
      double p = 1, before = 0;
      for (int l = 0; l < n; ++l) {
        const double next = ((2 * l + 1) * x * p - l * before) / (l + 1);
        before = p;
        p = next;
      }
      slope = n * (x * p - before) / (x * x - 1);
      const double correction = p / slope;
      x -= correction;
      if (std::fabs(correction) < 1e-16) break;
    }
    nodes.push_back({0.5 * (low + high) + 0.5 * (high - low) * x, (high - low) / ((1 - x * x) * slope * slope)});
  }
  return nodes;
}

struct SpherePoint {
  std::array<double, 3> at;
  double weight;  // all weights sum to 4 pi
};

// Gauss-Legendre in the height times 2n equal steps in longitude: exact for spherical harmonics of degree below 2n.
inline std::vector<SpherePoint> sphere_points(int n) {
  std::vector<SpherePoint> points;
  for (const Node& height : gauss_legendre(n)) {
    const double rho = std::sqrt(1 - height.at * height.at);
    for (int k = 0; k < 2 * n; ++k) {
      const double longitude = std::numbers::pi * (k + 0.5) / n;
      points.push_back(
          {{rho * std::cos(longitude), rho * std::sin(longitude), height.at}, height.weight * std::numbers::pi / n});
    }
  }
  return points;
}

}  // namespace nbcc::test
