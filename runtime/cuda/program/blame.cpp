// Compiler log -> pipeline lines. Values of a kernel source are named t0, t1, ... after their IR nodes;
// KernelSource::lines maps a node to its pipeline line.
#include "runtime/cuda/program/blame.h"

#include <cstdlib>
#include <regex>
#include <set>

#include "fmt/format.h"

namespace nbcc {
namespace {

std::string line_of(const std::string& text, int number) {
  std::size_t begin = 0;
  for (int k = 1; k < number; ++k) {
    begin = text.find('\n', begin);
    if (begin == std::string::npos) return "";
    ++begin;
  }
  const std::string line = text.substr(begin, text.find('\n', begin) - begin);
  const std::size_t first = line.find_first_not_of(' ');
  return first == std::string::npos ? "" : line.substr(first);
}

// The pipeline line of the first value that a source line names, which is the value that the line defines if it defines
// one; 0 if there is none.
int pipeline_line(const KernelSource& source, const std::string& line) {
  static const std::regex value("\\bt([0-9]+)");
  std::smatch found;
  if (!std::regex_search(line, found, value)) return 0;
  const std::size_t node = std::strtoull(found[1].str().c_str(), nullptr, 10);
  return node < source.lines.size() ? source.lines[node] : 0;
}

}  // namespace

std::string blame(const KernelSource& kernel, const std::string& source, const std::string& log) {
  static const std::regex error("\\(([0-9]+)\\): (?:catastrophic )?error");
  std::string text;
  std::set<int> said;
  for (std::sregex_iterator at(log.begin(), log.end(), error), end; at != end; ++at) {
    const int number = std::atoi((*at)[1].str().c_str());
    const std::string line = line_of(source, number);
    if (line.empty() || !said.insert(number).second) continue;
    text += fmt::format("line {} of the kernel source is: {}\n", number, line);
    if (const int origin = pipeline_line(kernel, line); origin > 0)
      text += fmt::format("  from line {} of pipeline '{}'\n", origin, kernel.pipeline);
  }
  return text;
}

}  // namespace nbcc
