// A chart -> SVG. Interface: svg_of(). scale.cpp chooses the ticks.
//
//   +--------------------------------------------+
//   |                   title                    |
//   |      +---------------------------+         |
//   | y    |                           |  legend |
//   | label|        kPlotWidth x       |         |
//   |      |        kPlotHeight        |         |
//   |      +---------------------------+         |
//   |        0      1      2      3     labels   |
//   |                x label                     |
//   |  note on points that are not drawn         |
//   +--------------------------------------------+
#include "chart/chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string_view>

#include "chart/scale.h"

namespace nbcc {
namespace {

using Style = ChartSeries::Style;

// In pixels.
constexpr double kPlotWidth = 720, kPlotHeight = 440, kTop = 56, kBottom = 80, kMargin = 24;
constexpr double kTextWidth = 7.6;  // of a character of kTextSize, about
constexpr double kTextSize = 14, kTitleSize = 17, kMinTitleSize = 9;

// Okabe and Ito (2008), without yellow: distinguishable also with any kind of colour blindness.
constexpr const char* kColours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000"};
constexpr const char* kDashes[] = {"none", "8 4", "2 3", "10 3 2 3"};
// Outlines of markers with a radius of about 5, relative to the point.
constexpr const char* kMarkers[] = {"m-5,0a5,5 0 1,0 10,0a5,5 0 1,0 -10,0z", "m-4.5,-4.5h9v9h-9z", "m0,-6l5.5,10h-11z",
                                    "m0,-6.5l6.5,6.5l-6.5,6.5l-6.5,-6.5z"};

template <typename Row, std::size_t count>
Row cyclic(const Row (&rows)[count], std::size_t index) {
  return rows[index % count];
}

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

bool is_drawn(double value, const ChartAxis& axis) {
  return std::fabs(value) <= kMaxChartNumber && (!axis.logarithmic || value >= kMinChartNumber);
}

struct Drawing {
  const Chart& chart;
  ChartScale x_scale, y_scale;
  double left = 0;  // of the plot
  std::string svg = {};

  bool shows(const ChartPoint& point) const { return is_drawn(point.x, chart.x) && is_drawn(point.y, chart.y); }
  double x_of(double value) const { return left + kPlotWidth * x_scale.fraction(value); }
  double y_of(double value) const { return kTop + kPlotHeight * (1 - y_scale.fraction(value)); }

  void line(double x1, double y1, double x2, double y2, const char* colour) {
    svg += fmt::format("<line x1=\"{:.2f}\" y1=\"{:.2f}\" x2=\"{:.2f}\" y2=\"{:.2f}\" stroke=\"{}\"/>\n", x1, y1, x2,
                       y2, colour);
  }
  // anchor: start, middle or end.
  void text(double x, double y, const char* anchor, const std::string& words, const std::string& more = "") {
    svg += fmt::format("<text x=\"{:.2f}\" y=\"{:.2f}\" text-anchor=\"{}\"{}>{}</text>\n", x, y, anchor, more,
                       escaped(words));
  }

  void axes() {
    const double bottom = kTop + kPlotHeight;
    for (const ChartTick& tick : x_scale.ticks) {
      const double x = x_of(tick.value);
      line(x, kTop, x, bottom, tick.label.empty() ? "#f0f0f0" : "#d4d4d4");
      if (!tick.label.empty()) text(x, bottom + 20, "middle", tick.label);
    }
    for (const ChartTick& tick : y_scale.ticks) {
      const double y = y_of(tick.value);
      line(left, y, left + kPlotWidth, y, tick.label.empty() ? "#f0f0f0" : "#d4d4d4");
      if (!tick.label.empty()) text(left - 8, y + 5, "end", tick.label);
    }
    svg += fmt::format(
        "<rect x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\" fill=\"none\" "
        "stroke=\"#333333\"/>\n",
        left, kTop, kPlotWidth, kPlotHeight);
    text(left + kPlotWidth / 2, bottom + 46, "middle", chart.x.label);
    const double middle = kTop + kPlotHeight / 2;
    text(kMargin, middle, "middle", chart.y.label,
         fmt::format(" transform=\"rotate(-90 {:.2f} {:.2f})\"", kMargin, middle));
  }

  // One <path> for the lines, and one for each marker, with a tooltip.
  void series(const ChartSeries& one, std::size_t index) {
    const char* const colour = cyclic(kColours, index);
    std::string path, markers;
    bool pen_is_down = false;
    for (const ChartPoint& point : one.points) {
      if (!shows(point)) {
        pen_is_down = false;
        continue;
      }
      const double x = x_of(point.x), y = y_of(point.y);
      if (pen_is_down && one.style == Style::Steps)
        path += fmt::format("H{:.2f}V{:.2f}", x, y);
      else
        path += fmt::format("{}{:.2f},{:.2f}", pen_is_down ? 'L' : 'M', x, y);
      pen_is_down = true;
      markers += fmt::format("<path d=\"M{:.2f},{:.2f}{}\" fill=\"{}\"><title>{:.6g}, {:.6g}</title></path>\n", x, y,
                             cyclic(kMarkers, index), colour, point.x, point.y);
    }
    if (one.style != Style::Markers)
      svg += fmt::format("<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\" stroke-dasharray=\"{}\"/>\n",
                         path, colour, cyclic(kDashes, index));
    if (one.style != Style::Steps) svg += markers;
  }

  void legend() {
    const double x = left + kPlotWidth + 16;
    double y = kTop + 12;
    for (std::size_t index = 0; index < chart.series.size(); ++index, y += 24) {
      const ChartSeries& one = chart.series[index];
      if (one.name.empty()) continue;
      const char* const colour = cyclic(kColours, index);
      if (one.style != Style::Markers)
        svg += fmt::format("<path d=\"M{:.2f},{:.2f}h32\" stroke=\"{}\" stroke-width=\"2\" stroke-dasharray=\"{}\"/>\n",
                           x, y, colour, cyclic(kDashes, index));
      if (one.style != Style::Steps)
        svg += fmt::format("<path d=\"M{:.2f},{:.2f}{}\" fill=\"{}\"/>\n", x + 16, y, cyclic(kMarkers, index), colour);
      text(x + 40, y + 5, "start", one.name);
    }
  }
};

struct Range {
  double least = std::numeric_limits<double>::infinity(), most = -least;
  void add(double value) {
    least = std::min(least, value);
    most = std::max(most, value);
  }
  void add(const std::optional<double>& value) {
    if (value) add(*value);
  }
};

// The number of points that are not drawn. Adds the others to the ranges.
std::size_t collect(const Chart& chart, Range& x, Range& y) {
  std::size_t points = 0, drawn = 0;
  for (const ChartSeries& one : chart.series) {
    for (const ChartPoint& point : one.points) {
      ++points;
      if (!is_drawn(point.x, chart.x) || !is_drawn(point.y, chart.y)) continue;
      ++drawn;
      x.add(point.x);
      y.add(point.y);
    }
  }
  if (drawn == 0) {
    throw std::invalid_argument(fmt::format(
        "there is nothing to draw in the chart '{}': expected finite numbers{}, found none in {} points", chart.title,
        chart.x.logarithmic || chart.y.logarithmic ? ", above 0 on a logarithmic axis" : "", points));
  }
  x.add(chart.x.least);
  x.add(chart.x.most);
  y.add(chart.y.least);
  y.add(chart.y.most);
  return points - drawn;
}

template <typename Texts, typename TextOf>
double longest(const Texts& texts, TextOf text_of) {
  double most = 0;
  for (const auto& one : texts) most = std::max(most, width_of(text_of(one)));
  return most;
}

}  // namespace

std::string svg_of(const Chart& chart) {
  Range x, y;
  const std::size_t missing = collect(chart, x, y);
  Drawing drawing{chart, make_scale(x.least, x.most, chart.x.logarithmic),
                  make_scale(y.least, y.most, chart.y.logarithmic)};
  drawing.left = kMargin + 24 + longest(drawing.y_scale.ticks, [](const ChartTick& tick) { return tick.label; });
  const double labels = longest(drawing.x_scale.ticks, [](const ChartTick& tick) { return tick.label; });
  const double names = longest(chart.series, [](const ChartSeries& one) { return one.name; });
  const double width = drawing.left + kPlotWidth + std::max(names > 0 ? 16 + 40 + names : 0, labels / 2) + kMargin;
  const double height = kTop + kPlotHeight + kBottom;
  drawing.svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} {1:.0f}\" "
      "role=\"img\" font-family=\"DejaVu Sans, Verdana, sans-serif\" font-size=\"{2}\" fill=\"#222222\">\n"
      "<title>{3}</title>\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n",
      width, height, kTextSize, escaped(chart.title));
  const double size =
      std::clamp(kTextSize * (width - 2 * kMargin) / std::max(width_of(chart.title), 1.0), kMinTitleSize, kTitleSize);
  drawing.text(width / 2, kTop - 24, "middle", chart.title, fmt::format(" font-size=\"{:.1f}\"", size));
  drawing.axes();
  for (std::size_t index = 0; index < chart.series.size(); ++index) drawing.series(chart.series[index], index);
  drawing.legend();
  if (missing > 0)
    drawing.text(kMargin, height - 10, "start",
                 fmt::format("{} point{} not drawn: not finite{}", missing, missing == 1 ? " is" : "s are",
                             chart.x.logarithmic || chart.y.logarithmic ? ", or not above 0" : ""));
  return drawing.svg + "</svg>\n";
}

std::string problem_of_chart_name(const std::string& path) {
  if (path.ends_with(".svg")) return "";
  return fmt::format("'{}': a chart is an SVG file, whose name ends in '.svg'", path);
}

}  // namespace nbcc
