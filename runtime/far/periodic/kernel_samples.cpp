// A kernel, as sums over pairs -> its values at displacements, and facts measured from them.
#include "runtime/far/periodic/kernel_samples.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "runtime/error.h"

namespace nbcc {
namespace {

constexpr std::size_t kMaxSingleValues = 65536;  // pairs of a call with one j

std::vector<double> columns_of(const std::vector<CellVector>& vectors, int axes) {
  std::vector<double> columns(vectors.size() * std::size_t(axes));
  for (std::size_t axis = 0; axis < std::size_t(axes); ++axis)
    for (std::size_t k = 0; k < vectors.size(); ++k) columns[axis * vectors.size() + k] = vectors[k][axis];
  return columns;
}

CellVector scaled(const CellVector& a, double factor) { return {factor * a[0], factor * a[1], factor * a[2]}; }

// See KernelFacts::degree.
int open_degree(double decay, int periodic) {
  return decay > periodic + 0.05 ? -1 : int(std::floor(periodic + 0.05 - decay));
}

// The lengths of the first rows, the shortest and the longest.
std::pair<double, double> row_lengths(const PeriodicCell& cell, int rows) {
  double shortest = std::numeric_limits<double>::infinity(), longest = 0;
  for (int row = 0; row < rows; ++row) {
    const CellVector& vector = cell.rows[std::size_t(row)];
    const double length = std::hypot(vector[0], vector[1], vector[2]);
    shortest = std::min(shortest, length);
    longest = std::max(longest, length);
  }
  return {shortest, longest};
}

CellVector plus(const CellVector& a, const CellVector& b) { return {a[0] + b[0], a[1] + b[1], a[2] + b[2]}; }

constexpr std::size_t kDirections = 40;

// [step][component]: rms of K over each kDirections displacements in turn; NaN where a value is not finite.
// values[component][displacement].
std::vector<std::vector<double>> sizes_of(const std::vector<double>& values, std::size_t displacements) {
  std::vector<std::vector<double>> sizes(displacements / kDirections,
                                         std::vector<double>(values.size() / displacements));
  for (std::size_t step = 0; step < sizes.size(); ++step)
    for (std::size_t c = 0; c < sizes[step].size(); ++c) {
      const double* value = values.data() + c * displacements + step * kDirections;
      double largest = 0, sum = 0;  // relative to the largest, because squares may underflow
      for (std::size_t k = 0; k < kDirections; ++k) largest = std::max(largest, std::fabs(value[k]));
      for (std::size_t k = 0; k < kDirections && largest > 0; ++k) sum += std::pow(value[k] / largest, 2);
      sizes[step][c] = largest * std::sqrt(sum / double(kDirections));
      // max() ignores NaN.
      if (!std::all_of(value, value + kDirections, [](double x) { return std::isfinite(x); })) sizes[step][c] = NAN;
    }
  return sizes;
}

// decays[step][component] from sizes at distances that grow by 3, up to the first size that is not finite.
std::vector<std::vector<double>> decays_of(const std::vector<std::vector<double>>& sizes) {
  std::vector<std::vector<double>> decays;
  const auto is_finite = [](double x) { return std::isfinite(x); };
  for (std::size_t step = 0; step + 1 < sizes.size() && std::ranges::all_of(sizes[step + 1], is_finite); ++step) {
    decays.emplace_back();
    for (std::size_t c = 0; c < sizes[step].size(); ++c)
      decays.back().push_back(sizes[step + 1][c] > 0 ? -std::log(sizes[step + 1][c] / sizes[step][c]) / std::log(3.0)
                                                     : std::numeric_limits<double>::infinity());
  }
  return decays;
}

// True if the values in kDirections directions are one constant, besides terms that fall off, by their decay. log r
// still grows by 2% between the largest distances.
bool is_constant(const double* values, double decay) {
  const auto [least, largest] = std::minmax_element(values, values + kDirections);
  return std::fabs(decay) < 0.01 && *largest - *least < 0.01 * std::max(std::fabs(*least), std::fabs(*largest));
}

// Decays at up to 40 distances.
void measure_decay(KernelSampler& sampler, KernelFacts& facts) {
  constexpr int kLevels = 40;
  constexpr std::size_t kLeastLevels = 5;
  const PeriodicCell& cell = sampler.cell();
  const double longest = row_lengths(cell, cell.periodic).second;
  UniformSource random(7);
  std::vector<CellVector> along(kDirections), across(kDirections);  // periodic directions, open ones
  for (std::size_t k = 0; k < kDirections; ++k) {
    CellVector periodic = random.point(cell, 1), open{};
    for (int row = cell.periodic; row < cell.axes; ++row) std::swap(periodic[std::size_t(row)], open[std::size_t(row)]);
    along[k] = cell.vector(periodic);
    along[k] = scaled(along[k], longest / std::hypot(along[k][0], along[k][1], along[k][2]));
    across[k] = cell.vector(open);
  }
  std::vector<CellVector> displacements, all_scaled;
  for (int level = 0; level <= kLevels; ++level)
    for (std::size_t k = 0; k < kDirections; ++k) {
      displacements.push_back(plus(scaled(along[k], std::pow(3.0, level)), across[k]));
      all_scaled.push_back(scaled(plus(along[k], across[k]), std::pow(3.0, level)));
    }
  const std::vector<double> values = sampler.values(displacements);
  facts.sizes = sizes_of(values, displacements.size());
  facts.decays = decays_of(facts.sizes);
  facts.scaled_decays =
      cell.periodic == cell.axes ? facts.decays : decays_of(sizes_of(sampler.values(all_scaled), all_scaled.size()));
  const std::size_t levels = facts.decays.size();
  if (levels < kLeastLevels)
    throw UsageError(fmt::format(
        "this formula has no periodic sum: its terms must be finite at every distance but 0; at the distance {:.3g} of "
        "periodic images they are not",
        longest * std::pow(3.0, double(levels + 1))));
  facts.decay = facts.decays.back();
  for (std::size_t c = 0; c < facts.decay.size(); ++c) {
    const double decay = facts.decay[c], before = facts.decays[levels - 2][c];
    const std::string formula = sampler.formula(int(c));
    if (decay < -1.05)
      throw UsageError(fmt::format(
          "{} has no periodic sum: it grows with distance; expected terms that grow at most like r, got r^{:.3g}",
          formula, -decay));
    if (const double* const last = &values[c * displacements.size() + levels * kDirections]; is_constant(last, decay))
      throw UsageError(fmt::format(
          "{} has no periodic sum: its terms do not fall off, but become the constant {:.3g} at large distances, of "
          "which infinitely many images have no sum; expected terms without a constant",
          formula, *last));
    if (decay <= cell.periodic + 3 && !(std::fabs(decay - before) < kSettled))
      throw UsageError(fmt::format(
          "{} has no periodic sum: it oscillates or is not smooth; expected terms that become a power of the "
          "distance, got r^{:.3g} and r^{:.3g} at the distances {:.3g} and {:.3g}",
          formula, -before, -decay, longest * std::pow(3.0, double(levels - 1)),
          longest * std::pow(3.0, double(levels))));
    facts.degree.push_back(open_degree(decay, cell.periodic));
  }
}

void measure_symmetry(KernelSampler& sampler, KernelFacts& facts) {
  std::vector<CellVector> displacements;
  UniformSource random(11);
  for (int k = 0; k < 32; ++k)
    displacements.push_back(scaled(sampler.cell().vector(random.point(sampler.cell(), 1)), std::pow(3.0, k % 4)));
  const std::vector<double> values = sampler.values(displacements);
  for (CellVector& d : displacements) d = scaled(d, -1);
  const std::vector<double> mirrored = sampler.values(displacements);
  for (std::size_t c = 0; c < std::size_t(sampler.components()); ++c) {
    bool even = true, odd = true;
    for (std::size_t k = c * displacements.size(); k < (c + 1) * displacements.size(); ++k) {
      const double rounding = 1e-14 * std::fabs(values[k]);
      even = even && std::fabs(values[k] - mirrored[k]) <= rounding;
      odd = odd && std::fabs(values[k] + mirrored[k]) <= rounding;
    }
    facts.even.push_back(even);
    facts.odd.push_back(odd && !even);
  }
}

}  // namespace

KernelSampler::KernelSampler(const PeriodicCell& cell, const PeriodicKernel& kernel) : cell_(cell), kernel_(kernel) {
  for (const int group : kernel.groups) groups_ = std::max(groups_, group + 1);
}

std::vector<double> KernelSampler::sums(const std::vector<CellVector>& points, const std::vector<CellVector>& images,
                                        double scale) {
  std::vector<CellVector> of_i(points.size()), of_j(images.size());
  for (std::size_t k = 0; k < points.size(); ++k) of_i[k] = scaled(cell_.vector(points[k]), -scale);
  for (std::size_t k = 0; k < images.size(); ++k) of_j[k] = scaled(cell_.vector(images[k]), scale);
  std::vector<double> result(points.size() * std::size_t(components()));
  kernel_.sums(std::int64_t(points.size()), columns_of(of_i, cell_.axes).data(), std::int64_t(images.size()),
               columns_of(of_j, cell_.axes).data(), result.data());
  evaluations_ += std::int64_t(points.size() * images.size());
  return result;
}

std::vector<double> KernelSampler::values(const std::vector<CellVector>& displacements) {
  std::vector<CellVector> of_i(displacements.size());
  for (std::size_t k = 0; k < displacements.size(); ++k) of_i[k] = scaled(displacements[k], -1);
  const CellVector at_0{};
  std::vector<double> result(displacements.size() * std::size_t(components()));
  kernel_.sums(std::int64_t(displacements.size()), columns_of(of_i, cell_.axes).data(), 1, at_0.data(), result.data());
  evaluations_ += std::int64_t(displacements.size());
  return result;
}

std::vector<double> KernelSampler::near_magnitudes(const std::vector<CellVector>& points) {
  const std::vector<CellImage> images = cell_.near_images();
  std::vector<double> result(std::size_t(groups_) * points.size());
  const std::size_t at_a_time = std::max<std::size_t>(1, kMaxSingleValues / images.size());
  for (std::size_t first = 0; first < points.size(); first += at_a_time) {
    const std::size_t last = std::min(points.size(), first + at_a_time);
    std::vector<CellVector> displacements;
    for (std::size_t k = first; k < last; ++k)
      for (const CellImage& image : images)
        displacements.push_back(
            cell_.vector({points[k][0] + image[0], points[k][1] + image[1], points[k][2] + image[2]}));
    const std::vector<double> magnitudes = group_magnitudes(*this, values(displacements));
    for (std::size_t group = 0; group < std::size_t(groups_); ++group) {
      const double* magnitude = magnitudes.data() + group * displacements.size();
      for (std::size_t k = first; k < last; ++k, magnitude += images.size())
        result[group * points.size() + k] = std::accumulate(magnitude, magnitude + images.size(), 0.0);
    }
  }
  return result;
}

std::vector<double> group_magnitudes(const KernelSampler& sampler, const std::vector<double>& values) {
  const std::size_t count = values.size() / std::size_t(sampler.components());
  std::vector<double> result(std::size_t(sampler.groups()) * count);
  for (int c = 0; c < sampler.components(); ++c) {
    const double* const value = values.data() + std::size_t(c) * count;
    double* const sum = result.data() + std::size_t(sampler.group(c)) * count;
    for (std::size_t k = 0; k < count; ++k) sum[k] += value[k] * value[k];
  }
  for (double& magnitude : result) magnitude = std::sqrt(magnitude);
  return result;
}

CellVector UniformSource::point(const PeriodicCell& cell, double bound) {
  CellVector coordinates{};
  for (std::size_t row = 0; row < std::size_t(cell.axes); ++row) coordinates[row] = between(-bound, bound);
  return coordinates;
}

KernelFacts measure_kernel(KernelSampler& sampler) {
  KernelFacts facts;
  measure_decay(sampler, facts);
  measure_symmetry(sampler, facts);
  UniformSource random(3);
  std::vector<CellVector> points(64);
  for (CellVector& point : points) point = random.point(sampler.cell(), 1);
  std::vector<double> magnitudes = sampler.near_magnitudes(points);
  for (std::size_t group = 0; group < std::size_t(sampler.groups()); ++group) {
    const auto begin = magnitudes.begin() + std::ptrdiff_t(group * points.size());
    std::nth_element(begin, begin + 32, begin + 64);
    facts.near_scales.push_back(begin[32]);
  }
  return facts;
}

std::vector<double> decay_inward(KernelSampler& sampler) {
  const PeriodicCell& cell = sampler.cell();
  const double shortest = row_lengths(cell, cell.axes).first;
  UniformSource random(8);
  std::vector<CellVector> displacements(2 * kDirections);
  for (std::size_t k = 0; k < kDirections; ++k) {
    const CellVector vector = cell.vector(random.point(cell, 1));
    displacements[k] = scaled(vector, shortest * std::pow(3.0, -13) / std::hypot(vector[0], vector[1], vector[2]));
    displacements[kDirections + k] = scaled(displacements[k], 3);
  }
  const std::vector<std::vector<double>> sizes = sizes_of(sampler.values(displacements), displacements.size());
  std::vector<double> decays;
  for (std::size_t c = 0; c < sizes[0].size(); ++c) {
    const double ratio = sizes[0][c] > 0 ? sizes[0][c] / sizes[1][c] : 1;
    decays.push_back(std::isfinite(ratio) ? std::log(ratio) / std::log(3.0) : std::numeric_limits<double>::infinity());
  }
  return decays;
}

}  // namespace nbcc
