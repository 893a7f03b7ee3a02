// A film as an animated PNG (APNG), which browsers play without any other program. Tested by
// examples/nbody/tests/animated_png_test.cpp.
#pragma once
#include <cstdint>
#include <fstream>
#include <string>

#include "examples/nbody/draw/image.h"

namespace examples {

class AnimatedPng {
 public:
  // Throws UsageError if the file cannot be written, as all functions do. Until finish() the file shows only the first
  // picture.
  AnimatedPng(const std::string& path, int width, int height, int per_second);

  void add(const Image& image);  // of the size that was given
  void finish();

 private:
  void chunk(const char* type, const std::string& data);
  void write_animation_control();
  void check();

  std::string path_;
  std::fstream file_;
  int width_, height_, per_second_;
  std::uint32_t pictures_ = 0, sequence_ = 0;
  std::streamoff control_ = 0;  // byte offset of the chunk acTL
};

}  // namespace examples
