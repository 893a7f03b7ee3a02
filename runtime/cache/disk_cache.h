// A key -> the compiled kernel that was once made for it, on disk. A cache that cannot be used (no folder, read-only,
// full, someone else's, one that others may write) is no error: everything is then a miss. Safe among processes and
// threads. Whatever else lies in the folder is left alone. Tested by tests/unit/disk_cache_test.cpp.
#pragma once
#include <chrono>
#include <cstdint>
#include <ctime>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "runtime/cache/own_folder.h"

namespace nbcc {

class DiskCache {
 public:
  // "" is a cache that keeps nothing. Kernels are in a folder of their own in it, `kernels`; both are made (0700) when
  // something is stored.
  explicit DiskCache(std::string folder);

  // $NBCC_CACHE_DIR, else $XDG_CACHE_HOME/nbcc, else ~/.cache/nbcc; "" when none of these is set.
  static std::string default_folder();
  const std::string& folder() const { return folder_; }
  // Why nothing is kept, and what helps; empty where kernels are kept, or will be.
  OwnFolder::Trouble trouble() const;

  std::optional<std::string> lookup(const std::string& key) const;
  void store(const std::string& key, const std::string& value) const;
  void remove(const std::string& key) const;

  // The value of `key`, made and stored if it is not there. Of several processes that ask at once one makes it, the
  // others wait; who has waited longer than the limit makes it for himself. Only what `make` throws is thrown.
  std::string get_or_make(const std::string& key, const std::function<std::string()>& make) const;
  void set_wait_limit(std::chrono::milliseconds limit) { wait_limit_ = limit; }

  struct Entry {
    std::string name;
    std::int64_t bytes = 0;
    std::time_t modified = 0;
    std::string first_line;  // of the key
  };
  std::vector<Entry> list() const;  // newest first
  int clear() const;                // the number of entries removed

 private:
  std::string folder_, kernels_;
  std::chrono::milliseconds wait_limit_ = std::chrono::seconds(60);
};

}  // namespace nbcc
