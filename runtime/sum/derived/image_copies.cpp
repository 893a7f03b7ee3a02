// Entry points: the functions of the header. All particles are moved into one cell; along each periodic vector the
// copies of a j then form a range.
#include "runtime/sum/derived/image_copies.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "compiler/periodic_length.h"
#include "fmt/format.h"
#include "runtime/error.h"

namespace nbcc {
namespace {

// More copies than any search can number.
constexpr double kMostCopies = 0x1p30;

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
    : pipeline_(std::move(pipeline)), given_vectors_(vectors), reduced_(vectors) {
  for (std::size_t k = 0; k < 3; ++k) {
    const std::vector<double>& vector = vectors[k];
    if (std::ranges::any_of(vector, [](double x) { return std::isnan(x); }))
      throw UsageError(
          fmt::format("every_image() of pipeline '{}': periodic vector {} is {}", pipeline_, k, text_of(vector)));
    given_[k] = !is_open(std::sqrt(dot(vector, vector)));
    if (!given_[k]) std::ranges::fill(reduced_[k], 0.0);
  }
  find_reciprocal();  // throws for flat cells, which cannot be reduced
  reduce();
  find_reciprocal();
}

// Lattice reduction (Lagrange-Gauss, by pairs): subtracts from each vector the multiple of each other vector that makes
// it shortest, as in Euclid's algorithm.
void PeriodicVectors::reduce() {
  constexpr int kMaxRounds = 64;
  bool shorter = true;
  for (int round = 0; round < kMaxRounds && shorter; ++round) {
    shorter = false;
    for (std::size_t k = 0; k < 3; ++k)
      for (std::size_t other = 0; other < 3; ++other) {
        if (k == other || !given_[k] || !given_[other]) continue;
        const double multiple = dot(reduced_[k], reduced_[other]) / dot(reduced_[other], reduced_[other]);
        if (!(std::fabs(multiple) > 0.5 * (1 + 1e-12))) continue;
        const double whole = std::nearbyint(multiple);
        for (std::size_t c = 0; c < reduced_[k].size(); ++c) reduced_[k][c] -= whole * reduced_[other][c];
        for (std::size_t g = 0; g < 3; ++g) steps_[k][g] -= std::int64_t(whole) * steps_[other][g];
        shorter = true;
      }
  }
}

// The reciprocal vector is the part of the vector that is perpendicular to all others, scaled.
void PeriodicVectors::find_reciprocal() {
  for (std::size_t k = 0; k < 3; ++k) {
    reciprocal_[k].assign(reduced_[k].size(), 0);
    if (!given_[k]) continue;
    std::vector<double> rest = reduced_[k];
    std::vector<std::vector<double>> others;  // orthonormal
    const auto remove = [&](std::vector<double>& from) {
      for (int twice = 0; twice < 2; ++twice)
        for (const auto& unit : others) {
          const double part = dot(from, unit);
          for (std::size_t c = 0; c < from.size(); ++c) from[c] -= part * unit[c];
        }
    };
    for (std::size_t other = 0; other < 3; ++other) {
      if (other == k || !given_[other]) continue;
      std::vector<double> unit = reduced_[other];
      remove(unit);
      const double length = std::sqrt(dot(unit, unit));
      for (double& x : unit) x /= length;
      others.push_back(std::move(unit));
    }
    remove(rest);
    const double height = std::sqrt(dot(rest, rest)), length = std::sqrt(dot(given_vectors_[k], given_vectors_[k]));
    constexpr double kFlat = 1e-12;
    if (!(height > kFlat * length))
      throw UsageError(fmt::format("every_image() of pipeline '{}': the periodic vectors {}, {}, {} span no {}",
                                   pipeline_, text_of(given_vectors_[0]), text_of(given_vectors_[1]),
                                   text_of(given_vectors_[2]),
                                   std::ranges::count(given_, true) == 3 ? "volume" : "area"));
    slope_[k] = 1 / height;
    for (std::size_t c = 0; c < rest.size(); ++c) reciprocal_[k][c] = rest[c] / (height * height);
  }
}

double PeriodicVectors::along(std::size_t vector, const Coordinates& at, std::size_t particle) const {
  double sum = 0;
  for (std::size_t c = 0; c < at.size(); ++c) sum += at[c][particle] * reciprocal_[vector][c];
  return sum;
}

double PeriodicVectors::sum_of(const std::array<std::vector<double>, 3>& vectors, std::size_t axis,
                               const Multiples& multiples) {
  double sum = 0;
  for (std::size_t k = 0; k < 3; ++k)
    if (multiples[k] != 0) sum += multiples[k] * vectors[k][axis];
  return sum;
}

std::array<std::vector<double>, 3> PeriodicVectors::reduced(const std::array<std::vector<double>, 3>& vectors) const {
  std::array<std::vector<double>, 3> result;
  for (std::size_t k = 0; k < 3; ++k) {
    result[k].assign(vectors[k].size(), 0);
    for (std::size_t g = 0; g < 3 && given_[k]; ++g)
      for (std::size_t c = 0; c < vectors[g].size() && steps_[k][g] != 0; ++c)
        result[k][c] += double(steps_[k][g]) * vectors[g][c];
  }
  return result;
}

Multiples PeriodicVectors::in_given_vectors(const Multiples& multiples) const {
  Multiples given{};
  for (std::size_t g = 0; g < 3; ++g) {
    std::int64_t count = 0;
    for (std::size_t k = 0; k < 3; ++k) count += multiples[k] * steps_[k][g];
    if (std::abs(count) > std::int64_t(2 * kMostCells))
      throw UsageError(
          fmt::format("every_image() of pipeline '{}': an image is {} multiples of periodic vector {} away; expected "
                      "at most {:.0f}: give vectors that are less skewed",
                      pipeline_, count, g, 2 * kMostCells));
    given[g] = std::int32_t(count);
  }
  return given;
}

std::vector<Multiples> moves_to_first_cell(const PeriodicVectors& periods, const Coordinates& at, const char* side) {
  std::vector<Multiples> moves(at.empty() ? 0 : at[0].size());
  for (std::size_t p = 0; p < moves.size(); ++p) {
    if (!is_finite(at, p)) continue;
    for (std::size_t k = 0; k < 3; ++k) {
      if (!periods.is_given(k)) continue;
      const double cells = std::rint(periods.along(k, at, p));
      if (!(std::fabs(cells) <= kMostCells))
        throw UsageError(
            fmt::format("every_image() of pipeline '{}': {}-particle {} is {:.3g} lengths of periodic vector {} away; "
                        "expected at most {:.0f}",
                        periods.pipeline(), side, p, cells, k, kMostCells));
      moves[p][k] = -std::int32_t(cells);
    }
  }
  return moves;
}

Coordinates moved(const PeriodicVectors& periods, Coordinates at, const std::vector<Multiples>& moves) {
  for (std::size_t axis = 0; axis < at.size(); ++axis)
    for (std::size_t p = 0; p < moves.size(); ++p)
      if (moves[p] != Multiples{}) at[axis][p] += periods.shift(axis, moves[p]);
  return at;
}

ImageCopies copies_of(const PeriodicVectors& periods, const Coordinates& i, const Coordinates& j,
                      const std::vector<Multiples>& moves_j, const std::vector<double>& reaches, double rounding) {
  const std::size_t axes = j.size(), count = j.empty() ? 0 : j[0].size();
  // Where the i are: along each periodic vector, and along each axis.
  std::array<Range, 3> along;
  std::vector<Range> box(axes);
  for (std::size_t p = 0; p < (i.empty() ? 0 : i[0].size()); ++p) {
    if (!is_finite(i, p)) continue;
    for (std::size_t k = 0; k < 3; ++k)
      if (periods.is_given(k)) along[k].add(periods.along(k, i, p));
    for (std::size_t axis = 0; axis < axes; ++axis) box[axis].add(i[axis][p]);
  }
  std::vector<double> period(axes);  // a bound of the periodic vectors' components
  for (std::size_t axis = 0; axis < axes; ++axis)
    for (std::size_t k = 0; k < 3; ++k) {
      Multiples one{};
      one[k] = 1;
      period[axis] += std::fabs(periods.shift(axis, one));
    }
  ImageCopies copies;
  const bool any_i = !box.empty() && !box[0].is_empty();
  std::vector<double> error(axes);
  std::vector<std::pair<Multiples, Multiples>> of_particle;  // in given vectors from the given position; moved
  for (std::size_t p = 0; p < count; ++p) {
    if (!any_i || !is_finite(j, p)) {
      copies.of.push_back(std::int64_t(p));
      copies.moved.push_back({});
      copies.moved_given.push_back({});
      continue;
    }
    const double given = reaches.size() == 1 ? reaches[0] : reaches[p], reach = given > 0 ? given : 0;
    // Errors along an axis are relative to coordinates along this axis: a particle that is far away along an open axis
    // has no more images than others.
    for (std::size_t axis = 0; axis < axes; ++axis)
      error[axis] = rounding * (std::fabs(j[axis][p]) + period[axis] + reach);
    std::array<double, 3> first{}, last{};
    double number = 1;
    for (std::size_t k = 0; k < 3; ++k) {
      if (!periods.is_given(k)) continue;
      double around = reach * periods.slope(k);
      for (std::size_t axis = 0; axis < axes; ++axis) around += error[axis] * std::fabs(periods.reciprocal(k)[axis]);
      const double own = periods.along(k, j, p);
      first[k] = std::ceil(along[k].low - around - own);
      last[k] = std::floor(along[k].high + around - own);
      number *= std::max(last[k] - first[k] + 1, 0.0);
    }
    if (!(number + double(copies.of.size()) < kMostCopies))
      throw UsageError(
          fmt::format("every_image() of pipeline '{}': {:.3g} images of j-particle {} alone may be within the reach "
                      "{}, with the periodic vectors {}, {}, {}",
                      periods.pipeline(), number, p, given, text_of(periods.given_vectors()[0]),
                      text_of(periods.given_vectors()[1]), text_of(periods.given_vectors()[2])));
    of_particle.clear();
    for (auto x = std::int32_t(first[0]); x <= std::int32_t(last[0]); ++x)
      for (auto y = std::int32_t(first[1]); y <= std::int32_t(last[1]); ++y)
        for (auto z = std::int32_t(first[2]); z <= std::int32_t(last[2]); ++z) {
          const Multiples moved{x, y, z};
          double distance2 = 0;
          for (std::size_t axis = 0; axis < axes; ++axis) {
            const double at = j[axis][p] + periods.shift(axis, moved);
            const double beyond = std::max({box[axis].low - error[axis] - at, at - box[axis].high - error[axis], 0.0});
            distance2 += beyond * beyond;
          }
          if (distance2 > reach * reach) continue;
          Multiples all = moved;
          for (std::size_t k = 0; k < 3; ++k) all[k] += moves_j[p][k];
          of_particle.emplace_back(periods.in_given_vectors(all), moved);
        }
    std::ranges::sort(of_particle);
    for (const auto& [moved_given, moved] : of_particle) {
      copies.of.push_back(std::int64_t(p));
      copies.moved.push_back(moved);
      copies.moved_given.push_back(moved_given);
    }
  }
  return copies;
}

}  // namespace nbcc
