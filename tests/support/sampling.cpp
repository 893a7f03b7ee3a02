// Reads the environment variables of sampling.h, and prints the number of the sample before the tests of a program that
// samples.
#include "tests/support/sampling.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>
#include <string>

namespace nbcc::test {
namespace {

constexpr std::time_t kSecondsOfDay = 86400;

class PrintsSample : public testing::Environment {
 public:
  void SetUp() override {
    if (tests_all())
      fmt::print("NBCC_TEST_ALL is set: every case of the long families\n");
    else
      fmt::print("NBCC_TEST_SEED={} chooses the cases of the long families; NBCC_TEST_ALL=1 takes all\n",
                 sample_number());
  }
};

const testing::Environment* const kPrintsSample = testing::AddGlobalTestEnvironment(new PrintsSample);

}  // namespace

bool tests_all() {
  static const bool all = [] {
    const char* const given = std::getenv("NBCC_TEST_ALL");
    return given && *given && std::string(given) != "0";
  }();
  return all;
}

std::size_t sample_number() {
  static const std::size_t number = [] {
    const char* const given = std::getenv("NBCC_TEST_SEED");
    return given && *given ? std::stoull(given) : std::size_t(std::time(nullptr) / kSecondsOfDay);
  }();
  return number;
}

}  // namespace nbcc::test
