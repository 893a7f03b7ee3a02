// Lattice vectors -> a reduced basis -> minimum images. Entry point: Lattice.
#include "compiler/ir/lattice.h"

#include <algorithm>
#include <cmath>

#include "compiler/periodic_length.h"

namespace nbcc {
namespace {

double dot(const Triple& a, const Triple& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
double length(const Triple& a) { return std::sqrt(dot(a, a)); }
Triple sum(const Triple& a, double factor, const Triple& b) {
  return {a[0] + factor * b[0], a[1] + factor * b[1], a[2] + factor * b[2]};
}
Triple cross(const Triple& a, const Triple& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

// A squared length counts as shorter only if it is smaller by this factor, so that every loop ends.
constexpr double kShorterFactor = 1 - 1e-12;

// The shortest of basis[k] + m a + n b with m, n in {-1, 0, 1}, where a and b are the other two vectors.
Triple shortened(const std::array<Triple, 3>& basis, std::size_t k) {
  const Triple &a = basis[(k + 1) % 3], &b = basis[(k + 2) % 3];
  Triple best = basis[k];
  for (const int m : {-1, 0, 1})
    for (const int n : {-1, 0, 1})
      if (const Triple next = sum(sum(basis[k], m, a), n, b); dot(next, next) < kShorterFactor * dot(best, best))
        best = next;
  return best;
}

// Lattice reduction: subtracts integer multiples of vectors from one another while any gets shorter. A round first
// reduces pairs (Lagrange-Gauss: the multiple that makes two vectors most nearly orthogonal; lengths fall by a factor
// in each step, as in Euclid's algorithm), then combinations of all three.
void reduce(std::array<Triple, 3>& basis) {
  constexpr int kMaxRounds = 100;
  bool shorter = true;
  for (int round = 0; round < kMaxRounds && shorter; ++round) {
    shorter = false;
    const auto replace = [&](Triple& old, const Triple& by) {
      if (!(dot(by, by) < kShorterFactor * dot(old, old))) return;
      old = by;
      shorter = true;
    };
    for (std::size_t k = 0; k < 3; ++k)
      for (const std::size_t other : {(k + 1) % 3, (k + 2) % 3}) {
        const Triple& b = basis[other];
        replace(basis[k], sum(basis[k], -std::nearbyint(dot(basis[k], b) / dot(b, b)), b));
      }
    for (std::size_t k = 0; k < 3; ++k) replace(basis[k], shortened(basis, k));
  }
  std::ranges::sort(basis, {}, [](const Triple& v) { return dot(v, v); });
}

// Replaces the vectors from `count` on by perpendicular ones, which are so much longer than the others that reduce()
// leaves them last and unchanged.
void complete(std::array<Triple, 3>& basis, std::size_t count) {
  if (count == 0) basis[0] = {1, 0, 0};
  for (std::size_t k = std::max<std::size_t>(count, 1); k < 3; ++k) {
    // Each direction of an axis is made perpendicular to the vectors before; the longest of the three is taken.
    Triple best{};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      Triple next{};
      next[axis] = 1;
      if (k == 1) next = sum(next, -dot(next, basis[0]) / dot(basis[0], basis[0]), basis[0]);
      if (k == 2) {
        const Triple normal = cross(basis[0], basis[1]);
        next = sum({}, normal[axis] / dot(normal, normal), normal);
      }
      if (!(dot(next, next) <= dot(best, best))) best = next;
    }
    const double longest = k == 1 ? length(basis[0]) : std::max(length(basis[0]), length(basis[1]));
    basis[k] = sum({}, 16 * longest / length(best), best);
  }
}

// Calls body for all images that may be the shortest; `d` is the image found by rounding.
template <typename Body>
void for_images(const std::array<Triple, 3>& basis, const Triple& d, const Body& body) {
  for (int l = -2; l <= 2; ++l)
    for (int m = -2; m <= 2; ++m)
      for (int n = -2; n <= 2; ++n) body(sum(sum(sum(d, l, basis[0]), m, basis[1]), n, basis[2]));
}

}  // namespace

Lattice::Lattice(const double* vectors) {
  std::size_t count = 0;  // of periodic vectors
  for (std::size_t k = 0; k < 3; ++k) {
    const Triple vector{vectors[3 * k], vectors[3 * k + 1], vectors[3 * k + 2]};
    if (!is_open(length(vector))) reduced_[count++] = vector;
  }
  complete(reduced_, count);
  const double volume = std::fabs(dot(reduced_[0], cross(reduced_[1], reduced_[2])));
  const bool spans = volume > 0x1p-40 * length(reduced_[0]) * length(reduced_[1]) * length(reduced_[2]);
  if (!spans) {
    normal_.fill({NAN, NAN, NAN});
    return;
  }
  reduce(reduced_);
  const Triple flat = sum(reduced_[1], -dot(reduced_[1], reduced_[0]) / dot(reduced_[0], reduced_[0]), reduced_[0]);
  const Triple upright = cross(reduced_[0], reduced_[1]);
  normal_ = {reduced_[0], flat, upright};
  for (std::size_t k = 0; k < 3; ++k)
    for (const double size = dot(normal_[k], reduced_[k]); double& x : normal_[k]) x /= size;
  for (std::size_t k = count; k < 3; ++k) reduced_[k] = normal_[k] = {};
}

Triple Lattice::shortest(const Triple& difference) const {
  Triple d = difference;
  for (std::size_t k = 3; k-- > 0;) d = sum(d, -std::nearbyint(dot(d, normal_[k])), reduced_[k]);
  // An image no longer than half the shortest lattice vector is a shortest one.
  if (4 * dot(d, d) <= dot(reduced_[0], reduced_[0])) return d;
  Triple best = d;
  for_images(reduced_, d, [&best](const Triple& copy) {
    if (dot(copy, copy) < dot(best, best)) best = copy;
  });
  return best;
}

Triple Lattice::doubt(const Triple& shortest, double tolerance) const {
  Triple doubt{};
  if (2 * (length(shortest) + tolerance) < length(reduced_[0])) return doubt;
  for_images(reduced_, shortest, [&](const Triple& copy) {
    if (!(length(copy) <= length(shortest) + tolerance)) return;
    for (std::size_t c = 0; c < 3; ++c) doubt[c] = std::max(doubt[c], std::fabs(copy[c] - shortest[c]));
  });
  return doubt;
}

double Lattice::across() const { return length(reduced_[0]) + length(reduced_[1]) + length(reduced_[2]); }

}  // namespace nbcc
