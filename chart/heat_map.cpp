// A heat map -> elements of an SVG file. Interface: svg_cells(), svg_colour_bar().
#include "chart/heat_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "chart/png.h"
#include "chart/svg.h"

namespace nbcc {
namespace {

constexpr int kLevels = 255;                                 // colours of a palette; its last entry is white
constexpr double kBarGap = 20, kBarWidth = 18, kLabel = 24;  // pixels

std::vector<Colour> palette_of(const HeatMap& map) {
  std::vector<Colour> palette;
  for (int level = 0; level < kLevels; ++level)
    palette.push_back(colour_of(map.colours, double(level) / (kLevels - 1)));
  palette.push_back({255, 255, 255});
  return palette;
}

std::uint8_t level_of(double value, const HeatMap& map, const ChartScale& colours) {
  if (!is_drawn(value, map.logarithmic)) return kLevels;
  return std::uint8_t(std::lround((kLevels - 1) * std::clamp(colours.fraction(value), 0.0, 1.0)));
}

bool are_equidistant(const std::vector<double>& edges) {
  const double step = (edges.back() - edges.front()) / double(edges.size() - 1);
  for (std::size_t k = 0; k < edges.size(); ++k)
    if (std::fabs(edges[k] - edges.front() - double(k) * step) > 0.01) return false;
  return true;
}

std::string svg_image(const IndexedImage& image, double left, double top, double width, double height) {
  return fmt::format(
      "<image x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\" preserveAspectRatio=\"none\" "
      "style=\"image-rendering:pixelated\" href=\"{}\"/>\n",
      left, top, width, height, png_data_uri(image));
}

// Without anti-aliasing, which would leave seams between the cells.
std::string svg_rectangles(const HeatMap& map, const ChartScale& colours, const CellEdges& edges) {
  const std::vector<Colour> palette = palette_of(map);
  const std::size_t columns = edges.x.size() - 1;
  std::string svg = "<g shape-rendering=\"crispEdges\">\n";
  for (std::size_t k = 0; k < map.values.size(); ++k) {
    const std::size_t row = k / columns, column = k % columns;
    const Colour colour = palette[level_of(map.values[k], map, colours)];
    svg += fmt::format("<path d=\"M{:.2f},{:.2f}H{:.2f}V{:.2f}H{:.2f}z\" fill=\"#{:02x}{:02x}{:02x}\"/>\n",
                       edges.x[column], edges.y[row], edges.x[column + 1], edges.y[row + 1], edges.x[column], colour[0],
                       colour[1], colour[2]);
  }
  return svg + "</g>\n";
}

}  // namespace

std::string svg_cells(const HeatMap& map, const ChartScale& colours, const CellEdges& edges) {
  if (!are_equidistant(edges.x) || !are_equidistant(edges.y)) return svg_rectangles(map, colours, edges);
  IndexedImage image{edges.x.size() - 1, edges.y.size() - 1, {}, palette_of(map)};
  for (std::size_t row = image.height; row-- > 0;)
    for (std::size_t column = 0; column < image.width; ++column)
      image.pixels.push_back(level_of(map.values[row * image.width + column], map, colours));
  return svg_image(image, edges.x.front(), edges.y.back(), edges.x.back() - edges.x.front(),
                   edges.y.front() - edges.y.back());
}

std::string svg_colour_bar(const HeatMap& map, const ChartScale& colours, double left, double top, double height) {
  IndexedImage bar{1, kLevels, {}, palette_of(map)};
  for (int level = kLevels; level-- > 0;) bar.pixels.push_back(std::uint8_t(level));
  const double x = left + kBarGap;
  std::string svg = svg_image(bar, x, top, kBarWidth, height);
  for (const ChartTick& tick : colours.ticks) {
    const double y = top + height * (1 - colours.fraction(tick.value));
    svg += svg_line(x + kBarWidth, y, x + kBarWidth + (tick.label.empty() ? 3 : 5), y, "#333333");
    if (!tick.label.empty()) svg += svg_text(x + kBarWidth + 8, y + 5, "start", tick.label);
  }
  return svg + svg_rotated_text(left + width_of_colour_bar(colours), top + height / 2, map.label);
}

double width_of_colour_bar(const ChartScale& colours) {
  double labels = 0;
  for (const ChartTick& tick : colours.ticks) labels = std::max(labels, width_of(tick.label));
  return kBarGap + kBarWidth + 8 + labels + kLabel;
}

}  // namespace nbcc
