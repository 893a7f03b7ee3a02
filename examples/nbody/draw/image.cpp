// Pixels <-> PNG files, by libpng. Entry points: write_png(), read_png(). Draws nothing.
#include "examples/nbody/draw/image.h"

#include <png.h>

#include <stdexcept>

#include "examples/support/failure.h"
#include "examples/support/replace_file.h"

namespace examples {

void write_png(const std::string& path, const Image& image) {
  png_image file{};
  file.version = PNG_IMAGE_VERSION;
  file.width = png_uint_32(image.width);
  file.height = png_uint_32(image.height);
  file.format = PNG_FORMAT_RGB;
  replace_file(path, [&](const std::string& draft) {
    if (!png_image_write_to_file(&file, draft.c_str(), 0, image.rgb.data(), 0, nullptr))
      throw UsageError("cannot write '" + path + "': " + file.message);
  });
}

Image read_png(const std::string& path) {
  png_image file{};
  file.version = PNG_IMAGE_VERSION;
  if (!png_image_begin_read_from_file(&file, path.c_str()))
    throw std::runtime_error("cannot read '" + path + "': " + file.message);
  file.format = PNG_FORMAT_RGB;
  Image image{int(file.width), int(file.height), std::vector<std::uint8_t>(PNG_IMAGE_SIZE(file))};
  if (!png_image_finish_read(&file, nullptr, image.rgb.data(), 0, nullptr))
    throw std::runtime_error("cannot read '" + path + "': " + file.message);
  return image;
}

}  // namespace examples
