// What a program cannot do, by the exit code that it ends with. Other exceptions that are no nbcc::Error, as for files
// whose contents are wrong, end it with 1.
#pragma once
#include <stdexcept>

namespace examples {

// 2: options that make no sense, or a file that cannot be opened or written.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// 3: something that this build or this machine does not have, and that was asked for.
struct Missing : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace examples
