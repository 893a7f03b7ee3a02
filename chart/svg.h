// Coordinates and texts -> elements of an SVG file. Coordinates are in pixels, y downwards; texts are UTF-8.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace nbcc {

constexpr double kTextSize = 15;  // pixels

// The text as the contents of an element. Bytes that are not UTF-8 become U+FFFD.
std::string escaped(std::string_view text);

// In pixels, about, at kTextSize.
double width_of(const std::string& text);

// Lines of words that are at most `width` pixels wide in letters of `size` pixels, about; a longer word has a line of
// its own.
std::vector<std::string> wrapped(const std::string& text, double width, double size);

std::string svg_line(double x1, double y1, double x2, double y2, const char* colour);
// anchor: start, middle or end. attributes: more of them, each after a space.
std::string svg_text(double x, double y, const char* anchor, const std::string& words,
                     const std::string& attributes = "");
// Reads upwards; (x, y) is the middle of its baseline.
std::string svg_rotated_text(double x, double y, const std::string& words);

}  // namespace nbcc
