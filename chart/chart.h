// Series of points -> a chart, as the text of an SVG file that browsers show. The text depends on the arguments alone.
// Tested by tests/unit/chart/chart_test.cpp.
#pragma once
#include <optional>
#include <string>
#include <vector>

namespace nbcc {

struct ChartPoint {
  double x = 0, y = 0;
};

struct ChartSeries {
  enum class Style {
    LineAndMarkers,
    Markers,
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
};

// Points that an axis cannot show (NaN, infinity and absolute values above 1e300; zero and negative numbers on a
// logarithmic axis) are not drawn: they interrupt the line, and a note in the chart says how many they are. Throws
// std::invalid_argument if no point can be drawn. Texts are UTF-8; bytes that are not become U+FFFD.
std::string svg_of(const Chart& chart);

// "" if a chart can be written to a file of this name, else what is wrong with it: a chart's file ends in ".svg".
std::string problem_of_chart_name(const std::string& path);

}  // namespace nbcc
