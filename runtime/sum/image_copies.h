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

// The periodic vectors that are given, [vector][axis]; one that is 0 or has an infinite component is none. Throws
// UsageError for NaN and for vectors that span no area or volume; `pipeline`: its name.
class PeriodicVectors {
 public:
  PeriodicVectors(std::string pipeline, const std::array<std::vector<double>, 3>& vectors);

  const std::array<std::vector<double>, 3>& vectors() const { return vectors_; }
  bool is_given(std::size_t vector) const { return given_[vector]; }
  // The position along a periodic vector, in its lengths: of a point on the plane of the others it is the same.
  double along(std::size_t vector, const Coordinates& at, std::size_t particle) const;
  // 1 / the distance of two such planes that are one length apart.
  double slope(std::size_t vector) const { return slope_[vector]; }
  const std::string& pipeline() const { return pipeline_; }
  bool operator==(const PeriodicVectors& other) const { return vectors_ == other.vectors_; }

 private:
  std::string pipeline_;
  std::array<std::vector<double>, 3> vectors_, reciprocal_;
  std::array<bool, 3> given_{};
  std::array<double, 3> slope_{};
};

using Multiples = std::array<std::int32_t, 3>;  // of each periodic vector

// By how many periods each i is moved to the first cell; 0 along other vectors, and where a position is not finite.
std::vector<Multiples> moves_to_first_cell(const PeriodicVectors& periods, const Coordinates& at);

struct ImageCopies {
  std::vector<std::int64_t> of;  // the particle of each copy, rising
  std::vector<Multiples> moved;  // by how many periods; rising for the copies of one particle
};
// The copies of all j that may be within reach of an i. `moved_i`: as moves_to_first_cell() gives it. `reaches`: by j,
// or one for all; NaN and numbers that are not positive count as 0. A j whose position is not finite has one copy.
// Throws UsageError if there are too many.
ImageCopies copies_of(const PeriodicVectors& periods, const Coordinates& i, const std::vector<Multiples>& moved_i,
                      const Coordinates& j, const std::vector<double>& reaches);

}  // namespace nbcc
