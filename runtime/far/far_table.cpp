// Sources in a cube, targets on spheres around it: terms of the sources against terms of the grid that stands for them.
// Entry points: the header.
#include "runtime/far/far_table.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "runtime/far/far_grids.h"

namespace nbcc {
namespace {

constexpr int kSources = 12;     // in the cube, most of them near its corners
constexpr int kDirections = 24;  // targets at each distance
constexpr int kDraws = 4;        // sets of weights of the sources
// Errors of terms are limited in cells with so many j, and in proportion in others. Where terms vanish, the errors of a
// cell's terms together are limited to a share of all terms of an i.
constexpr double kTypicalCell = 64, kShareOfCell = 1.0 / 700;
// A term vanishes where it has fallen off faster than this power of the distance.
constexpr double kSteepPower = 4;

double infinity() { return std::numeric_limits<double>::infinity(); }

ArrayView column(std::vector<double>& values, std::int64_t count) {
  return {values.data(), Element::Double, count, 8, 8 * count};
}

// Points of the unit cube: first near each corner.
std::vector<std::array<double, 3>> sources_in_cube(std::mt19937& random) {
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<std::array<double, 3>> sources(kSources);
  for (int k = 0; k < kSources; ++k)
    for (int axis = 0; axis < 3; ++axis) {
      const double x = uniform(random);
      const double corner = (k >> axis & 1) != 0 ? 0.92 : -0.92;
      sources[std::size_t(k)][std::size_t(axis)] = k < 8 ? corner * (0.8 + 0.2 * std::fabs(x)) : x;
    }
  return sources;
}

// Unit vectors: along the axes, towards the corners, and others.
std::vector<std::array<double, 3>> directions(int axes, std::mt19937& random) {
  std::normal_distribution<double> normal;
  std::vector<std::array<double, 3>> result(kDirections);
  for (int k = 0; k < kDirections; ++k) {
    std::array<double, 3> v{normal(random), normal(random), normal(random)};
    if (k < 6) {
      v = {};
      v[std::size_t(k % 3 % axes)] = k < 3 ? 1 : -1;
    } else if (k < 14) {
      for (int axis = 0; axis < 3; ++axis) v[std::size_t(axis)] = ((k - 6) >> axis & 1) != 0 ? 1 : -1;
    }
    double squared = 0;
    for (int axis = 0; axis < axes; ++axis) squared += v[std::size_t(axis)] * v[std::size_t(axis)];
    for (int axis = 0; axis < 3; ++axis)
      result[std::size_t(k)][std::size_t(axis)] = axis < axes ? v[std::size_t(axis)] / std::sqrt(squared) : 0;
  }
  return result;
}

}  // namespace

FarTable::FarTable(const FarKernels& kernels, std::unique_ptr<DerivedSum> measured, std::span<const FieldLayout> fields)
    : kernels_(kernels), sum_(std::move(measured)) {
  std::map<std::pair<int, int>, std::vector<int>> by_output;
  for (const FieldLayout& field : fields) {
    if (field.role != Role::Output) continue;
    for (const FarPart& part : kernels.parts)
      if (part.output >= field.first && part.output < field.first + field.components())
        by_output[{outputs_, part.factor}].push_back(part.sum);
    ++outputs_;
  }
  for (auto& [output_and_factor, sums] : by_output)
    groups_.push_back({output_and_factor.first, output_and_factor.second, std::move(sums)});
}

void FarTable::begin(std::vector<double> params, std::vector<double> weights, std::vector<double> factors,
                     std::span<const double> sizes_of_terms) {
  measured_.clear();
  params_ = std::move(params);
  weights_ = std::move(weights);
  factors_ = std::move(factors);
  sizes_of_terms_.assign(sizes_of_terms.begin(), sizes_of_terms.end());
}

FarLimits FarTable::limits(std::span<const int> sizes, const FarSetting& setting) {
  FarLimits limits;
  // Without weights no errors are known, as of i without finite terms: no grid serves.
  if (sizes.empty() || (setting.separation == 0 && weights_.empty())) return limits;
  limits.first_size = sizes.front();
  limits.rows.resize(std::size_t(sizes.back() - sizes.front() + 1), FarLimits::Row{});
  for (const int size : sizes) {
    FarLimits::Row& row = limits.rows[std::size_t(size - limits.first_size)];
    double most = infinity();
    for (int k = FarErrors::kFirst; k < FarErrors::kRatios; ++k) {
      if (setting.separation == 0)
        most = std::min(most, most_acting(errors(size, setting.order), k, setting.limit));
      else if (k > setting.separation * FarErrors::kRatios)
        most = 0;
      row[std::size_t(k)] = float(most);
    }
  }
  return limits;
}

// The largest number of j for which every output keeps the limit: by the relative error of a term times the number of j
// or, where terms vanish, by the absolute error of the terms of all these j.
double FarTable::most_acting(const FarErrors& errors, int ratio, double limit) const {
  double least = infinity();
  for (std::size_t output = 0; output < errors.of_output.size(); ++output) {
    const FarErrors::One& one = errors.of_output[output][std::size_t(ratio)];
    const double of_term = one.relative <= limit ? kTypicalCell * limit / one.relative : 0;
    const double together = one.vanishes ? kShareOfCell * limit * sizes_of_terms_[output] / one.absolute : 0;
    least = std::min(least, std::max(of_term, together));
  }
  return least;
}

const FarErrors& FarTable::errors(int size, int order) {
  const auto found = measured_.find({size, order});
  if (found != measured_.end()) return found->second;
  return measured_[{size, order}] = measure(size, order);
}

double FarTable::typical_factor(int factor) const {
  if (factor < 0 || factors_.empty()) return 1;
  double squared = 0;
  const std::size_t row = std::size_t(kernels_.factors);
  for (std::size_t k = std::size_t(factor); k < factors_.size(); k += row) squared += factors_[k] * factors_[k];
  return std::sqrt(squared / double(factors_.size() / row));
}

// The cube's half diagonal is the largest radius of this size. Each draw of weights has its own grid and its own
// sources; a group of i is the targets, once for each of these.
FarErrors FarTable::measure(int size, int order) {
  const int axes = kernels_.axes;
  std::mt19937 random(5);
  const double radius = std::ldexp(1.0, size + 1), half = radius / std::sqrt(double(axes));
  const std::vector<std::array<double, 3>> sources = sources_in_cube(random), towards = directions(axes, random);
  const Chebyshev chebyshev(order);
  const int qy = axes > 1 ? order : 1, qz = axes > 2 ? order : 1, points = order * qy * qz;
  const std::int64_t nj = std::int64_t(kDraws) * (points + kSources);
  const std::int64_t targets = std::int64_t(FarErrors::kRatios - FarErrors::kFirst) * kDirections;
  const std::int64_t ni = targets * kDraws * 2;

  std::vector<double> xj(std::size_t(nj * axes)), wj(std::size_t(nj * kernels_.weights), 0.0);
  std::vector<std::int64_t> i_first{0}, range_first{0}, begin, end;
  std::int64_t j = 0;
  const auto add_group = [&](std::int64_t count) {
    begin.push_back(j - count);
    end.push_back(j);
    i_first.push_back(i_first.back() + targets);
    range_first.push_back(range_first.back() + 1);
  };
  const auto drawn = std::int64_t(weights_.size()) / std::max(kernels_.weights, 1);
  for (int draw = 0; draw < kDraws; ++draw) {
    std::vector<double> of_sources(std::size_t(kSources * kernels_.weights));
    for (int s = 0; s < kSources; ++s) {
      const double sign = (random() & 1) != 0 ? 1 : -1;
      const std::int64_t particle = std::int64_t(random()) % drawn;
      for (int k = 0; k < kernels_.weights; ++k)
        of_sources[std::size_t(s * kernels_.weights + k)] =
            sign * weights_[std::size_t(particle * kernels_.weights + k)];
    }
    for (int s = 0; s < kSources; ++s, ++j) {
      for (int axis = 0; axis < axes; ++axis)
        xj[std::size_t(axis * nj + j)] = half * sources[std::size_t(s)][std::size_t(axis)];
      for (int k = 0; k < kernels_.weights; ++k)
        wj[std::size_t(k * nj + j)] = of_sources[std::size_t(s * kernels_.weights + k)];
    }
    add_group(kSources);
    std::array<std::array<Chebyshev::Values, 3>, kSources> values{};
    with_order(order, [&]<int q>() {
      for (std::size_t s = 0; s < kSources; ++s)
        for (std::size_t axis = 0; axis < std::size_t(axes); ++axis)
          chebyshev.evaluate<q>(sources[s][axis], values[s][axis].data());
    });
    for (int z = 0; z < qz; ++z)
      for (int y = 0; y < qy; ++y)
        for (int x = 0; x < order; ++x, ++j) {
          const std::array<int, 3> number{x, y, z};
          for (int axis = 0; axis < axes; ++axis)
            xj[std::size_t(axis * nj + j)] = half * chebyshev.point(number[std::size_t(axis)]);
          for (std::size_t s = 0; s < kSources; ++s) {
            double value = 1;
            for (std::size_t axis = 0; axis < std::size_t(axes); ++axis)
              value *= values[s][axis][std::size_t(number[axis])];
            for (int k = 0; k < kernels_.weights; ++k)
              wj[std::size_t(k * nj + j)] += value * of_sources[s * std::size_t(kernels_.weights) + std::size_t(k)];
          }
        }
    add_group(points);
  }

  std::vector<double> xi(std::size_t(ni * axes)), fi(std::size_t(ni * kernels_.factors)),
      sums(std::size_t(ni * kernels_.sums));
  for (std::int64_t i = 0; i < ni; ++i) {
    const std::int64_t target = i % targets;
    const double ratio = double(FarErrors::kFirst + target / kDirections) / FarErrors::kRatios;
    for (int axis = 0; axis < axes; ++axis)
      xi[std::size_t(axis * ni + i)] = radius / ratio * towards[std::size_t(target % kDirections)][std::size_t(axis)];
    const std::int64_t particle =
        kernels_.factors > 0 ? target % (std::int64_t(factors_.size()) / kernels_.factors) : 0;
    for (int k = 0; k < kernels_.factors; ++k)
      fi[std::size_t(k * ni + i)] = factors_[std::size_t(particle * kernels_.factors + k)];
  }
  std::vector<MadeArray> made{{kernels_.position_of_i(), column(xi, ni)},
                              {kernels_.position_of_j(), column(xj, nj)},
                              {"nbcc_weights_j", column(wj, nj)},
                              {"nbcc_sums", column(sums, ni)}};
  if (!kernels_.both_sides && kernels_.factors > 0) made.push_back({"nbcc_factors_i", column(fi, ni)});
  ListArrays lists;
  lists.groups = lists.ranges = 2 * kDraws;
  lists.i_first = i_first.data(), lists.range_first = range_first.data();
  lists.j_begin = begin.data(), lists.j_end = end.data();
  sum_->set_lists(lists);
  SumRequest params;
  params.params = params_;
  SumRequest request = sum_->bind(params, made);
  request.ni = request.i_count = ni, request.nj = nj;
  sum_->run(request);
  sum_->wait(nullptr);

  FarErrors errors;
  errors.of_output.resize(std::size_t(outputs_));
  std::vector<std::array<double, FarErrors::kRatios>> terms(std::size_t(outputs_), {0.0});  // rms
  for (int k = FarErrors::kFirst; k < FarErrors::kRatios; ++k)
    for (const Group& group : groups_) {
      double error = 0, term = 0;
      for (const int sum : group.sums)
        for (int draw = 0; draw < kDraws; ++draw)
          for (int d = 0; d < kDirections; ++d) {
            const std::int64_t i = sum * ni + 2 * draw * targets + (k - FarErrors::kFirst) * kDirections + d;
            const double exact = sums[std::size_t(i)], interpolated = sums[std::size_t(i + targets)];
            error += (interpolated - exact) * (interpolated - exact);
            term += exact * exact;
          }
      double& largest_term = terms[std::size_t(group.output)][std::size_t(k)];
      largest_term = std::max(largest_term, std::sqrt(term));
      FarErrors::One& one = errors.of_output[std::size_t(group.output)][std::size_t(k)];
      const double relative = error == 0 ? 0 : std::sqrt(error / term);
      one.relative = std::isnan(relative) ? infinity() : std::max(one.relative, relative);
      const double absolute = std::sqrt(error / (kDraws * kDirections * kSources)) * typical_factor(group.factor);
      one.absolute = std::isnan(absolute) ? infinity() : std::max(one.absolute, absolute);
    }
  constexpr int kLast = FarErrors::kRatios - 1;
  for (std::size_t output = 0; output < errors.of_output.size(); ++output) {
    double least = infinity();
    for (int k = kLast; k >= FarErrors::kFirst; --k) {
      FarErrors::One& one = errors.of_output[output][std::size_t(k)];
      const double of_power = terms[output][kLast] * std::pow(double(k) / kLast, kSteepPower);
      one.vanishes = one.relative > 2 * least || terms[output][std::size_t(k)] < of_power;
      least = std::min(least, one.relative);
    }
  }
  return errors;
}

}  // namespace nbcc
