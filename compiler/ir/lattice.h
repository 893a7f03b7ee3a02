// Minimum images in a triclinic periodic cell, in double precision: the meaning of Op::Image. Simple rather than fast:
// the kernels' own functions (templates/math/cell.h.in) are tested against it. Tested by
// tests/unit/compiler/ir/lattice_test.cpp.
#pragma once
#include <array>

namespace nbcc {

using Triple = std::array<double, 3>;

class Lattice {
 public:
  // Nine numbers: three lattice vectors of three components each. A vector that is_open() (compiler/periodic_length.h)
  // leaves its direction open.
  explicit Lattice(const double* vectors);

  // A shortest of all periodic images of `difference`. NaN if the vectors, without open ones, are not independent.
  Triple shortest(const Triple& difference) const;
  // By component, the largest distance from `shortest` of another image that is at most `tolerance` longer: the error
  // if rounding selects that image. 0 if there is none.
  Triple doubt(const Triple& shortest, double tolerance) const;
  // An upper bound for the diameter of the reduced cell: the sum of its edges, without open directions.
  double across() const;

 private:
  // Short, nearly orthogonal basis of the same lattice, the shortest vector first; then zeros for open directions.
  std::array<Triple, 3> reduced_;
  std::array<Triple, 3> normal_;  // plane normals for Babai's rounding, scaled by 1 / distance of the planes
};

}  // namespace nbcc
