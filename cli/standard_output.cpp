// Text -> standard output, whole or with an error. One door: write_standard_output().
#include "cli/standard_output.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "particles/file_error.h"

namespace nbcc {

void write_standard_output(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0) return;
  throw FileError("standard output", std::string("cannot be written: ") + std::strerror(errno));
}

}  // namespace nbcc
