// Animated PNGs: their chunks, and the pictures in them.
#include "examples/nbody/draw/animated_png.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <filesystem>
#include <sstream>

#include "examples/support/failure.h"
#include "tests/support/scratch_folder.h"

namespace examples {
namespace {

struct Chunk {
  std::string type, data;
};

std::uint32_t number_at(const std::string& text, std::size_t at) {
  std::uint32_t number = 0;
  for (std::size_t k = 0; k < 4; ++k) number = number << 8 | static_cast<unsigned char>(text.at(at + k));
  return number;
}

std::vector<Chunk> chunks_of(const std::string& file) {
  EXPECT_EQ(file.substr(0, 8), "\x89PNG\r\n\x1a\n");
  std::vector<Chunk> chunks;
  for (std::size_t at = 8; at < file.size();) {
    const std::size_t bytes = number_at(file, at);
    const std::string checked = file.substr(at + 4, 4 + bytes);
    const auto crc = crc32(0, reinterpret_cast<const Bytef*>(checked.data()), uInt(checked.size()));
    EXPECT_EQ(number_at(file, at + 8 + bytes), crc) << checked.substr(0, 4);
    chunks.push_back({checked.substr(0, 4), checked.substr(4)});
    at += 12 + bytes;
  }
  return chunks;
}

Image image_of(int seed) {
  Image image{7, 5, {}};
  for (int k = 0; k < 3 * 7 * 5; ++k) image.rgb.push_back(std::uint8_t(37 * k + seed));
  return image;
}

std::vector<std::uint8_t> pixels_of(const std::string& data) {
  std::string rows(5 * (1 + 3 * 7), '\1');
  uLongf bytes = uLongf(rows.size());
  EXPECT_EQ(uncompress(reinterpret_cast<Bytef*>(rows.data()), &bytes, reinterpret_cast<const Bytef*>(data.data()),
                       uLong(data.size())),
            Z_OK);
  EXPECT_EQ(bytes, rows.size());
  std::vector<std::uint8_t> pixels;
  for (std::size_t y = 0; y < 5; ++y) {
    EXPECT_EQ(rows[y * 22], '\0') << "a filter";
    pixels.insert(pixels.end(), rows.begin() + std::ptrdiff_t(y * 22 + 1), rows.begin() + std::ptrdiff_t((y + 1) * 22));
  }
  return pixels;
}

TEST(AnimatedPng, HoldsItsPicturesInOrder) {
  const nbcc::test::ScratchFolder folder;
  AnimatedPng film(folder.path("film.png"), 7, 5, 25);
  for (const int seed : {1, 2, 3}) film.add(image_of(seed));
  film.finish();
  const std::vector<Chunk> chunks = chunks_of(folder.read("film.png"));
  std::string types;
  std::uint32_t sequence = 0;
  std::vector<std::vector<std::uint8_t>> pictures;
  for (const Chunk& chunk : chunks) {
    types += chunk.type + " ";
    if (chunk.type == "fcTL" || chunk.type == "fdAT") {
      EXPECT_EQ(number_at(chunk.data, 0), sequence++) << chunk.type;
    }
    if (chunk.type == "fcTL") {
      EXPECT_EQ(number_at(chunk.data, 20), 1U << 16 | 25U);  // 1/25 s
    }
    if (chunk.type == "IDAT") pictures.push_back(pixels_of(chunk.data));
    if (chunk.type == "fdAT") pictures.push_back(pixels_of(chunk.data.substr(4)));
  }
  EXPECT_EQ(types, "IHDR acTL fcTL IDAT fcTL fdAT fcTL fdAT IEND ");
  EXPECT_EQ(number_at(chunks[1].data, 0), 3U);
  ASSERT_EQ(pictures.size(), 3U);
  for (int k = 0; k < 3; ++k) EXPECT_EQ(pictures[std::size_t(k)], image_of(k + 1).rgb) << k;
  // Programs without animations see the first picture.
  EXPECT_EQ(read_png(folder.path("film.png")).rgb, image_of(1).rgb);
}

TEST(AnimatedPng, AFileThatCannotBeWrittenIsAnError) {
  EXPECT_THROW(AnimatedPng("/nowhere/film.png", 7, 5, 25), UsageError);
  AnimatedPng full("/dev/full", 7, 5, 25);
  const Image image{7, 5, std::vector<std::uint8_t>(105)};
  EXPECT_THROW(
      {
        for (int k = 0; k < 10000; ++k) full.add(image);
        full.finish();
      },
      UsageError);
}

}  // namespace
}  // namespace examples
