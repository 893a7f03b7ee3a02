// Turns the header of an .npy array into dtype and shape; its one door is take_npy_header. The header is a Python
// literal: it is read by a parser for exactly the literals that NumPy writes, and never run.
#include "particles/npy_header.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <limits>

#include "particles/file_error.h"

namespace nbcc {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::int64_t kLargest = std::numeric_limits<std::int32_t>::max();
constexpr char kNativeOrder = std::endian::native == std::endian::little ? '<' : '>';

// Reads {'descr': ..., 'fortran_order': ..., 'shape': (...), }.
class HeaderParser {
 public:
  HeaderParser(std::string_view text, bool latin1, const std::string& path)
      : text_(text), latin1_(latin1), path_(path) {}

  NpyHeader parse() {
    NpyHeader header;
    bool descr = false, order = false, shape = false;
    expect('{');
    while (!take('}')) {
      const std::string key = string();
      expect(':');
      if (key == "descr" && !descr) {
        parse_descr(header);
        descr = true;
      } else if (key == "fortran_order" && !order) {
        header.fortran = boolean();
        order = true;
      } else if (key == "shape" && !shape) {
        header.shape = tuple();
        shape = true;
      } else {
        fail(fmt::format("an unexpected key '{}'", printable(key)));
      }
      if (!take(',')) {
        expect('}');
        break;
      }
    }
    if (!descr || !order || !shape) fail("descr, fortran_order and shape are not all there");
    return header;
  }

 private:
  void parse_descr(NpyHeader& header) {
    if (peek() == '\'' || peek() == '"') {
      header.fields.push_back(field("", string()));
      return;
    }
    header.structured = true;
    expect('[');
    std::int64_t offset = 0;
    while (!take(']')) {
      NpyField next = record_field();
      next.offset = offset;
      std::int64_t bytes = 0;
      if (__builtin_mul_overflow(next.size, next.components, &bytes) ||
          __builtin_add_overflow(offset, bytes, &offset) || offset > kLargest)
        fail("a record of more than 2 GiB");
      header.fields.push_back(std::move(next));
      if (!take(',')) {
        expect(']');
        break;
      }
    }
  }

  // ('x', '<f8'), ('x', '<f8', (3,)) or (('title', 'x'), '<f8').
  NpyField record_field() {
    expect('(');
    std::string name;
    if (take('(')) {
      string();
      expect(',');
      name = string();
      expect(')');
    } else {
      name = string();
    }
    expect(',');
    if (peek() == '[') fail(fmt::format("field '{}' is a record itself, which is not read", printable(name)));
    NpyField result = field(name, string());
    if (take(',') && peek() != ')') {
      const std::vector<std::int64_t> shape = peek() == '(' ? tuple() : std::vector<std::int64_t>{number()};
      if (shape.size() > 1)
        fail(fmt::format("field '{}' has {} dimensions per row; one is read at most", printable(name), shape.size()));
      if (!shape.empty()) result.components = shape[0];
      if (result.components < 1 || result.components > kLargest)
        fail(fmt::format("field '{}' has {} components", printable(name), result.components));
    }
    expect(')');
    return result;
  }

  NpyField field(std::string name, std::string type) {
    NpyField result;
    std::size_t at = 0;
    char order = '|';
    if (!type.empty() && std::string_view("<>=|").find(type[0]) != std::string_view::npos) order = type[at++];
    if (at < type.size()) result.kind = type[at++];
    for (; at < type.size() && type[at] >= '0' && type[at] <= '9' && result.size <= kLargest; ++at)
      result.size = result.size * 10 + (type[at] - '0');
    // Object arrays have no size; datetimes end in a unit; both are refused later, by their kind.
    const bool whole = at == type.size() || result.kind == 'M' || result.kind == 'm';
    if (!whole || result.kind == 0 || result.size > kLargest / 4)
      fail(fmt::format("'{}' is not a dtype", printable(type)));
    if (result.kind == 'U') result.size *= 4;
    result.swapped = (order == '<' || order == '>') && order != kNativeOrder;
    result.name = std::move(name);
    result.type = std::move(type);
    return result;
  }

  std::vector<std::int64_t> tuple() {
    std::vector<std::int64_t> values;
    expect('(');
    while (!take(')')) {
      values.push_back(number());
      if (values.size() > 64) fail("more than 64 dimensions");
      if (!take(',')) {
        expect(')');
        break;
      }
    }
    return values;
  }

  std::int64_t number() {
    skip_space();
    std::int64_t value = 0;
    const std::size_t start = at_;
    for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_)
      if (__builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, text_[at_] - '0', &value))
        fail("a length beyond 2^63");
    if (at_ == start) fail("a length is not a whole number");
    if (at_ < text_.size() && text_[at_] == 'L') ++at_;  // Python 2 wrote (3L,)
    return value;
  }

  bool boolean() {
    skip_space();
    for (const std::string_view word : {"True", "False"})
      if (text_.substr(at_).starts_with(word)) {
        at_ += word.size();
        return word == "True";
      }
    fail("fortran_order is neither True nor False");
  }

  std::string string() {
    const char quote = peek();
    if (quote != '\'' && quote != '"') fail("a string is missing");
    std::string value;
    for (++at_; at_ < text_.size() && text_[at_] != quote; ++at_) {
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) ++at_;
      const auto byte = static_cast<unsigned char>(text_[at_]);
      if (latin1_ && byte >= 0x80) value += static_cast<char>(0xc0 | byte >> 6);
      value += static_cast<char>(latin1_ && byte >= 0x80 ? 0x80 | (byte & 0x3f) : byte);
    }
    if (at_ == text_.size()) fail("a string does not end");
    ++at_;
    return value;
  }

  void skip_space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t')) ++at_;
  }

  char peek() {
    skip_space();
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  bool take(char c) {
    if (peek() != c || at_ >= text_.size()) return false;
    ++at_;
    return true;
  }

  void expect(char c) {
    if (!take(c)) fail(fmt::format("'{}' is missing", c));
  }

  static std::string printable(std::string_view text) {
    std::string shown(text.substr(0, 40));
    std::replace_if(shown.begin(), shown.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20; }, '?');
    return shown;
  }

  [[noreturn]] void fail(const std::string& reason) const {
    throw FileError(path_, fmt::format("its .npy header is damaged or not understood at byte {}: {}", at_, reason));
  }

  std::string_view text_;
  const bool latin1_;  // versions 1 and 2; version 3 is UTF-8
  const std::string& path_;
  std::size_t at_ = 0;
};

// The header's text; `bytes` is left at the numbers.
std::string_view take_text(std::string_view& bytes, const std::string& path) {
  if (!bytes.starts_with(kMagic))
    throw FileError(path, bytes.empty() ? "the file is empty" : "it is not an .npy array (its first bytes differ)");
  const auto byte = [&](std::size_t k) { return static_cast<std::size_t>(static_cast<unsigned char>(bytes[k])); };
  if (bytes.size() < 8) throw FileError(path, "it is truncated within the .npy header");
  const std::size_t version = byte(6), prefix = version == 1 ? 10 : 12;
  if (version < 1 || version > 3) throw FileError(path, fmt::format(".npy version {} is not known", version));
  if (bytes.size() < prefix) throw FileError(path, "it is truncated within the .npy header");
  std::size_t length = byte(8) | byte(9) << 8;
  if (version > 1) length |= byte(10) << 16 | byte(11) << 24;
  if (bytes.size() - prefix < length) throw FileError(path, "it is truncated within the .npy header");
  const std::string_view header = bytes.substr(prefix, length);
  bytes.remove_prefix(prefix + length);
  return header;
}

}  // namespace

NpyHeader take_npy_header(std::string_view& bytes, const std::string& path) {
  const bool latin1 = bytes.size() > 6 && bytes[6] < 3;
  const std::string_view text = take_text(bytes, path);
  return HeaderParser(text, latin1, path).parse();
}

}  // namespace nbcc
