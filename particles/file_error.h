// The exception of every failure to read or write a particle file: path and reason, and for text files line and column.
#pragma once
#include <stdexcept>
#include <string>

namespace nbcc {

struct FileError : std::runtime_error {
  // what() is "path: reason".
  FileError(const std::string& path, const std::string& reason)
      : std::runtime_error(path + ": " + reason), path(path) {}
  // what() is "path:line:column: reason", both counted from 1.
  FileError(const std::string& path, long line, long column, const std::string& reason)
      : std::runtime_error(path + ":" + std::to_string(line) + ":" + std::to_string(column) + ": " + reason),
        path(path) {}
  std::string path;
};

// A column holds integers that int64 cannot represent.
struct BeyondInt64 : FileError {
  using FileError::FileError;
};

}  // namespace nbcc
