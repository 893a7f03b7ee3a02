// Series of points, or a heat map -> a chart, as the text of an SVG file that browsers show. The text depends on the
// arguments alone. Tested by tests/unit/chart/.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "chart/heat_map.h"

namespace nbcc {

struct ChartPoint {
  double x = 0, y = 0;
};

struct ChartSeries {
  enum class Style {
    LineAndMarkers,
    Line,
    Markers,
    Dots,   // small, for thousands of points: below all lines, without tooltips; dots in one pixel are drawn once
    Steps,  // y keeps its value up to the next x
  };
  std::string name;  // in the legend; a chart whose series have no names has no legend
  std::vector<ChartPoint> points;
  Style style = Style::LineAndMarkers;
};

struct ChartAxis {
  std::string label;  // quantity and unit
  bool logarithmic = false;
  std::optional<double> least = {}, most = {};  // values that the axis covers even without a point there
};

struct Chart {
  std::string title;
  ChartAxis x, y;
  std::vector<ChartSeries> series;
  std::optional<HeatMap> map = {};   // in place of series; the axes end at its edges
  double width = 380, height = 240;  // of the plot inside of the axes, in pixels
};

// Points that an axis cannot show (NaN, infinity and absolute values above 1e300; zero and negative numbers on a
// logarithmic axis) are not drawn: they interrupt the line, and a note in the chart says how many they are. The same
// holds for cells of a heat map, which are white. Throws std::invalid_argument if no point or cell can be drawn, and if
// a heat map has not one value for each cell, or series beside it. Texts are UTF-8; bytes that are not become U+FFFD.
std::string svg_of(const Chart& chart);

// Several charts in one file, row by row. columns: the charts of a row, at least 1.
std::string svg_of(const std::vector<Chart>& panels, std::size_t columns);

// "" if a chart can be written to a file of this name, else what is wrong with it: a chart's file ends in ".svg".
std::string problem_of_chart_name(const std::string& path);

}  // namespace nbcc
