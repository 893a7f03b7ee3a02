// A grid of values -> coloured cells in an SVG file, and the bar that shows which colour is which value. Tested by
// tests/unit/chart/heat_map_test.cpp.
#pragma once
#include <string>
#include <vector>

#include "chart/colour_map.h"
#include "chart/scale.h"

namespace nbcc {

// A grid of cells whose colours show values. Columns may differ in width, rows in height.
struct HeatMap {
  std::vector<double> x_edges, y_edges;  // ascending: columns + 1, rows + 1
  std::vector<double> values;            // [row][column], the first row at the least y
  ColourMap colours = ColourMap::Viridis;
  bool logarithmic = false;
  std::string label = {};  // of the colour bar; without it there is no bar
};

// The edges of a heat map in pixels; y descends, because SVG counts it downwards.
struct CellEdges {
  std::vector<double> x, y;
};

// Cells of one size become an image, of 4/3 bytes for each cell; cells of several sizes become rectangles. Cells whose
// values are not drawn (is_drawn() of scale.h) are white.
std::string svg_cells(const HeatMap& map, const ChartScale& colours, const CellEdges& edges);

// The bar is `height` high, to the right of (left, top); its labels and the map's follow to the right.
std::string svg_colour_bar(const HeatMap& map, const ChartScale& colours, double left, double top, double height);
double width_of_colour_bar(const ChartScale& colours);

}  // namespace nbcc
