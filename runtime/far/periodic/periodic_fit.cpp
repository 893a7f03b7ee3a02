// What the lattice sum leaves open is fixed by the condition that near + far images are periodic: a polynomial is
// added to F by least squares, and what is left is measured.
//
// One period further along row a, the near images lose the layer n_a = N_a and gain the layer n_a = -N_a. F must
// make up for that:
//
//     F(d + e_a) - F(d) = sum over the layer n_a = -N_a of K(d + n) - sum over the layer n_a = N_a of K(d + e_a + n)
//
// The polynomial is fitted to F, not to sums over particles: those of equal values on opposite faces would not see a
// constant field, nor an even polynomial.
#include <algorithm>
#include <cmath>
#include <set>

#include "runtime/far/periodic/far_series.h"

namespace nbcc {
namespace {

struct PeriodSamples {
  std::vector<CellVector> low, high;  // coordinates; high = low and one period
  std::vector<double> wanted;         // [component][sample]: F(high) - F(low)
};

// Along row: from low to high along the row itself, between -across and across along others.
void add_samples(KernelSampler& sampler, UniformSource& random, int row, int count, double low, double high,
                 double across, PeriodSamples& samples, std::vector<std::vector<double>>& wanted) {
  const PeriodicCell& cell = sampler.cell();
  const auto r = std::size_t(row);
  std::vector<CellVector> first, second, lost, gained;
  for (int k = 0; k < count; ++k) {
    first.push_back(random.point(cell, across));
    first.back()[r] = random.between(low, high);
    second.push_back(first.back());
    second.back()[r] += 1;
  }
  for (const CellImage& image : cell.near_images()) {
    const CellVector vector{double(image[0]), double(image[1]), double(image[2])};
    if (image[r] == -cell.near_reach[r]) gained.push_back(vector);
    if (image[r] == cell.near_reach[r]) lost.push_back(vector);
  }
  const std::vector<double> of_gained = sampler.sums(first, gained, 1), of_lost = sampler.sums(second, lost, 1);
  for (std::size_t c = 0; c < wanted.size(); ++c)
    for (std::size_t k = c * first.size(); k < (c + 1) * first.size(); ++k)
      wanted[c].push_back(of_gained[k] - of_lost[k]);
  samples.low.insert(samples.low.end(), first.begin(), first.end());
  samples.high.insert(samples.high.end(), second.begin(), second.end());
}

// `count` for each periodic row.
PeriodSamples sample_periods(KernelSampler& sampler, std::uint64_t seed, int count, double low, double high,
                             double across) {
  PeriodSamples samples;
  UniformSource random(seed);
  std::vector<std::vector<double>> wanted(std::size_t(sampler.components()));
  for (int row = 0; row < sampler.cell().periodic; ++row)
    add_samples(sampler, random, row, count, low, high, across, samples, wanted);
  for (const std::vector<double>& of_component : wanted)
    samples.wanted.insert(samples.wanted.end(), of_component.begin(), of_component.end());
  return samples;
}

std::vector<double> coordinate_columns(const std::vector<CellVector>& points) {
  std::vector<double> columns;
  for (std::size_t row = 0; row < 3; ++row)
    for (const CellVector& point : points) columns.push_back(point[row]);
  return columns;
}

// [component][sample]: what F(high) - F(low) lacks.
std::vector<double> missing(const PeriodSamples& samples, const ChebyshevSeries& far) {
  const auto count = std::int64_t(samples.low.size());
  std::vector<double> result = samples.wanted;
  const std::vector<double> high = far.evaluate(count, 3, coordinate_columns(samples.high).data());
  const std::vector<double> low = far.evaluate(count, 3, coordinate_columns(samples.low).data());
  for (std::size_t k = 0; k < result.size(); ++k) result[k] -= high[k] - low[k];
  return result;
}

// The products of Chebyshev polynomials of the periodic rows, of total degree 1 to `degree`.
std::vector<std::array<int, 3>> products_to(int degree, int periodic) {
  std::vector<std::array<int, 3>> result;
  for (int a = 0; a <= degree; ++a)
    for (int b = 0; b <= (periodic > 1 ? degree - a : 0); ++b)
      for (int c = 0; c <= (periodic > 2 ? degree - a - b : 0); ++c)
        if (a + b + c > 0) result.push_back({a, b, c});
  return result;
}

// The Cholesky factor of a positive definite matrix, in its lower triangle.
void factorise(SmallMatrix& matrix) {
  for (int k = 0; k < matrix.rows; ++k)
    for (int r = k; r < matrix.rows; ++r) {
      double rest = matrix.at(r, k);
      for (int m = 0; m < k; ++m) rest -= matrix.at(r, m) * matrix.at(k, m);
      matrix.at(r, k) = r == k ? std::sqrt(rest) : rest / matrix.at(k, k);
    }
}

void solve(const SmallMatrix& factor, std::vector<double>& x) {
  for (int r = 0; r < factor.rows; ++r) {
    for (int c = 0; c < r; ++c) x[std::size_t(r)] -= factor.at(r, c) * x[std::size_t(c)];
    x[std::size_t(r)] /= factor.at(r, r);
  }
  for (int r = factor.rows; r-- > 0;) {
    for (int c = r + 1; c < factor.rows; ++c) x[std::size_t(r)] -= factor.at(c, r) * x[std::size_t(c)];
    x[std::size_t(r)] /= factor.at(r, r);
  }
}

// Least squares for the coefficients of one degree, of all components that have it; rest: see missing().
void fit_degree(const PeriodSamples& samples, const std::vector<double>& rest, int degree, int periodic,
                const std::vector<int>& degrees, ChebyshevSeries& far) {
  const std::vector<std::array<int, 3>> products = products_to(degree, periodic);
  const int count = int(samples.low.size()), unknowns = int(products.size());
  SmallMatrix design(unknowns, count), normal(unknowns, unknowns);
  std::array<std::vector<double>, 2> values;
  for (int k = 0; k < count; ++k) {
    std::array<std::array<std::vector<double>, 3>, 2> basis;
    for (std::size_t row = 0; row < 3; ++row)
      for (std::size_t end = 0; end < 2; ++end) {
        basis[end][row].resize(std::size_t(degree) + 1);
        chebyshev_polynomials((end == 0 ? samples.low : samples.high)[std::size_t(k)][row], degree + 1,
                              basis[end][row].data());
      }
    for (int u = 0; u < unknowns; ++u) {
      std::array<double, 2> value{1, 1};
      for (std::size_t end = 0; end < 2; ++end)
        for (std::size_t row = 0; row < 3; ++row)
          value[end] *= basis[end][row][std::size_t(products[std::size_t(u)][row])];
      design.at(u, k) = value[1] - value[0];
    }
  }
  for (int r = 0; r < unknowns; ++r)
    for (int c = 0; c <= r; ++c)
      for (int k = 0; k < count; ++k) normal.at(r, c) += design.at(r, k) * design.at(c, k);
  factorise(normal);
  for (int component = 0; component < far.components; ++component) {
    if (degrees[std::size_t(component)] != degree) continue;
    std::vector<double> solution(products.size());
    for (int u = 0; u < unknowns; ++u)
      for (int k = 0; k < count; ++k)
        solution[std::size_t(u)] += design.at(u, k) * rest[std::size_t(component * count + k)];
    solve(normal, solution);
    for (std::size_t u = 0; u < products.size(); ++u) {
      const auto [a, b, c] = products[u];
      far.of(component)[(a * far.orders[1] + b) * far.orders[2] + c] += solution[u];
    }
  }
}

}  // namespace

void fit_periodic(KernelSampler& sampler, FarSeries& series) {
  const int largest = *std::max_element(series.fitted_degrees.begin(), series.fitted_degrees.end());
  if (largest < 1) return;
  const PeriodSamples samples = sample_periods(sampler, 5, 60, -0.75, -0.25, 0.5);
  const std::set<int> all_degrees(series.fitted_degrees.begin(), series.fitted_degrees.end());
  const std::vector<double> rest = missing(samples, series.far);
  for (const int degree : all_degrees)
    if (degree >= 1) fit_degree(samples, rest, degree, sampler.cell().periodic, series.fitted_degrees, series.far);
}

double measure_mismatch(KernelSampler& sampler, const KernelFacts& facts, const ChebyshevSeries& far, int count) {
  const PeriodSamples samples = sample_periods(sampler, 6, count, -1, 0, 1);
  const std::vector<double> magnitudes = group_magnitudes(sampler, missing(samples, far));
  double mismatch = 0;
  for (std::size_t group = 0; group < facts.near_scales.size(); ++group) {
    double sum = 0;
    for (std::size_t k = group * samples.low.size(); k < (group + 1) * samples.low.size(); ++k)
      sum += magnitudes[k] * magnitudes[k];
    if (sum > 0) mismatch = std::max(mismatch, std::sqrt(sum / double(samples.low.size())) / facts.near_scales[group]);
  }
  return mismatch;
}

}  // namespace nbcc
