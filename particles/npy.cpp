// Turns the bytes of an .npy array into columns and back; its doors are decode_npy and encode_npy. Opens no files;
// what the header says is particles/npy_header.cpp's to find out.
#include "particles/npy.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <optional>

#include "particles/file_error.h"
#include "particles/npy_header.h"

namespace nbcc {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::int64_t kLargest = std::numeric_limits<std::int32_t>::max();
constexpr char kNativeOrder = std::endian::native == std::endian::little ? '<' : '>';

std::string field_label(const NpyField& field) {
  return field.name.empty() ? "it" : fmt::format("field '{}'", field.name);
}

bool is_text(const NpyField& field) { return field.kind == 'U' || field.kind == 'S' || field.kind == 'a'; }

// The element type that a column of this field gets; nothing for what is not a number that fits one.
std::optional<ElementType> type_of(const NpyField& field) {
  if (field.kind == 'f' && field.size == 8) return ElementType::Double;
  if (field.kind == 'f' && field.size == 4) return ElementType::Float;
  if (field.kind == 'i' && field.size == 8) return ElementType::Int64;
  if (field.kind == 'u' && field.size == 4) return ElementType::Int64;
  if (field.kind == 'b' && field.size == 1) return ElementType::Int32;
  if (field.kind == 'i' && (field.size == 4 || field.size == 2 || field.size == 1)) return ElementType::Int32;
  if (field.kind == 'u' && (field.size == 2 || field.size == 1)) return ElementType::Int32;
  return {};
}

std::string fault_of(const NpyField& field) {
  if (type_of(field)) return "";
  const std::string label = field_label(field);
  if (field.kind == 'f')
    return fmt::format("{} holds {}-bit floating point numbers; store float32 or float64 (astype)", label,
                       field.size * 8);
  if (field.kind == 'u')
    return fmt::format("{} holds unsigned 64-bit integers, which do not fit int64; store int64 (astype)", label);
  if (field.kind == 'c')
    return fmt::format("{} holds complex numbers; store real and imaginary parts as two columns", label);
  if (field.kind == 'O') return fmt::format("{} holds Python objects (a pickle), which are not read", label);
  if (is_text(field)) return fmt::format("{} holds text, not numbers", label);
  return fmt::format("{} holds '{}', which is not a number that is read here", label, field.type);
}

ElementType column_type(const NpyField& field, const std::string& path) {
  if (const std::optional<ElementType> type = type_of(field)) return *type;
  throw FileError(path, fault_of(field));
}

template <class Stored>
Stored load(const char* from, bool swapped) {
  char raw[sizeof(Stored)];
  std::memcpy(raw, from, sizeof raw);
  if (swapped) std::reverse(raw, raw + sizeof raw);
  Stored value;
  std::memcpy(&value, raw, sizeof value);
  return value;
}

// Where the numbers of one column lie.
struct Layout {
  const char* first;
  std::int64_t rows, components, row_stride, component_stride;
  bool swapped;
};

template <class Stored, class Value>
void gather(const Layout& layout, std::vector<Value>& values) {
  if constexpr (std::is_same_v<Stored, Value>)
    if (!layout.swapped && layout.component_stride == sizeof(Stored) &&
        layout.row_stride == layout.components * layout.component_stride && !values.empty()) {
      std::memcpy(values.data(), layout.first, values.size() * sizeof(Value));
      return;
    }
  std::size_t k = 0;
  for (std::int64_t row = 0; row < layout.rows; ++row)
    for (std::int64_t c = 0; c < layout.components; ++c)
      values[k++] = static_cast<Value>(
          load<Stored>(layout.first + row * layout.row_stride + c * layout.component_stride, layout.swapped));
}

ParticleColumn read_column(const NpyField& field, const Layout& layout, const std::string& path) {
  const ElementType type = column_type(field, path);
  ParticleColumn column{field.name, static_cast<int>(layout.components),
                        make_data(type, static_cast<std::size_t>(layout.rows * layout.components))};
  if (auto* doubles = std::get_if<std::vector<double>>(&column.data)) {
    gather<double>(layout, *doubles);
  } else if (auto* floats = std::get_if<std::vector<float>>(&column.data)) {
    gather<float>(layout, *floats);
  } else if (auto* longs = std::get_if<std::vector<std::int64_t>>(&column.data)) {
    field.kind == 'u' ? gather<std::uint32_t>(layout, *longs) : gather<std::int64_t>(layout, *longs);
  } else {
    auto& ints = std::get<std::vector<std::int32_t>>(column.data);
    if (field.size == 4)
      gather<std::int32_t>(layout, ints);
    else if (field.size == 2)
      field.kind == 'u' ? gather<std::uint16_t>(layout, ints) : gather<std::int16_t>(layout, ints);
    else
      field.kind == 'i' ? gather<std::int8_t>(layout, ints) : gather<std::uint8_t>(layout, ints);
  }
  return column;
}

void put_utf8(std::string& text, std::uint32_t code) {
  if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) code = 0xfffd;
  if (code < 0x80) {
    text += static_cast<char>(code);
  } else if (code < 0x800) {
    text += static_cast<char>(0xc0 | code >> 6);
    text += static_cast<char>(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    text += static_cast<char>(0xe0 | code >> 12);
    text += static_cast<char>(0x80 | (code >> 6 & 0x3f));
    text += static_cast<char>(0x80 | (code & 0x3f));
  } else {
    text += static_cast<char>(0xf0 | code >> 18);
    text += static_cast<char>(0x80 | (code >> 12 & 0x3f));
    text += static_cast<char>(0x80 | (code >> 6 & 0x3f));
    text += static_cast<char>(0x80 | (code & 0x3f));
  }
}

// One code point; a byte that is not UTF-8 becomes U+FFFD and is stepped over alone.
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
    for (std::int64_t k = 0; k < field.size; k += 4) put_utf8(text, load<std::uint32_t>(from + k, field.swapped));
  } else {
    text.assign(from, static_cast<std::size_t>(field.size));
  }
  text.erase(text.find_last_not_of('\0') + 1);  // NumPy pads with zeros
  return text;
}

// Bytes of a row of the array, after all that could make them more than the file holds was refused.
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
  if (width < 1 || width > kLargest) throw FileError(path, fmt::format("it has rows of {} numbers", width));
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

}  // namespace

NpyArray decode_npy(std::string_view bytes, const std::string& path, const ColumnChoice& choice) {
  const NpyHeader header = take_npy_header(bytes, path);
  for (const NpyField& field : header.fields)
    if (field.kind == 'O') column_type(field, path);  // a pickle has another length than its dtype: say why first
  const std::int64_t row_bytes = checked_row_bytes(header, bytes.size(), path);

  NpyArray array;
  array.structured = header.structured;
  array.dimensions = static_cast<int>(header.shape.size());
  array.rows = array.dimensions > 0 ? header.shape[0] : 1;
  const std::int64_t width = array.dimensions > 1 ? header.shape[1] : 1;
  if (!header.structured) {
    const NpyField& field = header.fields[0];
    array.text = is_text(field);
    if (array.text && array.dimensions < 2 && (field.size > 0 || array.rows <= 1)) {
      for (std::int64_t k = 0; k < array.rows; ++k)
        array.strings.push_back(read_string(field, bytes.data() + k * field.size));
      return array;
    }
    const bool columns_first = header.fortran && array.dimensions == 2;
    array.columns.push_back(read_column(field,
                                        {bytes.data(), array.rows, width, columns_first ? field.size : row_bytes,
                                         columns_first ? field.size * array.rows : field.size, field.swapped},
                                        path));
    return array;
  }
  for (const NpyField& field : header.fields) {
    if (field.kind == 'V' && field.name.empty()) continue;  // pads an aligned record
    if (!choice.all) array.in_file.push_back({field.name, field.components, array.rows});
    if (!choice.takes(field.name) && !(choice.welcomes(field.name) && fault_of(field).empty())) continue;
    array.columns.push_back(read_column(
        field, {bytes.data() + field.offset, array.rows, field.components, row_bytes, field.size, field.swapped},
        path));
  }
  if (array.columns.empty() && array.in_file.empty()) throw FileError(path, "its records have no fields");
  return array;
}

std::vector<NpyShape> shapes_of_npy(std::string_view begin, const std::string& name, const std::string& path) {
  const NpyHeader header = take_npy_header(begin, path);
  std::vector<NpyShape> shapes;
  if (header.shape.empty()) return shapes;
  const bool flat = header.shape.size() == 1, fits = flat || (header.shape.size() == 2 && !header.structured);
  for (const NpyField& field : header.fields) {
    if (is_text(field) || (field.kind == 'V' && field.name.empty())) continue;
    const std::int64_t components = header.structured ? field.components : flat ? 1 : header.shape[1];
    shapes.push_back({{header.structured ? field.name : name, components, header.shape[0]},
                      fits && components >= 1 && fault_of(field).empty()});
  }
  return shapes;
}

namespace {

std::string with_header(std::string_view type, const std::string& shape) {
  std::string text =
      fmt::format("{{'descr': '{}{}', 'fortran_order': False, 'shape': {}, }}", kNativeOrder, type, shape);
  // The numbers begin at a multiple of 64 bytes, so that the file can be mapped.
  text.append(63 - (10 + text.size()) % 64, ' ');
  text += '\n';
  std::string bytes(kMagic);
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
