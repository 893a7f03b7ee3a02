// Writes files atomically: a file is complete or absent at any moment. Entry point: replace_file(). Knows no formats.
#include "particles/files/replace_file.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "particles/file_error.h"

namespace nbcc {
namespace {

[[noreturn]] void fail(const std::string& path, const char* what, int error) {
  throw FileError(path, fmt::format("{}: {}", what, std::strerror(error)));
}

std::optional<struct stat> status_if_present(const std::string& path) {
  struct stat status;
  if (stat(path.c_str(), &status) == 0) return status;
  return std::nullopt;
}

std::string folder_of(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

// A file being written. The destructor removes it unless keep() was called.
class Output {
 public:
  // Messages call the file `name`.
  Output(const std::string& name, const std::string& path, int flags)
      : name_(name), path_(path), file_(open(path.c_str(), O_WRONLY | O_CLOEXEC | flags, 0666)) {
    if (!is_open()) keep();
  }
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;
  ~Output() {
    if (file_ >= 0) close(file_);
    if (!path_.empty()) unlink(path_.c_str());
  }

  bool is_open() const { return file_ >= 0; }
  void take_mode(mode_t mode) { require(fchmod(file_, mode & 07777) == 0); }
  void keep() { path_.clear(); }

  void write(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t written = ::write(file_, bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      require(written >= 0);
      bytes.remove_prefix(static_cast<std::size_t>(written));
    }
  }
  void finish(bool sync) {
    if (sync) require(fsync(file_) == 0);
    require(close(std::exchange(file_, -1)) == 0);
  }
  void require(bool done) const {
    if (!done) fail(name_, "cannot be written", errno);
  }

 private:
  const std::string& name_;
  std::string path_;
  int file_;
};

struct Descriptor {
  int file;
  ~Descriptor() { close(file); }
};

void sync_folder(const std::string& folder) {
  // Makes the file's new name survive a power failure. Errors are ignored, because the file itself is complete.
  const int file = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (file < 0) return;
  fsync(file);
  close(file);
}

void write_directly(const std::string& path, std::string_view bytes) {
  Output output(path, path, 0);
  output.keep();
  output.require(output.is_open());
  output.write(bytes);
  output.finish(false);
}

// Does not copy permissions: the copy of a read-only file must be writable until it has been edited.
void copy_bytes(const std::string& source, Output& output) {
  const int file = open(source.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) fail(source, "cannot be read", errno);
  const Descriptor closing{file};
  std::vector<char> buffer(std::size_t(1) << 20);
  for (;;) {
    const ssize_t got = read(file, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail(source, "cannot be read", errno);
    if (got == 0) return;
    output.write({buffer.data(), std::size_t(got)});
  }
}

// The temporary file of a process that writes `target`: ".acc.npz.1234.tmp" for "acc.npz".
std::string draft_of(const std::string& target, const std::string& process) {
  return fmt::format("{}/.{}.{}.tmp", folder_of(target), std::filesystem::path(target).filename().string(), process);
}

// The names ".*.tmp" in a folder when this process first wrote there: a run that writes many files lists a folder once.
const std::vector<std::string>& old_drafts_in(const std::string& folder) {
  static thread_local std::map<std::string, std::vector<std::string>> listed;
  const auto [names, is_new] = listed.try_emplace(folder);
  std::error_code unreadable;
  for (std::filesystem::directory_iterator entry(folder, unreadable), end; is_new && !unreadable && entry != end;
       entry.increment(unreadable)) {
    std::string name = entry->path().filename().string();
    if (name.starts_with('.') && name.ends_with(".tmp")) names->second.push_back(std::move(name));
  }
  return names->second;
}

// Removes the temporary files of processes that were killed while they wrote `target`.
void remove_old_drafts(const std::string& target) {
  const std::string folder = folder_of(target);
  for (const std::string& name : old_drafts_in(folder)) {
    const std::string_view without_ending = std::string_view(name).substr(0, name.size() - 4);
    const std::string process(without_ending.substr(without_ending.rfind('.') + 1));
    int id = 0;
    const auto [end, error] = std::from_chars(process.data(), process.data() + process.size(), id);
    if (error != std::errc() || end != process.data() + process.size() || id < 1 ||
        draft_of(target, process) != folder + "/" + name)
      continue;
    // A file with the id of this process was left by an earlier process, because no other file of this one is open.
    if (id == getpid() || (kill(id, 0) != 0 && errno == ESRCH)) unlink((folder + "/" + name).c_str());
  }
}

// `fill` writes the temporary file, which is open.
template <class Fill>
void replace_regular_file(const std::string& path, const std::optional<struct stat>& status, bool force,
                          const Fill& fill) {
  std::error_code unresolved;
  const std::filesystem::path named(path);
  const std::filesystem::path resolved = status ? std::filesystem::canonical(named, unresolved) : named;
  const std::string target = unresolved ? path : resolved.string();
  remove_old_drafts(target);
  const std::string draft = draft_of(target, fmt::format("{}", getpid()));
  Output output(path, draft, O_CREAT | O_EXCL);
  output.require(output.is_open());
  fill(output, draft);
  if (status) output.take_mode(status->st_mode);
  output.finish(true);
  // Without force uses link() instead of rename(), because link() fails if another program has created the file since.
  const bool linked = !force && link(draft.c_str(), target.c_str()) == 0;
  if (!force && !linked && errno == EEXIST) throw FileError(path, "exists already; --force overwrites it");
  // Some file systems have no hard links; rename() then.
  if (!linked) {
    output.require(rename(draft.c_str(), target.c_str()) == 0);
    output.keep();
  }
  sync_folder(folder_of(target));
}

}  // namespace

void check_replaceable(const std::string& path, bool force) {
  const auto status = status_if_present(path);
  if (!status) {
    const std::string folder = folder_of(path);
    const auto folder_status = status_if_present(folder);
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
  const auto status = status_if_present(path);
  if (status && !S_ISREG(status->st_mode)) return write_directly(path, bytes);
  replace_regular_file(path, status, force, [&](Output& output, const std::string&) { output.write(bytes); });
}

void replace_file(const std::string& path, const std::string& source,
                  const std::function<void(const std::string& draft)>& edit, bool force) {
  check_replaceable(path, force);
  const auto status = status_if_present(path);
  if (status && !S_ISREG(status->st_mode)) throw FileError(path, "is no regular file, which a copy could replace");
  replace_regular_file(path, status, force, [&](Output& output, const std::string& draft) {
    copy_bytes(source, output);
    edit(draft);
  });
}

void write_standard_output(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0)
    fail("standard output", "cannot be written", errno);
}

}  // namespace nbcc
