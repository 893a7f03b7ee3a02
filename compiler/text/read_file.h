// A path -> its bytes, up to a bound, whatever lies there: a file, a pipe that nobody writes to, an endless device.
// Tested by tests/unit/read_file_test.cpp.
#pragma once
#include <chrono>
#include <cstddef>
#include <string>

namespace nbcc {

struct FileContent {
  std::string bytes;
  bool is_whole = false;  // false: there is more than was asked for
  std::string problem;    // why it cannot be read, in the system's words or ours; "" when it could
};

// At most `most` bytes. A pipe without a writer is waited for, but not for longer than `patience`; one that has a
// writer for as long as he takes.
FileContent read_file(const std::string& path, std::size_t most,
                      std::chrono::milliseconds patience = std::chrono::seconds(10));
// The same of a file that is open; it stays open.
FileContent read_descriptor(int file, std::size_t most, std::chrono::milliseconds patience = std::chrono::seconds(10));

}  // namespace nbcc
