// Pixels -> a PNG file in base64. Interface: png_data_uri().
//
//   signature
//   IHDR   size, 8 bits for each pixel, indices into a palette
//   PLTE   the palette
//   IDAT   zlib stream of stored (uncompressed) deflate blocks: in each row filter type 0, then the indices
//   IEND
//
// A chunk is length, type, data, CRC of type and data; integers are big-endian (PNG specification, ISO/IEC 15948).
#include "chart/png.h"

#include <algorithm>
#include <string_view>

namespace nbcc {
namespace {

constexpr std::size_t kMaxStoredBlock = 65535;  // bytes (RFC 1951)

std::string big_endian(std::uint32_t number) {
  return {char(number >> 24), char(number >> 16), char(number >> 8), char(number)};
}

std::string little_endian_16(std::size_t number) { return {char(number), char(number >> 8)}; }

std::uint32_t crc32(std::string_view bytes) {
  std::uint32_t crc = 0xffffffff;
  for (const char byte : bytes) {
    crc ^= static_cast<unsigned char>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc;
}

std::uint32_t adler32(std::string_view bytes) {
  std::uint32_t a = 1, b = 0;
  for (const char byte : bytes) {
    a = (a + static_cast<unsigned char>(byte)) % 65521;
    b = (b + a) % 65521;
  }
  return b << 16 | a;
}

std::string stored_zlib(std::string_view bytes) {
  std::string stream = "\x78\x01";
  for (std::size_t begin = 0; begin < bytes.size(); begin += kMaxStoredBlock) {
    const std::string_view block = bytes.substr(begin, kMaxStoredBlock);
    stream += char(begin + block.size() == bytes.size());  // 1: the last block
    stream += little_endian_16(block.size()) + little_endian_16(~block.size());
    stream += block;
  }
  return stream + big_endian(adler32(bytes));
}

std::string chunk(const std::string& type, const std::string& data) {
  return big_endian(std::uint32_t(data.size())) + type + data + big_endian(crc32(type + data));
}

std::string base64(std::string_view bytes) {
  constexpr const char* kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t k = 0; k < bytes.size(); k += 3) {
    const auto byte = [&](std::size_t at) { return at < bytes.size() ? static_cast<unsigned char>(bytes[at]) : 0U; };
    const unsigned word = byte(k) << 16 | byte(k + 1) << 8 | byte(k + 2);
    for (int shift = 18; shift >= 0; shift -= 6) text += kDigits[word >> shift & 63];
  }
  const std::size_t padding = (3 - bytes.size() % 3) % 3;
  return text.replace(text.size() - padding, padding, padding, '=');
}

}  // namespace

std::string png_data_uri(const IndexedImage& image) {
  std::string palette, rows;
  for (const Colour& colour : image.palette) palette.append(colour.begin(), colour.end());
  for (std::size_t row = 0; row < image.height; ++row) {
    const auto first = image.pixels.begin() + std::ptrdiff_t(row * image.width);
    rows += '\0';
    rows.append(first, first + std::ptrdiff_t(image.width));
  }
  const std::string kind("\x08\x03\0\0\0", 5);  // 8 bits, palette; deflate, filters by row, not interlaced
  return "data:image/png;base64," +
         base64("\x89PNG\r\n\x1a\n" +
                chunk("IHDR", big_endian(std::uint32_t(image.width)) + big_endian(std::uint32_t(image.height)) + kind) +
                chunk("PLTE", palette) + chunk("IDAT", stored_zlib(rows)) + chunk("IEND", ""));
}

}  // namespace nbcc
