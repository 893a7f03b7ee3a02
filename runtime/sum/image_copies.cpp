// Entry points: the functions of the header. The i are moved into one cell; along each periodic vector the copies of a
// j then form a range.
#include "runtime/sum/image_copies.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "fmt/format.h"
#include "runtime/error.h"

namespace nbcc {
namespace {

// More copies than any search can number.
constexpr double kMostCopies = 0x1p30;
constexpr double kMostCells = 0x1p30;  // the largest multiple of a periodic vector
// Kernels round positions, so that a pair a little beyond the reach may pass; in single precision to 24 bits.
constexpr double kRounding = 0x1p-18;

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t c = 0; c < a.size(); ++c) sum += a[c] * b[c];
  return sum;
}

bool is_finite(const Coordinates& at, std::size_t particle) {
  return std::ranges::all_of(at, [particle](const auto& row) { return std::isfinite(row[particle]); });
}

std::string text_of(const std::vector<double>& vector) { return fmt::format("({})", fmt::join(vector, ", ")); }

struct Range {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  void add(double value) { low = std::min(low, value), high = std::max(high, value); }
  bool is_empty() const { return low > high; }
};

}  // namespace

PeriodicVectors::PeriodicVectors(std::string pipeline, const std::array<std::vector<double>, 3>& vectors)
    : pipeline_(std::move(pipeline)), vectors_(vectors) {
  std::vector<std::size_t> given;
  for (std::size_t k = 0; k < 3; ++k) {
    const std::vector<double>& vector = vectors_[k];
    if (std::ranges::any_of(vector, [](double x) { return std::isnan(x); }))
      throw UsageError(
          fmt::format("every_image() of pipeline '{}': periodic vector {} is {}", pipeline_, k, text_of(vector)));
    given_[k] = std::ranges::any_of(vector, [](double x) { return x != 0; }) &&
                std::ranges::all_of(vector, [](double x) { return std::isfinite(x); });
    if (given_[k]) given.push_back(k);
    reciprocal_[k].assign(vector.size(), 0);
  }
  // The reciprocal vector is the part of the vector that is perpendicular to all others, scaled.
  for (const std::size_t k : given) {
    std::vector<double> rest = vectors_[k];
    std::vector<std::vector<double>> others;  // orthonormal
    const auto remove = [&](std::vector<double>& from) {
      for (int twice = 0; twice < 2; ++twice)
        for (const auto& unit : others) {
          const double part = dot(from, unit);
          for (std::size_t c = 0; c < from.size(); ++c) from[c] -= part * unit[c];
        }
    };
    for (const std::size_t other : given) {
      if (other == k) continue;
      std::vector<double> unit = vectors_[other];
      remove(unit);
      const double length = std::sqrt(dot(unit, unit));
      for (double& x : unit) x /= length;
      others.push_back(std::move(unit));
    }
    remove(rest);
    const double height = std::sqrt(dot(rest, rest)), length = std::sqrt(dot(vectors_[k], vectors_[k]));
    constexpr double kFlat = 1e-12;
    if (!(height > kFlat * length))
      throw UsageError(fmt::format("every_image() of pipeline '{}': the periodic vectors {}, {}, {} span no {}",
                                   pipeline_, text_of(vectors_[0]), text_of(vectors_[1]), text_of(vectors_[2]),
                                   given.size() == 3 ? "volume" : "area"));
    slope_[k] = 1 / height;
    for (std::size_t c = 0; c < rest.size(); ++c) reciprocal_[k][c] = rest[c] / (height * height);
  }
}

double PeriodicVectors::along(std::size_t vector, const Coordinates& at, std::size_t particle) const {
  double sum = 0;
  for (std::size_t c = 0; c < at.size(); ++c) sum += at[c][particle] * reciprocal_[vector][c];
  return sum;
}

std::vector<Multiples> moves_to_first_cell(const PeriodicVectors& periods, const Coordinates& at) {
  std::vector<Multiples> moves(at.empty() ? 0 : at[0].size());
  for (std::size_t p = 0; p < moves.size(); ++p) {
    if (!is_finite(at, p)) continue;
    for (std::size_t k = 0; k < 3; ++k) {
      if (!periods.is_given(k)) continue;
      const double cells = std::floor(periods.along(k, at, p));
      if (std::fabs(cells) > kMostCells)
        throw UsageError(
            fmt::format("every_image() of pipeline '{}': i-particle {} is {:.3g} lengths of periodic vector {} away",
                        periods.pipeline(), p, cells, k));
      moves[p][k] = -std::int32_t(cells);
    }
  }
  return moves;
}

ImageCopies copies_of(const PeriodicVectors& periods, const Coordinates& i, const std::vector<Multiples>& moved_i,
                      const Coordinates& j, const std::vector<double>& reaches) {
  const std::size_t axes = j.size(), count = j.empty() ? 0 : j[0].size();
  const auto coordinate = [&](const Coordinates& at, std::size_t particle, const Multiples& moved, std::size_t axis) {
    double x = at[axis][particle];
    for (std::size_t k = 0; k < 3; ++k)
      if (moved[k] != 0) x += moved[k] * periods.vectors()[k][axis];
    return x;
  };
  // Where the moved i are: along each periodic vector, and along each axis.
  std::array<Range, 3> along;
  std::vector<Range> box(axes);
  double size = 0;
  for (std::size_t p = 0; p < moved_i.size(); ++p) {
    if (!is_finite(i, p)) continue;
    for (std::size_t k = 0; k < 3; ++k)
      if (periods.is_given(k)) along[k].add(periods.along(k, i, p) + moved_i[p][k]);
    for (std::size_t axis = 0; axis < axes; ++axis) {
      box[axis].add(coordinate(i, p, moved_i[p], axis));
      size = std::max(size, std::fabs(i[axis][p]));
    }
  }
  ImageCopies copies;
  const bool any_i = !box.empty() && !box[0].is_empty();
  for (std::size_t p = 0; p < count; ++p) {
    if (!any_i || !is_finite(j, p)) {
      copies.of.push_back(std::int64_t(p));
      copies.moved.push_back({});
      continue;
    }
    const double given = reaches.size() == 1 ? reaches[0] : reaches[p];
    for (std::size_t k = 0; k < 3; ++k)
      if (const double cells = periods.is_given(k) ? periods.along(k, j, p) : 0; std::fabs(cells) > kMostCells)
        throw UsageError(
            fmt::format("every_image() of pipeline '{}': j-particle {} is {:.3g} lengths of periodic vector {} "
                        "away",
                        periods.pipeline(), p, cells, k));
    double own = size;
    for (std::size_t axis = 0; axis < axes; ++axis) own = std::max(own, std::fabs(j[axis][p]));
    const double reach = (given > 0 ? given : 0) + kRounding * (own + (given > 0 ? given : 0));
    std::array<double, 3> first{}, last{};
    double number = 1;
    for (std::size_t k = 0; k < 3; ++k) {
      if (!periods.is_given(k)) continue;
      const double own_place = periods.along(k, j, p), around = reach * periods.slope(k);
      first[k] = std::ceil(along[k].low - around - own_place);
      last[k] = std::floor(along[k].high + around - own_place);
      number *= last[k] - first[k] + 1;
    }
    if (!(number + double(copies.of.size()) < kMostCopies))
      throw UsageError(
          fmt::format("every_image() of pipeline '{}': {:.3g} images of particle {} alone may be within the reach {}, "
                      "with the periodic vectors {}, {}, {}",
                      periods.pipeline(), number, p, given, text_of(periods.vectors()[0]),
                      text_of(periods.vectors()[1]), text_of(periods.vectors()[2])));
    for (auto x = std::int32_t(first[0]); x <= std::int32_t(last[0]); ++x)
      for (auto y = std::int32_t(first[1]); y <= std::int32_t(last[1]); ++y)
        for (auto z = std::int32_t(first[2]); z <= std::int32_t(last[2]); ++z) {
          const Multiples moved{x, y, z};
          double distance2 = 0;
          for (std::size_t axis = 0; axis < axes; ++axis) {
            const double at = coordinate(j, p, moved, axis);
            const double beyond = std::max({box[axis].low - at, at - box[axis].high, 0.0});
            distance2 += beyond * beyond;
          }
          if (distance2 > reach * reach) continue;
          copies.of.push_back(std::int64_t(p));
          copies.moved.push_back(moved);
        }
  }
  return copies;
}

}  // namespace nbcc
