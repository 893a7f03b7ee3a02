// Each kind of failure has its exit code, and only our own bugs ask to be reported.
#include "cli/report/failure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/text/diagnostic.h"
#include "particles/file_error.h"
#include "runtime/api/nbcc.hpp"
#include "runtime/error.h"

namespace nbcc::test {
namespace {

using testing::HasSubstr;
using testing::Not;

template <typename Exception>
int code_of(const Exception& exception, std::string* message) {
  testing::internal::CaptureStderr();
  int code = -1;
  try {
    throw exception;
  } catch (...) {
    code = report_failure();
  }
  *message = testing::internal::GetCapturedStderr();
  return code;
}

TEST(Failure, UsersMistakesKeepTheirMessage) {
  std::string message;
  EXPECT_EQ(code_of(UsageError("which one?"), &message), kUsage);
  EXPECT_EQ(message, "nbcc: which one?\n");
  EXPECT_EQ(code_of(FileError("a.npz", "is a folder"), &message), kUsage);
  EXPECT_EQ(message, "nbcc: a.npz: is a folder\n");
  EXPECT_EQ(code_of(SourceUnreadable("no such file"), &message), kUsage);
  EXPECT_EQ(code_of(DeviceError("no device"), &message), kNoDevice);
  EXPECT_EQ(code_of(Error(NBCC_ERROR_DEVICE, "no device"), &message), kNoDevice);
  EXPECT_EQ(code_of(Error(NBCC_ERROR_USAGE, "no field"), &message), kUsage);
  EXPECT_THAT(message, Not(HasSubstr("report")));
}

TEST(Failure, DiagnosticsStandByThemselves) {
  std::string message;
  EXPECT_EQ(code_of(Error(NBCC_ERROR_INPUT, "a.pipe:1:2: error: what?\n"), &message), kInputWrong);
  EXPECT_EQ(message, "a.pipe:1:2: error: what?\n");
}

TEST(Failure, OurBugsAskToBeReported) {
  std::string message;
  EXPECT_EQ(code_of(InternalError("a node is lost"), &message), kInternalError);
  EXPECT_THAT(message, HasSubstr("internal error: a node is lost"));
  EXPECT_THAT(message, HasSubstr("Please report"));
  EXPECT_EQ(code_of(Error(NBCC_ERROR_INTERNAL, "internal error: twice?"), &message), kInternalError);
  EXPECT_THAT(message, HasSubstr("nbcc: internal error: twice?\n"));
  EXPECT_EQ(code_of(std::logic_error("unexpected"), &message), kInternalError);
  EXPECT_EQ(code_of(42, &message), kInternalError);
}

}  // namespace
}  // namespace nbcc::test
