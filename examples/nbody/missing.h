// Something that this build or this machine does not have, and without which the program cannot do what it was asked
// for. Its exit code is then 3.
#pragma once
#include <stdexcept>

namespace examples {

struct Missing : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace examples
