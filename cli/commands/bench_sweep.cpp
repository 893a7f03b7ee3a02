// Measures the rate of a pipeline over N and one number of the launch configuration. Entry point: sweep(). Ignores
// stored tunings.
#include "cli/commands/bench_sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/report/progress_bar.h"
#include "cli/report/provenance.h"
#include "cli/report/standard_output.h"
#include "cli/sum/measure_sum.h"
#include "runtime/cuda/program/cuda_device.h"
#include "runtime/error.h"

namespace nbcc {
namespace {

using Json = nlohmann::ordered_json;

struct SweepTable {
  const char* choice;  // its name in JSON
  const char* title;
  int LaunchConfig::* member;
  std::vector<int> values;
};

const std::vector<SweepTable>& sweep_tables() {
  static const std::vector<SweepTable> tables = {
      {"threads", "threads of a block", &LaunchConfig::threads, {32, 64, 128, 256, 512}},
      {"unroll", "passes of the pair loop written out", &LaunchConfig::unroll, {1, 2, 4, 8, 16, 32}},
      {"j_slices",
       "threads that share i-particles; each sums over one slice of a tile",
       &LaunchConfig::j_slices,
       {1, 2, 4, 8, 16, 32}}};
  return tables;
}

struct SweepRow {
  std::int64_t ni = 0, nj = 0;
  std::vector<std::optional<Times>> times;  // [value of the table]; nothing: no such kernel is possible
};

SweepRow sweep_row(ParticleSum& sum, const SweepTable& table, std::int64_t ni, std::int64_t nj,
                   const KernelChoice& kernel, int repeat) {
  const RandomBinding particles(sum, ni, nj, kernel, ParticleSum::Arrays::OfDevice);
  SweepRow row{ni, nj, {}};
  const LaunchConfig model = sum.cuda_kernel().model_choice(ni, nj).compiled();
  ProgressBar progress;
  for (const int value : table.values) {
    progress.show(double(row.times.size()) / double(table.values.size()));
    LaunchConfig config = model;
    config.*table.member = value;
    // The j tile grows with j_slices, as in the model, so that each slice adds the same number of terms.
    if (table.member == &LaunchConfig::j_slices) config.j_tile = sum.cuda_kernel().source.tile * std::min(value, 4);
    row.times.push_back(measure_in(sum, config, repeat));
  }
  return row;
}

std::string heading(const SweepTable& table) {
  std::string text = fmt::format("\n{}\n{:>9} {:>9}", table.title, "ni", "nj");
  for (const int value : table.values) text += fmt::format(" {:>8}", value);
  return text + "\n";
}

std::string line_of(const SweepRow& row) {
  std::string text = fmt::format("{:>9} {:>9}", row.ni, row.nj);
  for (const std::optional<Times>& times : row.times) {
    text += times ? fmt::format(" {:>8.4g}", double(row.ni) * double(row.nj) / times->median * 1e-9)
                  : fmt::format(" {:>8}", "-");
  }
  return text + "\n";
}

void add(Json& report, const SweepRow& row, const SweepTable& table, const ParticleSum& sum,
         const KernelChoice& kernel) {
  for (std::size_t k = 0; k < row.times.size(); ++k) {
    const std::optional<Times>& times = row.times[k];
    report.push_back({{"pipeline", sum.pipeline_name()},
                      {"device", sum.device_name()},
                      {"precision", name(kernel.options.precision)},
                      {"math", name(kernel.options.math)},
                      {"choice", table.choice},
                      {"value", table.values[k]},
                      {"ni", row.ni},
                      {"nj", row.nj},
                      {"seconds", times ? Json(times->median) : Json()},
                      {"interactions_per_s", times ? Json(double(row.ni) * double(row.nj) / times->median) : Json()}});
    add_provenance(report.back(), sum);
  }
}

}  // namespace

void sweep(ParticleSum& sum, const Sizes& sizes, const KernelChoice& kernel, int repeat, bool as_json) {
  Json report = Json::array();
  if (!as_json) {
    write_standard_output(fmt::format("{} on {}, {}, arrays on the device; G interactions/s\n", sum.pipeline_name(),
                                      sum.device_name(), describe(kernel)));
  }
  for (const SweepTable& table : sweep_tables()) {
    if (!as_json) write_standard_output(heading(table));
    for (const auto& [ni, nj] : sizes) {
      const SweepRow row = sweep_row(sum, table, ni, nj, kernel, repeat);
      if (!as_json) write_standard_output(line_of(row));
      add(report, row, table, sum, kernel);
    }
  }
  if (as_json) write_json(report);
}

}  // namespace nbcc
