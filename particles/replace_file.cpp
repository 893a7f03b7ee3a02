// Turns bytes into a file that is complete or absent at any moment; its one door is replace_file. Knows no formats.
#include "particles/replace_file.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <optional>

#include "particles/file_error.h"

namespace nbcc {
namespace {

[[noreturn]] void fail(const std::string& path, const char* what, int error) {
  throw FileError(path, fmt::format("{}: {}", what, std::strerror(error)));
}

std::optional<struct stat> status_of(const std::string& path) {
  struct stat status;
  if (stat(path.c_str(), &status) == 0) return status;
  return std::nullopt;
}

void write_all(int file, std::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t written = write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail(path, "cannot be written", errno);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

std::string folder_of(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

// An open file that is closed, and removed unless it was given its final name.
class Temporary {
 public:
  explicit Temporary(const std::string& target) {
    const std::filesystem::path whole(target);
    for (int attempt = 0; file_ < 0; ++attempt) {
      path_ = fmt::format("{}/.{}.{}.{}.tmp", folder_of(target), whole.filename().string(), getpid(), attempt);
      file_ = open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
      if (file_ < 0 && (errno != EEXIST || attempt > 1000)) fail(target, "cannot be written", errno);
    }
  }
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;
  ~Temporary() {
    if (file_ >= 0) close(file_);
    if (!path_.empty()) unlink(path_.c_str());
  }

  int file() const { return file_; }
  const std::string& path() const { return path_; }

  void close_complete(const std::string& target) {
    if (fsync(file_) != 0) fail(target, "cannot be written", errno);
    const int closed = close(file_);
    file_ = -1;
    if (closed != 0) fail(target, "cannot be written", errno);
  }
  void keep() { path_.clear(); }

 private:
  std::string path_;
  int file_ = -1;
};

void sync_folder(const std::string& folder) {
  // Best effort: the file is complete already, this only makes its name survive a power cut.
  const int file = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (file < 0) return;
  fsync(file);
  close(file);
}

void write_directly(const std::string& path, std::string_view bytes) {
  const int file = open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (file < 0) fail(path, "cannot be written", errno);
  try {
    write_all(file, bytes, path);
  } catch (...) {
    close(file);
    throw;
  }
  if (close(file) != 0) fail(path, "cannot be written", errno);
}

}  // namespace

void check_replaceable(const std::string& path, bool force) {
  const auto status = status_of(path);
  if (!status) {
    const std::string folder = folder_of(path);
    const auto folder_status = status_of(folder);
    if (!folder_status) fail(path, "cannot be written: its folder", errno);
    if (!S_ISDIR(folder_status->st_mode)) throw FileError(path, fmt::format("'{}' is not a folder", folder));
    if (access(folder.c_str(), W_OK) != 0) fail(path, "cannot be written: its folder", errno);
    return;
  }
  if (S_ISDIR(status->st_mode)) throw FileError(path, "is a folder");
  if (S_ISREG(status->st_mode) && !force) throw FileError(path, "exists already; --force overwrites it");
}

void replace_file(const std::string& path, std::string_view bytes, bool force) {
  check_replaceable(path, force);
  const auto status = status_of(path);
  if (status && !S_ISREG(status->st_mode)) return write_directly(path, bytes);

  std::error_code unresolved;
  const std::filesystem::path named(path);
  const std::filesystem::path resolved = status ? std::filesystem::canonical(named, unresolved) : named;
  const std::string target = unresolved ? path : resolved.string();
  Temporary temporary(target);
  if (status && fchmod(temporary.file(), status->st_mode & 07777) != 0) fail(path, "cannot be written", errno);
  write_all(temporary.file(), bytes, path);
  temporary.close_complete(path);
  // Without force, link() rather than rename(): it fails where another program has made the file in the meantime.
  if (!force && link(temporary.path().c_str(), target.c_str()) != 0) {
    if (errno == EEXIST) throw FileError(path, "exists already; --force overwrites it");
    // Some file systems have no links.
    if (rename(temporary.path().c_str(), target.c_str()) != 0) fail(path, "cannot be written", errno);
    temporary.keep();
  }
  if (force) {
    if (rename(temporary.path().c_str(), target.c_str()) != 0) fail(path, "cannot be written", errno);
    temporary.keep();
  }
  sync_folder(folder_of(target));
}

}  // namespace nbcc
