// A chart -> a file. Its functions are chart_file(), before the chart is computed, and write_chart(), afterwards.
#include "examples/support/chart_file.h"

#include <cstdio>
#include <fstream>

#include "chart/chart.h"
#include "examples/support/failure.h"
#include "examples/support/replace_file.h"

namespace examples {

CLI::Validator chart_file() {
  return CLI::Validator(
      [](const std::string& path) -> std::string {
        if (const std::string problem = nbcc::problem_of_chart_name(path); !problem.empty()) return problem;
        try {
          require_place_for(path);
        } catch (const UsageError& error) {
          return error.what();
        }
        return "";
      },
      "FILE.svg");
}

void write_chart(const std::string& path, const std::string& svg) {
  replace_file(path, [&](const std::string& draft) {
    std::ofstream file(draft);
    if (!(file << svg).flush()) throw UsageError("cannot write '" + path + "'");
  });
  std::printf("wrote %s\n", path.c_str());
}

}  // namespace examples
