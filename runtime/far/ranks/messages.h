// Arrays of plain data in the messages between processes: MessageWriter appends arrays, MessageReader reads them in the
// same order. All processes have the byte order of this machine.
#pragma once
#include <cstddef>
#include <cstring>
#include <span>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

#include "runtime/sum/request/far_peers.h"

namespace nbcc {

class MessageWriter {
 public:
  template <typename T>
  void add(std::span<const T> values) {
    static_assert(std::is_trivially_copyable_v<T>);
    if (!values.empty()) std::memcpy(more(values.size_bytes()), values.data(), values.size_bytes());
  }
  template <typename T>
  void add_one(const T& value) {
    add(std::span<const T>(&value, 1));
  }
  // Room for so many bytes, valid until the next call.
  std::byte* more(std::size_t bytes) {
    bytes_.resize(bytes_.size() + bytes);
    return bytes_.data() + bytes_.size() - bytes;
  }
  FarPeers::Bytes take() { return std::move(bytes_); }

 private:
  FarPeers::Bytes bytes_;
};

class MessageReader {
 public:
  explicit MessageReader(std::span<const std::byte> bytes) : rest_(bytes) {}
  bool is_empty() const { return rest_.empty(); }
  const std::byte* skip(std::size_t bytes) {
    if (bytes > rest_.size()) throw std::logic_error("a message of another process is too short");
    const std::byte* const at = rest_.data();
    rest_ = rest_.subspan(bytes);
    return at;
  }
  template <typename T>
  void read(std::span<T> values) {
    static_assert(std::is_trivially_copyable_v<T>);
    if (!values.empty()) std::memcpy(values.data(), skip(values.size_bytes()), values.size_bytes());
  }
  template <typename T>
  T read_one() {
    T value{};
    read(std::span<T>(&value, 1));
    return value;
  }

 private:
  std::span<const std::byte> rest_;
};

}  // namespace nbcc
