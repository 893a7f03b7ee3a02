// Turns a key into the value that was once made for it, across processes. One door: DiskCache::get_or_make.
// Does not know what a value is, has no limit of size, and never lets its own trouble out: whatever goes wrong here
// is a miss.
//
// An entry is one file, named by the key's hash: Header, key, value. It is written to a temporary file and renamed, so
// that it is there whole or not at all. What is wrong with an entry's *content* deletes it; what goes wrong while
// reading (an I/O error) deletes nothing.
#include "runtime/disk_cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>
#include <thread>
#include <utility>

#include "fmt/format.h"

namespace nbcc {
namespace {

constexpr std::string_view kEntrySuffix = ".kernel", kLockSuffix = ".lock", kTemporarySuffix = ".tmp";
constexpr std::uint32_t kVersion = 1;
// A temporary file of this age has lost its writer.
constexpr std::time_t kAbandonedSeconds = 3600;

struct Header {
  char magic[8] = {'n', 'b', 'c', 'c', 'k', 'r', 'n', '\n'};
  std::uint32_t version = kVersion;
  std::uint32_t reserved = 0;
  std::uint64_t key_bytes = 0, value_bytes = 0;
  std::uint64_t checksum = 0;  // of all else, this field being 0
};
static_assert(sizeof(Header) == 40);

class File {
 public:
  explicit File(int descriptor = -1) : descriptor_(descriptor) {}
  File(File&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  File& operator=(File&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~File() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  explicit operator bool() const { return descriptor_ >= 0; }
  int get() const { return descriptor_; }
  int release() { return std::exchange(descriptor_, -1); }

 private:
  int descriptor_;
};

bool is_mine(const struct stat& status) { return status.st_uid == ::geteuid(); }

// The open folder, if it is a folder of this user's.
File open_folder(const std::string& folder) {
  if (folder.empty()) return File();
  File opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  struct stat status;
  if (!opened || ::fstat(opened.get(), &status) != 0 || !is_mine(status)) return File();
  return opened;
}

File make_folder(const std::string& folder) {
  if (File there = open_folder(folder)) return there;
  for (std::size_t end = folder.find('/', 1); end != std::string::npos; end = folder.find('/', end + 1)) {
    ::mkdir(folder.substr(0, end).c_str(), 0700);
  }
  if (!folder.empty()) ::mkdir(folder.c_str(), 0700);
  return open_folder(folder);
}

// A regular file of this user's. O_NONBLOCK: a pipe of that name must not hold us up.
File open_entry(const File& folder, const std::string& name, struct stat& status) {
  File file(::openat(folder.get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode) || !is_mine(status)) return File();
  return file;
}

bool read_all(const File& file, char* to, std::size_t bytes) {
  while (bytes > 0) {
    const ssize_t got = ::read(file.get(), to, bytes);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    to += got;
    bytes -= std::size_t(got);
  }
  return true;
}

bool write_all(const File& file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t put = ::write(file.get(), bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return false;
    bytes.remove_prefix(std::size_t(put));
  }
  return true;
}

std::string hashed(const std::string& key) {
  const XXH128_hash_t hash = XXH3_128bits(key.data(), key.size());
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

std::uint64_t checksum(Header header, std::string_view key_and_value) {
  header.checksum = 0;
  const std::uint64_t seed = XXH3_64bits(&header, sizeof header);
  return XXH3_64bits_withSeed(key_and_value.data(), key_and_value.size(), seed);
}

// The value inside a whole entry; nothing if the content is not what store() writes for this key.
std::optional<std::string> value_of(std::string_view entry, std::string_view key) {
  Header header;
  const Header expected;
  if (entry.size() < sizeof header) return {};
  std::memcpy(&header, entry.data(), sizeof header);
  const std::string_view rest = entry.substr(sizeof header);
  if (std::memcmp(header.magic, expected.magic, sizeof header.magic) != 0 || header.version != kVersion) return {};
  if (header.key_bytes > rest.size() || header.value_bytes != rest.size() - header.key_bytes) return {};
  if (header.checksum != checksum(header, rest) || rest.substr(0, header.key_bytes) != key) return {};
  return std::string(rest.substr(header.key_bytes));
}

std::optional<std::string> read_entry(const File& folder, const std::string& key) {
  const std::string name = hashed(key) + std::string(kEntrySuffix);
  struct stat status;
  const File file = open_entry(folder, name, status);
  if (!file) return {};
  std::string entry(std::size_t(status.st_size), '\0');
  if (!read_all(file, entry.data(), entry.size())) return {};
  std::optional<std::string> value = value_of(entry, key);
  if (!value) ::unlinkat(folder.get(), name.c_str(), 0);
  return value;
}

template <typename Visit>
void for_each_name(const File& folder, Visit visit) {
  DIR* const directory = ::fdopendir(::openat(folder.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory) return;
  const std::unique_ptr<DIR, int (*)(DIR*)> closing(directory, &::closedir);
  while (const dirent* found = ::readdir(directory)) visit(std::string(found->d_name));
}

void remove_abandoned(const File& folder) {
  const std::time_t now = std::time(nullptr);
  for_each_name(folder, [&](const std::string& name) {
    struct stat status;
    if (!name.ends_with(kTemporarySuffix)) return;
    if (::fstatat(folder.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0 || !is_mine(status)) return;
    if (now - status.st_mtime > kAbandonedSeconds) ::unlinkat(folder.get(), name.c_str(), 0);
  });
}

void write_entry(const File& folder, const std::string& key, const std::string& value) {
  static std::atomic<unsigned> counter{0};
  remove_abandoned(folder);
  Header header;
  header.key_bytes = key.size();
  header.value_bytes = value.size();
  const std::string content = key + value;
  header.checksum = checksum(header, content);

  const std::string hash = hashed(key);
  const std::string temporary = fmt::format("{}.{}-{}{}", hash, ::getpid(), counter++, kTemporarySuffix);
  bool written = false;
  {
    const File file(
        ::openat(folder.get(), temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!file) return;
    written = write_all(file, std::string_view(reinterpret_cast<const char*>(&header), sizeof header)) &&
              write_all(file, content) && ::fsync(file.get()) == 0;
  }
  const std::string name = hash + std::string(kEntrySuffix);
  if (!written || ::renameat(folder.get(), temporary.c_str(), folder.get(), name.c_str()) != 0) {
    ::unlinkat(folder.get(), temporary.c_str(), 0);
  }
}

// The lock of one key, held while its value is made. The file goes when the holder is done; who waited for a
// file that went away takes the next one.
class KeyLock {
 public:
  enum class State { Held, Busy, Impossible };

  KeyLock(const File& folder, const std::string& key)
      : folder_(folder), name_(hashed(key) + std::string(kLockSuffix)) {}
  ~KeyLock() {
    if (file_) ::unlinkat(folder_.get(), name_.c_str(), 0);
  }

  State try_take() {
    File file(::openat(folder_.get(), name_.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600));
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

 private:
  const File& folder_;
  std::string name_;
  File file_;
};

// What the cache's own trouble looks like from outside.
template <typename Try>
auto quietly(Try attempt) -> decltype(attempt()) {
  try {
    return attempt();
  } catch (...) {
    return decltype(attempt())();
  }
}

}  // namespace

DiskCache::DiskCache(std::string folder) : folder_(std::move(folder)) {}

std::string DiskCache::default_folder() {
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value ? value : "");
  };
  if (const std::string own = variable("NBCC_CACHE_DIR"); !own.empty()) return own;
  // The XDG base directory specification: a relative path is invalid and to be ignored.
  if (const std::string xdg = variable("XDG_CACHE_HOME"); xdg.starts_with('/')) return xdg + "/nbcc";
  if (const std::string home = variable("HOME"); home.starts_with('/')) return home + "/.cache/nbcc";
  return "";
}

std::optional<std::string> DiskCache::lookup(const std::string& key) const {
  return quietly([&]() -> std::optional<std::string> {
    const File folder = open_folder(folder_);
    if (!folder) return {};
    return read_entry(folder, key);
  });
}

void DiskCache::store(const std::string& key, const std::string& value) const {
  quietly([&] {
    if (const File folder = make_folder(folder_)) write_entry(folder, key, value);
  });
}

void DiskCache::remove(const std::string& key) const {
  quietly([&] {
    if (const File folder = open_folder(folder_)) {
      ::unlinkat(folder.get(), (hashed(key) + std::string(kEntrySuffix)).c_str(), 0);
    }
  });
}

std::string DiskCache::get_or_make(const std::string& key, const std::function<std::string()>& make) const {
  if (std::optional<std::string> value = lookup(key)) return *std::move(value);
  const File folder = quietly([&] { return make_folder(folder_); });
  if (!folder) return make();

  KeyLock lock(folder, key);
  const auto deadline = std::chrono::steady_clock::now() + wait_limit_;
  auto wait = std::chrono::milliseconds(1);
  for (;;) {
    const KeyLock::State state = lock.try_take();
    // Also with the lock in hand: its last holder may have stored the value since we looked.
    if (std::optional<std::string> value = lookup(key)) return *std::move(value);
    // Where nothing can be locked, several may make and store the value: the last rename wins, none does harm.
    if (state != KeyLock::State::Busy) break;
    if (std::chrono::steady_clock::now() >= deadline) return make();
    std::this_thread::sleep_for(wait);
    wait = std::min(2 * wait, std::chrono::milliseconds(20));
  }
  std::string value = make();
  quietly([&] { write_entry(folder, key, value); });
  return value;
}

std::vector<DiskCache::Entry> DiskCache::list() const {
  return quietly([&] {
    std::vector<Entry> entries;
    const File folder = open_folder(folder_);
    if (!folder) return entries;
    for_each_name(folder, [&](const std::string& name) {
      struct stat status;
      Header header;
      if (!name.ends_with(kEntrySuffix)) return;
      const File file = open_entry(folder, name, status);
      if (!file || !read_all(file, reinterpret_cast<char*>(&header), sizeof header)) return;
      std::string line(std::min<std::size_t>({512, header.key_bytes, std::size_t(status.st_size) - sizeof header}),
                       '\0');
      if (std::memcmp(header.magic, Header().magic, sizeof header.magic) != 0) return;
      if (!read_all(file, line.data(), line.size())) return;
      entries.push_back({name, status.st_size, status.st_mtime, line.substr(0, line.find('\n'))});
    });
    std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
      return std::pair(-a.modified, a.name) < std::pair(-b.modified, b.name);
    });
    return entries;
  });
}

int DiskCache::clear() const {
  return quietly([&] {
    int removed = 0;
    const File folder = open_folder(folder_);
    if (!folder) return removed;
    std::vector<std::string> names;
    for_each_name(folder, [&](const std::string& name) { names.push_back(name); });
    for (const std::string& name : names) {
      const bool entry = name.ends_with(kEntrySuffix);
      struct stat status;
      if (!entry && !name.ends_with(kLockSuffix) && !name.ends_with(kTemporarySuffix)) continue;
      if (::fstatat(folder.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0 || !is_mine(status)) continue;
      if (::unlinkat(folder.get(), name.c_str(), 0) == 0 && entry) ++removed;
    }
    return removed;
  });
}

}  // namespace nbcc
