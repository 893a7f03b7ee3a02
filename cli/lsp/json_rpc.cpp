// Bytes -> messages, messages -> bytes. Entry points: MessageStream::read() and write().
#include "cli/lsp/json_rpc.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <stdexcept>

namespace nbcc {
namespace {

constexpr std::size_t kMaxMessageBytes = std::size_t(64) << 20;

// The number after "Content-Length:" in the header; 0 if there is none.
std::size_t content_length(std::string_view header) {
  constexpr std::string_view key = "content-length:";
  for (std::size_t at = 0; at < header.size();) {
    const std::size_t end = std::min(header.find("\r\n", at), header.size());
    std::string line(header.substr(at, end - at));
    for (char& c : line) c = char(std::tolower(static_cast<unsigned char>(c)));
    if (line.starts_with(key)) {
      const std::size_t digits = line.find_first_not_of(' ', key.size());
      std::size_t length = 0;
      if (digits != std::string::npos) std::from_chars(line.data() + digits, line.data() + line.size(), length);
      return length;
    }
    at = end + 2;
  }
  return 0;
}

}  // namespace

bool MessageStream::fill() {
  char bytes[65536];
  for (;;) {
    const ssize_t count = ::read(in_, bytes, sizeof bytes);
    if (count > 0) return buffer_.append(bytes, std::size_t(count)), true;
    if (count == 0 || errno != EINTR) return false;
  }
}

std::optional<std::string> MessageStream::read() {
  constexpr std::size_t kMaxHeaderBytes = 4096;
  std::size_t end;
  while ((end = buffer_.find("\r\n\r\n")) == std::string::npos)
    if (buffer_.size() > kMaxHeaderBytes || !fill()) return std::nullopt;
  const std::size_t length = content_length(std::string_view(buffer_).substr(0, end));
  if (length == 0 || length > kMaxMessageBytes) return std::nullopt;
  const std::size_t begin = end + 4;
  while (buffer_.size() < begin + length)
    if (!fill()) return std::nullopt;
  std::string content = buffer_.substr(begin, length);
  buffer_.erase(0, begin + length);
  return content;
}

void MessageStream::write(const LspJson& message) {
  // Bytes of a text that are not UTF-8 are replaced.
  const std::string content = message.dump(-1, ' ', false, LspJson::error_handler_t::replace);
  const std::string bytes = fmt::format("Content-Length: {}\r\n\r\n{}", content.size(), content);
  for (std::size_t at = 0; at < bytes.size();) {
    const ssize_t count = ::write(out_, bytes.data() + at, bytes.size() - at);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw std::runtime_error(fmt::format("cannot answer the editor: {}", std::strerror(errno)));
    at += std::size_t(count);
  }
}

bool MessageStream::has_input() const {
  if (!buffer_.empty()) return true;
  pollfd waiting{in_, POLLIN, 0};
  return ::poll(&waiting, 1, 0) > 0;
}

}  // namespace nbcc
