// Decodes and encodes .npy arrays. The entry points are declared in the header. Opens no files; npy_header.cpp parses
// the header of an array.
#include "particles/files/numpy/npy.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <iterator>

#include "particles/file_error.h"

namespace nbcc {
namespace {

bool is_text(const NpyField& field) { return field.kind == 'U' || field.kind == 'S' || field.kind == 'a'; }

template <class Stored>
Stored load(const char* from, bool swapped) {
  char raw[sizeof(Stored)];
  std::memcpy(raw, from, sizeof raw);
  if (swapped) std::reverse(raw, raw + sizeof raw);
  return std::bit_cast<Stored>(raw);
}

// Addresses of the numbers of one column; strides in bytes.
struct Layout {
  const char* first;
  std::int64_t rows, components, row_stride, component_stride;
  bool swapped;
};

template <class Stored, class Value>
ColumnData gather(const Layout& layout) {
  std::vector<Value> values(static_cast<std::size_t>(layout.rows * layout.components));
  const bool dense =
      layout.component_stride == sizeof(Stored) && layout.row_stride == layout.components * layout.component_stride;
  if (std::is_same_v<Stored, Value> && dense && !layout.swapped && !values.empty()) {
    std::memcpy(values.data(), layout.first, values.size() * sizeof(Value));
    return values;
  }
  std::size_t k = 0;
  for (std::int64_t row = 0; row < layout.rows; ++row)
    for (std::int64_t c = 0; c < layout.components; ++c)
      values[k++] = static_cast<Value>(
          load<Stored>(layout.first + row * layout.row_stride + c * layout.component_stride, layout.swapped));
  return values;
}

// The element types that can be read, each with the function that converts it to the type of a column.
struct Numbers {
  char kind;
  std::int64_t size;
  ColumnData (*gather)(const Layout& layout);
};
constexpr Numbers kNumbers[] = {
    {'f', 8, gather<double, double>},
    {'f', 4, gather<float, float>},
    {'i', 8, gather<std::int64_t, std::int64_t>},
    {'u', 4, gather<std::uint32_t, std::int64_t>},
    {'i', 4, gather<std::int32_t, std::int32_t>},
    {'i', 2, gather<std::int16_t, std::int32_t>},
    {'u', 2, gather<std::uint16_t, std::int32_t>},
    {'i', 1, gather<std::int8_t, std::int32_t>},
    {'u', 1, gather<std::uint8_t, std::int32_t>},
    {'b', 1, gather<std::uint8_t, std::int32_t>},
};

// Null if elements of this type cannot be read.
const Numbers* numbers_of(const NpyField& field) {
  for (const Numbers& numbers : kNumbers)
    if (numbers.kind == field.kind && numbers.size == field.size) return &numbers;
  return nullptr;
}

[[noreturn]] void refuse(const NpyField& field, const std::string& path) {
  const std::string label = field.name.empty() ? "it" : fmt::format("field '{}'", field.name);
  std::string fault = fmt::format("holds '{}', which is not a number that is read here", field.type);
  if (field.kind == 'f')
    fault = fmt::format("holds {}-bit floating point numbers; store float32 or float64 (astype)", field.size * 8);
  if (field.kind == 'u') fault = "holds unsigned 64-bit integers, which do not fit int64; store int64 (astype)";
  if (field.kind == 'c') fault = "holds complex numbers; store real and imaginary parts as two columns";
  if (field.kind == 'O') fault = "holds Python objects (a pickle), which are not read";
  if (is_text(field)) fault = "holds text, not numbers";
  throw FileError(path, fmt::format("{} {}", label, fault));
}

// Removes one code point from `text`. A byte that is not valid UTF-8 is removed alone and gives U+FFFD.
std::uint32_t take_utf8(std::string_view& text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  const std::size_t length = lead < 0x80 ? 1 : lead >> 5 == 6 ? 2 : lead >> 4 == 14 ? 3 : lead >> 3 == 30 ? 4 : 0;
  std::uint32_t code = length == 1 ? lead : lead & (0x7fu >> length);
  bool valid = length != 0 && text.size() >= length;
  for (std::size_t k = 1; valid && k < length; ++k) {
    const auto next = static_cast<unsigned char>(text[k]);
    valid = next >> 6 == 2;
    code = code << 6 | (next & 0x3f);
  }
  text.remove_prefix(valid ? length : 1);
  return valid ? code : 0xfffd;
}

std::string read_string(const NpyField& field, const char* from) {
  std::string text;
  if (field.kind == 'U') {
    for (std::int64_t k = 0; k < field.size; k += 4) append_utf8(text, load<std::uint32_t>(from + k, field.swapped));
  } else {
    text.assign(from, static_cast<std::size_t>(field.size));
  }
  text.erase(text.find_last_not_of('\0') + 1);  // NumPy pads with zeros
  return text;
}

// Bytes of a row of the array. Throws FileError if the shape is not allowed or needs another number of bytes than
// follow.
std::int64_t checked_row_bytes(const NpyHeader& header, std::size_t available, const std::string& path) {
  std::int64_t record = 0;
  for (const NpyField& field : header.fields) record += field.size * field.components;
  const std::size_t dimensions = header.shape.size();
  if (dimensions > 2)
    throw FileError(path, fmt::format("it is a {}-dimensional array; particles are (N) or (N, K)", dimensions));
  if (header.structured && dimensions == 2)
    throw FileError(path, "it is a 2-dimensional array of records; particles are (N)");
  const std::int64_t rows = dimensions > 0 ? header.shape[0] : 1;
  const std::int64_t width = dimensions > 1 ? header.shape[1] : 1;
  if (width < 1 || width > kMaxNpyRow) throw FileError(path, fmt::format("it has rows of {} numbers", width));
  std::int64_t row_bytes = 0, bytes = 0;
  if (__builtin_mul_overflow(record, width, &row_bytes) || __builtin_mul_overflow(row_bytes, rows, &bytes) ||
      static_cast<std::uint64_t>(bytes) > available)
    throw FileError(path, fmt::format("it is truncated: the header promises {} rows of {} numbers ({} bytes each), "
                                      "but only {} bytes follow",
                                      rows, width, record, available));
  if (static_cast<std::uint64_t>(bytes) < available)
    throw FileError(path, fmt::format("{} bytes follow the array; one array is read from a file",
                                      available - static_cast<std::uint64_t>(bytes)));
  return row_bytes;
}

// `numbers`: the bytes after the header.
ColumnData data_of(const NpyHeader& header, const NpyField& field, std::string_view numbers, const std::string& path) {
  for (const NpyField& any : header.fields)
    if (any.kind == 'O') refuse(any, path);  // before the length check, which a pickle would fail
  const std::int64_t row_bytes = checked_row_bytes(header, numbers.size(), path);
  const Numbers* const kind = numbers_of(field);
  if (!kind) refuse(field, path);
  const std::int64_t rows = header.shape.empty() ? 1 : header.shape[0];
  const char* const first = numbers.data() + field.offset;
  if (header.structured) return kind->gather({first, rows, field.components, row_bytes, field.size, field.swapped});
  const std::int64_t width = header.shape.size() > 1 ? header.shape[1] : 1;
  if (header.fortran) return kind->gather({first, rows, width, field.size, field.size * rows, field.swapped});
  return kind->gather({first, rows, width, row_bytes, field.size, field.swapped});
}

}  // namespace

bool is_note(const NpyHeader& header) {
  return !header.structured && (header.shape.empty() || is_text(header.fields[0]));
}

std::string decode_npy_note(std::string_view bytes, const std::string& path) {
  const NpyHeader header = take_npy_header(bytes, path);
  const NpyField& field = header.fields.at(0);
  if (!is_text(field)) return ParticleColumn{"", 1, data_of(header, field, bytes, path)}.first_as_text();
  checked_row_bytes(header, bytes.size(), path);
  const std::int64_t rows = header.shape.empty() ? 1 : header.shape[0];
  if (header.shape.size() > 1 || (field.size == 0 && rows > 1)) refuse(field, path);
  std::string text;
  for (std::int64_t k = 0; k < rows; ++k)
    text += (k == 0 ? "" : ", ") + read_string(field, bytes.data() + k * field.size);
  return text;
}

std::vector<FileColumn> columns_of_npy(const NpyHeader& header, const std::string& name, const std::string& path,
                                       const NpyBytes& bytes) {
  const bool flat = header.shape.size() < 2, fits = flat || (header.shape.size() == 2 && !header.structured);
  std::vector<FileColumn> columns;
  for (std::size_t k = 0; k < header.fields.size(); ++k) {
    const NpyField& field = header.fields[k];
    if (field.kind == 'V' && field.name.empty() && header.structured) continue;  // padding of an aligned record
    FileColumn& column = columns.emplace_back();
    column.name = header.structured ? field.name : name;
    column.components = header.structured ? field.components : flat ? 1 : header.shape[1];
    column.rows = header.shape.empty() ? 1 : header.shape[0];
    column.readable = fits && column.components >= 1 && numbers_of(field);
    column.read = [=] {
      std::string buffer;
      std::string_view numbers = bytes(buffer);
      const NpyHeader whole = take_npy_header(numbers, path);
      return data_of(whole, whole.fields.at(k), numbers, path);
    };
  }
  if (columns.empty()) throw FileError(path, "its records have no fields");
  return columns;
}

ParticleTable decode_npy(std::string_view bytes, const std::string& path, const ColumnChoice& choice) {
  std::string_view numbers = bytes;
  const NpyHeader header = take_npy_header(numbers, path);
  const auto columns = columns_of_npy(header, "data", path, [=](std::string&) { return bytes; });
  return read_columns(columns, choice, !header.structured);
}

namespace {

std::string with_header(std::string_view type, const std::string& shape) {
  std::string text =
      fmt::format("{{'descr': '{}{}', 'fortran_order': False, 'shape': {}, }}", kNativeOrder, type, shape);
  // The numbers begin at a multiple of 64 bytes, so that the file can be mapped.
  text.append(63 - (10 + text.size()) % 64, ' ');
  text += '\n';
  std::string bytes(kNpyMagic);
  bytes += '\x01';
  bytes += '\0';
  bytes += static_cast<char>(text.size() & 0xff);
  bytes += static_cast<char>(text.size() >> 8);
  return bytes + text;
}

}  // namespace

std::string encode_npy(const ParticleColumn& column, bool always_two_dimensional) {
  constexpr std::string_view types[] = {"f8", "f4", "i4", "i8"};
  const bool flat = column.components == 1 && !always_two_dimensional;
  const std::string shape =
      flat ? fmt::format("({},)", column.rows()) : fmt::format("({}, {})", column.rows(), column.components);
  std::string bytes = with_header(types[static_cast<int>(column.type())], shape);
  const std::size_t count = static_cast<std::size_t>(column.rows()) * static_cast<std::size_t>(column.components);
  if (count > 0)
    bytes.append(static_cast<const char*>(column.values()),
                 count * static_cast<std::size_t>(element_size(column.type())));
  return bytes;
}

std::string encode_npy_string(std::string_view utf8) {
  std::string codes;
  while (!utf8.empty()) {
    const std::uint32_t code = take_utf8(utf8);
    codes.append(reinterpret_cast<const char*>(&code), sizeof code);
  }
  if (codes.empty()) codes.assign(4, '\0');
  return with_header(fmt::format("U{}", codes.size() / 4), "()") + codes;
}

}  // namespace nbcc
