// Values of a kernel that decide how its periodic sum is made: decay, symmetry, magnitudes of near sums. Used by
// periodic_tables.cpp and its parts.
#pragma once
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "runtime/far/periodic/periodic_cell.h"
#include "runtime/far/periodic/periodic_kernel.h"

namespace nbcc {

// Evaluates a kernel over vectors of a cell, and counts.
class KernelSampler {
 public:
  // Both must outlive this object.
  KernelSampler(const PeriodicCell& cell, const PeriodicKernel& kernel);

  const PeriodicCell& cell() const { return cell_; }
  int components() const { return kernel_.components(); }
  int groups() const { return groups_; }
  int group(int component) const { return kernel_.groups[std::size_t(component)]; }
  // For messages: "output 'pot'", "this formula".
  std::string formula(int component) const {
    return kernel_.names.empty() ? "this formula" : "output '" + kernel_.names[std::size_t(component)] + "'";
  }
  std::int64_t evaluations() const { return evaluations_; }

  // sums[component][k] = sum over images of K(scale * vector(points[k] + image)).
  std::vector<double> sums(const std::vector<CellVector>& points, const std::vector<CellVector>& images, double scale);
  // [component][k] = K(displacements[k]).
  std::vector<double> values(const std::vector<CellVector>& displacements);
  // [group][k]: the sum over near images of the magnitude of a group's components at coordinates points[k].
  std::vector<double> near_magnitudes(const std::vector<CellVector>& points);

 private:
  const PeriodicCell& cell_;
  const PeriodicKernel& kernel_;
  int groups_ = 0;
  std::int64_t evaluations_ = 0;
};

// [group][k]: the magnitudes of groups of components, from values[component][k].
std::vector<double> group_magnitudes(const KernelSampler& sampler, const std::vector<double>& values);

// Random numbers that are the same on every platform.
class UniformSource {
 public:
  explicit UniformSource(std::uint64_t seed) : engine_(seed) {}
  double between(double low, double high) { return low + (high - low) * (double(engine_() >> 11) * 0x1p-53); }
  // Coordinates of the cell's rows from -bound to bound.
  CellVector point(const PeriodicCell& cell, double bound);

 private:
  std::mt19937_64 engine_;
};

// Decays at one distance and at three times the distance are equal.
constexpr double kSettled = 0.02;

struct KernelFacts {
  std::vector<std::vector<double>> sizes;  // [level][component]: rms of K at the distances of `decays`
  // [level][component]: p of K ~ r^-p between distances of 3^level and 3^(level + 1) longest periods along the periodic
  // directions, the displacement along open ones being fixed; infinite where K is 0.
  std::vector<std::vector<double>> decays;
  // The same with displacements along open directions that grow by 3, too.
  std::vector<std::vector<double>> scaled_decays;
  std::vector<double> decay;  // [component]: of `decays` at the largest distances
  // [component]: the highest degree of those polynomials in the displacement whose sum over images does not converge
  // absolutely; -1: none.
  std::vector<int> degree;
  std::vector<char> even, odd;      // [component]
  std::vector<double> near_scales;  // [group]: the median sum of magnitudes over the near images
};
// Throws UsageError if K grows faster than r or does not become a power of the distance.
KernelFacts measure_kernel(KernelSampler& sampler);

// [component]: the decay of K towards 0, at distances of 3^-12 of the shortest row.
std::vector<double> decay_inward(KernelSampler& sampler);

}  // namespace nbcc
