// Boundary element kernels against potential theory on the sphere, and the plane's logarithm against the product over
// roots of unity.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <numbers>

#include "tests/support/experiment.h"
#include "tests/support/oracle.h"
#include "tests/support/quadrature.h"
#include "tests/support/tolerance.h"

namespace nbcc::test {
namespace {

constexpr double kPi = std::numbers::pi;
constexpr double kRadius = 1.5;

// Field points inside and outside, far enough for the quadrature (ratio of radii 2) and off every axis.
const std::vector<double> kField{0.1, -0.2, 0.15, 0.3, 0.2, -0.5, 0, 0, 0, 2, -2, 1.5, 0.5, 3, -2};
constexpr std::size_t kInside = 3;

Particles sphere() {
  Particles p;
  p.fields["xi"] = kField;
  p.ni = std::int64_t(kField.size() / 3);
  for (const SpherePoint& point : sphere_points(48)) {
    for (const double n : point.at) {
      p.fields["nj"].push_back(n);
      p.fields["xj"].push_back(kRadius * n);
    }
    p.fields["wj"].push_back(point.weight * kRadius * kRadius);
    ++p.nj;
  }
  return p;
}

double norm(const double* x) { return std::sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]); }

// Legendre polynomial of the cosine with the z axis, times the radial factor inside and outside.
double harmonic(int l, std::size_t point, double inside_factor, double outside_factor) {
  const double* x = &kField[3 * point];
  const double r = norm(x), cosine = r > 0 ? x[2] / r : 0;
  const double radial =
      point < kInside ? inside_factor * std::pow(r / kRadius, l) : outside_factor * std::pow(kRadius / r, l + 1);
  return radial * std::legendre(unsigned(l), cosine);
}

void expect_on_sphere(const std::string& pipeline, const Particles& p, const std::vector<double>& expected) {
  const Oracle oracle(pipeline);
  expect_within(sum(pipeline, p).at("pot"), expected, 1e-11, pipeline);
  for (const nbcc_precision precision : {NBCC_SINGLE, NBCC_MIXED}) {
    expect_within(sum(pipeline, p, {.precision = precision}).at("pot"), expected, oracle.bounds(p, precision).at("pot"),
                  pipeline);
  }
}

TEST(SingleLayer, OfALegendrePolynomialOnASphere) {
  for (int l = 0; l <= 4; ++l) {
    Particles p = sphere();
    for (std::size_t k = 0; k < std::size_t(p.nj); ++k) {
      p.fields["sigmaj"].push_back(std::legendre(unsigned(l), p.fields["nj"][3 * k + 2]));
    }
    std::vector<double> expected;
    const double factor = 4 * kPi * kRadius / (2 * l + 1);
    for (std::size_t i = 0; i < std::size_t(p.ni); ++i) expected.push_back(harmonic(l, i, factor, factor));
    expect_on_sphere("bem_single_layer", p, expected);
  }
}

// The jump of 4 pi is shared as (l + 1) to l between inside and outside; for l = 0 this is Gauss's -4 pi and 0.
TEST(DoubleLayer, OfALegendrePolynomialOnASphere) {
  for (int l = 0; l <= 4; ++l) {
    Particles p = sphere();
    for (std::size_t k = 0; k < std::size_t(p.nj); ++k) {
      p.fields["muj"].push_back(std::legendre(unsigned(l), p.fields["nj"][3 * k + 2]));
    }
    std::vector<double> expected;
    for (std::size_t i = 0; i < std::size_t(p.ni); ++i) {
      expected.push_back(harmonic(l, i, -4 * kPi * (l + 1) / (2 * l + 1), 4 * kPi * l / (2 * l + 1)));
    }
    expect_on_sphere("bem_double_layer", p, expected);
  }
}

TEST(SingleLayer, LeavesOutThePointItself) {
  const Particles p{.ni = 1,
                    .nj = 2,
                    .fields = {{"xi", {1, 0, 0}},
                               {"xj", {1, 0, 0, 1, 0.5, 0}},
                               {"wj", {1, 1}},
                               {"sigmaj", {7, 3}},
                               {"nj", {1, 0, 0, 0, 1, 0}},
                               {"muj", {7, 3}}}};
  EXPECT_NEAR(sum("bem_single_layer", p).at("pot")[0], 6, 1e-14);
  EXPECT_NEAR(sum("bem_double_layer", p).at("pot")[0], -12, 1e-13);
}

constexpr double kStrength = -2.5;

Particles ring_of_sources(int n, double radius, const std::vector<double>& field) {
  Particles p;
  p.fields["xi"] = field;
  p.ni = std::int64_t(field.size() / 2);
  p.nj = n;
  for (int k = 0; k < n; ++k) {
    const double angle = 2 * kPi * k / n;
    p.fields["xj"].insert(p.fields["xj"].end(), {radius * std::cos(angle), radius * std::sin(angle)});
    p.fields["qj"].push_back(kStrength);
  }
  return p;
}

// prod (z - y_k) = z^N - a^N for the N roots y_k of a^N; its logarithmic derivative is the gradient's conjugate.
TEST(LaplaceLog, TheProductOverRootsOfUnity) {
  const int n = 12;
  const double a = 1.25;
  const std::vector<double> field{0.3, -0.4, -0.75, 0.5, 2, 1, -1.5, 2.5};
  const Particles p = ring_of_sources(n, a, field);
  std::vector<double> pot, grad;
  for (std::size_t k = 0; k < field.size(); k += 2) {
    const std::complex<double> z(field[k], field[k + 1]), product = std::pow(z, n) - std::pow(a, n);
    const std::complex<double> slope = double(n) * std::pow(z, n - 1) / product;
    pot.push_back(kStrength * std::log(std::abs(product)));
    grad.insert(grad.end(), {kStrength * slope.real(), -kStrength * slope.imag()});
  }
  const Oracle oracle("laplace_log_2d");
  for (const nbcc_precision precision : {NBCC_SINGLE, NBCC_MIXED, NBCC_DOUBLE}) {
    const Values out = sum("laplace_log_2d", p, {.precision = precision});
    const Values bounds = oracle.bounds(p, precision);
    expect_within(out.at("pot"), pot, bounds.at("pot"), "pot");
    expect_within(out.at("grad"), grad, bounds.at("grad"), "grad");
  }
}

// N equal point vortices on a circle turn as a whole: |u| = Gamma (N - 1) / (4 pi R).
TEST(LaplaceLog, APolygonOfVorticesTurns) {
  const double radius = 2;
  for (const int n : {2, 3, 5, 7}) {
    Particles p = ring_of_sources(n, radius, {});
    p.fields["xi"] = p.fields["xj"];
    p.ni = n;
    const std::vector<double> grad = sum("laplace_log_2d", p).at("grad");
    for (std::size_t i = 0; i < std::size_t(n); ++i) {
      const double speed = std::hypot(grad[2 * i], grad[2 * i + 1]) / (2 * kPi);
      EXPECT_NEAR(speed, std::fabs(kStrength) * (n - 1) / (4 * kPi * radius), 1e-14);
    }
  }
}

}  // namespace
}  // namespace nbcc::test
