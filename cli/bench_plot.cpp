// Points -> a PNG file, drawn by gnuplot. Doors: check_can_plot(), plot(). The file is written by us, so that it is
// whole or not there.
#include "cli/bench_plot.h"

#include <fmt/format.h>

#include <cstdio>
#include <fstream>
#include <iterator>

#include "cli/find_program.h"
#include "jit/temporary_folder.h"
#include "particles/replace_file.h"
#include "runtime/error.h"

namespace nbcc {
namespace {

// gnuplot's single quotes know no escape but their doubling.
std::string quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? std::string("''") : std::string(1, c);
  return result + "'";
}

}  // namespace

void check_can_plot(const std::string& path, bool force) {
  if (find_program("gnuplot").empty()) throw DeviceError("--plot needs gnuplot, which is not installed");
  check_replaceable(path, force);
}

void plot(const std::string& path, const std::string& title, const std::vector<PlotPoint>& points, bool force) {
  const TemporaryFolder scratch;
  const std::string picture = scratch.file("plot.png"), script = scratch.file("plot.gp");
  std::string text = fmt::format(
      "set terminal pngcairo size 900,600\nset output {}\nset title {} noenhanced\nset logscale xy\n"
      "set xlabel 'N'\nset ylabel 'interactions/s'\nset format y '%.1e'\nset grid\n"
      "$points << END\n",
      quoted(picture), quoted(title));
  for (const PlotPoint& point : points) text += fmt::format("{} {}\n", point.n, point.interactions_per_s);
  text += "END\nplot $points with linespoints pointtype 7 notitle\n";
  std::ofstream(script) << text;
  std::FILE* const gnuplot = popen(fmt::format("gnuplot '{}' 2>&1", script).c_str(), "r");
  if (!gnuplot) throw DeviceError("gnuplot cannot be started");
  std::string said;
  for (int c; (c = std::fgetc(gnuplot)) != EOF;) said += char(c);
  if (pclose(gnuplot) != 0) throw DeviceError("gnuplot failed: " + said);
  std::ifstream file(picture, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), {});
  if (bytes.empty()) throw DeviceError("gnuplot drew nothing: " + said);
  replace_file(path, bytes, force);
}

}  // namespace nbcc
