// A temporary folder for files that other code reads and writes; the destructor deletes it with its contents.
#pragma once
#include <stdlib.h>

#include <filesystem>
#include <string>

#include "runtime/error.h"

namespace nbcc {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "nbcc-XXXXXX").string();
    if (!mkdtemp(pattern.data())) throw DeviceError("cannot create a temporary folder: " + pattern);
    path_ = pattern;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  std::string file(const char* name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace nbcc
