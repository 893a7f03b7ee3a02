// Charts -> SVG. Interface: svg_of(). scale.cpp chooses the ticks, heat_map.cpp draws cells, svg.cpp writes texts.
//
//   +--------------------------------------------+
//   | title, in one or more lines                |
//   | y label                                    |
//   |      +---------------------------+         |
//   |      |         width x           |  colour |
//   |      |         height            |  bar    |
//   |      +---------------------------+         |
//   |        0      1      2      3     labels   |
//   |                x label                     |
//   | legend, in one or more lines               |
//   | note on points that are not drawn          |
//   +--------------------------------------------+
//
// A file of several charts is a grid of such panels; a column is as wide as its widest panel. A chart of the default
// size can be read at a width of 300 pixels. A style sheet replaces colours for readers who prefer dark pages.
#include "chart/chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string_view>
#include <unordered_set>

#include "chart/scale.h"
#include "chart/svg.h"

namespace nbcc {
namespace {

using Style = ChartSeries::Style;

// In pixels.
constexpr double kMargin = 16, kTick = 5, kLabelGap = 8;
constexpr double kTitleSize = 16, kTitleLine = 21, kLegendLine = 22, kLegendMark = 40, kLegendGap = 14, kNoteLine = 20;
constexpr double kBoldness = 1.1;  // width of a bold letter over that of a plain one, about

// Presentation attributes have the colours of light pages, for programs without style sheets.
constexpr const char* kStyle = R"(<style>
  .title { font-weight: bold }
  @media (prefers-color-scheme: dark) {
    svg { fill: #e6edf3 } .paper { fill: #0d1117 } [stroke="#d4d4d4"] { stroke: #30363d } [stroke="#f0f0f0"] { stroke: #21262d }
    [stroke="#333333"] { stroke: #8b949e }
    .series [stroke="#0072b2"] { stroke: #58a6ff } .series [fill="#0072b2"] { fill: #58a6ff }
    .series [stroke="#d55e00"] { stroke: #ff8f3f } .series [fill="#d55e00"] { fill: #ff8f3f }
    .series [stroke="#009e73"] { stroke: #2ec99a } .series [fill="#009e73"] { fill: #2ec99a }
    .series [stroke="#000000"] { stroke: #e6edf3 } .series [fill="#000000"] { fill: #e6edf3 }
  }
</style>
)";

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

bool has_line(Style style) { return style != Style::Markers && style != Style::Dots; }
bool has_markers(Style style) { return style == Style::Markers || style == Style::LineAndMarkers; }

// A dot is a line of no length with round ends.
std::string svg_dots(const std::string& path, const char* colour, double size) {
  return fmt::format("<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"{}\" stroke-linecap=\"round\"/>\n",
                     path, colour, size);
}
constexpr double kDotSize = 2.5, kDotSizeInLegend = 6;

// One chart of the file. left: the plot's left side, right: the panel's right side, in pixels from the panel's left
// side.
struct Panel {
  const Chart& chart;
  std::size_t missing;  // points or cells that are not drawn
  ChartScale x_scale, y_scale, colours = {};
  double left = 0, right = 0;
  double top = 0;  // of the plot; the same in all panels of a file
  std::string svg = {};

  bool shows(const ChartPoint& point) const {
    return is_drawn(point.x, chart.x.logarithmic) && is_drawn(point.y, chart.y.logarithmic);
  }
  double x_of(double value) const { return left + chart.width * x_scale.fraction(value); }
  double y_of(double value) const { return top + chart.height * (1 - y_scale.fraction(value)); }
  double middle() const { return left + chart.width / 2; }
  double bottom() const { return top + chart.height; }
  double end_of_axis() const { return bottom() + (chart.x.label.empty() ? 32 : 54); }
  double end_of_legend() const { return end_of_axis() + kLegendLine * double(legend_lines()); }
  double height() const { return end_of_legend() + 6 + kNoteLine * double(note_lines().size()); }

  std::vector<std::string> title_lines() const {
    return wrapped(chart.title, right - 2 * kMargin, kTitleSize * kBoldness);
  }
  // The top that this panel needs.
  double needed_top() const {
    return 14 + kTitleLine * double(title_lines().size()) + (chart.y.label.empty() ? 0 : 22) + 12;
  }

  void title() {
    double y = 8;
    for (const std::string& line : title_lines())
      svg += svg_text(kMargin, y += kTitleLine, "start", line,
                      fmt::format(" class=\"title\" font-size=\"{}\"", kTitleSize));
    if (!chart.y.label.empty()) svg += svg_text(kMargin, top - 14, "start", chart.y.label);
  }

  void grid() {
    for (const ChartTick& tick : x_scale.ticks)
      if (const double x = x_of(tick.value); tick.label.empty())
        svg += svg_line(x, top, x, bottom(), "#f0f0f0");
      else
        svg += svg_line(x, top, x, bottom() + kTick, "#d4d4d4");
    for (const ChartTick& tick : y_scale.ticks)
      if (const double y = y_of(tick.value); tick.label.empty())
        svg += svg_line(left, y, left + chart.width, y, "#f0f0f0");
      else
        svg += svg_line(left - kTick, y, left + chart.width, y, "#d4d4d4");
  }

  void axes() {
    svg += fmt::format(
        "<rect x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\" fill=\"none\" "
        "stroke=\"#333333\"/>\n",
        left, top, chart.width, chart.height);
    double end_of_label = -std::numeric_limits<double>::infinity();
    for (const ChartTick& tick : x_scale.ticks) {
      const double x = x_of(tick.value), half = width_of(tick.label) / 2;
      if (tick.label.empty() || x - half < end_of_label + kLabelGap) continue;
      svg += svg_text(x, bottom() + 21, "middle", tick.label);
      end_of_label = x + half;
    }
    for (const ChartTick& tick : y_scale.ticks)
      if (!tick.label.empty()) svg += svg_text(left - 9, y_of(tick.value) + 5, "end", tick.label);
    svg += svg_text(middle(), bottom() + 46, "middle", chart.x.label);
  }

  void dots(const ChartSeries& one, const char* colour) {
    std::string path;
    std::unordered_set<std::int64_t> pixels;
    for (const ChartPoint& point : one.points) {
      if (!shows(point)) continue;
      const std::int64_t x = std::llround(x_of(point.x)), y = std::llround(y_of(point.y));
      if (pixels.insert(x << 32 | y).second) path += fmt::format("M{},{}h0", x, y);
    }
    svg += svg_dots(path, colour, kDotSize);
  }

  // One <path> for the lines, and one for each marker, with a tooltip.
  void lines_and_markers(const ChartSeries& one, std::size_t index) {
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
      if (has_markers(one.style))
        markers += fmt::format("<path d=\"M{:.2f},{:.2f}{}\" fill=\"{}\"><title>{:.6g}, {:.6g}</title></path>\n", x, y,
                               cyclic(kMarkers, index), colour, point.x, point.y);
    }
    if (has_line(one.style))
      svg += fmt::format("<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\" stroke-dasharray=\"{}\"/>\n",
                         path, colour, cyclic(kDashes, index));
    svg += markers;
  }

  void series() {
    svg += "<g class=\"series\">\n";
    for (std::size_t k = 0; k < chart.series.size(); ++k)
      if (chart.series[k].style == Style::Dots) dots(chart.series[k], cyclic(kColours, k));
    for (std::size_t k = 0; k < chart.series.size(); ++k)
      if (chart.series[k].style != Style::Dots) lines_and_markers(chart.series[k], k);
    svg += "</g>\n";
  }

  void cells(const HeatMap& map) {
    CellEdges edges;
    for (const double x : map.x_edges) edges.x.push_back(x_of(x));
    for (const double y : map.y_edges) edges.y.push_back(y_of(y));
    svg += svg_cells(map, colours, edges);
    if (!map.label.empty()) svg += svg_colour_bar(map, colours, left + chart.width, top, chart.height);
  }

  // Where the entry of each series begins, from the legend's upper left corner; series without a name have none. Lines
  // are filled from left to right.
  std::vector<std::optional<ChartPoint>> legend_entries() const {
    std::vector<std::optional<ChartPoint>> entries;
    double x = 0, y = 0;
    for (const ChartSeries& one : chart.series) {
      const double width = kLegendMark + width_of(one.name);
      if (!one.name.empty() && x > 0 && x + width > right - 2 * kMargin) x = 0, y += kLegendLine;
      entries.push_back(one.name.empty() ? std::nullopt : std::optional<ChartPoint>({x, y}));
      if (!one.name.empty()) x += width + kLegendGap;
    }
    return entries;
  }

  std::size_t legend_lines() const {
    double last = -kLegendLine;
    for (const auto& entry : legend_entries())
      if (entry) last = entry->y;
    return std::size_t(std::lround(last / kLegendLine)) + 1;
  }

  void legend() {
    const std::vector<std::optional<ChartPoint>> entries = legend_entries();
    svg += "<g class=\"series\">\n";
    for (std::size_t index = 0; index < chart.series.size(); ++index) {
      if (!entries[index]) continue;
      const ChartSeries& one = chart.series[index];
      const double x = kMargin + entries[index]->x, y = end_of_axis() + 10 + entries[index]->y;
      const char* const colour = cyclic(kColours, index);
      if (one.style == Style::Dots) svg += svg_dots(fmt::format("M{},{}h0", x + 16, y), colour, kDotSizeInLegend);
      if (has_line(one.style))
        svg += fmt::format("<path d=\"M{:.2f},{:.2f}h32\" stroke=\"{}\" stroke-width=\"2\" stroke-dasharray=\"{}\"/>\n",
                           x, y, colour, cyclic(kDashes, index));
      if (has_markers(one.style))
        svg += fmt::format("<path d=\"M{:.2f},{:.2f}{}\" fill=\"{}\"/>\n", x + 16, y, cyclic(kMarkers, index), colour);
      svg += svg_text(x + kLegendMark, y + 5, "start", one.name);
    }
    svg += "</g>\n";
  }

  std::vector<std::string> note_lines() const {
    if (missing == 0) return {};
    const bool logarithmic = chart.map ? chart.map->logarithmic : chart.x.logarithmic || chart.y.logarithmic;
    const std::string note = fmt::format("{} {}{} not drawn: not finite{}", missing, chart.map ? "cell" : "point",
                                         missing == 1 ? " is" : "s are", logarithmic ? ", or not above 0" : "");
    return wrapped(note, right - 2 * kMargin, kTextSize);
  }

  void note() {
    double y = end_of_legend() - 6;
    for (const std::string& line : note_lines()) svg += svg_text(kMargin, y += kNoteLine, "start", line);
  }

  void draw() {
    title();
    grid();
    if (chart.map) cells(*chart.map);
    axes();
    series();
    legend();
    note();
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

[[noreturn]] void refuse_empty(const Chart& chart, const char* where, std::size_t numbers, const char* kind) {
  throw std::invalid_argument(
      fmt::format("there is nothing to draw in the chart '{}': expected finite numbers{}, found none in {} {}",
                  chart.title, where, numbers, kind));
}

// The number of points that are not drawn. Adds the others to the ranges.
std::size_t collect(const Chart& chart, Range& x, Range& y) {
  std::size_t points = 0, drawn = 0;
  for (const ChartSeries& one : chart.series) {
    for (const ChartPoint& point : one.points) {
      ++points;
      if (!is_drawn(point.x, chart.x.logarithmic) || !is_drawn(point.y, chart.y.logarithmic)) continue;
      ++drawn;
      x.add(point.x);
      y.add(point.y);
    }
  }
  if (drawn == 0)
    refuse_empty(chart, chart.x.logarithmic || chart.y.logarithmic ? ", above 0 on a logarithmic axis" : "", points,
                 "points");
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

Panel panel_of_map(const Chart& chart, const HeatMap& map) {
  const std::size_t columns = map.x_edges.size() - 1, rows = map.y_edges.size() - 1;
  if (map.x_edges.size() < 2 || map.y_edges.size() < 2 || map.values.size() != columns * rows || !chart.series.empty())
    throw std::invalid_argument(
        fmt::format("the chart '{}' cannot be drawn: expected a value for each cell and no series, got {} values, {} x "
                    "{} edges and "
                    "{} series",
                    chart.title, map.values.size(), map.x_edges.size(), map.y_edges.size(), chart.series.size()));
  Range values;
  std::size_t missing = 0;
  for (const double value : map.values) {
    if (is_drawn(value, map.logarithmic))
      values.add(value);
    else
      ++missing;
  }
  if (missing == map.values.size())
    refuse_empty(chart, map.logarithmic ? ", above 0 for logarithmic colours" : "", missing, "cells");
  return {chart, missing, make_tight_scale(map.x_edges.front(), map.x_edges.back(), chart.x.logarithmic),
          make_tight_scale(map.y_edges.front(), map.y_edges.back(), chart.y.logarithmic),
          make_tight_scale(values.least, values.most, map.logarithmic)};
}

Panel panel_of_series(const Chart& chart) {
  Range x, y;
  const std::size_t missing = collect(chart, x, y);
  return {chart, missing, make_scale(x.least, x.most, chart.x.logarithmic),
          make_scale(y.least, y.most, chart.y.logarithmic)};
}

Panel panel_of(const Chart& chart) {
  Panel panel = chart.map ? panel_of_map(chart, *chart.map) : panel_of_series(chart);
  panel.left = kMargin + 9 + longest(panel.y_scale.ticks, [](const ChartTick& tick) { return tick.label; });
  const double labels = longest(panel.x_scale.ticks, [](const ChartTick& tick) { return tick.label; });
  const double bar = chart.map && !chart.map->label.empty() ? width_of_colour_bar(panel.colours) : 0;
  panel.right = panel.left + chart.width + std::max(bar, labels / 2) + kMargin;
  const double names = longest(chart.series, [](const ChartSeries& one) { return one.name; });
  if (names > 0) panel.right = std::max(panel.right, kMargin + kLegendMark + names + kMargin);
  return panel;
}

// Aligns the left sides of the plots of a column. Returns its width.
double align(std::vector<Panel>& panels, std::size_t column, std::size_t columns) {
  double left = 0, right = 0;
  for (std::size_t k = column; k < panels.size(); k += columns) left = std::max(left, panels[k].left);
  for (std::size_t k = column; k < panels.size(); k += columns)
    right = std::max(right, panels[k].right + left - panels[k].left);
  for (std::size_t k = column; k < panels.size(); k += columns) panels[k].left = left, panels[k].right = right;
  return right;
}

}  // namespace

std::string svg_of(const Chart& chart) { return svg_of(std::vector<Chart>{chart}, 1); }

std::string svg_of(const std::vector<Chart>& charts, std::size_t columns) {
  std::vector<Panel> panels;
  std::string titles, body;
  for (const Chart& chart : charts) {
    panels.push_back(panel_of(chart));
    titles += (titles.empty() ? "" : "; ") + chart.title;
  }
  std::vector<double> lefts{0};
  for (std::size_t column = 0; column < columns; ++column)
    lefts.push_back(lefts.back() + align(panels, column, columns));
  double top = 0, top_of_plots = 0;
  for (const Panel& panel : panels) top_of_plots = std::max(top_of_plots, panel.needed_top());
  for (Panel& panel : panels) panel.top = top_of_plots;
  for (std::size_t first = 0; first < panels.size(); first += columns) {
    double height = 0;
    for (std::size_t k = first; k < std::min(first + columns, panels.size()); ++k) {
      panels[k].draw();
      body += fmt::format("<g transform=\"translate({:.2f} {:.2f})\">\n{}</g>\n", lefts[k - first], top, panels[k].svg);
      height = std::max(height, panels[k].height());
    }
    top += height;
  }
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} {1:.0f}\" "
      "role=\"img\" font-family=\"system-ui, Segoe UI, Roboto, Liberation Sans, sans-serif\" font-size=\"{2}\" "
      "fill=\"#222222\">\n"
      "<title>{3}</title>\n{4}<rect class=\"paper\" width=\"100%\" height=\"100%\" rx=\"8\" "
      "fill=\"#ffffff\"/>\n{5}</svg>\n",
      lefts.back(), top, kTextSize, escaped(titles), kStyle, body);
}

std::string problem_of_chart_name(const std::string& path) {
  if (path.ends_with(".svg")) return "";
  return fmt::format("'{}': a chart is an SVG file, whose name ends in '.svg'", path);
}

}  // namespace nbcc
