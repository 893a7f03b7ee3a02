// Reads a file up to a size limit. The path may be a file, a pipe without a writer or an endless device.
// Tested by tests/unit/compiler/text/read_file_test.cpp.
#pragma once
#include <chrono>
#include <cstddef>
#include <string>

namespace nbcc {

struct FileContent {
  std::string bytes;
  bool is_whole = false;  // false: the file has more than `max_bytes` bytes
  std::string problem;    // why it cannot be read; empty if it was read
};

// Reads at most `max_bytes` bytes. For a pipe without a writer it waits up to `timeout`; while a pipe has a writer, it
// waits without limit.
FileContent read_file(const std::string& path, std::size_t max_bytes,
                      std::chrono::milliseconds timeout = std::chrono::seconds(10));
// The same for an open descriptor, which stays open.
FileContent read_descriptor(int file, std::size_t max_bytes,
                            std::chrono::milliseconds timeout = std::chrono::seconds(10));

}  // namespace nbcc
