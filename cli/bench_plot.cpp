// Points -> a PNG file, drawn by gnuplot. Doors: check_can_plot(), plot(). The file is written by us, so that it is
// whole or not there.
#include "cli/bench_plot.h"

#include <fmt/format.h>

#include <fstream>

#include "cli/programs.h"
#include "compiler/text/read_file.h"
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
  run_program("gnuplot", script);
  const FileContent drawn = read_file(picture, 1 << 28);
  if (drawn.bytes.empty()) throw DeviceError("gnuplot drew nothing");
  replace_file(path, drawn.bytes, force);
}

}  // namespace nbcc
