// Rows -> aligned columns, and a JSON file. Entry point: Report.
#include "bench/report.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <stdexcept>

namespace nbcc::bench {
namespace {

std::string text(const Row& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_integer()) return fmt::format("{}", value.get<long long>());
  if (value.is_number()) return fmt::format("{:.4g}", value.get<double>());
  return value.is_null() ? "-" : value.dump();
}

}  // namespace

void Report::table(const std::string& section, const std::string& title, const std::vector<Row>& rows) {
  fmt::print("\n{}\n", title);
  if (rows.empty()) return;
  std::vector<std::vector<std::string>> lines(1);
  for (const auto& [name, value] : rows.front().items()) {
    std::string header = name;
    std::replace(header.begin(), header.end(), '_', ' ');
    lines[0].push_back(header);
  }
  for (const Row& row : rows) {
    std::vector<std::string>& line = lines.emplace_back();
    for (const auto& [name, value] : row.items()) line.push_back(text(value));
    Row kept{{"section", section}};
    kept.update(row);
    rows_.push_back(std::move(kept));
  }
  std::vector<std::size_t> widths(lines[0].size(), 0);
  for (const auto& line : lines)
    for (std::size_t k = 0; k < line.size(); ++k) widths[k] = std::max(widths[k], line[k].size());
  for (const auto& line : lines) {
    std::string out;
    for (std::size_t k = 0; k < line.size(); ++k) out += fmt::format("  {:<{}}", line[k], widths[k]);
    fmt::print("{}\n", out);
  }
  std::fflush(stdout);
}

void Report::write_json(const std::string& path, const Row& machine) const {
  if (path.empty()) return;
  std::ofstream file(path);
  file << Row{{"machine", machine}, {"results", rows_}}.dump(1) << '\n';
  if (!file.flush()) throw std::runtime_error(fmt::format("cannot write '{}'", path));
}

}  // namespace nbcc::bench
