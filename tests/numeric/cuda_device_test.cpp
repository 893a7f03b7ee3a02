// Every file of pipelines/ on the first GPU against the oracle, from arrays on the host and on the device, in every
// precision and floating point policy. Skipped, with the reason, where there is no GPU.
#include "runtime/cuda_device.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "runtime/error.h"
#include "tests/support/every_pipeline.h"

namespace nbcc::test {
namespace {

class EveryPipelineOnGpu : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    try {
      cuda_driver();
      make_nvrtc();
    } catch (const DeviceError& e) {
      GTEST_SKIP() << e.what();
    }
  }
};

std::vector<Choice> choices() {
  std::vector<Choice> all;
  for (const nbcc_precision precision : {NBCC_SINGLE, NBCC_MIXED, NBCC_DOUBLE}) {
    for (const nbcc_math math : {NBCC_FAST, NBCC_PRECISE}) {
      for (const bool arrays_on_device : {false, true}) {
        all.push_back({.precision = precision, .math = math, .device = "cuda", .arrays_on_device = arrays_on_device});
      }
    }
  }
  return all;
}

TEST_P(EveryPipelineOnGpu, AgreesWithTheOracle) {
  const Oracle oracle(GetParam());
  const std::vector<Case> cases = all_cases(oracle);
  for (const Choice& choice : choices()) {
    Summation device(GetParam(), choice);
    for (const Case& expected : cases) expect_case(device, expected, choice.precision, describe(choice));
  }
}

void expect_same_bits(const Values& a, const Values& b, const std::string& what) {
  for (const auto& [field, values] : a) {
    EXPECT_EQ(std::memcmp(values.data(), b.at(field).data(), values.size() * sizeof(double)), 0)
        << what << ": " << field;
  }
}

TEST_P(EveryPipelineOnGpu, TwentyRunsAreEqualBitForBit) {
  const Oracle oracle(GetParam());
  for (const std::int64_t n : {100, 3000}) {
    const Particles particles = random_particles(oracle.pipeline(), n, 5000, /*seed=*/53);
    for (const Choice& choice : choices()) {
      Summation device(GetParam(), choice);
      const Values first = device(particles);
      for (int run = 1; run < 20; ++run) expect_same_bits(first, device(particles), describe(choice));
    }
  }
}

TEST_P(EveryPipelineOnGpu, HostAndDeviceArraysGiveTheSameBits) {
  const Oracle oracle(GetParam());
  const Particles particles = random_particles(oracle.pipeline(), 777, 3333, /*seed=*/59);
  Summation here(GetParam(), {.device = "cuda"}), there(GetParam(), {.device = "cuda", .arrays_on_device = true});
  expect_same_bits(here(particles), there(particles), GetParam());
}

std::string by_name(const testing::TestParamInfo<std::string>& info) { return info.param; }

INSTANTIATE_TEST_SUITE_P(Library, EveryPipelineOnGpu, testing::ValuesIn(library()), by_name);

}  // namespace
}  // namespace nbcc::test
