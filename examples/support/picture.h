// Pictures by gnuplot.
#pragma once
#include <string>

namespace examples {

// Runs the script with its output going to the PNG file `path`. Where there is no gnuplot the script is left beside the
// place, with the ending .gp, to be drawn elsewhere. Returns what was written. Throws UsageError if neither can
// be.
std::string draw(const std::string& path, const std::string& script);

}  // namespace examples
