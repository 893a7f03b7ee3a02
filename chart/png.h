// Pixels -> a PNG file inside of an SVG file. Tested by tests/unit/chart/heat_map_test.cpp.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "chart/colour_map.h"

namespace nbcc {

struct IndexedImage {
  std::size_t width = 0, height = 0;
  std::vector<std::uint8_t> pixels;  // [row][column], the top row first: indices into the palette
  std::vector<Colour> palette;       // at most 256
};

// "data:image/png;base64,...". The PNG is not compressed: the project's charts need no zlib.
std::string png_data_uri(const IndexedImage& image);

}  // namespace nbcc
