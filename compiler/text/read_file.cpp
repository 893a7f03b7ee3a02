// A path or a descriptor -> bytes. Entry points: read_file(), read_descriptor(). It checks neither the content nor the
// kind of file.
#include "compiler/text/read_file.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <thread>

namespace nbcc {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kChunkBytes = std::size_t(1) << 20;

std::string system_message(int error) { return std::generic_category().message(error); }

// Capacity in bytes of the first read: all of a regular file, else one chunk. The caller adds a byte, which shows the
// end.
std::size_t first_capacity(const struct stat& status, std::size_t max_bytes) {
  if (!S_ISREG(status.st_mode) || status.st_size < 0) return std::min(kChunkBytes, max_bytes);
  return std::min(std::max(std::size_t(status.st_size), std::size_t(1) << 12), max_bytes);
}

}  // namespace

FileContent read_descriptor(int file, std::size_t max_bytes, std::chrono::milliseconds timeout) {
  FileContent content;
  struct stat status;
  if (::fstat(file, &status) != 0) return content.problem = system_message(errno), content;
  // A non-blocking read of a pipe without a writer returns 0, as at the end of the data.
  bool awaits_writer = S_ISFIFO(status.st_mode) && (::fcntl(file, F_GETFL) & O_NONBLOCK) != 0;
  const Clock::time_point deadline = Clock::now() + timeout;
  std::size_t filled = 0, capacity = first_capacity(status, max_bytes);
  ++max_bytes;  // one more byte, which is dropped, shows that the file is longer
  for (;;) {
    if (filled == content.bytes.size())
      content.bytes.resize(std::min(max_bytes, filled + capacity + 1)), capacity = kChunkBytes;
    const ssize_t count = ::read(file, content.bytes.data() + filled, content.bytes.size() - filled);
    if (count > 0) {
      awaits_writer = false;
      filled += std::size_t(count);
      if (filled < max_bytes) continue;
      break;
    }
    if (count == 0 && !awaits_writer) break;
    if (count == 0) {
      if (Clock::now() >= deadline) {
        content.problem = fmt::format("it is a pipe, and no process opened it for writing in {:.3g} seconds",
                                      std::chrono::duration<double>(timeout).count());
        break;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    } else if (errno == EAGAIN) {
      awaits_writer = false;  // the pipe has a writer
      pollfd ready{file, POLLIN, 0};
      ::poll(&ready, 1, -1);
    } else if (errno != EINTR) {
      content.problem = system_message(errno);
      break;
    }
  }
  content.is_whole = filled < max_bytes;
  content.bytes.resize(std::min(filled, max_bytes - 1));
  return content;
}

FileContent read_file(const std::string& path, std::size_t max_bytes, std::chrono::milliseconds timeout) {
  // Open without blocking: otherwise opening a pipe blocks until it has a writer.
  const int file = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (file < 0) return {{}, false, system_message(errno)};
  try {
    FileContent content = read_descriptor(file, max_bytes, timeout);
    ::close(file);
    return content;
  } catch (...) {
    ::close(file);
    throw;
  }
}

}  // namespace nbcc
