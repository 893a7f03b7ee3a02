// The pipelines of the library, and what any device must answer for each of them at awkward sizes: expectations made
// once by the oracle, for all choices of precision and device. Entry points: library(), all_cases(), expect_case().
#pragma once
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/experiment.h"
#include "tests/support/folders.h"
#include "tests/support/oracle.h"
#include "tests/support/random_particles.h"
#include "tests/support/tolerance.h"

namespace nbcc::test {

inline std::string describe(const Choice& choice) {
  const char* const precisions[] = {"single", "mixed", "double"};
  return std::string(precisions[choice.precision]) + (choice.math == NBCC_FAST ? ", fast, " : ", precise, ") +
         (choice.device != "cpu" ? choice.device + (choice.arrays_on_device ? ", arrays there" : ", arrays here")
          : choice.isa.empty()   ? "best"
                                 : choice.isa) +
         ", threads " + std::to_string(choice.threads);
}

struct Case {
  std::string name;
  Particles particles;
  Values values, single_bounds, double_bounds;  // the oracle's
};

inline Case make_case(const Oracle& oracle, const std::string& name, Particles particles) {
  Case made{name, std::move(particles), {}, {}, {}};
  made.values = oracle(made.particles).values;
  made.single_bounds = oracle.bounds(made.particles, NBCC_SINGLE);
  made.double_bounds = oracle.bounds(made.particles, NBCC_DOUBLE);
  return made;
}

// Equal numbers of i and j around a vector's and a block's, and pairs of a full side with an empty, small or odd one.
// The oracle takes ni * nj pairs, so that only one side is long.
inline std::vector<Case> all_cases(const Oracle& oracle) {
  std::vector<Case> cases;
  const auto add = [&](std::int64_t ni, std::int64_t nj) {
    const std::string name = std::to_string(ni) + " x " + std::to_string(nj);
    cases.push_back(
        make_case(oracle, name, random_particles(oracle.pipeline(), ni, nj, std::uint64_t(ni * 7919 + nj))));
  };
  for (const std::int64_t n : {0, 1, 2, 31, 127, 128, 129}) add(n, n);
  add(0, 128);
  add(128, 0);
  add(1, 1000);
  add(1000, 1);
  add(2, 129);
  add(31, 1000);
  add(1000, 130);
  add(9, 2300);  // more j than a tile of the CPU holds: 128 in each of 16 lanes
  add(127, 2);
  add(129, 31);
  cases.push_back(make_case(oracle, "one set of 129", random_set(oracle.pipeline(), 129, /*seed=*/23)));
  Particles shifted = random_particles(oracle.pipeline(), 40, 60, /*seed=*/29);
  shifted.i_offset = 1000;
  shifted.j_offset = 990;
  cases.push_back(make_case(oracle, "with offsets", std::move(shifted)));
  return cases;
}

inline void expect_case(Summation& device, const Case& expected, nbcc_precision precision, const std::string& what) {
  const Values got = device(expected.particles);
  const Values& bounds = precision == NBCC_DOUBLE ? expected.double_bounds : expected.single_bounds;
  for (const auto& [field, values] : expected.values) {
    expect_within(got.at(field), values, bounds.at(field), what + ", " + expected.name + ": " + field);
  }
}

}  // namespace nbcc::test
