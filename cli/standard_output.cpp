// Text or JSON -> standard output, whole or with an error. Doors: write_standard_output(), write_json().
#include "cli/standard_output.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>

#include "particles/file_error.h"

namespace nbcc {

void write_standard_output(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0) return;
  throw FileError("standard output", std::string("cannot be written: ") + std::strerror(errno));
}

void write_json(const nlohmann::ordered_json& value) {
  write_standard_output(value.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
}

}  // namespace nbcc
