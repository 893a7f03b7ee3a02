// The header of an .npy array: which numbers, in which order, how many.
#pragma once
#include <bit>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace nbcc {

constexpr std::string_view kNpyMagic = "\x93NUMPY";
constexpr std::int64_t kLargestNpy = std::numeric_limits<std::int32_t>::max();  // of what is counted within a row
constexpr char kNativeOrder = std::endian::native == std::endian::little ? '<' : '>';

// A field of a structured dtype, or the whole of a plain one.
struct NpyField {
  std::string name;
  std::string type;  // as in the header: "<f8"
  char kind = 0;     // 'f', 'i', 'u', 'b', 'U', 'S', 'V' ...
  bool swapped = false;
  std::int64_t size = 0;  // bytes of one element
  std::int64_t components = 1;
  std::int64_t offset = 0;  // within the record
};

struct NpyHeader {
  std::vector<NpyField> fields;
  bool structured = false;
  bool fortran = false;
  std::vector<std::int64_t> shape;
};

// Takes the header off `bytes`, which is left at the numbers. Lengths are not negative and a record has less than
// 2 GiB, but nothing was compared with the bytes that follow. Throws FileError.
NpyHeader take_npy_header(std::string_view& bytes, const std::string& path);

// A code point; U+FFFD for what is none.
void append_utf8(std::string& text, std::uint32_t code);

}  // namespace nbcc
