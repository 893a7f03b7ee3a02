// The environment, or else the paths at which the tests were built -> where the sources and the built programs are.
#include "tests/support/folders.h"

#include <cstdlib>

namespace nbcc::test {

std::string source_folder() {
  const char* const given = std::getenv("NBCC_SOURCE_DIR");
  return given ? given : NBCC_SOURCE_DIR;
}

std::string build_folder() { return NBCC_BINARY_DIR; }

std::string nbcc_command() { return NBCC_COMMAND; }

}  // namespace nbcc::test
