// Pictures -> an animated PNG. Entry point: AnimatedPng.
//
// The file (PNG specification, third edition, 2025) is a signature and chunks of length, type, data and CRC:
//   IHDR        size, 8 bits for each of red, green and blue
//   acTL        number of pictures, overwritten at the end; number of repetitions (0: for ever)
//   fcTL IDAT   the first picture, which also programs show that know no animations
//   fcTL fdAT   each further picture
//   IEND
// Rows are not filtered: for points of light on black that compresses best.
#include "examples/nbody/draw/animated_png.h"

#include <zlib.h>

#include <cstddef>
#include <stdexcept>

#include "examples/support/failure.h"

namespace examples {
namespace {

std::string big_endian(std::uint32_t number, int bytes = 4) {
  std::string text;
  for (int k = bytes; k-- > 0;) text += char(number >> (8 * k) & 0xff);
  return text;
}

// A filter type (0: none) before each row; then zlib's format.
std::string compressed(const Image& image) {
  const std::size_t row = 3 * std::size_t(image.width);
  std::string rows;
  for (std::size_t y = 0; y < std::size_t(image.height); ++y) {
    rows += '\0';
    rows.append(reinterpret_cast<const char*>(image.rgb.data()) + y * row, row);
  }
  uLongf bytes = compressBound(uLong(rows.size()));
  std::string result(bytes, '\0');
  if (compress2(reinterpret_cast<Bytef*>(result.data()), &bytes, reinterpret_cast<const Bytef*>(rows.data()),
                uLong(rows.size()), Z_DEFAULT_COMPRESSION) != Z_OK)
    throw std::bad_alloc();
  result.resize(bytes);
  return result;
}

}  // namespace

AnimatedPng::AnimatedPng(const std::string& path, int width, int height, int per_second)
    : path_(path),
      file_(path, std::ios::binary | std::ios::in | std::ios::out | std::ios::trunc),
      width_(width),
      height_(height),
      per_second_(per_second) {
  file_ << "\x89PNG\r\n\x1a\n";
  chunk("IHDR", big_endian(std::uint32_t(width)) + big_endian(std::uint32_t(height)) + std::string("\x8\x2\0\0\0", 5));
  control_ = file_.tellp();
  write_animation_control();
  check();
}

void AnimatedPng::add(const Image& image) {
  if (image.width != width_ || image.height != height_) throw std::logic_error("pictures of a film differ in size");
  const std::uint32_t number = pictures_++;
  // Size, offset 0, duration as a fraction of a second, then: leave the picture, replace all pixels.
  chunk("fcTL", big_endian(sequence_++) + big_endian(std::uint32_t(width_)) + big_endian(std::uint32_t(height_)) +
                    big_endian(0) + big_endian(0) + big_endian(1, 2) + big_endian(std::uint32_t(per_second_), 2) +
                    std::string(2, '\0'));
  if (number == 0)
    chunk("IDAT", compressed(image));
  else
    chunk("fdAT", big_endian(sequence_++) + compressed(image));
  check();
}

void AnimatedPng::finish() {
  chunk("IEND", "");
  file_.seekp(control_);
  write_animation_control();
  file_.close();
  check();
}

void AnimatedPng::write_animation_control() { chunk("acTL", big_endian(pictures_) + big_endian(0)); }

void AnimatedPng::chunk(const char* type, const std::string& data) {
  const std::string checked = type + data;
  const auto crc = crc32(0, reinterpret_cast<const Bytef*>(checked.data()), uInt(checked.size()));
  file_ << big_endian(std::uint32_t(data.size())) << checked << big_endian(std::uint32_t(crc));
}

void AnimatedPng::check() {
  if (!file_) throw UsageError("cannot write '" + path_ + "'");
}

}  // namespace examples
