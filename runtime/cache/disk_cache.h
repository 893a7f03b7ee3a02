// A key -> the kernel compiled for it earlier, on disk. A cache that cannot be used (no folder, read-only, full, owned
// or writable by other users) is no error: then every lookup is a miss. Safe for several processes and threads. Does
// not touch other files in the folder. Kernels that are missing there are looked up in a shared folder, which is never
// written. Tested by tests/unit/runtime/cache/disk_cache_test.cpp and shared_cache_test.cpp.
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
  // If `folder` is "", nothing is stored and nothing is found, in the shared folder neither. Kernels are in the
  // subfolder `kernels`; store() makes both folders (mode 0700).
  explicit DiskCache(std::string folder, std::string shared_folder = default_shared_folder());

  // $NBCC_CACHE_DIR, else $XDG_CACHE_HOME/nbcc, else $HOME/.cache/nbcc; "" if none of these variables is set.
  static std::string default_folder();
  // $NBCC_SHARED_CACHE_DIR, or "" if it is not set. Any user may own this folder; its kernels are in `kernels`, too.
  static std::string default_shared_folder();
  const std::string& folder() const { return folder_; }
  const std::string& shared_folder() const { return shared_folder_; }
  // Why kernels cannot be stored, and a remedy; empty if they can.
  OwnFolder::Trouble trouble() const;
  // Why kernels of the shared folder cannot be used, and a remedy; empty if they can, or if there is no such folder.
  OwnFolder::Trouble trouble_of_shared() const;

  std::optional<std::string> lookup(const std::string& key) const;
  void store(const std::string& key, const std::string& value) const;
  void remove(const std::string& key) const;

  // The value of `key`; on a miss, made and stored. If several processes ask at once, one makes the value and the
  // others wait; a process that has waited longer than the limit makes the value itself. Throws only exceptions of
  // `make`.
  std::string get_or_make(const std::string& key, const std::function<std::string()>& make) const;
  void set_wait_limit(std::chrono::milliseconds limit) { wait_limit_ = limit; }

  struct Entry {
    std::string name;
    std::int64_t bytes = 0;
    std::time_t modified = 0;
    std::string first_line;  // first line of the key
  };
  std::vector<Entry> list() const;         // newest first
  std::vector<Entry> list_shared() const;  // of the shared folder
  int clear() const;                       // the number of entries removed

 private:
  std::string folder_, kernels_, shared_folder_, shared_kernels_;
  std::chrono::milliseconds wait_limit_ = std::chrono::seconds(60);
};

}  // namespace nbcc
