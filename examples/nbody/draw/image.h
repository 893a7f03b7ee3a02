// Pixels on the host, and PNG files of them.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace examples {

struct Image {
  int width = 0, height = 0;
  std::vector<std::uint8_t> rgb;  // from the upper left, row by row
};

// Throw UsageError and std::runtime_error with the file's name.
void write_png(const std::string& path, const Image& image);
Image read_png(const std::string& path);

}  // namespace examples
