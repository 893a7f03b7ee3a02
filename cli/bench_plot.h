// A picture of a benchmark.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace nbcc {

struct PlotPoint {
  std::int64_t n = 0;
  double interactions_per_s = 0;
};

// Throws DeviceError without gnuplot, FileError when there can be no such file.
void check_can_plot(const std::string& path, bool force);

// Interactions/s over N as a PNG file, both axes logarithmic. Throws as above, and DeviceError when gnuplot fails.
void plot(const std::string& path, const std::string& title, const std::vector<PlotPoint>& points, bool force);

}  // namespace nbcc
