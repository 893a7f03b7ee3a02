// The constant of F, where the sum over images does not converge: with it near + far images have the mean 0 over the
// cell, as if the mode k = 0 were left out of a Fourier series:
//
//     constant = -(mean of F over |d_a| <= 1/2 + (1 / volume) * integral of K over all near cells)
//
// The integral is that of shells towards 0, each between a block and the block of a third of its size, until they add
// nothing or become a geometric series.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>

#include "runtime/far/periodic/far_series.h"
#include "runtime/far/periodic/periodic_tables.h"

namespace nbcc {
namespace {

struct QuadratureRule {
  std::vector<double> points, weights;  // on [-1, 1], symmetric
};

// Gauss-Legendre on each of `panels` equal parts of [-1, 1].
QuadratureRule gauss_panels(int order, int panels) {
  QuadratureRule rule;
  for (int panel = 0; panel < panels; ++panel)
    for (int k = 0; k < order; ++k) {
      double x = -std::cos(std::numbers::pi * (k + 0.75) / (order + 0.5)), slope = 1;
      for (int step = 0; step < 10; ++step) {  // Newton's iteration
        double before = 0, now = 1;            // Legendre polynomials
        for (int m = 0; m < order; ++m) {
          const double next = ((2 * m + 1) * x * now - m * before) / (m + 1);
          before = now;
          now = next;
        }
        slope = order * (x * now - before) / (x * x - 1);
        x -= now / slope;
      }
      rule.points.push_back((2 * panel + 1 + x) / panels - 1);
      rule.weights.push_back(2 / ((1 - x * x) * slope * slope) / panels);
    }
  return rule;
}

// Half widths of the block of near cells, in coordinates; long sides are divided into panels as long as the shortest.
struct NearBlock {
  CellVector half{};
  std::array<int, 3> panels{1, 1, 1};
};

NearBlock near_block(const PeriodicCell& cell) {
  NearBlock block;
  CellVector sides{};
  double shortest = INFINITY;
  for (std::size_t row = 0; row < std::size_t(cell.axes); ++row) {
    block.half[row] = cell.near_reach[row] + 0.5;
    sides[row] = block.half[row] * std::hypot(cell.rows[row][0], cell.rows[row][1], cell.rows[row][2]);
    shortest = std::min(shortest, sides[row]);
  }
  for (std::size_t row = 0; row < std::size_t(cell.axes); ++row)
    block.panels[row] = int(std::ceil(sides[row] / shortest - 0.2));
  return block;
}

// The shell between the block and the block of a third of its size, as 26 parts (8 and 2 in fewer dimensions) that are
// copies of the inner block.
struct ShellRule {
  std::vector<CellVector> points, parts;  // coordinates in the inner block; of the centres of parts
  std::vector<double> weights;            // their sum is the inner block's volume in coordinates
};

// half_only: of each two opposite points one, with the weight of both; for even K.
ShellRule shell_rule(const PeriodicCell& cell, const NearBlock& block, int order, bool half_only) {
  std::array<QuadratureRule, 3> rules;
  CellVector inner{};
  for (std::size_t row = 0; row < 3; ++row) {
    const bool exists = int(row) < cell.axes;
    rules[row] = exists ? gauss_panels(order, block.panels[row]) : QuadratureRule{{0}, {1}};
    inner[row] = exists ? block.half[row] / 3 : 1;
  }
  ShellRule rule;
  for (std::size_t a = 0; a < rules[0].points.size(); ++a)
    for (std::size_t b = 0; b < rules[1].points.size(); ++b)
      for (std::size_t c = 0; c < rules[2].points.size(); ++c) {
        rule.points.push_back(
            {rules[0].points[a] * inner[0], rules[1].points[b] * inner[1], rules[2].points[c] * inner[2]});
        rule.weights.push_back(rules[0].weights[a] * inner[0] * rules[1].weights[b] * inner[1] * rules[2].weights[c] *
                               inner[2]);
      }
  if (half_only) {
    const std::size_t half = (rule.points.size() + 1) / 2;
    for (std::size_t k = 0; 2 * k + 1 < rule.points.size(); ++k) rule.weights[k] *= 2;
    rule.points.resize(half);
    rule.weights.resize(half);
  }
  std::array<int, 3> reach{};
  for (std::size_t row = 0; row < std::size_t(cell.axes); ++row) reach[row] = 1;
  for (int a = -reach[0]; a <= reach[0]; ++a)
    for (int b = -reach[1]; b <= reach[1]; ++b)
      for (int c = -reach[2]; c <= reach[2]; ++c)
        if (a != 0 || b != 0 || c != 0) rule.parts.push_back({2 * a * inner[0], 2 * b * inner[1], 2 * c * inner[2]});
  return rule;
}

// The integral over the faces of the block of (y . normal) K(y) and the same with ln |y|, over the cell's volume, and
// of (y . normal) |K(y)|.
struct FaceIntegrals {
  std::vector<double> mean, log, magnitude;  // [component]
};

FaceIntegrals integrate_faces(KernelSampler& sampler, const NearBlock& block, double scale) {
  const PeriodicCell& cell = sampler.cell();
  std::vector<CellVector> displacements;
  std::vector<double> weights;
  for (std::size_t face = 0; face < std::size_t(cell.axes); ++face)
    for (const double sign : {-1.0, 1.0}) {
      std::array<QuadratureRule, 3> rules;
      double area = scale * block.half[face];  // (y . normal) dS in coordinates
      for (std::size_t row = 0; row < 3; ++row) {
        const bool varies = row != face && int(row) < cell.axes;
        rules[row] = varies ? gauss_panels(24, block.panels[row]) : QuadratureRule{{row == face ? sign : 0}, {1}};
        if (varies) area *= scale * block.half[row];
      }
      for (std::size_t a = 0; a < rules[0].points.size(); ++a)
        for (std::size_t b = 0; b < rules[1].points.size(); ++b)
          for (std::size_t c = 0; c < rules[2].points.size(); ++c) {
            displacements.push_back(
                cell.vector({scale * block.half[0] * rules[0].points[a], scale * block.half[1] * rules[1].points[b],
                             scale * block.half[2] * rules[2].points[c]}));
            weights.push_back(area * rules[0].weights[a] * rules[1].weights[b] * rules[2].weights[c]);
          }
    }
  const std::vector<double> values = sampler.values(displacements);
  const double unit = std::hypot(displacements[0][0], displacements[0][1], displacements[0][2]);
  FaceIntegrals result;
  for (int component = 0; component < sampler.components(); ++component) {
    double mean = 0, log = 0, magnitude = 0;
    for (std::size_t k = 0; k < displacements.size(); ++k) {
      const CellVector& y = displacements[k];
      const double term = weights[k] * values[std::size_t(component) * displacements.size() + k];
      mean += term;
      magnitude += std::fabs(term);
      log += term * std::log(std::hypot(y[0], y[1], y[2]) / unit);
    }
    result.mean.push_back(mean);
    result.log.push_back(log);
    result.magnitude.push_back(magnitude);
  }
  return result;
}

bool has_mean_over_directions(const FaceIntegrals& faces, std::size_t c) {
  return std::fabs(faces.mean[c]) > 1e-8 * faces.magnitude[c];
}

// A sum of shells towards 0 of one component.
struct ShellSum {
  double total = 0, last = 0, ratio = 0;
  int shells = 0;
  bool is_done = false;

  // Adds a shell; it is the last if what follows is known within `allowed`.
  void add(double shell, double allowed) {
    if (is_done) return;
    total += shell;
    const double now = last != 0 ? shell / last : 0, rest = std::fabs(now) < 1 ? shell * now / (1 - now) : INFINITY;
    // The rest is a geometric series, whose error comes from the ratio.
    const double error = std::fabs(rest) + std::fabs(shell);
    if (shells >= 2 && error * std::fabs(now - ratio) / std::pow(1 - std::min(now, 0.999), 2) <= allowed &&
        now < 0.999) {
      total += rest;
      is_done = true;
    } else if (shells >= 1 && shell == 0) {
      is_done = true;
    }
    last = shell;
    ratio = now;
    ++shells;
  }
};

constexpr int kShells = 60, kCriticalShells = 13;

// The integral of K over the near block / the cell's volume, by component that is `wanted`; nothing: it does not exist.
// The integral of a kernel that grows like r^-axes at 0 (`critical`) leaves out a small sphere.
std::vector<std::optional<double>> block_integrals(KernelSampler& sampler, const std::vector<char>& wanted,
                                                   const std::vector<char>& critical, bool is_even,
                                                   const std::vector<double>& allowed, int order) {
  const NearBlock block = near_block(sampler.cell());
  const ShellRule rule = shell_rule(sampler.cell(), block, order, is_even);
  std::vector<ShellSum> sums(wanted.size());
  std::vector<double> without_series(wanted.size());
  const bool any_critical = std::count(critical.begin(), critical.end(), 1) > 0;
  for (int shell = 0; shell < kShells; ++shell) {
    bool is_done = !any_critical || shell >= kCriticalShells;
    for (std::size_t c = 0; c < wanted.size(); ++c) is_done = is_done && (!wanted[c] || critical[c] || sums[c].is_done);
    if (is_done) break;
    const double scale = std::pow(3.0, -shell), volume = std::pow(scale, sampler.cell().axes);
    const std::vector<double> values = sampler.sums(rule.points, rule.parts, scale);
    for (std::size_t c = 0; c < wanted.size(); ++c) {
      double integral = 0;
      for (std::size_t k = 0; k < rule.points.size(); ++k)
        integral += rule.weights[k] * values[c * rule.points.size() + k];
      sums[c].add(volume * integral, allowed[c]);
      if (shell < kCriticalShells) without_series[c] += volume * integral;
    }
  }
  FaceIntegrals faces;
  if (any_critical) faces = integrate_faces(sampler, block, std::pow(3.0, -kCriticalShells));
  std::vector<std::optional<double>> result(wanted.size());
  for (std::size_t c = 0; c < wanted.size(); ++c)
    if (critical[c]) {
      if (!has_mean_over_directions(faces, c)) result[c] = without_series[c] + faces.log[c];
    } else if (wanted[c] && sums[c].is_done) {
      result[c] = sums[c].total;
    }
  return result;
}

// The mean of each component over coordinates from -1/2 to 1/2.
std::vector<double> mean_over_cell(const ChebyshevSeries& series) {
  std::array<SmallMatrix, 3> means;
  for (std::size_t row = 0; row < 3; ++row) {
    const int order = series.orders[row];
    means[row] = SmallMatrix(1, order);
    std::vector<double> at_half(std::size_t(order) + 1);
    chebyshev_polynomials(0.5, order + 1, at_half.data());
    means[row].at(0, 0) = 1;
    for (int k = 2; k < order; k += 2)
      means[row].at(0, k) = at_half[std::size_t(k) + 1] / (k + 1) - at_half[std::size_t(k) - 1] / (k - 1);
  }
  return series.along(means).values;
}

// [component]: which integrals over the near block are wanted for a constant; which of these kernels grow like r^-axes
// at 0.
struct WantedIntegrals {
  std::vector<char> wanted, critical;
  std::vector<double> inward;  // decay_inward(); empty: no integral is wanted
  bool any() const { return !inward.empty(); }
};

// Sets the conventions that do not depend on integrals.
WantedIntegrals set_conventions(KernelSampler& sampler, const KernelFacts& facts,
                                std::vector<PeriodicComponent>& components) {
  const PeriodicCell& cell = sampler.cell();
  const bool is_open = cell.periodic < cell.axes;
  WantedIntegrals found{std::vector<char>(components.size()), std::vector<char>(components.size()), {}};
  for (std::size_t c = 0; c < components.size(); ++c) {
    PeriodicComponent& component = components[c];
    component.decay = facts.decay[c];
    component.degree = facts.degree[c];
    component.is_even = facts.even[c] != 0;
    component.is_odd = facts.odd[c] != 0;
    if (facts.degree[c] < 0)
      component.convention = PeriodicConvention::Converges;
    else if (is_open)
      component.convention = component.is_odd ? PeriodicConvention::OppositePairs : PeriodicConvention::UpToConstant;
    else
      component.convention = PeriodicConvention::MeanZero;
    if (component.convention != PeriodicConvention::MeanZero || component.is_odd) continue;
    if (found.inward.empty()) found.inward = decay_inward(sampler);
    found.wanted[c] = 1;
    found.critical[c] = std::fabs(found.inward[c] - cell.axes) < 0.05;
  }
  return found;
}

}  // namespace

std::vector<PeriodicComponent> periodic_components(const PeriodicCell& cell, const PeriodicKernel& kernel) {
  KernelSampler sampler(cell, kernel);
  std::vector<PeriodicComponent> components(std::size_t(sampler.components()));
  const WantedIntegrals integrals = set_conventions(sampler, measure_kernel(sampler), components);
  if (!integrals.any()) return components;
  const FaceIntegrals faces = integrate_faces(sampler, near_block(cell), std::pow(3.0, -kCriticalShells));
  for (std::size_t c = 0; c < components.size(); ++c) {
    if (!integrals.wanted[c]) continue;
    if (integrals.critical[c] && !has_mean_over_directions(faces, c))
      components[c].convention = PeriodicConvention::GrowingSpheres;
    else if (integrals.critical[c] || integrals.inward[c] > cell.axes)
      components[c].convention = PeriodicConvention::NeutralOnly;
  }
  return components;
}

void set_constants(KernelSampler& sampler, const KernelFacts& facts, const FarSeries& series, double tolerance,
                   std::vector<PeriodicComponent>& components) {
  const WantedIntegrals of = set_conventions(sampler, facts, components);
  std::vector<double> allowed;
  bool is_even = true;
  for (std::size_t c = 0; c < components.size(); ++c) {
    allowed.push_back(1e-3 * tolerance * facts.near_scales[std::size_t(sampler.group(int(c)))]);
    components[c].constant = series.constants[c];
    is_even = is_even && (!of.wanted[c] || components[c].is_even);
  }
  if (!of.any()) return;
  // Points at a face of a part are as far from 0 as half of the part's side: Gauss quadrature gains a factor of
  // (1 + sqrt 2)^2 with each point.
  const int order = int(std::ceil(std::log(100 / tolerance) / 1.76));
  const std::vector<std::optional<double>> integrals =
      block_integrals(sampler, of.wanted, of.critical, is_even, allowed, order);
  const std::vector<double> means = mean_over_cell(series.far);
  for (std::size_t c = 0; c < components.size(); ++c) {
    if (!of.wanted[c]) continue;
    if (!integrals[c])
      components[c].convention = PeriodicConvention::NeutralOnly;
    else
      components[c].constant = -(means[c] + *integrals[c]);
    if (integrals[c] && of.critical[c]) components[c].convention = PeriodicConvention::GrowingSpheres;
  }
}

}  // namespace nbcc
