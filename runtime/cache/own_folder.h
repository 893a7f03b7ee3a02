// A folder of this user in which several processes store entries. Entries are read and replaced as complete files, and
// can be locked. Folders and files that other users own or may write are ignored. So are files whose names are not
// those of entries, locks or temporary files, since the folder may contain other data. Made for the disk caches, where
// a failure is a miss: functions report failures by empty results and throw only if memory runs out. A shared folder
// belongs to any user, whom the caller trusts, and is only read.
//
// An entry's name ends in the 16 hexadecimal digits of a hash and the folder's suffix.
// Tested by tests/unit/runtime/cache/disk_cache_test.cpp and cuda_tunings_test.cpp.
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

  // Reads up to `most` bytes from the end of the last read on; nothing after an I/O error.
  std::optional<std::string> read(std::size_t most) const;

 private:
  int descriptor_;
};

class OwnFolder {
 public:
  OwnFolder() = default;
  enum class Owner { Self, Any };  // any user may own a shared folder, which is only read
  // `suffix` must be valid until the program ends. If the folder cannot be opened, or has the wrong owner, or a user
  // other than its owner may write or replace it, the result is false and has no entries.
  static OwnFolder open(const std::string& path, std::string_view suffix, Owner owner = Owner::Self);
  // Why open() and make() give no writable folder, and a remedy; empty if they do. Makes nothing.
  struct Trouble {
    std::string problem, remedy;
  };
  static Trouble trouble(const std::string& path);
  // Why open() does not open the folder with Owner::Any, and a remedy; empty if it does.
  static Trouble trouble_of_shared(const std::string& path);
  // Like open(), but first makes the folder and its parents (mode 0700) if they are missing.
  static OwnFolder make(const std::string& path, std::string_view suffix);
  explicit operator bool() const { return bool(opened_); }

  struct Status {
    std::size_t bytes = 0;
    std::time_t modified = 0;
  };
  // Opens a regular file that the folder's owner owns and that no other user may write.
  OwnFile open_file(const std::string& name, Status& status) const;
  std::vector<std::string> entries() const;

  // Writes the concatenated parts to a temporary file and renames it, so that the entry is complete or unchanged. Also
  // removes old temporary files whose writers have ended.
  bool replace(const std::string& name, std::initializer_list<std::string_view> parts) const;
  bool remove(const std::string& name) const;  // only if this user owns the file and the folder is not shared
  // Removes all entries, locks and temporary files of this user. Returns the number of entries removed.
  int clear() const;

  int get() const { return opened_.get(); }

 private:
  OwnFile opened_;
  std::string_view suffix_;
  unsigned owner_ = 0;  // user id; of this user unless the folder is shared
  bool shared_ = false;
};

// A lock on an entry, effective between processes and threads, by flock() on a lock file. The holder removes the file
// when it is done; a waiter whose file was removed tries again with a new file.
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

// Returns the result of `attempt`, or an empty result if it throws.
template <typename Try>
auto quietly(Try attempt) -> decltype(attempt()) {
  try {
    return attempt();
  } catch (...) {
    return decltype(attempt())();
  }
}

}  // namespace nbcc
