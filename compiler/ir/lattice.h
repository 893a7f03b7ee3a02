// Lattice vectors and differences -> the shortest copies of these, in double precision: what an Image is. Obvious
// rather than fast; kernels have functions of their own (templates/cell.h.in), which are held against it. Tested by
// tests/unit/lattice_test.cpp.
#pragma once
#include <array>

namespace nbcc {

using Triple = std::array<double, 3>;

class Lattice {
 public:
  // Nine numbers, of one vector after the other.
  explicit Lattice(const double* vectors);

  // Of all copies of `difference` a shortest one. NaN if the vectors span no volume.
  Triple shortest(const Triple& difference) const;
  // How far from the shortest copy another one is, by component, that is longer than it by `tolerance` at most.
  Triple doubt(const Triple& shortest, double tolerance) const;
  // The longest way across the reduced cell.
  double across() const;

 private:
  std::array<Triple, 3> reduced_;  // a basis of the same copies, of short vectors that are nearly at right angles
  std::array<Triple, 3> normal_;   // of the planes of copies that Babai's rounding chooses from, by their distance
};

}  // namespace nbcc
