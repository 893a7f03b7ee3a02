// Coordinates and texts -> elements of an SVG file.
#include "chart/svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

namespace nbcc {
namespace {

constexpr double kTextWidth = 8.2;  // pixels, of a character of kTextSize, about

// The length in bytes of the UTF-8 character that `text` begins with; 0 if it begins with none that XML permits.
std::size_t character_length(std::string_view text) {
  const auto byte = [&](std::size_t k) { return k < text.size() ? static_cast<unsigned char>(text[k]) : 0U; };
  const unsigned first = byte(0);
  if (first < 0x80) return first >= 0x20 && first != 0x7f ? 1 : 0;
  const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc2 ? 2 : 0;
  if (length == 0 || first > 0xf4) return 0;
  for (std::size_t k = 1; k < length; ++k)
    if (byte(k) < 0x80 || byte(k) >= 0xc0) return 0;
  const bool is_overlong = (first == 0xe0 && byte(1) < 0xa0) || (first == 0xf0 && byte(1) < 0x90);
  const bool is_surrogate = first == 0xed && byte(1) >= 0xa0, is_beyond = first == 0xf4 && byte(1) >= 0x90;
  const bool is_noncharacter = first == 0xef && byte(1) == 0xbf && byte(2) >= 0xbe;  // U+FFFE, U+FFFF
  return is_overlong || is_surrogate || is_beyond || is_noncharacter ? 0 : length;
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const std::size_t length = character_length(text);
    const std::string_view character = text.substr(0, std::max<std::size_t>(length, 1));
    if (length == 0)
      result += "\uFFFD";
    else if (character == "&")
      result += "&amp;";
    else if (character == "<")
      result += "&lt;";
    else if (character == ">")
      result += "&gt;";
    else
      result += character;
    text.remove_prefix(character.size());
  }
  return result;
}

double width_of(const std::string& text) {
  return kTextWidth * double(std::ranges::count_if(text, [](char c) { return (c & 0xc0) != 0x80; }));
}

std::vector<std::string> wrapped(const std::string& text, double width, double size) {
  std::vector<std::string> lines(1);
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    const std::string longer = lines.back().empty() ? word : lines.back() + " " + word;
    if (lines.back().empty() || width_of(longer) * size / kTextSize <= width)
      lines.back() = longer;
    else
      lines.push_back(word);
  }
  return lines;
}

std::string svg_line(double x1, double y1, double x2, double y2, const char* colour) {
  return fmt::format("<line x1=\"{:.2f}\" y1=\"{:.2f}\" x2=\"{:.2f}\" y2=\"{:.2f}\" stroke=\"{}\"/>\n", x1, y1, x2, y2,
                     colour);
}

std::string svg_text(double x, double y, const char* anchor, const std::string& words, const std::string& attributes) {
  return fmt::format("<text x=\"{:.2f}\" y=\"{:.2f}\" text-anchor=\"{}\"{}>{}</text>\n", x, y, anchor, attributes,
                     escaped(words));
}

std::string svg_rotated_text(double x, double y, const std::string& words) {
  return svg_text(x, y, "middle", words, fmt::format(" transform=\"rotate(-90 {:.2f} {:.2f})\"", x, y));
}

}  // namespace nbcc
