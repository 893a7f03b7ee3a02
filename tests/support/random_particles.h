// Particles for any pipeline, made from its field list: what a field means is read off its name's stem (x, v, m, h,
// ...).
//
// Positions lie on a grid of 1/1024 in the unit box. Differences, squared distances and comparisons with a cutoff are
// then exact in single precision, so that no pair is inside the cutoff for the oracle and outside for the device.
// All other numbers are multiples of 2^-12, which single precision holds as well.
#pragma once
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "compiler/ir/ir.h"
#include "tests/support/experiment.h"

namespace nbcc::test {

class Generator {
 public:
  explicit Generator(std::uint64_t seed) : engine_(seed) {}

  double on_grid(double low, double high, double step) {
    const auto steps = std::int64_t((high - low) / step);
    return low + step * double(engine_() % std::uint64_t(steps));
  }

 private:
  std::mt19937_64 engine_;
};

struct Range {
  double low, high, step;
};

inline Range range_of(const std::string& field) {
  constexpr double fine = 1.0 / 4096, grid = 1.0 / 1024;
  std::string stem = field;
  if (stem.size() > 1 && (stem.back() == 'i' || stem.back() == 'j')) stem.pop_back();
  if (stem == "x") return {0, 1, grid};
  if (stem == "h" || stem == "born") return {0.125, 0.25, grid};
  if (stem == "radius") return {0.0625, 0.125, grid};
  if (stem == "scale") return {0.5, 1, fine};
  if (stem == "m" || stem == "rho" || stem == "pres" || stem == "c" || stem == "omega") return {0.5, 1.5, fine};
  if (stem == "type" || stem == "group") return {0, 2, 1};
  return {-1, 1, fine};  // velocities, charges, normals, weights
}

// Parameters with which the unit box is a sensible place; what is not named here keeps its default.
inline Values params_for(const std::string& pipeline) {
  // Half a length is no difference of two positions: which image is the nearest is no question of rounding.
  const std::vector<double> box(3, 1 + 1.0 / 2048);
  if (pipeline.starts_with("lennard_jones")) {
    return {{"sigma", {0.125}}, {"rs", {0.25}}, {"rc", {0.375}}, {"box", box}, {"shift", {1}}};
  }
  if (pipeline == "yukawa") return {{"kappa", {4}}, {"rc", {0.375}}, {"box", box}};
  if (pipeline == "buckingham") return {{"a", {100}}, {"rho", {0.0625}}, {"c", {1e-4}}, {"rc", {0.375}}, {"box", box}};
  if (pipeline == "born_mayer") {
    return {{"a", {1, 0.5, 0.5, 0.25}},
            {"rho", {0.0625, 0.03125, 0.03125, 0.0625}},
            {"sigma", {0.125, 0.25, 0.25, 0.1875}},
            {"c", {1e-4, 2e-4, 2e-4, 4e-4}},
            {"d", {-1e-6, 1e-6, 1e-6, -2e-6}},
            {"rc", {0.375}},
            {"box", box}};
  }
  if (pipeline == "coulomb_reaction_field") return {{"rc", {0.375}}, {"box", box}};
  if (pipeline == "ewald_real") return {{"alpha", {6}}, {"rc", {0.375}}, {"box", box}};
  if (pipeline == "hologram") return {{"lambda", {0.5}}, {"z0", {0.5}}};
  if (pipeline == "gaussian_rbf") return {{"sigma", {0.25}}};
  if (pipeline == "matern") return {{"ell", {0.25}}};
  // No distance of two positions on the grid is a multiple of dr.
  if (pipeline == "radial_distribution") return {{"rc", {0.375}}, {"dr", {0.0077}}, {"box", box}};
  if (pipeline == "helmholtz") return {{"k", {4, 0.5}}};
  if (pipeline == "screened_coulomb") return {{"kappa", {4}}};
  // Discs: rods in places at random would be inside each other.
  if (pipeline == "gay_berne") {
    return {{"sigma0", {0.125}}, {"kappa", {0.375}}, {"kappa_prime", {0.25}}, {"rc", {0.375}}, {"box", box}};
  }
  if (pipeline == "born_radii" || pipeline == "generalised_born_forces") return {{"offset", {1.0 / 128}}};
  if (pipeline == "dpd") return {{"rc", {0.375}}, {"box", box}};
  return {};
}

// A pipeline without i or j inputs of some kind still gets its counts.
inline Particles random_particles(const Pipeline& pipeline, std::int64_t ni, std::int64_t nj, std::uint64_t seed) {
  Generator generator(seed);
  Particles particles;
  particles.ni = ni;
  particles.nj = nj;
  const Values params = params_for(pipeline.name);
  for (const Field& field : pipeline.fields) {
    if (field.role == Role::Param) {
      const auto given = params.find(field.name);
      particles.params[field.name] = given == params.end() ? field.defaults : given->second;
    }
    if (field.role != Role::InputI && field.role != Role::InputJ) continue;
    const std::int64_t count = (field.role == Role::InputI ? ni : nj) * field.components();
    std::vector<double>& values = particles.fields[field.name];
    // The dialect of numbered fields has one array a side, whose components are no distances but to themselves.
    const Range range = pipeline.dialect == Dialect::Cunbody ? Range{0.0625, 1, 1.0 / 1024} : range_of(field.name);
    for (std::int64_t k = 0; k < count; ++k) values.push_back(generator.on_grid(range.low, range.high, range.step));
  }
  return particles;
}

// One set on both sides: what an i-field shares with a j-field, i takes from j, so that every i meets itself.
inline Particles random_set(const Pipeline& pipeline, std::int64_t n, std::uint64_t seed) {
  Particles particles = random_particles(pipeline, n, n, seed);
  for (auto& [name, values] : particles.fields) {
    if (!name.ends_with('i')) continue;
    const auto partner = particles.fields.find(name.substr(0, name.size() - 1) + "j");
    if (partner != particles.fields.end()) values = partner->second;
  }
  return particles;
}

}  // namespace nbcc::test
