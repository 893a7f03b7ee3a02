// A program's name -> its path. One door: find_program(). Starts nothing.
#include "cli/find_program.h"

#include <unistd.h>

#include <cstdlib>

#include "particles/numbers.h"

namespace nbcc {

std::string find_program(const std::string& name) {
  const char* const folders = std::getenv("PATH");
  for (const std::string_view folder : split(folders ? folders : "", ':')) {
    if (folder.empty()) continue;
    const std::string path = std::string(folder) + "/" + name;
    if (access(path.c_str(), X_OK) == 0) return path;
  }
  return "";
}

}  // namespace nbcc
