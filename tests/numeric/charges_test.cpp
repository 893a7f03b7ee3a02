// Charges without a cutoff: loops that spell the sums out, the field as the slope of the potential, charges that
// coincide.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <functional>
#include <string>
#include <vector>

#include "tests/support/experiment.h"
#include "tests/support/oracle.h"
#include "tests/support/random_particles.h"
#include "tests/support/tolerance.h"

namespace nbcc::test {
namespace {

constexpr std::int64_t kPoints = 30, kCharges = 200;

// potential(r) of a unit charge and -d(potential)/dr. The loop adds less than 1000 roundings to the kernels' own.
void expect_charges(const std::string& pipeline, const Particles& p, const std::function<double(double)>& potential,
                    const std::function<double(double)>& force) {
  std::vector<double> pot, field, pot_slack, field_slack;
  for (std::size_t i = 0; i < std::size_t(p.ni); ++i) {
    double total = 0, size = 0, size_of_field = 0;
    std::vector<double> vector(3);
    for (std::size_t j = 0; j < std::size_t(p.nj); ++j) {
      std::vector<double> d(3);
      for (std::size_t c = 0; c < 3; ++c) d[c] = p.fields.at("xi")[3 * i + c] - p.fields.at("xj")[3 * j + c];
      const double r = std::hypot(d[0], d[1], d[2]), q = p.fields.at("qj")[j];
      if (r == 0) continue;
      total += q * potential(r);
      size += std::fabs(q * potential(r));
      size_of_field += std::fabs(q * force(r));
      for (std::size_t c = 0; c < 3; ++c) vector[c] += q * force(r) * d[c] / r;
    }
    pot.push_back(total);
    field.insert(field.end(), vector.begin(), vector.end());
    pot_slack.push_back(kRoundings * epsilon(NBCC_DOUBLE) * size);
    field_slack.insert(field_slack.end(), 3, kRoundings * epsilon(NBCC_DOUBLE) * size_of_field);
  }
  const Oracle oracle(pipeline);
  for (const nbcc_precision precision : {NBCC_SINGLE, NBCC_MIXED, NBCC_DOUBLE}) {
    const Values out = sum(pipeline, p, {.precision = precision});
    Values bounds = oracle.bounds(p, precision);
    for (std::size_t k = 0; k < pot.size(); ++k) bounds["pot"][k] += pot_slack[k];
    for (std::size_t k = 0; k < field.size(); ++k) bounds["field"][k] += field_slack[k];
    expect_within(out.at("pot"), pot, bounds.at("pot"), pipeline + ": pot");
    expect_within(out.at("field"), field, bounds.at("field"), pipeline + ": field");
  }
}

Particles charges_of(const std::string& pipeline) {
  return random_particles(Oracle(pipeline).pipeline(), kPoints, kCharges, /*seed=*/17);
}

TEST(Coulomb, AgreesWithALoop) {
  Particles p = charges_of("coulomb");
  p.params["ke"] = {1};
  for (const double eps2 : {0.0, 0.0625}) {
    p.params["eps2"] = {eps2};
    const auto soft = [eps2](double r) { return std::sqrt(r * r + eps2); };
    expect_charges(
        "coulomb", p, [=](double r) { return 1 / soft(r); }, [=](double r) { return r / std::pow(soft(r), 3); });
  }
}

TEST(ScreenedCoulomb, AgreesWithALoop) {
  Particles p = charges_of("screened_coulomb");
  p.params["ke"] = {1};
  for (const double kappa : {0.0, 1.0, 8.0}) {
    p.params["kappa"] = {kappa};
    expect_charges(
        "screened_coulomb", p, [=](double r) { return std::exp(-kappa * r) / r; },
        [=](double r) { return std::exp(-kappa * r) * (1 + kappa * r) / (r * r); });
  }
}

TEST(Helmholtz, AgreesWithALoop) {
  using Complex = std::complex<double>;
  Particles p = charges_of("helmholtz");
  const Oracle oracle("helmholtz");
  for (const Complex k : {Complex(0), Complex(6, 0), Complex(3, 1.5), Complex(-2, 0.25)}) {
    p.params["k"] = {k.real(), k.imag()};
    std::vector<double> phi, dphi;
    double size = 0;
    for (std::size_t i = 0; i < std::size_t(p.ni); ++i) {
      Complex wave_of_i = 0;
      std::vector<Complex> gradient(3);
      for (std::size_t j = 0; j < std::size_t(p.nj); ++j) {
        std::vector<double> d(3);
        for (std::size_t c = 0; c < 3; ++c) d[c] = p.fields.at("xi")[3 * i + c] - p.fields.at("xj")[3 * j + c];
        const double r = std::hypot(d[0], d[1], d[2]);
        if (r == 0) continue;
        const Complex q(p.fields.at("qj")[2 * j], p.fields.at("qj")[2 * j + 1]);
        const Complex wave = q * std::exp(Complex(0, 1) * k * r) / r;
        wave_of_i += wave;
        for (std::size_t c = 0; c < 3; ++c) gradient[c] += wave * (Complex(0, 1) * k * r - 1.0) / (r * r) * d[c];
        size += std::abs(wave) * (1 + 1 / r);
      }
      phi.insert(phi.end(), {wave_of_i.real(), wave_of_i.imag()});
      for (const Complex z : gradient) dphi.insert(dphi.end(), {z.real(), z.imag()});
    }
    for (const nbcc_precision precision : {NBCC_SINGLE, NBCC_MIXED, NBCC_DOUBLE}) {
      const Values out = sum("helmholtz", p, {.precision = precision});
      Values bounds = oracle.bounds(p, precision);
      for (auto& [name, bound] : bounds)
        for (double& one : bound) one += kRoundings * epsilon(NBCC_DOUBLE) * size;
      expect_within(out.at("phi"), phi, bounds.at("phi"), "helmholtz: phi");
      expect_within(out.at("dphi"), dphi, bounds.at("dphi"), "helmholtz: dphi");
    }
  }
}

// Two charges of 2 and 3 at a distance of 2, and one at the field point itself.
TEST(Coulomb, ExcludesAChargeAtTheFieldPoint) {
  const Particles p{.ni = 1,
                    .nj = 2,
                    .fields = {{"xi", {1, 0, 0}}, {"xj", {1, 0, 0, 1, 2, 0}}, {"qj", {7, 3}}},
                    .params = {{"ke", {2}}}};
  for (const char* pipeline : {"coulomb", "screened_coulomb"}) {
    Particles charges = p;
    charges.params[pipeline == std::string("coulomb") ? "eps2" : "kappa"] = {0};
    const Values out = sum(pipeline, charges);
    EXPECT_NEAR(out.at("pot")[0], 3, 1e-14) << pipeline;
    expect_within(out.at("field"), {0, -1.5, 0}, 1e-14, pipeline);
  }
}

// The field is minus the slope of the potential, by differences of the fourth order: what they miss is of the order of
// (h / r)^4, 1e-12 at distances of a tenth.
TEST(ScreenedCoulomb, FieldIsTheSlopeOfThePotential) {
  const double h = 1e-4;
  for (const char* pipeline : {"coulomb", "screened_coulomb"}) {
    const auto potential = [&](double y) {
      return sum(pipeline, {.ni = 1, .nj = 1, .fields = {{"xi", {0.5, y, 0}}, {"xj", {0, 0, 0}}, {"qj", {1}}}})
          .at("pot")[0];
    };
    const Values out =
        sum(pipeline, {.ni = 1, .nj = 1, .fields = {{"xi", {0.5, 0.75, 0}}, {"xj", {0, 0, 0}}, {"qj", {1}}}});
    const double slope =
        (8 * (potential(0.75 + h) - potential(0.75 - h)) - potential(0.75 + 2 * h) + potential(0.75 - 2 * h)) /
        (12 * h);
    EXPECT_NEAR(out.at("field")[1], -slope, 1e-10) << pipeline;
  }
}

}  // namespace
}  // namespace nbcc::test
