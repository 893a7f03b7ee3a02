// A periodic cell of three lattice vectors -> where a search looks for particles, and for which copies of a group. What
// is near in the cell is so in the space of the copies, where distances are those of an open one.
// Tested by tests/unit/search_cell_test.cpp.
#pragma once
#include <array>
#include <cmath>
#include <cstddef>

namespace nbcc {

constexpr int kMostAxes = 3;
using Place = std::array<double, kMostAxes>;

class SearchCell {
 public:
  // A reduced basis, and between which numbers all particles' coordinates are. A vector that leads past all of them is
  // none: no pair has a nearer copy by it.
  SearchCell(const std::array<Place, 3>& basis, const Place& low, const Place& high);

  bool is_valid() const { return valid_; }                                      // the vectors span a volume
  bool is_of(const SearchCell& other) const { return given_ == other.given_; }  // the same lattice
  double largest() const { return largest_; }                                   // of the numbers of vectors that count
  double width(std::size_t k) const { return widths_[k]; }  // across the k-th vector's rows; 0: it is none

  // The copy that is a multiple of no vector away from the middle of all particles, of which each place has one.
  Place wrapped(const Place& at) const;
  // A copy of a difference that is short, if not the shortest.
  Place short_copy(Place difference) const;
  // Calls body for the place of every copy of a group, given by how far it is from the group itself, that may be within
  // `reach` of a wrapped particle where no other copy is nearer.
  template <typename Body>
  void for_shifts(double reach, const Body& body) const {
    shift({}, count_, reach < covering_ ? reach : covering_, body);
  }

 private:
  template <typename Body>
  void shift(const Place& from, std::size_t vectors, double reach, const Body& body) const;

  std::array<Place, 3> given_;
  std::size_t count_ = 0;  // vectors that count; they come first
  std::array<Place, 3> basis_{};
  std::array<Place, 3>
      normals_{};  // a place times normals_[k], rounded, is the multiple of basis_[k] to take off, last first
  std::array<double, 3> widths_{};  // 1 / the normals' lengths
  Place middle_{};
  double largest_ = 0, covering_ = 0;  // no place is farther from the nearest copy of another
  bool valid_ = false;
};

inline double dot(const Place& a, const Place& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
inline Place sum(const Place& a, double factor, const Place& b) {
  return {a[0] + factor * b[0], a[1] + factor * b[1], a[2] + factor * b[2]};
}

// Of two wrapped places the multiples of one normal are less than 1 apart, and those of their nearest copies less than
// reach / width.
template <typename Body>
void SearchCell::shift(const Place& from, std::size_t vectors, double reach, const Body& body) const {
  if (vectors == 0) return body(from);
  const std::size_t k = vectors - 1;
  const double most = (1 + reach / widths_[k]) * (1 + 1e-9), at = dot(from, normals_[k]);
  for (double n = std::ceil(-most - at); n <= most - at; ++n) shift(sum(from, n, basis_[k]), k, reach, body);
}

}  // namespace nbcc
