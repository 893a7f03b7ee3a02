// Names in a folder -> their bytes, and back. Doors: OwnFolder, OwnLock. Knows nothing of what the files hold.
#include "runtime/own_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <memory>

#include "fmt/format.h"

namespace nbcc {
namespace {

// A temporary file of this age has lost its writer.
constexpr std::time_t kAbandonedSeconds = 3600;

bool is_mine(const struct stat& status) { return status.st_uid == ::geteuid(); }

bool write_all(const OwnFile& file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t put = ::write(file.get(), bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return false;
    bytes.remove_prefix(std::size_t(put));
  }
  return true;
}

void remove_abandoned(const OwnFolder& folder) {
  const std::time_t now = std::time(nullptr);
  for (const std::string& name : folder.names()) {
    struct stat status;
    if (!name.ends_with(kTemporarySuffix)) continue;
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

OwnFolder OwnFolder::open(const std::string& path) {
  OwnFolder folder;
  if (path.empty()) return folder;
  OwnFile opened(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  struct stat status;
  if (opened && ::fstat(opened.get(), &status) == 0 && is_mine(status)) folder.opened_ = std::move(opened);
  return folder;
}

OwnFolder OwnFolder::make(const std::string& path) {
  if (OwnFolder there = open(path)) return there;
  for (std::size_t end = path.find('/', 1); end != std::string::npos; end = path.find('/', end + 1)) {
    ::mkdir(path.substr(0, end).c_str(), 0700);
  }
  if (!path.empty()) ::mkdir(path.c_str(), 0700);
  return open(path);
}

// O_NONBLOCK: a pipe of that name must not hold us up.
OwnFile OwnFolder::open_file(const std::string& name, Status& status) const {
  OwnFile file(::openat(get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat found;
  if (!file || ::fstat(file.get(), &found) != 0 || !S_ISREG(found.st_mode) || !is_mine(found)) return OwnFile();
  status = {std::size_t(found.st_size), found.st_mtime};
  return file;
}

std::vector<std::string> OwnFolder::names() const {
  std::vector<std::string> found;
  DIR* const directory = ::fdopendir(::openat(get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory) return found;
  const std::unique_ptr<DIR, int (*)(DIR*)> closing(directory, &::closedir);
  while (const dirent* entry = ::readdir(directory)) found.emplace_back(entry->d_name);
  return found;
}

bool OwnFolder::replace(const std::string& name, std::initializer_list<std::string_view> parts) const {
  static std::atomic<unsigned> counter{0};
  remove_abandoned(*this);
  const std::string temporary = fmt::format("{}.{}-{}{}", name, ::getpid(), counter++, kTemporarySuffix);
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
