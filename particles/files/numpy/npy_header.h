// The header of an .npy array: dtype, order, shape.
#pragma once
#include <bit>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace nbcc {

constexpr std::string_view kNpyMagic = "\x93NUMPY";
constexpr std::int64_t kMaxNpyRow = std::numeric_limits<std::int32_t>::max();  // limit of numbers or bytes per row
constexpr char kNativeOrder = std::endian::native == std::endian::little ? '<' : '>';

// One field of a structured dtype, or the single element type of a plain one.
struct NpyField {
  std::string name;
  std::string type;       // as in the header: "<f8"
  char kind = 0;          // 'f', 'i', 'u', 'b', 'U', 'S', 'V' ...
  bool swapped = false;   // stored in the other byte order than this machine's
  std::int64_t size = 0;  // bytes of one element
  std::int64_t components = 1;
  std::int64_t offset = 0;  // bytes from the beginning of the record
};

struct NpyHeader {
  std::vector<NpyField> fields;
  bool structured = false;
  bool fortran = false;
  std::vector<std::int64_t> shape;
};

// Parses the header and removes it from `bytes`, which then begin with the numbers. Checks that lengths are not
// negative and that a record is smaller than 2 GiB, but not that enough bytes follow. Throws FileError.
NpyHeader take_npy_header(std::string_view& bytes, const std::string& path);

// Appends a code point in UTF-8; U+FFFD if `code` is not a valid code point.
void append_utf8(std::string& text, std::uint32_t code);

}  // namespace nbcc
