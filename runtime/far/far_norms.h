// What has changed since the error of a far field was measured. Norms of weights by block of neighbouring particles
// tell whether weights changed by more than a common factor. Tested by tests/unit/runtime/far/far_norms_test.cpp.
//
//   order of a tree:  | 512 particles or more | 512 particles or more | ...     one block after the other
//   of a block:       sum |w|, sum w^2, sum w of each component
#pragma once
#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace nbcc {

// How norms differ from those that were kept, over all blocks and components.
struct FarChange {
  double least = std::numeric_limits<double>::infinity();  // ratio of a norm now to the norm then
  double largest = 0;
  double turned = 0;  // change of (sum w) / (sum |w|)
  // With the change of other blocks.
  void add(const FarChange& other) {
    least = std::min(least, other.least);
    largest = std::max(largest, other.largest);
    turned = std::max(turned, other.turned);
  }
  // True if the norms of all blocks changed by one factor, up to `spread`, which is 1 or more. keeps_scale: this factor
  // must be 1.
  bool is_rescaling(double spread, bool keeps_scale) const {
    constexpr double kMaxTurned = 0.5, kRounding = 1e-3;
    if (largest == 0 && turned == 0) return true;  // all values are 0, as they were
    const double low = keeps_scale ? std::min(least, 1.0) : least,
                 high = keeps_scale ? std::max(largest, 1.0) : largest;
    const bool is_finite = high < std::numeric_limits<double>::infinity();  // not where all weights were 0
    return is_finite && high <= (spread + kRounding) * low && turned <= kMaxTurned;
  }
};

// Nearly equal blocks of at least kLeast particles, if there are so many.
struct FarBlocks {
  static constexpr std::int64_t kLeast = 512;
  std::int64_t particles = 0;
  std::int64_t count() const { return std::max<std::int64_t>(1, particles / kLeast); }
  std::int64_t first(std::int64_t block) const { return particles * block / count(); }
};

// Of one block and component.
struct FarNorms {
  double absolute = 0, squares = 0, sum = 0;
};
// columns[component][particle]; order: the particles by position in a tree. Returns norms [component][block].
std::vector<FarNorms> norms_of(std::span<const std::span<double>> columns, std::span<const std::int64_t> order);
FarChange change_of(std::span<const FarNorms> now, std::span<const FarNorms> then);

// The share of particles that are now farther than `far` from where they were, along an axis, or that have a position
// only now or only then. Positions [particle][axis]; 1 if the particles are not as many.
double share_of_moved(std::span<const double> now, std::span<const double> then, int axes, double far);

}  // namespace nbcc
