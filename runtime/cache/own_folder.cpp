// Names in a folder -> their bytes, and back. Doors: OwnFolder, OwnLock. Knows nothing of what the files hold.
#include "runtime/cache/own_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <memory>

#include "fmt/format.h"
#include "runtime/cache/file_size_signal.h"

namespace nbcc {
namespace {

// A temporary file of this age has lost its writer.
constexpr std::time_t kAbandonedSeconds = 3600;

constexpr std::string_view kLockSuffix = ".lock", kTemporarySuffix = ".tmp";
constexpr std::size_t kHashDigits = 16;

bool is_mine(const struct stat& status) { return status.st_uid == ::geteuid(); }

// Loading an entry is executing it, so that whoever may write one, or move one here, could run what he likes.
bool others_may_write(const struct stat& status) { return (status.st_mode & (S_IWGRP | S_IWOTH)) != 0; }

// Whether anybody could put another folder in this one's place: where a folder of this user's above it may be written
// by all, who may then rename what lies in it. (With the sticky bit, as /tmp has it, nobody may.) Those of other users
// are their affair, and a group that shares a folder is one's own choice.
bool is_way_open(const std::string& path) {
  const std::unique_ptr<char, void (*)(void*)> resolved(::realpath(path.c_str(), nullptr), &std::free);
  if (!resolved) return true;
  const std::string whole = resolved.get();
  for (std::size_t end = whole.rfind('/'); end != std::string::npos && end > 0; end = whole.rfind('/', end - 1)) {
    struct stat status;
    if (::stat(whole.substr(0, end).c_str(), &status) != 0) return true;
    if (is_mine(status) && (status.st_mode & S_IWOTH) != 0 && (status.st_mode & S_ISVTX) == 0) return true;
  }
  return false;
}

bool is_entry(std::string_view name, std::string_view suffix) {
  if (!name.ends_with(suffix) || name.size() < suffix.size() + kHashDigits) return false;
  const std::string_view digits = name.substr(name.size() - suffix.size() - kHashDigits, kHashDigits);
  return digits.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

bool is_lock(std::string_view name, std::string_view suffix) {
  return name.ends_with(kLockSuffix) && is_entry(name.substr(0, name.size() - kLockSuffix.size()), suffix);
}

std::string temporary_name(const std::string& entry) {
  static std::atomic<unsigned> counter{0};
  return fmt::format("{}.{}-{}{}", entry, ::getpid(), counter++, kTemporarySuffix);
}

// As temporary_name() makes them: behind the entry's name a point, a number, a hyphen and a number.
bool is_temporary(std::string_view name, std::string_view suffix) {
  if (!name.ends_with(kTemporarySuffix)) return false;
  name.remove_suffix(kTemporarySuffix.size());
  const std::size_t point = name.rfind('.');
  if (point == std::string_view::npos || !is_entry(name.substr(0, point), suffix)) return false;
  const std::string_view numbers = name.substr(point + 1);
  return std::count(numbers.begin(), numbers.end(), '-') == 1 &&
         numbers.find_first_not_of("0123456789-") == std::string_view::npos;
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
    if (!is_temporary(name, suffix)) continue;
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

OwnFolder OwnFolder::open(const std::string& path, std::string_view suffix) {
  OwnFolder folder;
  if (path.empty()) return folder;
  OwnFile opened(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  struct stat status;
  if (!opened || ::fstat(opened.get(), &status) != 0 || !is_mine(status) || others_may_write(status)) return folder;
  if (is_way_open(path)) return folder;
  folder.opened_ = std::move(opened);
  folder.suffix_ = suffix;
  return folder;
}

OwnFolder OwnFolder::make(const std::string& path, std::string_view suffix) {
  if (OwnFolder there = open(path, suffix)) return there;
  for (std::size_t end = path.find('/', 1); end != std::string::npos; end = path.find('/', end + 1)) {
    ::mkdir(path.substr(0, end).c_str(), 0700);
  }
  if (!path.empty()) ::mkdir(path.c_str(), 0700);
  return open(path, suffix);
}

// O_NONBLOCK: a pipe of that name must not hold us up.
OwnFile OwnFolder::open_file(const std::string& name, Status& status) const {
  OwnFile file(::openat(get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat found;
  if (!file || ::fstat(file.get(), &found) != 0 || !S_ISREG(found.st_mode)) return OwnFile();
  if (!is_mine(found) || others_may_write(found)) return OwnFile();
  status = {std::size_t(found.st_size), found.st_mtime};
  return file;
}

std::vector<std::string> OwnFolder::entries() const {
  std::vector<std::string> found = names_in(*this);
  std::erase_if(found, [this](const std::string& name) { return !is_entry(name, suffix_); });
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
  if (::fstatat(get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0 || !is_mine(status)) return false;
  return ::unlinkat(get(), name.c_str(), 0) == 0;
}

int OwnFolder::clear() const {
  int removed = 0;
  for (const std::string& name : names_in(*this)) {
    const bool entry = is_entry(name, suffix_);
    if (!entry && !is_lock(name, suffix_) && !is_temporary(name, suffix_)) continue;
    if (remove(name) && entry) ++removed;
  }
  return removed;
}

OwnLock::OwnLock(const OwnFolder& folder, const std::string& entry)
    : folder_(folder), name_(entry + std::string(kLockSuffix)) {}

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
