// A folder of this user's in which several processes keep entries: read whole, replaced whole, locked. Folders and
// files of other users, or that others may write, are as if they were not there. So are files of any other name than
// entries, their locks and their temporary files have: the folder may be one in which somebody keeps more. For the
// caches on disk, to which trouble is a miss: what goes wrong is told by an empty result, and only a lack of memory
// throws.
//
// An entry's name ends in 16 hexadecimal digits, those of a hash, and the folder's suffix.
// Tested by tests/unit/disk_cache_test.cpp and cuda_tunings_test.cpp.
#pragma once
#include <ctime>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace nbcc {

// Owner of a file descriptor.
class OwnFile {
 public:
  explicit OwnFile(int descriptor = -1) : descriptor_(descriptor) {}
  OwnFile(OwnFile&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  OwnFile& operator=(OwnFile&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~OwnFile();
  explicit operator bool() const { return descriptor_ >= 0; }
  int get() const { return descriptor_; }

  // Up to so many bytes from where the last read ended; nothing after an I/O error.
  std::optional<std::string> read(std::size_t most) const;

 private:
  int descriptor_;
};

class OwnFolder {
 public:
  OwnFolder() = default;
  // `suffix` lives as long as the program. A folder that cannot be had, or is not ours, is as one that holds nothing.
  static OwnFolder open(const std::string& path, std::string_view suffix);
  // Why open() and make() give no folder that can be written, and what helps; empty where they do. Makes nothing.
  struct Trouble {
    std::string problem, remedy;
  };
  static Trouble trouble(const std::string& path);
  // Makes it and those above it (0700) where they are missing.
  static OwnFolder make(const std::string& path, std::string_view suffix);
  explicit operator bool() const { return bool(opened_); }

  struct Status {
    std::size_t bytes = 0;
    std::time_t modified = 0;
  };
  // A regular file of this user's, which nobody else may write.
  OwnFile open_file(const std::string& name, Status& status) const;
  std::vector<std::string> entries() const;

  // The parts one after the other, there whole or not at all: written beside and renamed. Temporary files that have
  // lost their writers are removed at the same time.
  bool replace(const std::string& name, std::initializer_list<std::string_view> parts) const;
  bool remove(const std::string& name) const;  // if it is this user's
  // All entries, locks and temporary files of this user's; the number of the entries.
  int clear() const;

  int get() const { return opened_.get(); }

 private:
  OwnFile opened_;
  std::string_view suffix_;
};

// A lock on an entry that other processes, and other threads, see by its file. The file goes when the holder is done;
// who waited for a file that went away takes the next one.
class OwnLock {
 public:
  enum class State { Held, Busy, Impossible };

  OwnLock(const OwnFolder& folder, const std::string& entry);
  ~OwnLock();
  OwnLock(const OwnLock&) = delete;
  OwnLock& operator=(const OwnLock&) = delete;
  State try_take();

 private:
  const OwnFolder& folder_;
  std::string name_;
  OwnFile file_;
};

// What a cache's own trouble looks like from outside: an empty result.
template <typename Try>
auto quietly(Try attempt) -> decltype(attempt()) {
  try {
    return attempt();
  } catch (...) {
    return decltype(attempt())();
  }
}

}  // namespace nbcc
