// Exit codes of the command, and the conversion of exceptions to messages and exit codes.
#pragma once

namespace nbcc {

enum ExitCode {
  kDone = 0,
  kInputWrong = 1,       // errors in the text of a pipeline, or errors found by `verify`
  kUsage = 2,            // a wrong option, or a file that cannot be read or written
  kNoDevice = 3,         // a device or a tool is missing
  kInternalError = 101,  // a bug in nbcc
};

// Call it inside a catch block: prints the exception's message to standard error and returns the exit code.
int report_failure();

}  // namespace nbcc
