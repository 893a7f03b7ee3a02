// A key -> the object loaded for it, in memory. One thread loads an object; only threads that ask for the same key
// wait.
#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace nbcc {

template <typename T>
class LoadOnce {
 public:
  // `load` returns a shared pointer. If it throws, the next call for the key tries again.
  template <typename Load>
  std::shared_ptr<const T> get(const std::string& key, Load load) {
    const std::shared_ptr<Entry> entry = entry_of(key);
    const std::lock_guard lock(entry->mutex);
    if (!entry->value) entry->value = load();
    return entry->value;
  }

 private:
  struct Entry {
    std::mutex mutex;
    std::shared_ptr<const T> value;
  };
  std::shared_ptr<Entry> entry_of(const std::string& key) {
    const std::lock_guard lock(mutex_);
    std::shared_ptr<Entry>& entry = entries_[key];
    if (!entry) entry = std::make_shared<Entry>();
    return entry;
  }

  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Entry>> entries_;
};

}  // namespace nbcc
