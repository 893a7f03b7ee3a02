// The environment, or else the paths at which the tests were built -> where the sources and the built programs are.
#include "tests/support/folders.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

namespace nbcc::test {

std::string source_folder() {
  const char* const given = std::getenv("NBCC_SOURCE_DIR");
  return given ? given : NBCC_SOURCE_DIR;
}

std::vector<std::string> library() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(source_folder() + "/pipelines"))
    if (entry.path().extension() == ".pipe") names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

std::string build_folder() { return NBCC_BINARY_DIR; }

std::string nbcc_command() { return NBCC_COMMAND; }

}  // namespace nbcc::test
