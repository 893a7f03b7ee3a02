#include "runtime/first_failure.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace nbcc::test {
namespace {

TEST(FirstFailure, IsThrownWhenEveryStepIsDone) {
  FirstFailure failure;
  int done = 0;
  for (const char* message : {"first", "second"})
    failure.attempt([&] {
      ++done;
      throw std::runtime_error(message);
    });
  failure.attempt([&] { ++done; });
  EXPECT_EQ(done, 3);
  try {
    failure.rethrow();
    ADD_FAILURE() << "nothing is thrown";
  } catch (const std::runtime_error& e) {
    EXPECT_STREQ(e.what(), "first");
  }
}

TEST(FirstFailure, OfNoneIsNone) {
  FirstFailure failure;
  failure.attempt([] {});
  EXPECT_NO_THROW(failure.rethrow());
}

}  // namespace
}  // namespace nbcc::test
