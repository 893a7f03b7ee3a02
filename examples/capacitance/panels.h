// The surface of a cube as rectangles of constant charge density, and points that replace a rectangle at a distance.
#pragma once
#include <cstddef>
#include <vector>

namespace examples {

using Numbers = std::vector<double>;

// Panels in the order in which panel.pipe has its inputs. [panel][component]; the cube has edges of length 1.
struct Panels {
  Numbers centre, along, across, half, area;
  std::size_t size() const { return area.size(); }
};

// n x n panels on each face of the cube 0 <= x, y, z <= 1. Their edges are spaced as the cosine of equal angles, since
// the charge density grows towards an edge, as d^(-1/3) of the distance from it.
Panels cube(int n);

// The potential of each panel of density 1 at its own centre, in closed form.
Numbers own_potential(const Panels& panels);

// The Gauss-Legendre points of all panels, kPointsPerPanel for each in sequence: 3 along each side of a panel, as in
// near.pipe.
inline constexpr int kPointsPerPanel = 9;
struct GaussPoints {
  Numbers position;  // [point][axis]
  Numbers weight;    // [point]; the weights of a panel's points sum to its area
};
GaussPoints gauss_points(const Panels& panels);

}  // namespace examples
