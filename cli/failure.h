// How the command ends, as its callers in scripts see it: what went wrong becomes a message and an exit code.
#pragma once

namespace nbcc {

enum ExitCode {
  kDone = 0,
  kInputWrong = 1,       // the pipeline's text has errors, or `verify` found some
  kUsage = 2,            // a wrong option, or a file that cannot be read or written
  kNoDevice = 3,         // no such device, or a tool that is not there
  kInternalError = 101,  // our bug
};

// To be called inside a catch block: says on standard error what is being caught, returns the exit code.
int report_failure();

}  // namespace nbcc
