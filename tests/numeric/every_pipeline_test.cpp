// Every file of pipelines/ on the CPU device against the oracle: all sizes around a vector's and a tile's, every
// precision, both floating point policies, every instruction set of this machine. A new pipeline is tested by being
// there.
#include "tests/support/every_pipeline.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "tests/support/experiment.h"
#include "tests/support/oracle.h"
#include "tests/support/random_particles.h"
#include "tests/support/sampling.h"

namespace nbcc::test {
namespace {

std::vector<Choice> choices_of_best_isa() {
  std::vector<Choice> choices;
  for (const nbcc_precision precision : {NBCC_SINGLE, NBCC_MIXED, NBCC_DOUBLE}) {
    for (const nbcc_math math : {NBCC_FAST, NBCC_PRECISE}) choices.push_back({.precision = precision, .math = math});
  }
  return choices;
}

constexpr std::size_t kPeriodOfLibrary = 4;  // of the sample of pipelines

class EveryPipeline : public testing::TestWithParam<std::string> {};

TEST_P(EveryPipeline, AgreesWithTheOracle) {
  const Oracle oracle(GetParam());
  const std::vector<Case> cases = all_cases(oracle);
  std::size_t turn = turn_of(GetParam());
  for (const std::string& isa : instruction_sets()) {
    for (Choice choice : sampled(choices_of_best_isa(), 6, turn++, kPeriodOfLibrary)) {
      choice.isa = isa;
      Summation device(GetParam(), choice);
      for (const Case& expected : cases) expect_case(device, expected, choice.precision, describe(choice));
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
  std::erase_if(
      names, [](const std::string& n) { return n == "ks_statistic" || n == "attention" || n.starts_with("cunbody_"); });
  return names;
}

// The i field that belongs to a j field: xi to xj, INPUT_I to INPUT_J.
std::string partner_of(std::string field) {
  --field.back();
  return field;
}

void expect_same_bits(const Values& a, const Values& b, const std::string& what) {
  for (const auto& [field, values] : a) {
    EXPECT_EQ(std::memcmp(values.data(), b.at(field).data(), values.size() * sizeof(double)), 0)
        << what << ": " << field;
  }
}

TEST_P(EveryPipeline, ThreadsDoNotChangeABit) {
  const Oracle oracle(GetParam());
  for (Choice choice : sampled(choices_of_best_isa(), 6, turn_of(GetParam()), kPeriodOfLibrary)) {
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
  for (const Choice& choice : sampled(choices_of_best_isa(), 3, turn_of(GetParam()), kPeriodOfLibrary)) {
    Summation device(GetParam(), choice);
    const Values before = device(particles);
    Values after = device(moved), back = after;
    for (auto& [field, values] : back) {
      if (oracle.pipeline().find(field)->is_total()) continue;
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
  for (const Choice& choice : sampled(choices_of_best_isa(), 3, turn_of(GetParam()), kPeriodOfLibrary)) {
    Summation device(GetParam(), choice);
    expect_case(device, expected, choice.precision, describe(choice));
  }
}

// What a particle brings to a pair that is left out does not reach it: its own mass may be anything.
TEST_P(EveryPipeline, ASkippedPairLeavesNothing) {
  const Oracle oracle(GetParam());
  for (const double odd : {NAN, INFINITY}) {
    Particles particles = random_set(oracle.pipeline(), 100, /*seed=*/53);
    for (const Field& field : oracle.pipeline().fields) {
      const bool of_j_alone = field.role == Role::InputJ && oracle.pipeline().find(partner_of(field.name)) == nullptr;
      if (of_j_alone) particles.fields.at(field.name)[std::size_t(61 * field.components())] = odd;
    }
    const Case expected = make_case(oracle, "a particle's own mass is no number", particles);
    for (const Choice& choice : sampled(choices_of_best_isa(), 3, turn_of(GetParam()), kPeriodOfLibrary)) {
      Summation device(GetParam(), choice);
      expect_case(device, expected, choice.precision, describe(choice));
    }
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
  for (const Choice& choice : sampled(choices_of_best_isa(), 3, turn_of(GetParam()), kPeriodOfLibrary)) {
    Summation device(GetParam(), choice);
    Values calm = device(particles), got = device(with_nan);
    // A total is of all i.
    for (Values* values : {&calm, &got})
      std::erase_if(*values, [&](const auto& one) { return oracle.pipeline().find(one.first)->is_total(); });
    for (auto& [field, values] : got) {
      const std::size_t width = values.size() / 50;
      std::copy_n(&calm.at(field)[disturbed * width], width, &values[disturbed * width]);
    }
    expect_same_bits(calm, got, describe(choice));
  }
}

std::string by_name(const testing::TestParamInfo<std::string>& info) { return info.param; }

INSTANTIATE_TEST_SUITE_P(Library, EveryPipeline, testing::ValuesIn(sampled(library(), kPeriodOfLibrary)), by_name);
INSTANTIATE_TEST_SUITE_P(Library, EveryPipelineOfDifferences, testing::ValuesIn(library_of_differences()), by_name);

}  // namespace
}  // namespace nbcc::test
