// Heat maps: their images and rectangles, colours, colour bars, cells that cannot be drawn.
#include "chart/heat_map.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>

#include "chart/chart.h"
#include "chart/png.h"

namespace nbcc {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

Chart chart_of(HeatMap map) { return {"title", {"x"}, {"y"}, {}, std::move(map), 300, 200}; }

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

// Expected texts by Python's zlib and base64.
TEST(HeatMap, ImagesArePngFiles) {
  EXPECT_EQ(png_data_uri({3, 2, {0, 1, 2, 2, 1, 0}, {{255, 0, 0}, {0, 255, 0}, {0, 0, 255}}}),
            "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAMAAAACCAMAAACqqpYoAAAACVBMVEX/"
            "AAAA/wAAAP8tSs2KAAAAE0lEQVR4AQEIAPf/AAABAgACAQAAIAAH6s58rAAAAABJRU5ErkJggg==");
  // More bytes than a stored block has; the end contains their checksums.
  IndexedImage large{300, 300, {}, {}};
  for (int k = 0; k < 300 * 300; ++k) large.pixels.push_back(std::uint8_t((k * 7 + k / 300) % 251));
  for (int k = 0; k < 251; ++k) large.palette.push_back({std::uint8_t(k), std::uint8_t(k), std::uint8_t(k)});
  const std::string uri = png_data_uri(large);
  EXPECT_EQ(uri.size(), 121520 + std::string("data:image/png;base64,").size());
  EXPECT_THAT(uri, EndsWith("1Nvi6fD3AwoRGB8aX7JooJF62wAAAABJRU5ErkJggg=="));
}

TEST(HeatMap, ColoursBecomeBrighter) {
  EXPECT_EQ(colour_of(ColourMap::Viridis, 0), (Colour{68, 1, 84}));
  EXPECT_EQ(colour_of(ColourMap::Viridis, 1), (Colour{253, 231, 37}));
  EXPECT_EQ(colour_of(ColourMap::Grey, 0.2), (Colour{51, 51, 51}));
  for (const ColourMap map : {ColourMap::Grey, ColourMap::Viridis}) {
    double before = -1;
    for (int k = 0; k <= 100; ++k) {
      const Colour colour = colour_of(map, k / 100.0);
      const double luma = 0.2126 * colour[0] + 0.7152 * colour[1] + 0.0722 * colour[2];
      EXPECT_GT(luma, before) << k;
      before = luma;
    }
  }
}

TEST(HeatMap, CellsOfOneSizeAreAnImageWithTheFirstRowAtTheBottom) {
  const HeatMap map{{0, 1, 2, 3}, {0, 1, 2}, {0, 1, 2, 3, 4, kNan}, ColourMap::Grey};
  IndexedImage image{3, 2, {191, 254, 255, 0, 64, 127}, {}};
  for (int level = 0; level < 255; ++level) image.palette.push_back(colour_of(ColourMap::Grey, level / 254.0));
  image.palette.push_back({255, 255, 255});
  const std::string svg = svg_of(chart_of(map));
  EXPECT_THAT(svg, HasSubstr("width=\"300.00\" height=\"200.00\" preserveAspectRatio=\"none\" "
                             "style=\"image-rendering:pixelated\" href=\"" +
                             png_data_uri(image) + "\""));
  EXPECT_EQ(count(svg, "<image"), 1u);  // no label, no colour bar
  EXPECT_THAT(svg, HasSubstr(">1 cell is not drawn: not finite</text>"));
}

TEST(HeatMap, CellsOfOtherSizesAreRectangles) {
  const std::string svg = svg_of(chart_of({{0, 1, 4}, {0, 2, 4}, {1, 10, 100, 0}, ColourMap::Grey, true, "density"}));
  double x[3], y[3];
  const std::size_t at = svg.find("<path d=\"M");
  // The plot is 300 wide and 200 high; the first cell has a quarter of the width and half of the height.
  ASSERT_EQ(std::sscanf(svg.c_str() + at, "<path d=\"M%lf,%lfH%lfV%lf", x, y, x + 1, y + 1), 4);
  EXPECT_NEAR(x[1] - x[0], 75, 0.02);
  EXPECT_NEAR(y[1] - y[0], -100, 0.02);
  for (const char* colour : {"#000000", "#808080", "#ffffff"})  // 10 is in the middle of 1 and 100
    EXPECT_THAT(svg, HasSubstr("z\" fill=\"" + std::string(colour) + "\"/>"));
  EXPECT_THAT(svg, HasSubstr(">1 cell is not drawn: not finite, or not above 0</text>"));
}

TEST(HeatMap, TheColourBarHasTheLabelAndTheEndsOfTheValues) {
  HeatMap map{{0, 1, 2}, {0, 1}, {0.07, 1.4}, ColourMap::Viridis, true, "charge"};
  const std::string svg = svg_of(chart_of(map));
  EXPECT_EQ(count(svg, "<image"), 2u);
  EXPECT_THAT(svg, HasSubstr(">charge</text>"));
  for (const char* label : {">0.1</text>", ">1</text>"}) EXPECT_THAT(svg, HasSubstr(label));
  EXPECT_THAT(svg, Not(HasSubstr(">0.05</text>")));  // below the least value
  map.values = {3, 3};                               // equal values have a bar too
  EXPECT_THAT(svg_of(chart_of(map)), HasSubstr(">2</text>"));
}

TEST(HeatMap, AxesEndAtTheEdges) {
  const ChartScale scale = make_tight_scale(-1.28, 1.28, false);
  EXPECT_EQ(scale.low, -1.28);
  EXPECT_EQ(scale.high, 1.28);
  EXPECT_EQ(scale.ticks.front().label, "-1.0");
  EXPECT_EQ(scale.ticks.back().label, "1.0");
  // An axis with a single label would not have a scale.
  EXPECT_EQ(make_tight_scale(2.1, 6.5, true).ticks.size(), make_scale(2.1, 6.5, true).ticks.size());
}

std::string refusal_of(const Chart& chart) {
  try {
    svg_of(chart);
  } catch (const std::invalid_argument& e) {
    return e.what();
  }
  return "none";
}

TEST(HeatMap, WhatCannotBeDrawnIsRefused) {
  EXPECT_EQ(refusal_of(chart_of({{0, 1, 2}, {0, 1}, {kNan, -1}, ColourMap::Grey, true})),
            "there is nothing to draw in the chart 'title': expected finite numbers, above 0 for logarithmic colours, "
            "found none in 2 cells");
  const std::string count_differs =
      "the chart 'title' cannot be drawn: expected a value for each cell and no series, got ";
  EXPECT_EQ(refusal_of(chart_of({{0, 1, 2}, {0, 1}, {1}})), count_differs + "1 values, 3 x 2 edges and 0 series");
  EXPECT_EQ(refusal_of(chart_of({{}, {}, {}})), count_differs + "0 values, 0 x 0 edges and 0 series");
  Chart both = chart_of({{0, 1}, {0, 1}, {1}});
  both.series.push_back({"", {{0, 0}}});
  EXPECT_EQ(refusal_of(both), count_differs + "1 values, 2 x 2 edges and 1 series");
}

}  // namespace
}  // namespace nbcc
