// File names in a folder -> their bytes, and back. Interface: OwnFolder, OwnLock. The contents of files are opaque.
#include "runtime/cache/own_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <regex>

#include "fmt/format.h"
#include "runtime/cache/file_size_signal.h"

namespace nbcc {
namespace {

namespace fs = std::filesystem;

// The writer of a temporary file older than this is assumed to have ended.
constexpr std::time_t kAbandonedSeconds = 3600;
constexpr std::string_view kLockEnding = ".lock", kTemporaryEnding = ".tmp";

bool is_mine(const struct stat& status) { return status.st_uid == ::geteuid(); }

// nbcc executes the code in entries, so a user who may write or move an entry could run any code.
bool others_may_write(const struct stat& status) { return (status.st_mode & (S_IWGRP | S_IWOTH)) != 0; }

// True if any user could replace this folder by another: if a parent folder is writable by all users, who may then
// rename its contents. (Not with the sticky bit, which /tmp has.) Write permission for a group is the owner's choice.
// Of a folder of this user only those parents are checked that this user owns.
bool is_replaceable(const std::string& path, OwnFolder::Owner owner = OwnFolder::Owner::Self) {
  std::error_code error;
  const fs::path whole = fs::canonical(path, error);
  for (fs::path folder = whole.parent_path(); folder.has_relative_path(); folder = folder.parent_path()) {
    struct stat status;
    if (::stat(folder.c_str(), &status) != 0) return true;
    const bool checks = owner == OwnFolder::Owner::Any || is_mine(status);
    if (checks && (status.st_mode & S_IWOTH) != 0 && (status.st_mode & S_ISVTX) == 0) return true;
  }
  return bool(error);
}

enum class Kind { Other, Entry, Lock, Temporary };

// Classifies a file by its name alone. An entry's name ends in the digits of a hash and the folder's suffix; locks and
// temporary files append ".lock", or process, number and ".tmp", to it.
Kind kind_of(const std::string& name, std::string_view suffix) {
  static const std::regex form(R"(.*[0-9a-f]{16}(\.[a-z]+)(\.lock|\.\d+-\d+\.tmp)?)");
  std::smatch parts;
  if (!std::regex_match(name, parts, form) || parts.str(1) != suffix) return Kind::Other;
  if (parts.length(2) == 0) return Kind::Entry;
  return parts.str(2) == kLockEnding ? Kind::Lock : Kind::Temporary;
}

std::string temporary_name(const std::string& entry) {
  static std::atomic<unsigned> counter{0};
  return fmt::format("{}.{}-{}{}", entry, ::getpid(), counter++, kTemporaryEnding);
}

std::vector<std::string> names_in(const OwnFolder& folder) {
  std::vector<std::string> found;
  DIR* const directory = ::fdopendir(::openat(folder.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory) return found;
  const std::unique_ptr<DIR, int (*)(DIR*)> closing(directory, &::closedir);
  while (const dirent* entry = ::readdir(directory)) found.emplace_back(entry->d_name);
  return found;
}

bool write_all(const OwnFile& file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t put = ::write(file.get(), bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return false;
    bytes.remove_prefix(std::size_t(put));
  }
  return true;
}

void remove_abandoned(const OwnFolder& folder, std::string_view suffix) {
  const std::time_t now = std::time(nullptr);
  for (const std::string& name : names_in(folder)) {
    struct stat status;
    // Test the suffix first: most files are entries, and regular expressions are slow.
    if (!name.ends_with(kTemporaryEnding) || kind_of(name, suffix) != Kind::Temporary) continue;
    if (::fstatat(folder.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0 || !is_mine(status)) continue;
    if (now - status.st_mtime > kAbandonedSeconds) ::unlinkat(folder.get(), name.c_str(), 0);
  }
}

}  // namespace

OwnFile::~OwnFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

std::optional<std::string> OwnFile::read(std::size_t most) const {
  std::string bytes(most, '\0');
  std::size_t read = 0;
  while (read < most) {
    const ssize_t got = ::read(descriptor_, bytes.data() + read, most - read);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return {};
    if (got == 0) break;
    read += std::size_t(got);
  }
  bytes.resize(read);
  return bytes;
}

OwnFolder OwnFolder::open(const std::string& path, std::string_view suffix, Owner owner) {
  OwnFolder folder;
  if (path.empty()) return folder;
  OwnFile opened(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  struct stat status;
  if (!opened || ::fstat(opened.get(), &status) != 0 || others_may_write(status)) return folder;
  if (owner == Owner::Self && !is_mine(status)) return folder;
  if (is_replaceable(path, owner)) return folder;
  folder.opened_ = std::move(opened);
  folder.suffix_ = suffix;
  folder.owner_ = status.st_uid;
  folder.shared_ = owner == Owner::Any;
  return folder;
}

OwnFolder::Trouble OwnFolder::trouble_of_shared(const std::string& path) {
  struct stat status;
  if (::stat(path.c_str(), &status) != 0) return {fmt::format("{}: {}", path, std::strerror(errno)), "fill it first"};
  if (!S_ISDIR(status.st_mode)) return {path + " is no folder", "name a folder"};
  if (others_may_write(status)) {
    return {path + " may be written by users other than its owner, who could store their own code there",
            "chmod go-w '" + path + "'"};
  }
  if (is_replaceable(path, Owner::Any)) {
    return {"a folder above " + path + " may be written by all users, who could replace it by another folder",
            "name another folder, or chmod o-w the one above"};
  }
  if (::access(path.c_str(), R_OK | X_OK) != 0)
    return {fmt::format("{}: {}", path, std::strerror(errno)), "chmod -R a+rX '" + path + "', as its owner"};
  return {};
}

OwnFolder::Trouble OwnFolder::trouble(const std::string& path) {
  std::string there = path;
  struct stat status;
  while (::stat(there.c_str(), &status) != 0) {
    if (errno != ENOENT) return {fmt::format("{}: {}", there, std::strerror(errno)), "name another folder"};
    const fs::path above = fs::path(there).parent_path();
    there = above.empty() ? "." : above.string();
  }
  if (!S_ISDIR(status.st_mode)) return {there + " is no folder", "remove it, or name another folder"};
  if (there == path) {
    if (!is_mine(status))
      return {there + " is another user's", "name another folder, or only read this one by NBCC_SHARED_CACHE_DIR"};
    if (others_may_write(status))
      return {there + " may be written by others, who could store their own code there", "chmod go-w '" + there + "'"};
    if (is_replaceable(there))
      return {"a folder above " + there + " may be written by all users, who could replace it by another folder",
              "name another folder, or chmod o-w the one above"};
  }
  if (::access(there.c_str(), W_OK | X_OK) != 0)
    return {fmt::format("{}: {}", there, std::strerror(errno)), "make it writable, or name another folder"};
  return {};
}

OwnFolder OwnFolder::make(const std::string& path, std::string_view suffix) {
  if (OwnFolder there = open(path, suffix)) return there;
  fs::path folder;
  for (const fs::path& step : fs::path(path)) ::mkdir((folder /= step).c_str(), 0700);
  return open(path, suffix);
}

// O_NONBLOCK: opening a pipe of that name must not block.
OwnFile OwnFolder::open_file(const std::string& name, Status& status) const {
  OwnFile file(::openat(get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat found;
  if (!file || ::fstat(file.get(), &found) != 0 || !S_ISREG(found.st_mode)) return OwnFile();
  if (found.st_uid != owner_ || others_may_write(found)) return OwnFile();
  status = {std::size_t(found.st_size), found.st_mtime};
  return file;
}

std::vector<std::string> OwnFolder::entries() const {
  std::vector<std::string> found = names_in(*this);
  std::erase_if(found, [this](const std::string& name) { return kind_of(name, suffix_) != Kind::Entry; });
  return found;
}

bool OwnFolder::replace(const std::string& name, std::initializer_list<std::string_view> parts) const {
  remove_abandoned(*this, suffix_);
  const std::string temporary = temporary_name(name);
  const FileSizeSignalHeld held;
  bool written = true;
  {
    const OwnFile file(::openat(get(), temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!file) return false;
    for (const std::string_view part : parts) written = written && write_all(file, part);
    written = written && ::fsync(file.get()) == 0;
  }
  if (written && ::renameat(get(), temporary.c_str(), get(), name.c_str()) == 0) return true;
  ::unlinkat(get(), temporary.c_str(), 0);
  return false;
}

bool OwnFolder::remove(const std::string& name) const {
  struct stat status;
  if (shared_) return false;
  if (::fstatat(get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0 || !is_mine(status)) return false;
  return ::unlinkat(get(), name.c_str(), 0) == 0;
}

int OwnFolder::clear() const {
  int removed = 0;
  for (const std::string& name : names_in(*this)) {
    const Kind kind = kind_of(name, suffix_);
    if (kind != Kind::Other && remove(name) && kind == Kind::Entry) ++removed;
  }
  return removed;
}

OwnLock::OwnLock(const OwnFolder& folder, const std::string& entry)
    : folder_(folder), name_(entry + std::string(kLockEnding)) {}

OwnLock::~OwnLock() {
  if (file_) ::unlinkat(folder_.get(), name_.c_str(), 0);
}

OwnLock::State OwnLock::try_take() {
  OwnFile file(::openat(folder_.get(), name_.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600));
  if (!file) return State::Impossible;
  if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    return errno == EWOULDBLOCK || errno == EINTR ? State::Busy : State::Impossible;
  }
  struct stat mine, named;
  if (::fstat(file.get(), &mine) != 0) return State::Impossible;
  if (::fstatat(folder_.get(), name_.c_str(), &named, AT_SYMLINK_NOFOLLOW) != 0 || mine.st_ino != named.st_ino) {
    return State::Busy;
  }
  file_ = std::move(file);
  return State::Held;
}

}  // namespace nbcc
