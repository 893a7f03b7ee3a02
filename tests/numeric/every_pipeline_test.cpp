// Every file of pipelines/ on the CPU device against the oracle: all sizes around a vector's and a tile's, every
// precision, both floating point policies, every instruction set of this machine. A new pipeline is tested by being
// there.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/support/experiment.h"
#include "tests/support/oracle.h"
#include "tests/support/random_particles.h"
#include "tests/support/tolerance.h"

namespace nbcc::test {
namespace {

std::vector<std::string> library() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(std::string(NBCC_SOURCE_DIR) + "/pipelines")) {
    if (entry.path().extension() == ".pipe") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string describe(const Choice& choice) {
  const char* const precisions[] = {"single", "mixed", "double"};
  return std::string(precisions[choice.precision]) + (choice.math == NBCC_FAST ? ", fast, " : ", precise, ") +
         (choice.isa.empty() ? "best" : choice.isa) + ", threads " + std::to_string(choice.threads);
}

struct Case {
  std::string name;
  Particles particles;
  Values values, single_bounds, double_bounds;  // the oracle's
};

Case make_case(const Oracle& oracle, const std::string& name, Particles particles) {
  Case made{name, std::move(particles), {}, {}, {}};
  made.values = oracle(made.particles).values;
  made.single_bounds = oracle.bounds(made.particles, NBCC_SINGLE);
  made.double_bounds = oracle.bounds(made.particles, NBCC_DOUBLE);
  return made;
}

// All sizes against themselves, and pairs that meet a full side with an empty, a small and an odd one.
std::vector<Case> all_cases(const Oracle& oracle) {
  std::vector<Case> cases;
  const auto add = [&](std::int64_t ni, std::int64_t nj) {
    const std::string name = std::to_string(ni) + " x " + std::to_string(nj);
    cases.push_back(
        make_case(oracle, name, random_particles(oracle.pipeline(), ni, nj, std::uint64_t(ni * 7919 + nj))));
  };
  for (const std::int64_t n : {0, 1, 2, 31, 127, 128, 129, 1000}) add(n, n);
  add(0, 128);
  add(128, 0);
  add(1, 1000);
  add(1000, 1);
  add(2, 129);
  add(31, 1000);
  add(127, 2);
  add(129, 31);
  cases.push_back(make_case(oracle, "one set of 129", random_set(oracle.pipeline(), 129, /*seed=*/23)));
  Particles shifted = random_particles(oracle.pipeline(), 40, 60, /*seed=*/29);
  shifted.i_offset = 1000;
  shifted.j_offset = 990;
  cases.push_back(make_case(oracle, "with offsets", std::move(shifted)));
  return cases;
}

void expect_case(Summation& device, const Case& expected, nbcc_precision precision, const std::string& what) {
  const Values got = device(expected.particles);
  const Values& bounds = precision == NBCC_DOUBLE ? expected.double_bounds : expected.single_bounds;
  for (const auto& [field, values] : expected.values) {
    expect_within(got.at(field), values, bounds.at(field), what + ", " + expected.name + ": " + field);
  }
}

class EveryPipeline : public testing::TestWithParam<std::string> {};

TEST_P(EveryPipeline, AgreesWithTheOracle) {
  const Oracle oracle(GetParam());
  const std::vector<Case> cases = all_cases(oracle);
  for (const std::string& isa : instruction_sets()) {
    for (const nbcc_precision precision : {NBCC_SINGLE, NBCC_MIXED, NBCC_DOUBLE}) {
      for (const nbcc_math math : {NBCC_FAST, NBCC_PRECISE}) {
        const Choice choice{.precision = precision, .math = math, .isa = isa};
        Summation device(GetParam(), choice);
        for (const Case& expected : cases) expect_case(device, expected, precision, describe(choice));
      }
    }
  }
}

class EveryPipelineOfDifferences : public testing::TestWithParam<std::string> {};

// Far from the origin, where single precision has lost the grid, mixed precision knows every difference exactly.
TEST_P(EveryPipelineOfDifferences, IsTranslationInvariantInMixedPrecision) {
  const Oracle oracle(GetParam());
  Case far = make_case(oracle, "far from the origin", random_particles(oracle.pipeline(), 100, 200, /*seed=*/31));
  for (const char* field : {"xi", "xj"}) {
    for (double& x : far.particles.fields.at(field)) x += 1 << 20;
  }
  for (const nbcc_math math : {NBCC_FAST, NBCC_PRECISE}) {
    Summation device(GetParam(), {.precision = NBCC_MIXED, .math = math});
    expect_case(device, far, NBCC_MIXED, "mixed");
  }
}

// Positions that are compared have no difference to be exact; numbered fields have no name to shift.
std::vector<std::string> library_of_differences() {
  std::vector<std::string> names = library();
  std::erase_if(names, [](const std::string& n) { return n == "ks_statistic" || n.starts_with("cunbody_"); });
  return names;
}

std::vector<Choice> choices_of_best_isa() {
  std::vector<Choice> choices;
  for (const nbcc_precision precision : {NBCC_SINGLE, NBCC_MIXED, NBCC_DOUBLE}) {
    for (const nbcc_math math : {NBCC_FAST, NBCC_PRECISE}) choices.push_back({.precision = precision, .math = math});
  }
  return choices;
}

void expect_same_bits(const Values& a, const Values& b, const std::string& what) {
  for (const auto& [field, values] : a) {
    EXPECT_EQ(std::memcmp(values.data(), b.at(field).data(), values.size() * sizeof(double)), 0)
        << what << ": " << field;
  }
}

TEST_P(EveryPipeline, ThreadsDoNotChangeABit) {
  const Oracle oracle(GetParam());
  for (Choice choice : choices_of_best_isa()) {
    choice.threads = 1;
    Summation one(GetParam(), choice);
    choice.threads = 2;
    Summation two(GetParam(), choice);
    for (const std::int64_t ni : {3, 61, 1000}) {
      const Particles particles = random_particles(oracle.pipeline(), ni, 1500, /*seed=*/37);
      expect_same_bits(one(particles), two(particles), describe(choice) + ", ni = " + std::to_string(ni));
    }
  }
}

// The i-particles in another order: entry k is the old number of the new k-th.
Particles reordered(Particles particles, const Pipeline& pipeline, const std::vector<std::size_t>& order) {
  for (const Field& field : pipeline.fields) {
    if (field.role != Role::InputI) continue;
    const std::vector<double> old = particles.fields.at(field.name);
    const auto width = std::size_t(field.components());
    for (std::size_t k = 0; k < order.size(); ++k) {
      std::copy_n(&old[order[k] * width], width, &particles.fields.at(field.name)[k * width]);
    }
  }
  return particles;
}

TEST_P(EveryPipeline, AnIParticleMayStandAnywhere) {
  const Oracle oracle(GetParam());
  const std::size_t ni = 331;
  Particles particles = random_particles(oracle.pipeline(), std::int64_t(ni), 500, /*seed=*/41);
  particles.i_offset = 1 << 20;  // no i is any j, wherever it stands
  std::vector<std::size_t> order;
  for (std::size_t k = 0; k < ni; ++k) order.push_back((k * 100 + 17) % ni);  // 100 and 331 have no common divisor
  const Particles moved = reordered(particles, oracle.pipeline(), order);
  for (const Choice& choice : choices_of_best_isa()) {
    Summation device(GetParam(), choice);
    const Values before = device(particles);
    Values after = device(moved), back = after;
    for (auto& [field, values] : back) {
      const std::size_t width = values.size() / ni;
      for (std::size_t k = 0; k < ni; ++k) std::copy_n(&after.at(field)[k * width], width, &values[order[k] * width]);
    }
    expect_same_bits(before, back, describe(choice));
  }
}

// Neither floating point policy may assume that NaN does not occur.
TEST_P(EveryPipeline, ANaNOfJReachesWhatTheOracleSays) {
  const Oracle oracle(GetParam());
  Particles particles = random_particles(oracle.pipeline(), 50, 200, /*seed=*/43);
  for (const Field& field : oracle.pipeline().fields) {
    if (field.role == Role::InputJ) particles.fields.at(field.name)[std::size_t(77 * field.components())] = NAN;
  }
  const Case expected = make_case(oracle, "one j is NaN", particles);
  for (const Choice& choice : choices_of_best_isa()) {
    Summation device(GetParam(), choice);
    expect_case(device, expected, choice.precision, describe(choice));
  }
}

TEST_P(EveryPipeline, ANaNOfIDisturbsNoOther) {
  const Oracle oracle(GetParam());
  const std::size_t disturbed = 17;
  const Particles particles = random_particles(oracle.pipeline(), 50, 200, /*seed=*/47);
  Particles with_nan = particles;
  for (const Field& field : oracle.pipeline().fields) {
    const auto width = std::size_t(field.components());
    if (field.role == Role::InputI) std::fill_n(&with_nan.fields.at(field.name)[disturbed * width], width, NAN);
  }
  for (const Choice& choice : choices_of_best_isa()) {
    Summation device(GetParam(), choice);
    const Values calm = device(particles);
    Values got = device(with_nan);
    for (auto& [field, values] : got) {
      const std::size_t width = values.size() / 50;
      std::copy_n(&calm.at(field)[disturbed * width], width, &values[disturbed * width]);
    }
    expect_same_bits(calm, got, describe(choice));
  }
}

std::string by_name(const testing::TestParamInfo<std::string>& info) { return info.param; }

INSTANTIATE_TEST_SUITE_P(Library, EveryPipeline, testing::ValuesIn(library()), by_name);
INSTANTIATE_TEST_SUITE_P(Library, EveryPipelineOfDifferences, testing::ValuesIn(library_of_differences()), by_name);

}  // namespace
}  // namespace nbcc::test
