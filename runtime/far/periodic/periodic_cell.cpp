// Periodic vectors and open extents -> the reduced cell (Minkowski), its near images.
#include "runtime/far/periodic/periodic_cell.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "runtime/error.h"

namespace nbcc {
namespace {

constexpr int kMaxNearImages = 2000;
constexpr double kLeastExtent = 0.01;  // of an open direction, in the shortest periodic vector

double product(const CellVector& a, const CellVector& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
double length(const CellVector& a) { return std::sqrt(product(a, a)); }
CellVector plus(const CellVector& a, double factor, const CellVector& b) {
  return {a[0] + factor * b[0], a[1] + factor * b[1], a[2] + factor * b[2]};
}

// The shortest of row k plus multiples of the rows before it that one step finds; row k itself if none is shorter by
// 1%. Nearly equal lengths keep the rows as they are, also in a cell that changes a little at each step.
CellVector shortened(const std::vector<CellVector>& rows, std::size_t k) {
  CellVector best = rows[k];
  double least = 0.98 * product(best, best);
  const auto try_it = [&](const CellVector& candidate) {
    if (product(candidate, candidate) >= least) return;
    best = candidate;
    least = product(candidate, candidate);
  };
  for (std::size_t other = 0; other < k; ++other)
    try_it(plus(rows[k], -std::rint(product(rows[k], rows[other]) / product(rows[other], rows[other])), rows[other]));
  for (int m0 = -1; m0 <= 1; ++m0)
    for (int m1 = -1; m1 <= (k > 1 ? 1 : -1); ++m1) {
      const CellVector candidate = k > 0 ? plus(rows[k], m0, rows[0]) : rows[k];
      try_it(k > 1 ? plus(candidate, m1, rows[1]) : candidate);
    }
  return best;
}

// Minkowski reduction: no vector becomes 1% shorter by adding others, each at most once. Each row keeps its number.
std::vector<CellVector> reduce_vectors(std::span<const CellVector> vectors) {
  std::vector<std::size_t> numbers(vectors.size());
  std::iota(numbers.begin(), numbers.end(), 0);
  std::vector<CellVector> result(vectors.begin(), vectors.end());
  for (bool is_changed = true; is_changed;) {
    is_changed = false;
    std::stable_sort(numbers.begin(), numbers.end(), [&](std::size_t a, std::size_t b) {
      return product(result[a], result[a]) < product(result[b], result[b]);
    });
    std::vector<CellVector> sorted;
    for (const std::size_t number : numbers) sorted.push_back(result[number]);
    for (std::size_t k = sorted.size(); k-- > 1 && !is_changed;) {
      const CellVector shorter = shortened(sorted, k);
      is_changed = shorter != sorted[k];
      result[numbers[k]] = shorter;
    }
  }
  return result;
}

// The part of a vector that is orthogonal to orthonormal directions; subtracted twice, because the first difference
// may be much shorter than the vector.
CellVector orthogonal_part(CellVector vector, const std::vector<CellVector>& directions) {
  for (int again = 0; again < 2; ++again)
    for (const CellVector& direction : directions) vector = plus(vector, -product(vector, direction), direction);
  return vector;
}

// Orthonormal vectors with the span of the given ones.
std::vector<CellVector> orthonormal(int axes, std::span<const CellVector> vectors) {
  std::vector<CellVector> directions;
  for (const CellVector& vector : vectors) {
    const CellVector rest = orthogonal_part(vector, directions);
    const double size = length(rest);
    if (!(size > 1e-9 * length(vector)) || !std::isfinite(size))
      throw UsageError(
          fmt::format("a periodic sum needs periodic vectors that span a length, an area or a volume; "
                      "expected 1 to {} independent vectors, got {}",
                      axes, vectors));
    directions.push_back({rest[0] / size, rest[1] / size, rest[2] / size});
  }
  return directions;
}

// The inverse of the matrix whose rows are given, of `axes` rows; and the absolute value of its determinant.
void invert(PeriodicCell& cell) {
  std::array<CellVector, 3> rows = cell.rows;
  for (std::size_t k = std::size_t(cell.axes); k < 3; ++k)
    rows[k] = {k == 0 ? 1.0 : 0, k == 1 ? 1.0 : 0, k == 2 ? 1.0 : 0};
  const auto cross = [](const CellVector& a, const CellVector& b) {
    return CellVector{a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
  };
  const double determinant = product(rows[0], cross(rows[1], rows[2]));
  for (std::size_t row = 0; row < 3; ++row) {
    const CellVector column = cross(rows[(row + 1) % 3], rows[(row + 2) % 3]);
    for (std::size_t axis = 0; axis < 3; ++axis)
      cell.inverse[axis][row] =
          row < std::size_t(cell.axes) && axis < std::size_t(cell.axes) ? column[axis] / determinant : 0;
  }
  cell.volume = std::fabs(determinant);
}

void choose_near_reach(PeriodicCell& cell) {
  double longest = 0;
  for (int k = 0; k < cell.periodic; ++k) longest = std::max(longest, length(cell.rows[std::size_t(k)]));
  for (std::size_t k = 0; k < std::size_t(cell.periodic); ++k) {
    const double slope = length({cell.inverse[0][k], cell.inverse[1][k], cell.inverse[2][k]});  // 1 / height
    cell.near_reach[k] = int(std::clamp(std::ceil(0.8 * longest * slope - 1e-9), 2.0, 1000.0));
  }
  const auto images = [&] {
    std::int64_t number = 1;
    for (const int reach : cell.near_reach) number *= 2 * reach + 1;
    return number;
  };
  while (images() > kMaxNearImages) --*std::max_element(cell.near_reach.begin(), cell.near_reach.end());
}

}  // namespace

CellVector PeriodicCell::coordinates(const double* position) const {
  CellVector result{};
  for (std::size_t axis = 0; axis < std::size_t(axes); ++axis)
    result = plus(result, position[axis] - origin[axis], inverse[axis]);
  return result;
}

CellVector PeriodicCell::vector(const CellVector& coordinates) const {
  CellVector result{};
  for (std::size_t row = 0; row < 3; ++row) result = plus(result, coordinates[row], rows[row]);
  return result;
}

CellVector PeriodicCell::periods(const CellVector& coordinates) const {
  CellVector result{};
  for (std::size_t row = 0; row < std::size_t(periodic); ++row) result[row] = std::rint(coordinates[row]);
  return result;
}

void PeriodicCell::move_in(double* position) const {
  const CellVector whole = periods(coordinates(position));
  for (std::size_t row = 0; row < std::size_t(periodic); ++row) {
    if (!std::isfinite(whole[row])) return;
    if (std::fabs(whole[row]) > 0x1p29)
      throw UsageError(fmt::format(
          "a position of a periodic sum is {:.3g} periodic vectors away from the cell; expected at most 2^29",
          whole[row]));
  }
  for (std::size_t row = 0; row < std::size_t(periodic); ++row)
    for (std::size_t axis = 0; axis < std::size_t(axes) && whole[row] != 0; ++axis)
      position[axis] -= whole[row] * rows[row][axis];
}

std::vector<CellImage> PeriodicCell::near_images() const {
  std::vector<CellImage> images;
  for (int a = -near_reach[0]; a <= near_reach[0]; ++a)
    for (int b = -near_reach[1]; b <= near_reach[1]; ++b)
      for (int c = -near_reach[2]; c <= near_reach[2]; ++c) images.push_back({a, b, c});
  return images;
}

std::vector<CellVector> open_directions(int axes, std::span<const CellVector> periodic_vectors) {
  std::vector<CellVector> directions = orthonormal(axes, periodic_vectors), open;
  while (directions.size() < std::size_t(axes)) {
    CellVector longest{};
    for (std::size_t axis = 0; axis < std::size_t(axes); ++axis) {
      CellVector unit{};
      unit[axis] = 1;
      const CellVector rest = orthogonal_part(unit, directions);
      if (length(rest) > length(longest) + 1e-9) longest = rest;
    }
    const double size = length(longest);
    open.push_back({longest[0] / size, longest[1] / size, longest[2] / size});
    directions.push_back(open.back());
  }
  return open;
}

PeriodicCell make_periodic_cell(int axes, std::span<const CellVector> periodic_vectors,
                                std::span<const OpenExtent> extents, int near_reach) {
  PeriodicCell cell;
  cell.axes = axes;
  cell.periodic = int(periodic_vectors.size());
  const std::vector<CellVector> open = open_directions(axes, periodic_vectors);
  std::size_t row = 0;
  for (const CellVector& vector : reduce_vectors(periodic_vectors)) cell.rows[row++] = vector;
  const double shortest = std::min(
      {length(cell.rows[0]), row > 1 ? length(cell.rows[1]) : INFINITY, row > 2 ? length(cell.rows[2]) : INFINITY});
  for (std::size_t k = 0; k < open.size(); ++k) {
    const OpenExtent& extent = extents[k];
    cell.rows[row++] = plus({}, std::max(extent.high - extent.low, kLeastExtent * shortest), open[k]);
    cell.origin = plus(cell.origin, 0.5 * (extent.low + extent.high), open[k]);
  }
  invert(cell);
  if (near_reach > 0)
    std::fill_n(cell.near_reach.begin(), cell.periodic, near_reach);
  else
    choose_near_reach(cell);
  return cell;
}

}  // namespace nbcc
