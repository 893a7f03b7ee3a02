// Reads a file or pipe. Entry points: read_input(), check_readable_in_place(). Knows no file formats.
#include "particles/files/read_input.h"

#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <limits>

#include "compiler/text/read_file.h"
#include "particles/file_error.h"

namespace nbcc {
namespace {

[[noreturn]] void refuse(const std::string& name, const std::string& problem) {
  throw FileError(name, fmt::format("cannot be read: {}", problem));
}

// Refuses folders and devices; reading an endless device such as /dev/zero would fill the memory.
void check_kind(const struct stat& status, const std::string& name, const char* what, bool is_terminal) {
  if (S_ISDIR(status.st_mode)) throw FileError(name, fmt::format("is a folder, not {}", what));
  if (S_ISBLK(status.st_mode) || (S_ISCHR(status.st_mode) && !is_terminal))
    throw FileError(name, fmt::format("is a device, not {}", what));
}

struct stat status_of(const std::string& path) {
  struct stat status;
  if (stat(path.c_str(), &status) != 0) refuse(path, std::strerror(errno));
  return status;
}

std::size_t max_bytes_of(const struct stat& status) {
  if (S_ISREG(status.st_mode)) return std::numeric_limits<std::size_t>::max() / 2;
  const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  return pages > 0 && page > 0 ? std::size_t(pages) / 2 * std::size_t(page) : std::size_t(1) << 32;
}

}  // namespace

std::string read_input(const std::string& path, const char* what) {
  const bool standard = path == "-";
  const std::string name = standard ? "standard input" : path;
  struct stat status;
  if (!standard) status = status_of(path);
  if (standard && fstat(STDIN_FILENO, &status) != 0) refuse(name, std::strerror(errno));
  check_kind(status, name, what, standard && isatty(STDIN_FILENO));
  const std::size_t max_bytes = max_bytes_of(status);
  FileContent content = standard ? read_descriptor(STDIN_FILENO, max_bytes) : read_file(path, max_bytes);
  if (!content.problem.empty()) refuse(name, content.problem);
  if (!content.is_whole)
    throw FileError(name, fmt::format("has not ended after {} bytes, half of this machine's memory; store it in a file",
                                      content.bytes.size()));
  return std::move(content.bytes);
}

void check_readable_in_place(const std::string& path, const char* what) {
  const struct stat status = status_of(path);
  check_kind(status, path, what, false);
  if (!S_ISREG(status.st_mode))
    throw FileError(path, fmt::format("is a pipe; {} of this format has to be stored in a file", what));
  if (access(path.c_str(), R_OK) != 0) refuse(path, std::strerror(errno));
}

}  // namespace nbcc
