// Parses the header of an .npy array into dtype and shape. Entry point: take_npy_header(). The header is a Python
// literal; it is converted to JSON and parsed, never executed.
#include "particles/files/numpy/npy_header.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "particles/file_error.h"

namespace nbcc {
namespace {

using Json = nlohmann::json;

// Converts a Python literal to JSON: they differ in quotes, tuples, True and False, 3L, and commas before a closing
// bracket.
std::string json_of(std::string_view literal, bool latin1) {
  std::string json;
  for (std::size_t k = 0; k < literal.size(); ++k) {
    const char c = literal[k];
    if (c == '\'' || c == '"') {
      json += '"';
      for (++k; k < literal.size() && literal[k] != c; ++k) {
        if (literal[k] == '\\' && k + 1 < literal.size()) ++k;
        const auto byte = static_cast<unsigned char>(literal[k]);
        if (byte < 0x20 || byte == '"' || byte == '\\')
          json += fmt::format("\\u{:04x}", byte);
        else
          latin1 ? append_utf8(json, byte) : void(json += literal[k]);
      }
      json += '"';
    } else if (c == ')' || c == ']' || c == '}') {
      while (json.ends_with(' ') || json.ends_with('\n')) json.pop_back();
      if (json.ends_with(',')) json.pop_back();
      json += c == ')' ? ']' : c;
    } else if (c != 'L') {  // Python 2 wrote 3L for a length 3
      json += c == '(' ? '[' : c == 'T' ? 't' : c == 'F' ? 'f' : c;
    }
  }
  return json;
}

// A fault of the header; take_npy_header() converts it to a FileError.
struct Fault : std::runtime_error {
  using std::runtime_error::runtime_error;
};

std::string printable(std::string_view text) {
  std::string shown(text.substr(0, 40));
  std::ranges::replace_if(shown, [](char c) { return static_cast<unsigned char>(c) < 0x20; }, '?');
  return shown;
}

std::vector<std::int64_t> lengths_in(const Json& tuple) {
  std::vector<std::int64_t> lengths;
  for (const Json& length : tuple) {
    if (!length.is_number_unsigned() || length.get<std::uint64_t>() > std::uint64_t(1) << 62)
      throw Fault(fmt::format("'{}' is not a length", printable(length.dump())));
    lengths.push_back(length.get<std::int64_t>());
    if (lengths.size() > 64) throw Fault("more than 64 dimensions");
  }
  return lengths;
}

NpyField field_of(const std::string& name, const std::string& type) {
  NpyField field;
  field.name = name;
  field.type = type;
  std::size_t at = 0;
  char order = '|';
  if (!type.empty() && std::string_view("<>=|").find(type[0]) != std::string_view::npos) order = type[at++];
  if (at < type.size()) field.kind = type[at++];
  for (; at < type.size() && type[at] >= '0' && type[at] <= '9' && field.size <= kMaxNpyRow; ++at)
    field.size = field.size * 10 + (type[at] - '0');
  // Object arrays have no size, and datetimes end in a unit. Both are refused later, because of their kind.
  const bool whole = at == type.size() || field.kind == 'M' || field.kind == 'm';
  if (!whole || field.kind == 0 || field.size > kMaxNpyRow / 4)
    throw Fault(fmt::format("'{}' is not a dtype", printable(type)));
  if (field.kind == 'U') field.size *= 4;
  field.swapped = (order == '<' || order == '>') && order != kNativeOrder;
  return field;
}

// Parses a field of a record: ('x', '<f8'), ('x', '<f8', (3,)) or (('title', 'x'), '<f8').
NpyField record_field(const Json& entry) {
  const std::string name = entry.at(0).is_array() ? entry.at(0).at(1) : entry.at(0);
  if (entry.at(1).is_array())
    throw Fault(fmt::format("field '{}' is a record itself, which is not read", printable(name)));
  NpyField field = field_of(name, entry.at(1));
  if (entry.size() < 3) return field;
  const std::vector<std::int64_t> shape = lengths_in(entry[2].is_array() ? entry[2] : Json::array({entry[2]}));
  if (shape.size() > 1)
    throw Fault(
        fmt::format("field '{}' has {} dimensions per row; one is read at most", printable(name), shape.size()));
  if (!shape.empty()) field.components = shape[0];
  if (field.components < 1 || field.components > kMaxNpyRow)
    throw Fault(fmt::format("field '{}' has {} components", printable(name), field.components));
  return field;
}

// Parses {'descr': ..., 'fortran_order': ..., 'shape': (...), }.
NpyHeader header_of(const Json& literal) {
  if (!literal.is_object() || literal.size() != 3) throw Fault("it has more or less than three entries");
  NpyHeader header;
  header.fortran = literal.at("fortran_order").get<bool>();
  if (!literal.at("shape").is_array()) throw Fault("its shape is not a tuple");
  header.shape = lengths_in(literal.at("shape"));
  const Json& descr = literal.at("descr");
  header.structured = descr.is_array();
  if (!header.structured) header.fields.push_back(field_of("", descr));
  std::int64_t offset = 0;
  for (const Json& entry : header.structured ? descr : Json::array()) {
    NpyField& field = header.fields.emplace_back(record_field(entry));
    field.offset = offset;
    offset += field.size * field.components;  // no overflow: at most 2^31 * 2^31
    if (offset > kMaxNpyRow) throw Fault("a record of more than 2 GiB");
  }
  return header;
}

// Returns the header's text and removes the header from `bytes`.
std::string_view take_text(std::string_view& bytes, const std::string& path) {
  if (!bytes.starts_with(kNpyMagic))
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

void append_utf8(std::string& text, std::uint32_t code) {
  if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) code = 0xfffd;
  if (code < 0x80) return text.push_back(static_cast<char>(code));
  const int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;  // continuation bytes
  text += static_cast<char>(0xff << (7 - more) | code >> 6 * more);
  for (int k = more - 1; k >= 0; --k) text += static_cast<char>(0x80 | (code >> 6 * k & 0x3f));
}

NpyHeader take_npy_header(std::string_view& bytes, const std::string& path) {
  const bool latin1 = bytes.size() > 6 && bytes[6] < 3;  // version 3 is UTF-8
  const std::string_view text = take_text(bytes, path);
  try {
    return header_of(Json::parse(json_of(text, latin1)));
  } catch (const Fault& fault) {
    throw FileError(path, fmt::format("its .npy header is damaged or not understood: {}", fault.what()));
  } catch (const Json::exception& fault) {
    throw FileError(path, fmt::format("its .npy header is damaged or not understood: {}", printable(fault.what())));
  }
}

}  // namespace nbcc
