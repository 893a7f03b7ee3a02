// A computer generated hologram of the letters "nbcc", and what one sees in it.
//
// The object is a cloud of points that shine with one laser's light. Their waves, summed at each pixel of a plate 10 cm
// away, are the hologram: with a plane reference wave, the plate is as bright as the real part of that sum. To look at
// it, every pixel is taken for a source in its turn, and their waves are summed where the object was. Both are the same
// interaction, points on pixels and pixels on points.
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdio>

#include "chart/chart.h"
#include "examples/support/chart_file.h"
#include "examples/support/open_sum.h"
#include "examples/support/program.h"
#include "runtime/api/nbcc.hpp"

namespace {

constexpr double kDistance = 0.1, kViewSide = 2.56e-3;  // metres
constexpr double kChartSide = 220;                      // pixels

struct Points {
  std::vector<double> x;  // x y z of each
  std::size_t size() const { return x.size() / 3; }
};

// Letters of 5 x 7 dots, 0.1 mm apart.
Points letters() {
  const char* const dots[7] = {
      "..... #.... ..... .....", "..... #.... ..... .....", "#.##. #.##. .###. .###.", "##..# ##..# #.... #....",
      "#...# #...# #.... #....", "#...# #...# #...# #...#", "#...# ####. .###. .###.",
  };
  Points points;
  for (int row = 0; row < 7; ++row)
    for (int column = 0; dots[row][column]; ++column)
      if (dots[row][column] == '#')
        points.x.insert(points.x.end(), {1e-4 * (column - 11), 1e-4 * (3 - row), kDistance});
  return points;
}

Points one_point(double x, double y) { return {{x, y, kDistance}}; }

// The centres of n x n squares that fill one of side `side`, at height z.
Points grid(int n, double side, double z) {
  Points points;
  for (int row = 0; row < n; ++row)
    for (int column = 0; column < n; ++column)
      points.x.insert(points.x.end(), {side * ((column + 0.5) / n - 0.5), side * ((row + 0.5) / n - 0.5), z});
  return points;
}

using Wave = std::vector<std::complex<double>>;

std::vector<double> real_parts(const Wave& wave) {
  std::vector<double> parts;
  for (const std::complex<double> amplitude : wave) parts.push_back(amplitude.real());
  return parts;
}

Wave light(const nbcc::Pipeline& hologram, const Points& at, const Points& of, const std::vector<double>& amplitudes) {
  Wave wave(at.size());
  nbcc::Sum sum(hologram);
  sum.set("z0", kDistance).bind("xi", at.x).bind("xj", of.x).bind("aj", amplitudes);
  sum.bind("light", wave).run().wait();
  return wave;
}

// values: at the points of grid(n, side, z).
nbcc::Chart grey_chart(const std::string& title, int n, double side, const std::vector<double>& values) {
  nbcc::HeatMap map{{}, {}, values, nbcc::ColourMap::Grey};
  for (int k = 0; k <= n; ++k) map.x_edges.push_back(1e3 * side * (double(k) / n - 0.5));
  map.y_edges = map.x_edges;
  return {title, {"mm"}, {"mm"}, {}, map, kChartSide, kChartSide};
}

}  // namespace

int main(int count, char** words) {
  CLI::App app("Hologram of a cloud of points, and its reconstruction", "hologram");
  int pixels = 256, seen = 160;
  double side = 3.0;
  std::vector<double> point;
  std::string device = "cpu", picture;
  app.add_option("--pixels", pixels, "Pixels along a side of the plate")
      ->check(CLI::Range(16, 4096))
      ->capture_default_str();
  app.add_option("--side", side, "The plate's side, mm")->check(examples::positive())->capture_default_str();
  app.add_option("--seen", seen, "Pixels along a side of what is seen in it")
      ->check(CLI::Range(16, 4096))
      ->capture_default_str();
  app.add_option("--point", point, "One point at x and y, mm, in place of the letters")->expected(2);
  examples::add_device(app, device);
  app.add_option("--picture", picture, "An SVG file with the plate and what is seen in it")
      ->check(examples::chart_file());
  return examples::run_program(app, count, words, [&] {
    const nbcc::Device where(device);
    const nbcc::Pipeline hologram = examples::open_pipeline(where, "pipelines/hologram.pipe", NBCC_MIXED);

    const Points object = point.empty() ? letters() : one_point(1e-3 * point[0], 1e-3 * point[1]);
    const Points plate = grid(pixels, 1e-3 * side, 0);
    const std::vector<double> on_plate =
        real_parts(light(hologram, plate, object, std::vector<double>(object.size(), 1)));

    const Points view = grid(seen, kViewSide, kDistance);
    std::vector<double> brightness;
    for (const std::complex<double> amplitude : light(hologram, view, plate, on_plate))
      brightness.push_back(std::norm(amplitude));

    // How much brighter it is where the object is than anywhere.
    double mean = 0, of_object = 0;
    for (const double b : brightness) mean += b / double(view.size());
    for (const std::complex<double> amplitude : light(hologram, object, plate, on_plate))
      of_object += std::norm(amplitude) / double(object.size());
    const std::size_t best = std::size_t(std::max_element(brightness.begin(), brightness.end()) - brightness.begin());
    std::printf("%zu points, %zu pixels of the plate, %zu of the view\n", object.size(), plate.size(), view.size());
    std::printf("brightest at %.3f %.3f mm\n", 1e3 * view.x[3 * best], 1e3 * view.x[3 * best + 1]);
    std::printf("the object's points are %.0f times as bright as the view on the average\n", of_object / mean);
    if (!picture.empty()) {
      char seen_through[80];
      std::snprintf(seen_through, sizeof seen_through, "The object, seen through it: %.0f times as bright as the mean",
                    of_object / mean);
      const std::vector<nbcc::Chart> charts{
          grey_chart("A hologram of " + std::to_string(pixels) + " x " + std::to_string(pixels) + " pixels", pixels,
                     1e-3 * side, on_plate),
          grey_chart(seen_through, seen, kViewSide, brightness)};
      examples::write_chart(picture, nbcc::svg_of(charts, charts.size()));
    }
  });
}
