// The one place where what went wrong becomes a message and an exit code.
#pragma once

namespace nbcc {

// To be called inside a catch block: says on standard error what is being caught, returns the exit code.
int report_failure();

}  // namespace nbcc
