// A kernel and orders -> the sum over its far images.
//
// Level l is the lattice of 3^l periods. A_l(d) is the sum over its images beyond the near ones and within 3 near
// blocks: with reach N along each periodic row, those with all |n| <= 3 N + 1 but not all |n| <= N. An image number M
// of level l is 3 M' + r with r = -1, 0 or 1 along each row, therefore
//
//     F_l(d) = A_l(d) + sum over r of F_{l+1}((d + r) / 3)
//
// where F_l is the sum over all far images of level l, and the far images of the cell are F_0. In coefficients of
// Chebyshev polynomials the sum over r is a triangular matrix along each row. What is not periodic is left to
// fit_periodic() (periodic_fit.cpp).
#include "runtime/far/periodic/far_series.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "runtime/error.h"

namespace nbcc {
namespace {

// Displacements of level 1 and coarser: (1 + 1) / 3 along periodic rows, 1 / 3 along open ones.
double level_bound(const PeriodicCell& cell, std::size_t row) { return int(row) < cell.periodic ? 2.0 / 3 : 1.0 / 3; }

// The images of a level beyond the near ones and within three near blocks.
std::vector<CellVector> ring_of(const PeriodicCell& cell) {
  std::vector<CellVector> ring;
  std::array<int, 3> reach{};
  for (std::size_t row = 0; row < std::size_t(cell.periodic); ++row) reach[row] = 3 * cell.near_reach[row] + 1;
  for (int a = -reach[0]; a <= reach[0]; ++a)
    for (int b = -reach[1]; b <= reach[1]; ++b)
      for (int c = -reach[2]; c <= reach[2]; ++c)
        if (std::abs(a) > cell.near_reach[0] || std::abs(b) > cell.near_reach[1] || std::abs(c) > cell.near_reach[2])
          ring.push_back({double(a), double(b), double(c)});
  return ring;
}

// From coefficients of p on [-from_bound, from_bound] to those on [-to_bound, to_bound] of the sum over r = -1, 0, 1 of
// p((x + r) / 3); without `periodic` of p(x / 3). Degrees do not rise and keep their parity: other entries are exactly
// 0, because large constants would spoil small coefficients.
SmallMatrix step_down(int to, double to_bound, int from, double from_bound, bool periodic) {
  const std::vector<double> points = chebyshev_points(to);
  const SmallMatrix coefficients = chebyshev_coefficients(to);
  SmallMatrix values(to, from), result(to, from);
  std::vector<double> polynomials(std::size_t(from), 0.0);
  for (int k = 0; k < to; ++k)
    for (int r = periodic ? -1 : 0; r <= (periodic ? 1 : 0); ++r) {
      chebyshev_polynomials((to_bound * points[std::size_t(k)] + r) / (3 * from_bound), from, polynomials.data());
      for (int degree = 0; degree < from; ++degree) values.at(k, degree) += polynomials[std::size_t(degree)];
    }
  for (int degree = 0; degree < from; ++degree)
    for (int lower = degree % 2; lower <= degree && lower < to; lower += 2)
      for (int k = 0; k < to; ++k) result.at(lower, degree) += coefficients.at(lower, k) * values.at(k, degree);
  return result;
}

SmallMatrix matrix_product(const SmallMatrix& a, const SmallMatrix& b) {
  SmallMatrix result(a.rows, b.columns);
  for (int r = 0; r < a.rows; ++r)
    for (int k = 0; k < a.columns; ++k)
      for (int c = 0; c < b.columns; ++c) result.at(r, c) += a.at(r, k) * b.at(k, c);
  return result;
}

int total(const std::array<int, 3>& degrees) { return degrees[0] + degrees[1] + degrees[2]; }

// The tables of one kernel and one set of orders.
class Recursion {
 public:
  Recursion(KernelSampler& sampler, const KernelFacts& facts, const SeriesOrders& orders, double tolerance)
      : sampler_(sampler), facts_(facts), orders_(orders), tolerance_(tolerance), ring_(ring_of(sampler.cell())) {
    // Degrees that converge slowly are fitted, too.
    for (std::size_t c = 0; c < facts.degree.size(); ++c)
      result_.fitted_degrees.push_back(
          facts.degree[c] < 0 ? -1 : int(std::floor(sampler.cell().periodic + 0.55 - facts.decay[c])));
    is_symmetric_ = true;
    for (std::size_t c = 0; c < facts.even.size(); ++c)
      is_symmetric_ = is_symmetric_ && (facts.even[c] || facts.odd[c]);
  }

  FarSeries run();

 private:
  // The coefficients of A_level for coordinates up to bounds[row].
  ChebyshevSeries shell(int level, const std::array<int, 3>& orders, const CellVector& bounds);
  bool is_power(int level) const;  // of the last three levels
  bool is_settled(int level) const;
  // True of the coefficients that the periodic condition fixes, not the sum over images.
  bool is_fitted(int component, const std::array<int, 3>& degrees) const;
  double scale(int component) const { return facts_.near_scales[std::size_t(sampler_.group(component))]; }
  bool is_small(int component, double value) const { return std::fabs(value) <= 0.01 * tolerance_ * scale(component); }
  // True if what the last level added to sums of at least this degree is small.
  bool ends(const ChebyshevSeries& added, int least_degree) const;
  // True if the sums of converging components at later levels are small, by the sizes of K there.
  bool rest_is_small(int level) const;
  void finish(const ChebyshevSeries& added, bool has_series);

  KernelSampler& sampler_;
  const KernelFacts& facts_;
  const SeriesOrders& orders_;
  const double tolerance_;
  const std::vector<CellVector> ring_;
  bool is_symmetric_ = false;
  FarSeries result_;
};

ChebyshevSeries Recursion::shell(int level, const std::array<int, 3>& orders, const CellVector& bounds) {
  ChebyshevSeries values(sampler_.components(), orders);
  std::array<SmallMatrix, 3> transforms;
  std::array<std::vector<double>, 3> along;
  for (std::size_t row = 0; row < 3; ++row) {
    along[row] = chebyshev_points(orders[row]);
    transforms[row] = chebyshev_coefficients(orders[row]);
  }
  // Point size() - 1 - k is minus point k.
  const std::size_t size = values.size(), evaluated = is_symmetric_ ? (size + 1) / 2 : size;
  std::vector<CellVector> points(evaluated);
  for (std::size_t k = 0; k < evaluated; ++k) {
    const std::array<int, 3> index = values.degrees(k);
    for (std::size_t row = 0; row < 3; ++row) points[k][row] = bounds[row] * along[row][std::size_t(index[row])];
  }
  const std::vector<double> sums = sampler_.sums(points, ring_, std::pow(3.0, level));
  for (int c = 0; c < values.components; ++c) {
    const double* const sum = sums.data() + std::size_t(c) * evaluated;
    std::copy_n(sum, evaluated, values.of(c));
    for (std::size_t k = evaluated; k < size; ++k)
      values.of(c)[k] = facts_.odd[std::size_t(c)] ? -sum[size - 1 - k] : sum[size - 1 - k];
  }
  if (!std::isfinite(std::accumulate(sums.begin(), sums.end(), 0.0)))
    throw UsageError(fmt::format(
        "this formula has no periodic sum: its terms of images {} periods away are not finite; expected finite terms",
        std::pow(3.0, level)));
  ChebyshevSeries coefficients = values.along(transforms);
  for (int c = 0; c < values.components; ++c)
    for (std::size_t k = 0; k < size; ++k)
      if (facts_.even[std::size_t(c)] || facts_.odd[std::size_t(c)])
        if ((total(values.degrees(k)) % 2 == 0) == bool(facts_.odd[std::size_t(c)])) coefficients.of(c)[k] = 0;
  return coefficients;
}

bool Recursion::is_power(int level) const {
  const auto& decays = facts_.scaled_decays;
  const auto now = std::size_t(level);
  if (level < 3 || now >= decays.size()) return false;
  const bool is_open = sampler_.cell().periodic < sampler_.cell().axes;
  for (std::size_t c = 0; c < decays[now].size(); ++c) {
    if (!is_open && std::isinf(decays[now][c]) && std::isinf(decays[now - 2][c])) continue;
    for (std::size_t before = now - 2; before < now; ++before)
      if (!(std::fabs(decays[now][c] - decays[before][c]) < 1e-11)) return false;
  }
  return true;
}

bool Recursion::is_settled(int level) const {
  const std::vector<double>&now = facts_.decays[std::size_t(level)], &before = facts_.decays[std::size_t(level) - 1];
  const int periodic = sampler_.cell().periodic;
  for (std::size_t c = 0; c < now.size(); ++c) {
    if (now[c] <= periodic + 3 && !(std::fabs(now[c] - before[c]) < kSettled)) return false;
    // A formula may change its decay further away, such as exp(-r / 1000) / r.
    if ((now[c] > periodic + 0.05) != (facts_.degree[c] < 0)) return false;
    if (facts_.degree[c] >= 0 && periodic + 0.05 - now[c] >= result_.fitted_degrees[c] + 1) return false;
  }
  return true;
}

bool Recursion::is_fitted(int component, const std::array<int, 3>& degrees) const {
  for (int row = sampler_.cell().periodic; row < 3; ++row)
    if (degrees[std::size_t(row)] > 0) return false;
  return total(degrees) <= result_.fitted_degrees[std::size_t(component)];
}

bool Recursion::ends(const ChebyshevSeries& added, int least_degree) const {
  for (int c = 0; c < added.components; ++c)
    for (std::size_t k = 0; k < added.size(); ++k) {
      const std::array<int, 3> degrees = added.degrees(k);
      if (total(degrees) >= least_degree && !is_fitted(c, degrees) && !is_small(c, added.of(c)[k])) return false;
    }
  return true;
}

bool Recursion::rest_is_small(int level) const {
  for (std::size_t later = std::size_t(level) + 1; later < facts_.decays.size(); ++later)
    for (int c = 0; c < sampler_.components(); ++c) {
      const double terms = double(ring_.size()) * std::pow(3.0, sampler_.cell().periodic * double(later));
      if (facts_.degree[std::size_t(c)] < 0 && !is_small(c, terms * facts_.sizes[later + 1][std::size_t(c)]))
        return false;
    }
  return true;
}

// Takes out what the sum leaves open; `added`: by the last level. has_series: the levels to come add a geometric
// series.
void Recursion::finish(const ChebyshevSeries& added, bool has_series) {
  const int periodic = sampler_.cell().periodic;
  for (int c = 0; c < added.components; ++c) {
    const double decay = facts_.decay[std::size_t(c)];
    double constant = 0;
    if (facts_.degree[std::size_t(c)] < 0) {
      constant = result_.far.of(c)[0];
      const double ratio = std::pow(3.0, periodic - decay);
      if (has_series) constant += added.of(c)[0] * ratio / (1 - ratio);  // the levels to come
      result_.far.of(c)[0] = 0;
    }
    result_.constants.push_back(constant);
    for (std::size_t k = 0; k < added.size(); ++k)
      if (is_fitted(c, added.degrees(k))) result_.far.of(c)[k] = 0;
  }
}

FarSeries Recursion::run() {
  const PeriodicCell& cell = sampler_.cell();
  std::array<SmallMatrix, 3> step, down;
  CellVector bounds{};
  for (std::size_t row = 0; row < 3; ++row) {
    bounds[row] = int(row) < cell.axes ? level_bound(cell, row) : 1;
    const bool periodic = int(row) < cell.periodic;
    if (int(row) < cell.axes) {
      down[row] = step_down(orders_.first[row], 1, orders_.level[row], bounds[row], periodic);
      step[row] = step_down(orders_.level[row], bounds[row], orders_.level[row], bounds[row], periodic);
    } else {
      down[row] = step[row] = SmallMatrix(1, 1);
      down[row].at(0, 0) = step[row].at(0, 0) = 1;
    }
  }
  result_.far = shell(0, orders_.first, {1, 1, 1});
  ChebyshevSeries of_level;
  for (int level = 1; level < int(facts_.decays.size()); ++level) {
    const bool is_scaled = level > 1 && is_power(level);
    if (is_scaled) {
      for (int c = 0; c < of_level.components; ++c)
        for (std::size_t k = 0; k < of_level.size(); ++k)
          of_level.of(c)[k] *= std::pow(3.0, -facts_.scaled_decays[std::size_t(level)][std::size_t(c)]);
    } else {
      of_level = shell(level, orders_.level, bounds);
      result_.evaluated_levels = level;
    }
    const ChebyshevSeries added = of_level.along(down);
    for (std::size_t row = 0; row < 3; ++row) down[row] = matrix_product(down[row], step[row]);
    for (std::size_t k = 0; k < added.values.size(); ++k) result_.far.values[k] += added.values[k];
    result_.levels = level;
    if (level < 3 || !is_settled(level)) continue;
    // Along open directions the last levels' shape may not be that of the levels to come.
    const bool has_series = is_scaled && cell.periodic == cell.axes;
    if ((ends(added, 0) && rest_is_small(level)) || (has_series && ends(added, 1))) {
      finish(added, has_series);
      return std::move(result_);
    }
  }
  throw UsageError(fmt::format(
      "no periodic sum of this formula keeps the tolerance {:.2g}: its sum over images {}; it has not ended {:.2g} "
      "periods away",
      tolerance_,
      cell.periodic < cell.axes
          ? "grows across the open directions, whose polynomial no periodic condition fixes, or converges too slowly"
          : "converges too slowly",
      std::pow(3.0, result_.levels)));
}

}  // namespace

FarSeries make_far_series(KernelSampler& sampler, const KernelFacts& facts, const SeriesOrders& orders,
                          double tolerance) {
  return Recursion(sampler, facts, orders, tolerance).run();
}

}  // namespace nbcc
