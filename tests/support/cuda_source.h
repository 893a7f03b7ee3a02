// CUDA sources as tests read them.
#pragma once
#include <algorithm>
#include <sstream>
#include <string>

namespace nbcc::test {

// What the compiler sees of a source without NBCC_EXCLUSIONS.
inline std::string without_exclusions(const std::string& source) {
  std::istringstream lines(source);
  std::string seen, line;
  bool is_seen = true, inside = false;
  for (int depth = 0; std::getline(lines, line);) {
    const std::size_t first = std::min(line.find_first_not_of(' '), line.size());
    const bool begins = line.compare(first, 3, "#if") == 0, ends = line.compare(first, 6, "#endif") == 0;
    if (!inside && line.find("#ifdef NBCC_EXCLUSIONS") == first) {
      inside = true, is_seen = false, depth = 1;
      continue;
    }
    if (inside) depth += int(begins) - int(ends);
    if (inside && depth == 0) {
      inside = false, is_seen = true;
    } else if (inside && depth == 1 && line.compare(first, 5, "#else") == 0) {
      is_seen = true;
    } else if (is_seen) {
      seen += line + "\n";
    }
  }
  return seen;
}

}  // namespace nbcc::test
