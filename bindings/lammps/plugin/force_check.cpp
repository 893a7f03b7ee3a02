// Pairs of atoms -> an error if the force of the formula is not minus the derivative of its energy. Part of
// Interaction. Entry point: check_forces(). Reads no neighbour list: the caller chooses the pairs.
//
// A test is a pair at one distance. It becomes 25 systems of two atoms, in which each acts on the other, and one sum
// has the energies of all systems:
//
//   system 0        o         o            the force on both atoms
//   systems 1..24   o      -h o +h         one atom moved along one axis by h, -h, h/2 or -h/2
//
// The differences D(h) = (E(h) - E(-h)) / 2h give (4 D(h/2) - D(h)) / 3, the derivative to fourth order in h
// (Richardson 1911). Where the energy has a jump or a kink within h, D(h/2) and D(h) differ, and the test allows for
// that difference.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <vector>

#include "bindings/lammps/plugin/interaction.h"

namespace nbcc_lammps {
namespace {

using Vector = std::array<double, 3>;

constexpr double kStep = 1e-4;            // h, relative to the distance of the pair
constexpr double kForceTolerance = 1e-4;  // of the force; errors of rounding and of the derivative are below 1e-7
constexpr std::size_t kSystems = 25;
constexpr std::array<double, 4> kMoves = {1, -1, 0.5, -0.5};  // in units of h
// Positions between the distance of the pair (0) and the cutoff (1): fractions at which a formula hardly has a limit.
constexpr std::array<double, 5> kDistances = {0, 0.1931, 0.4027, 0.6073, 0.8117};
constexpr std::size_t kTestsPerSum = 256;

double length(const Vector& v) { return std::sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]); }
double distance(const Vector& a, const Vector& b) { return length({a[0] - b[0], a[1] - b[1], a[2] - b[2]}); }
Vector times(double factor, const Vector& v) { return {factor * v[0], factor * v[1], factor * v[2]}; }

std::string shown(const Vector& v) {
  std::array<char, 120> text{};
  std::snprintf(text.data(), text.size(), "(%.7g, %.7g, %.7g)", v[0], v[1], v[2]);
  return text.data();
}

// A sentence that names the usual mistake by which `got` differs from `expected`; "" if no usual mistake does.
std::string mistake_in(const Vector& expected, const Vector& got, const std::string& force, const std::string& energy) {
  const auto equal = [](const Vector& a, const Vector& b) {
    return distance(a, b) <= 1e-3 * std::max(length(a), length(b));
  };
  const std::string sign =
      "'" + force + "' has the wrong sign: it is the force on i, which for dx = xj - xi is +grad(u, dx)";
  const std::string twice =
      "'" + energy + "' lacks a factor of 0.5: a pair is seen from both of its atoms, and each adds half of its energy";
  if (equal(expected, times(-1, got))) return ": " + sign;
  if (equal(expected, times(2, got))) return ": " + twice;
  if (equal(expected, times(-2, got))) return ": " + sign + "; " + twice;
  if (equal(expected, times(0.5, got)))
    return ": '" + energy +
           "' is half of what it should be: the two atoms of a pair together add the energy of the pair";
  return "";
}

}  // namespace

// The tests of one sum: their systems one after the other, with two atoms each.
struct Interaction::ForceTests {
  std::vector<AtomPair> pairs;    // [test]
  std::vector<double> distances;  // [test]
  std::vector<double> x;          // [atom][3]
  std::vector<double> force, energy;
  double step(std::size_t test) const { return kStep * distances[test]; }
  // The sum of both energies of a system.
  double energy_of(std::size_t test, std::size_t system) const {
    const std::size_t atom = 2 * (kSystems * test + system);
    return energy[atom] + energy[atom + 1];
  }
  Vector force_on(std::size_t test, std::size_t atom) const {
    const double* const f = force.data() + 3 * (2 * kSystems * test + atom);
    return {f[0], f[1], f[2]};
  }
};

// Puts the second atom of each pair at its distance from the first, and moves one atom of each system but the first.
void Interaction::place_tests(ForceTests& tests) const {
  const Quantity& positions = quantities_.at("x");
  tests.x.resize(tests.pairs.size() * kSystems * 6);
  double* at = tests.x.data();
  for (std::size_t test = 0; test < tests.pairs.size(); ++test) {
    Vector a{}, b{};
    const auto row = [&](std::int64_t atom) {
      return static_cast<const std::byte*>(positions.data) + atom * positions.stride;
    };
    std::memcpy(a.data(), row(tests.pairs[test].i), sizeof a);
    std::memcpy(b.data(), row(tests.pairs[test].j), sizeof b);
    const double stretch = tests.distances[test] / distance(a, b);
    for (std::size_t c = 0; c < 3; ++c) b[c] = a[c] + stretch * (b[c] - a[c]);
    for (std::size_t system = 0; system < kSystems; ++system) {
      std::copy(a.begin(), a.end(), at);
      std::copy(b.begin(), b.end(), at + 3);
      if (system > 0) at[(system - 1) / kMoves.size()] += kMoves[(system - 1) % kMoves.size()] * tests.step(test);
      at += 6;
    }
  }
}

void Interaction::sum_tests(ForceTests& tests) {
  const std::size_t count = tests.pairs.size() * kSystems * 2;
  nbcc::Sum sum(exact().pipeline);
  give_params(sum);
  ignore_outputs(sum);
  tests.force.resize(3 * count);
  tests.energy.resize(count);
  sum.bind(meaning_of_output_.at("force"), nbcc::rows(tests.force, 3));
  sum.bind(meaning_of_output_.at("energy"), nbcc::rows(tests.energy, 1));
  const std::vector<double> ones(count, 1.0);
  for (const nbcc::Field& field : fields_)
    if (field.role == NBCC_INPUT_PAIR) sum.bind(field.name, ones);
  std::map<std::string, std::vector<std::byte>> arrays;  // by quantity
  for (const auto& [name, meaning] : meaning_of_input_) {
    Quantity quantity = quantities_.at(meaning);
    const std::size_t bytes = std::size_t(quantity.columns) * (quantity.element == NBCC_INT32 ? 4 : 8);
    std::vector<std::byte>& array = arrays[meaning];
    if (meaning == "x") {
      quantity.data = tests.x.data();
    } else {
      // Atoms at rest: a force of friction is 0, and is no derivative of an energy.
      const bool is_motion = meaning == "v" || meaning == "omega";
      for (std::size_t k = 0; array.size() < count * bytes; ++k) {
        const AtomPair& pair = tests.pairs[k / (2 * kSystems)];
        const auto* const row =
            static_cast<const std::byte*>(quantity.data) + (k % 2 == 0 ? pair.i : pair.j) * quantity.stride;
        array.insert(array.end(), row, row + bytes);
      }
      if (is_motion) std::fill(array.begin(), array.end(), std::byte{});
      quantity.data = array.data();
    }
    quantity.stride = std::int64_t(bytes);
    bind_input(sum, name, quantity, std::int64_t(count));
  }
  std::vector<std::int64_t> first(count + 1), j(count);
  for (std::size_t k = 0; k < count; ++k) first[k + 1] = std::int64_t(k) + 1, j[k] = std::int64_t(k ^ 1);
  sum.symmetric(NBCC_SYMMETRIC_OFF);
  sum.listed_pairs(first, j);
  sum.run();
}

void Interaction::compare_test(const ForceTests& tests, std::size_t test, const int* types) const {
  const double h = tests.step(test);
  std::array<Vector, 2> expected{}, got{};
  std::array<double, 2> doubt{};  // how far the derivative may be off
  for (std::size_t atom = 0; atom < 2; ++atom) {
    got[atom] = tests.force_on(test, atom);
    for (std::size_t c = 0; c < 3; ++c) {
      const std::size_t system = 1 + kMoves.size() * (3 * atom + c);
      const auto slope = [&](std::size_t k, double step) {
        return (tests.energy_of(test, system + k) - tests.energy_of(test, system + k + 1)) / (2 * step);
      };
      const double wide = slope(0, h), narrow = slope(2, 0.5 * h);
      expected[atom][c] = (wide - 4 * narrow) / 3;
      doubt[atom] += std::abs(narrow - wide);
    }
    doubt[atom] += 10 * std::numeric_limits<double>::epsilon() * std::abs(tests.energy_of(test, 0)) / h;
  }
  const Vector sum = {got[0][0] + got[1][0], got[0][1] + got[1][1], got[0][2] + got[1][2]};
  const double size = std::max({length(got[0]), length(got[1]), length(expected[0]), length(expected[1])});
  for (std::size_t atom = 0; atom < 2; ++atom) {
    if (!(distance(expected[atom], got[atom]) > kForceTolerance * size + 10 * doubt[atom])) continue;
    const std::string &force = meaning_of_output_.at("force"), &energy = meaning_of_output_.at("energy");
    // A formula that defines its own virial says that the forces on the two atoms are not opposite.
    if (has_result("virial") && length(sum) > kForceTolerance * size) return;
    std::string why = mistake_in(expected[atom], got[atom], force, energy);
    if (why.empty() && length(sum) > kForceTolerance * size)
      why = ": the forces on the two atoms are not opposite, as with a table that is not symmetric in both types";
    const AtomPair& pair = tests.pairs[test];
    std::array<char, 40> apart{};
    std::snprintf(apart.data(), apart.size(), "%.7g", tests.distances[test]);
    refuse("output '" + force + "' is not minus the derivative of the sum of '" + energy + "': atoms of types " +
           std::to_string(types[pair.i]) + " and " + std::to_string(types[pair.j]) + " alone, at a distance of " +
           apart.data() + ", expected " + shown(expected[atom]) + " on the " + (atom == 0 ? "first" : "second") +
           ", got " + shown(got[atom]) + why + ". If the formula is meant so, say pair_style nbcc CUTOFF check no");
  }
}

void Interaction::check_forces(double cutoff, const std::vector<AtomPair>& pairs, const int* types) {
  ForceTests tests;
  const auto finish = [&] {
    place_tests(tests);
    sum_tests(tests);
    for (std::size_t test = 0; test < tests.pairs.size(); ++test) compare_test(tests, test, types);
    tests = {};
  };
  for (const AtomPair& pair : pairs) {
    for (const double fraction : kDistances) {
      tests.pairs.push_back(pair);
      tests.distances.push_back(pair.distance + fraction * std::max(0.0, cutoff - pair.distance));
    }
    if (tests.pairs.size() >= kTestsPerSum) finish();
  }
  if (!tests.pairs.empty()) finish();
  for (const AtomPair& pair : pairs) checked_types_.insert(std::minmax(types[pair.i], types[pair.j]));
}

}  // namespace nbcc_lammps
