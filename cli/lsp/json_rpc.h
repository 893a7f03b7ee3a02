// Messages of JSON-RPC with headers, as the Language Server Protocol frames them, on two descriptors. It knows no
// method.
#pragma once
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace nbcc {

using LspJson = nlohmann::json;

class MessageStream {
 public:
  MessageStream(int in, int out) : in_(in), out_(out) {}

  // The content of the next message; none at the end of the input, or after a header without a length, behind which no
  // message can be found.
  std::optional<std::string> read();
  // Throws std::runtime_error if the reader is gone.
  void write(const LspJson& message);
  // True if a message, or a part of one, can be read without waiting.
  bool has_input() const;
  int in() const { return in_; }

 private:
  bool fill();
  int in_, out_;
  std::string buffer_;
};

}  // namespace nbcc
