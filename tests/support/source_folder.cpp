// The environment, or else the place at which this file was compiled -> the folder of the sources.
#include "tests/support/source_folder.h"

#include <cstdlib>

namespace nbcc::test {

std::string source_folder() {
  const char* const given = std::getenv("NBCC_SOURCE_DIR");
  return given ? given : NBCC_SOURCE_DIR;
}

}  // namespace nbcc::test
