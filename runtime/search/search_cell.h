// A periodic cell of three lattice vectors -> the frame in which a search sorts particles, and the nearest copies in
// it.
//
// Frame axis k is the part of lattice vector k at right angles to the vectors before it (Gram-Schmidt). In the frame
// the vectors form a lower triangle: vector k has `width(k)` along axis k and `tilt(k, e)` along each axis e < k, and
// nothing along later axes. Thus the last axis alone decides by how many of the last vector two particles differ, the
// one before decides next:
//
//     axis 1 ^      ______________
//            |     /      /      /      width(1): the distance of two rows
//            |    /______/______/       tilt(1, 0): by how much the upper row is displaced
//            |   /  b   /      /
//            |  /___a__/______/   -> axis 0
//
// Tested by tests/unit/search_cell_test.cpp.
#pragma once
#include <array>
#include <cmath>
#include <cstddef>

namespace nbcc {

constexpr int kMostAxes = 3;
using Place = std::array<double, kMostAxes>;

inline double dot(const Place& a, const Place& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
inline Place sum(const Place& a, double factor, const Place& b) {
  return {a[0] + factor * b[0], a[1] + factor * b[1], a[2] + factor * b[2]};
}

class SearchCell {
 public:
  // `basis`: a reduced basis, the shortest vector first. A vector whose rows are farther apart than 2.1 times `across`,
  // the diagonal of the particles' bounding box, is dropped: no pair has a nearer copy by it.
  SearchCell(const std::array<Place, 3>& basis, double across);

  bool is_valid() const { return valid_; }                                      // the vectors span a volume
  bool is_of(const SearchCell& other) const { return given_ == other.given_; }  // the same lattice
  double largest() const { return largest_; }  // the largest component of the vectors that were kept
  // Along frame axis k; 0 if no kept vector leads along it.
  double width(std::size_t k) const { return widths_[k]; }
  double tilt(std::size_t k, std::size_t axis) const { return dot(basis_[k], axes_[axis]); }

  // The frame coordinates of a position's copy that is less than one multiple of each vector away from the origin.
  Place framed(const Place& position) const;
  // A copy of a difference, in the caller's coordinates, that is short, if not the shortest.
  Place short_copy(Place difference) const;

 private:
  std::array<Place, 3> given_;
  std::size_t count_ = 0;                  // vectors that were kept; they come first
  std::array<Place, 3> basis_{}, axes_{};  // axes_: of length 1
  std::array<double, 3> widths_{};
  double largest_ = 0;
  bool valid_ = false;
};

}  // namespace nbcc
