// A periodic cell of three lattice vectors -> the frame in which a search sorts particles, and minimum images.
//
// Frame axis k is the direction of the component of lattice vector k that is perpendicular to the vectors before it
// (Gram-Schmidt). In the frame the vectors form a lower triangular matrix: vector k has the component `width(k)` along
// axis k, `tilt(k, e)` along each axis e < k, and 0 along later axes. Thus the coordinate along the last axis alone
// decides which multiple of the last vector to subtract from a difference; the axis before decides next:
//
//     axis 1 ^      ______________
//            |     /      /      /      width(1): the distance of two rows of cells
//            |    /______/______/       tilt(1, 0): the displacement of the upper row
//            |   /  b   /      /
//            |  /___a__/______/   -> axis 0
//
// Tested by tests/unit/runtime/search/search_cell_test.cpp.
#pragma once
#include <array>
#include <cmath>
#include <cstddef>

namespace nbcc {

constexpr int kMaxAxes = 3;
using Vector3 = std::array<double, kMaxAxes>;

inline double dot(const Vector3& a, const Vector3& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
inline Vector3 sum(const Vector3& a, double factor, const Vector3& b) {
  return {a[0] + factor * b[0], a[1] + factor * b[1], a[2] + factor * b[2]};
}

class SearchCell {
 public:
  // `basis`: a reduced basis, the shortest vector first, then zeros for open directions. `across`: the diagonal of the
  // particles' bounding box. A vector is dropped if its rows of cells are more than 2.1 * across apart, because no pair
  // has a shorter image by it.
  SearchCell(const std::array<Vector3, 3>& basis, double across);

  bool is_valid() const { return valid_; }  // true if the vectors other than 0 are independent
  bool has_basis_of(const SearchCell& other) const { return given_ == other.given_; }
  double largest() const { return largest_; }  // the largest absolute component of the kept vectors
  // The component of kept vector k along frame axis k; 0 if there is no such vector.
  double width(std::size_t k) const { return widths_[k]; }
  double tilt(std::size_t k, std::size_t axis) const { return dot(basis_[k], axes_[axis]); }

  // The frame coordinates of the periodic image of a position that is less than one multiple of each vector away from
  // the origin.
  Vector3 to_frame(const Vector3& position) const;
  // A shortest periodic image of a difference, in the caller's coordinates.
  Vector3 minimum_image(const Vector3& difference) const;

 private:
  // A short periodic image of a difference: the shortest if it is shorter than half of each width.
  Vector3 short_image(Vector3 difference) const;

  std::array<Vector3, 3> given_;
  std::size_t count_ = 0;                    // number of kept vectors, which come first in basis_
  std::array<Vector3, 3> basis_{}, axes_{};  // axes_: of length 1
  std::array<double, 3> widths_{};
  // Sums and differences of one, two or three kept vectors, without opposite ones; the first sum_count_ are set.
  std::array<Vector3, 13> sums_{};
  std::size_t sum_count_ = 0;
  double safe2_ = 0;  // a short image of at most this squared length is the shortest
  double largest_ = 0;
  bool valid_ = false;
};

}  // namespace nbcc
