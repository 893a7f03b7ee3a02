// Positions of i and j, and periodic vectors -> the copies of j that every_image() sums over: a copy for each periodic
// image of a j that may be within reach of an i. Uses no device and reads no field. Tested by
// tests/numeric/every_image_test.cpp.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace nbcc {

// Coordinates by axis, in the units of the reach: row[axis][particle].
using Coordinates = std::vector<std::vector<double>>;
using Multiples = std::array<std::int32_t, 3>;  // of each periodic vector

inline constexpr double kMostCells = 0x1p29;  // the largest multiple of a periodic vector

// The periodic vectors that are given, [vector][axis], and a reduced basis of their lattice. A vector that
// is_open() (compiler/periodic_length.h), as 0 or an infinite one, is none, in the reduced basis too. Throws UsageError
// for NaN and for vectors that span no area or volume; `pipeline`: its name. All multiples below are of the reduced
// basis, unless they are called given.
class PeriodicVectors {
 public:
  PeriodicVectors(std::string pipeline, const std::array<std::vector<double>, 3>& vectors);

  const std::array<std::vector<double>, 3>& given_vectors() const { return given_vectors_; }
  bool is_given(std::size_t vector) const { return given_[vector]; }
  // The position along a vector of the reduced basis, in its lengths: equal for all points of a plane that the other
  // vectors span.
  double along(std::size_t vector, const Coordinates& at, std::size_t particle) const;
  // [axis] the gradient of along().
  const std::vector<double>& reciprocal(std::size_t vector) const { return reciprocal_[vector]; }
  double slope(std::size_t vector) const { return slope_[vector]; }  // the length of the gradient
  // A component of the sum of multiples of the reduced basis. `shift(axis, -m)` is exactly -shift(axis, m).
  double shift(std::size_t axis, const Multiples& multiples) const { return sum_of(reduced_, axis, multiples); }
  // The same of other vectors, [vector][axis], which get the multiples that reduce the given vectors.
  std::array<std::vector<double>, 3> reduced(const std::array<std::vector<double>, 3>& vectors) const;
  static double sum_of(const std::array<std::vector<double>, 3>& vectors, std::size_t axis, const Multiples& multiples);
  // The same translation in multiples of the given vectors.
  Multiples in_given_vectors(const Multiples& multiples) const;
  const std::string& pipeline() const { return pipeline_; }
  bool operator==(const PeriodicVectors& other) const { return given_vectors_ == other.given_vectors_; }

 private:
  void reduce();
  void find_reciprocal();

  std::string pipeline_;
  std::array<std::vector<double>, 3> given_vectors_, reduced_, reciprocal_;
  // [reduced vector][given vector]: how many of each given vector a vector of the reduced basis is.
  std::array<std::array<std::int64_t, 3>, 3> steps_{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
  std::array<bool, 3> given_{};
  std::array<double, 3> slope_{};
};

// By how many periods each particle is moved to the first cell, which is the one around the origin: where periods are
// very long, positions keep all digits. 0 along other vectors, and where a position is not finite. Throws UsageError if
// a particle is too many periods away; `side`: "i" or "j".
std::vector<Multiples> moves_to_first_cell(const PeriodicVectors& periods, const Coordinates& at, const char* side);

// The positions after the moves.
Coordinates moved(const PeriodicVectors& periods, Coordinates at, const std::vector<Multiples>& moves);

struct ImageCopies {
  std::vector<std::int64_t> of;        // the particle of each copy, rising
  std::vector<Multiples> moved;        // from the particle's position in the first cell to the copy
  std::vector<Multiples> moved_given;  // from its given position, in given vectors; rising for the copies of a particle
};
// The copies of all j that may be within reach of an i. `i`, `j`: positions in the first cell. `moves_j`: as
// moves_to_first_cell() gives them. `reaches`: by j, or one for all; NaN and numbers that are not positive count as 0.
// `rounding`: a bound of the error of a coordinate in the kernel, relative to coordinates and periodic vectors. A j
// whose position is not finite has one copy. Throws UsageError if there are too many.
ImageCopies copies_of(const PeriodicVectors& periods, const Coordinates& i, const Coordinates& j,
                      const std::vector<Multiples>& moves_j, const std::vector<double>& reaches, double rounding);

}  // namespace nbcc
