// Charts as SVG: ticks of axes, texts, points that cannot be drawn.
#include "chart/chart.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>

#include "chart/scale.h"
#include "tests/support/command.h"

namespace nbcc {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN(), kInfinity = std::numeric_limits<double>::infinity();

std::vector<std::string> labels(double least, double most, bool logarithmic) {
  std::vector<std::string> texts;
  for (const ChartTick& tick : make_scale(least, most, logarithmic).ticks)
    if (!tick.label.empty()) texts.push_back(tick.label);
  return texts;
}

Chart chart_of(std::vector<ChartPoint> points, bool logarithmic = false) {
  return {"title", {"x", logarithmic}, {"y", logarithmic}, {{"", std::move(points)}}};
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

TEST(Chart, TicksOfALinearAxisAreRound) {
  EXPECT_THAT(labels(0, 1, false), ElementsAre("0", "0.2", "0.4", "0.6", "0.8", "1.0"));
  EXPECT_THAT(labels(-3, 14, false), ElementsAre("-5", "0", "5", "10", "15"));
  EXPECT_THAT(labels(1.01, 1.04, false), ElementsAre("1.010", "1.015", "1.020", "1.025", "1.030", "1.035", "1.040"));
  EXPECT_THAT(labels(1e9, 3e9, false), ElementsAre("1.0×10⁹", "1.5×10⁹", "2.0×10⁹", "2.5×10⁹", "3.0×10⁹"));
  EXPECT_THAT(labels(0, 3e-7, false),
              ElementsAre("0", "5×10⁻⁸", "1.0×10⁻⁷", "1.5×10⁻⁷", "2.0×10⁻⁷", "2.5×10⁻⁷", "3.0×10⁻⁷"));
}

TEST(Chart, TicksOfALogarithmicAxisAreDecadesOrTheirMultiples) {
  EXPECT_THAT(labels(1024, 65536, true), ElementsAre("1000", "2000", "5000", "10000", "20000", "50000", "100000"));
  EXPECT_THAT(labels(0.5, 2000, true), ElementsAre("1", "10", "100", "1000"));
  EXPECT_THAT(labels(1e-12, 1e12, true),
              ElementsAre("1×10⁻¹²", "1×10⁻⁹", "1×10⁻⁶", "0.001", "1", "1000", "1×10⁶", "1×10⁹", "1×10¹²"));
  EXPECT_THAT(labels(1.1e9, 1.3e9, true), ElementsAre("1.10×10⁹", "1.15×10⁹", "1.20×10⁹", "1.25×10⁹", "1.30×10⁹"));
}

// Every scale covers its numbers, has at least two labels and few enough to be read.
TEST(Chart, ScalesCoverWhatTheyAreMadeFor) {
  const double numbers[] = {-1e300, -1e9, -3.7, -1e-9, -4e-320, 0, 5e-324, 1e-300, 0.37, 1, 1 + 1e-15, 42, 1e9, 1e300};
  for (const double least : numbers) {
    for (const double most : numbers) {
      if (most < least) continue;
      for (const bool logarithmic : {false, true}) {
        if (logarithmic && least < 1e-300) continue;
        const ChartScale scale = make_scale(least, most, logarithmic);
        const std::string which = std::to_string(least) + ".." + std::to_string(most);
        EXPECT_GE(scale.fraction(least), -1e-6) << which;
        EXPECT_LE(scale.fraction(most), 1 + 1e-6) << which;
        EXPECT_GE(labels(least, most, logarithmic).size(), 2u) << which;
        EXPECT_LE(labels(least, most, logarithmic).size(), 12u) << which;
      }
    }
  }
}

TEST(Chart, PointsLieWhereTheAxesSay) {
  // The plot is 380 wide and 240 high; half of a logarithmic axis from 1 to 100 is at 10.
  const std::string svg = svg_of(chart_of({{1, 1}, {10, 10}, {100, 100}}, true));
  const std::size_t at = svg.find("<path d=\"M");
  double x[3], y[3];
  ASSERT_EQ(std::sscanf(svg.c_str() + at, "<path d=\"M%lf,%lfL%lf,%lfL%lf,%lf", x, y, x + 1, y + 1, x + 2, y + 2), 6);
  EXPECT_NEAR(x[1] - x[0], 190, 0.02);
  EXPECT_NEAR(x[2] - x[1], 190, 0.02);
  EXPECT_NEAR(y[0] - y[1], 120, 0.02);
  EXPECT_NEAR(y[1] - y[2], 120, 0.02);
}

TEST(Chart, TextsCannotBreakTheFile) {
  Chart chart = chart_of({{0, 0}, {1, 1}});
  chart.title = "a<b & \"c\" > 'd' \x01 \xff \xc3\xa9 \xed\xa0\x80.";
  chart.series.front().name = "</text><script>";
  const std::string svg = svg_of(chart);
  EXPECT_THAT(svg, HasSubstr("a&lt;b &amp; \"c\" &gt; 'd' \uFFFD \uFFFD é \uFFFD\uFFFD\uFFFD.</text>"));
  EXPECT_THAT(svg, HasSubstr("&lt;/text&gt;&lt;script&gt;</text>"));
  EXPECT_THAT(svg, Not(HasSubstr("<script")));
}

TEST(Chart, PointsThatNoAxisShowsInterruptTheLineAndAreCounted) {
  const std::string svg = svg_of(chart_of({{1, 1}, {2, 2}, {3, kNan}, {4, 4}, {kInfinity, 5}}));
  EXPECT_THAT(svg, HasSubstr("2 points are not drawn: not finite</text>"));
  EXPECT_EQ(count(svg, "<path d=\"M"), 4u);  // the line, and three markers
  EXPECT_EQ(
      count(svg.substr(svg.find("<path"), svg.find("fill=\"none\" stroke=", svg.find("<path")) - svg.find("<path")),
            "M"),
      2u);
  EXPECT_THAT(svg_of(chart_of({{1, 1}, {2, 0}, {3, 3}}, true)),
              HasSubstr("1 point is not drawn: not finite, or not above 0"));
  EXPECT_THAT(svg_of(chart_of({{1, 1}, {2, 2}})), Not(HasSubstr("not drawn")));
}

TEST(Chart, WithoutAPointThereIsNoChart) {
  for (const Chart& chart : {chart_of({}), chart_of({{kNan, 1}, {1, kInfinity}}), chart_of({{-1, 1}, {1, 0}}, true)}) {
    try {
      svg_of(chart);
      ADD_FAILURE() << "expected an exception";
    } catch (const std::invalid_argument& e) {
      EXPECT_THAT(e.what(), HasSubstr("nothing to draw in the chart 'title'"));
    }
  }
}

TEST(Chart, SeriesHaveDistinctColoursMarkersAndNames) {
  Chart chart = chart_of({});
  chart.series.clear();
  for (int k = 0; k < 4; ++k) chart.series.push_back({"series " + std::to_string(k), {{0, double(k)}, {1, double(k)}}});
  const std::string svg = svg_of(chart);
  for (const char* part : {"#0072b2", "#d55e00", "#009e73", "#cc79a7"})
    EXPECT_GE(count(svg, "stroke=\"" + std::string(part)), 2u) << part;  // the line, and that in the legend
  for (int k = 0; k < 4; ++k) EXPECT_THAT(svg, HasSubstr(">series " + std::to_string(k) + "</text>"));
  EXPECT_EQ(svg, svg_of(chart));
}

TEST(Chart, LinesHaveNoMarkers) {
  Chart chart = chart_of({{0, 0}, {1, 1}, {2, 0}});
  chart.series.front().style = ChartSeries::Style::Line;
  chart.series.front().name = "line";
  const std::string svg = svg_of(chart);
  EXPECT_EQ(count(svg, "<path"), 2u);  // the line, and that in the legend
  EXPECT_EQ(count(svg, "<title>"), 1u);
}

TEST(Chart, DotsLieBelowLinesAndOneIsInAPixel) {
  Chart chart = chart_of({{0, 0}, {10, 10}});
  chart.series.front().style = ChartSeries::Style::Line;
  chart.series.push_back({"", {{0, 0}, {1e-4, 1e-4}, {10, 10}, {10, kNan}}, ChartSeries::Style::Dots});
  const std::string svg = svg_of(chart);
  const std::size_t dots = svg.find("stroke-linecap=\"round\""), line = svg.find("stroke-dasharray");
  EXPECT_LT(dots, line);
  EXPECT_EQ(count(svg, "h0"), 2u);
  EXPECT_THAT(svg, HasSubstr("1 point is not drawn"));
}

TEST(Chart, PanelsLieInRowsWithTheirPlotsBelowEachOther) {
  Chart wide = chart_of({{0, 0}, {1, 1e-7}}), narrow = chart_of({{0, 0}, {1, 1}});
  wide.width = narrow.width = 200, wide.height = narrow.height = 100;
  narrow.title = "second";
  narrow.series.front().name = "a long name in the legend";
  const std::string svg = svg_of({narrow, narrow, wide}, 2);
  double x[3], y[3], left[3];
  std::size_t at = 0;
  for (int k = 0; k < 3; ++k) {
    at = svg.find("<g transform", at + 1);
    ASSERT_NE(at, std::string::npos);
    ASSERT_EQ(std::sscanf(svg.c_str() + at, "<g transform=\"translate(%lf %lf)\">", x + k, y + k), 2);
    ASSERT_EQ(std::sscanf(svg.c_str() + svg.find("<rect x=\"", at), "<rect x=\"%lf\"", left + k), 1);
  }
  EXPECT_EQ(x[0], 0);
  EXPECT_GT(x[1], left[0] + 200);
  EXPECT_EQ(x[2], 0);
  EXPECT_EQ(y[1], 0);
  EXPECT_EQ(y[2], 251);  // 69 to the plot, 100, 54 to the end of the labels, 22 of the legend, 6
  EXPECT_EQ(left[0], left[2]);
  EXPECT_GT(left[0], left[1]);
  EXPECT_THAT(svg, HasSubstr("<title>second; second; title</title>"));
  EXPECT_THAT(svg, HasSubstr("height=\"480\""));
}

TEST(Chart, TextsThatAreTooLongForALineGetMore) {
  Chart chart = chart_of({{1, 1}, {2, 0}, {3, 3}}, true);
  chart.width = 120;
  chart.title = "a title of so many words";
  chart.series = {{"first of them", {{1, 1}, {2, 0}}}, {"second of them", {{1, 1}}}, {"third", {{1, 1}}}};
  const std::string svg = svg_of(chart);
  double x[3], y[3];
  for (int k = 0; k < 3; ++k) {
    const std::size_t end = svg.find(">" + chart.series[std::size_t(k)].name + "</text>");
    ASSERT_NE(end, std::string::npos);
    ASSERT_EQ(std::sscanf(svg.c_str() + svg.rfind("<text", end), "<text x=\"%lf\" y=\"%lf\"", x + k, y + k), 2);
  }
  EXPECT_EQ(x[0], x[1]);
  EXPECT_GT(y[1], y[0]);
  EXPECT_GE(count(svg, "class=\"title\""), 2u);
  EXPECT_THAT(svg, AllOf(HasSubstr("above 0</text>"), Not(HasSubstr("not drawn: not finite, or not above 0"))));
}

// The rules of series do not hold for the cells of heat maps, which may have the same colours.
TEST(Chart, DarkPagesHaveColoursOfTheirOwn) {
  const std::string svg = svg_of(chart_of({{0, 0}, {1, 1}}));
  EXPECT_THAT(svg, HasSubstr("@media (prefers-color-scheme: dark)"));
  EXPECT_THAT(svg, HasSubstr(".paper { fill: #0d1117 }"));
  EXPECT_THAT(svg, HasSubstr(".series [stroke=\"#0072b2\"] { stroke: #58a6ff }"));
  EXPECT_LT(svg.find("<g class=\"series\">"), svg.find("stroke=\"#0072b2\" stroke-width"));
}

TEST(Chart, LabelsOfAnAxisDoNotOverlap) {
  Chart chart = chart_of({{1e-30, 1}, {1e30, 2}}, true);
  chart.width = 300;
  const std::string svg = svg_of(chart);
  EXPECT_EQ(count(svg, ">1×10⁻³⁰</text>"), 1u);
  EXPECT_EQ(count(svg, ">1×10⁻²²</text>"), 0u);  // 40 pixels from the first
  EXPECT_EQ(count(svg, ">1×10⁻¹⁴</text>"), 1u);
}

TEST(Chart, BenchDrawsOne) {
  const test::Shell shell;
  shell.write("sound.pipe", "input_i real xi;\ninput_j real xj;\noutput(sum) real s;\ns += (xj - xi) * 2.0;\n");
  const test::Outcome wrong = shell.nbcc("bench sound.pipe --n 16 --plot rate.png");
  EXPECT_EQ(wrong.code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("--plot 'rate.png': a chart is an SVG file, whose name ends in '.svg'"));
  const test::Outcome drawn = shell.line("PATH=/nowhere; \"$nbcc\" bench sound.pipe --n 16,32 --plot rate.svg");
  EXPECT_EQ(drawn.code, 0) << drawn.err;
  const std::string svg = shell.read("rate.svg");
  EXPECT_THAT(svg, HasSubstr("interactions per second</text>"));
  EXPECT_EQ(count(svg, "<title>16, ") + count(svg, "<title>32, "), 2u);
}

}  // namespace
}  // namespace nbcc
