// A pipeline -> times. Doors: declare_bench(), run_bench(). Measures through the interface that anyone uses; judges
// nothing.
#include "cli/command_bench.h"

#include <fmt/format.h>

#include <CLI/Validators.hpp>
#include <nlohmann/json.hpp>

#include "cli/bench_plot.h"
#include "cli/bench_sweep.h"
#include "cli/exit_code.h"
#include "cli/measure_sum.h"
#include "cli/pipeline_summary.h"
#include "cli/standard_output.h"
#include "runtime/cpu/thread_pool.h"

namespace nbcc {
namespace {

using Json = nlohmann::ordered_json;

struct Row {
  std::int64_t ni = 0, nj = 0;
  Times times;
  double interactions_per_s() const { return double(ni) * double(nj) / times.median; }
};

bool on_device(const BenchOptions& options) { return is_gpu(options.kernel) && !options.host_arrays; }

Row bench_one(ParticleSum& sum, std::int64_t ni, std::int64_t nj, const BenchOptions& options) {
  const RandomBinding particles(sum, ni, nj, options.kernel,
                                on_device(options) ? ParticleSum::Arrays::OfDevice : ParticleSum::Arrays::OfHost);
  sum.keep_j(options.resident);
  return {ni, nj, measure(sum, options.repeat)};
}

Json json_of(const Row& row, const ParticleSum& sum, const PipelineSummary& summary, const BenchOptions& options,
             double cold, double cached) {
  const int stated = summary.stated_operations.value_or(summary.raw_operations);
  const double rate = row.interactions_per_s();
  return {{"pipeline", summary.name},
          {"device", sum.device_name()},
          {"precision", options.kernel.precision},
          {"math", options.kernel.math},
          {"threads", options.kernel.threads == 0 ? available_cores() : options.kernel.threads},
          {"resident_j", options.resident},
          {"arrays", on_device(options) ? "device" : "host"},
          {"ni", row.ni},
          {"nj", row.nj},
          {"repeat", options.repeat},
          {"seconds", row.times.median},
          {"seconds_min", row.times.fastest},
          {"seconds_max", row.times.slowest},
          {"interactions_per_s", rate},
          {"gflops", rate * stated * 1e-9},
          {"operations", stated},
          {"gflops_raw", rate * summary.raw_operations * 1e-9},
          {"operations_raw", summary.raw_operations},
          {"compile_seconds", cold},
          {"compile_seconds_cached", cached}};
}

std::string heading(const ParticleSum& sum, const PipelineSummary& summary, const BenchOptions& options, double cold,
                    double cached) {
  const char* const arrays = on_device(options) ? "arrays on the device"
                             : options.resident ? "j resident"
                                                : "j packed in every run";
  std::string text =
      fmt::format("{} on {}, {}, {}\n", summary.name, sum.device_name(), describe(options.kernel), arrays);
  text += fmt::format("compiled in {:.1f} ms, from the cache in {:.1f} ms; operations per interaction: ", 1e3 * cold,
                      1e3 * cached);
  if (summary.stated_operations) text += fmt::format("{} stated, ", *summary.stated_operations);
  text += fmt::format("{} raw\n", summary.raw_operations);
  text += fmt::format("{:>9} {:>9} {:>11} {:>17} {:>9} {:>9} {:>9}\n", "ni", "nj", "median s", "min .. max", "G/s",
                      summary.stated_operations ? "GFLOP/s" : "", "raw");
  return text;
}

std::string line_of(const Row& row, const PipelineSummary& summary) {
  const double rate = row.interactions_per_s() * 1e-9;
  const std::string stated = summary.stated_operations ? fmt::format("{:.1f}", rate * *summary.stated_operations) : "";
  return fmt::format("{:>9} {:>9} {:>11.4g} {:>17} {:>9.4f} {:>9} {:>9.1f}\n", row.ni, row.nj, row.times.median,
                     fmt::format("{:+.1f}% .. {:+.1f}%", 100 * (row.times.fastest / row.times.median - 1),
                                 100 * (row.times.slowest / row.times.median - 1)),
                     rate, stated, rate * summary.raw_operations);
}

}  // namespace

void declare_bench(CLI::App& app, BenchOptions& options) {
  app.add_option("FILE", options.file, "A pipeline")->required()->type_name("");
  declare_sizes(app, options.counts, options.count_i, options.params);
  declare_kernel_options(app, options.kernel);
  app.add_option("--repeat", options.repeat, "Samples, of which the median is shown")
      ->check(CLI::Range(5, 10000).description(""))
      ->capture_default_str();
  CLI::Option* const resident =
      app.add_flag("--resident", options.resident, "Keep the j-particles packed between runs, as when only i change");
  CLI::Option* const host_arrays =
      app.add_flag("--host-arrays", options.host_arrays,
                   "On a GPU: arrays of the host, copied in every run (default: arrays on the device)");
  app.add_flag("--json", options.json, "A list of objects on standard output, one for each number of particles");
  CLI::Option* const plotted =
      app.add_option("--plot", options.plot, "Draw interactions/s over N into a PNG file, with gnuplot")
          ->type_name("FILE");
  app.add_flag("--force", options.force, "Overwrite an existing plot");
  app.add_flag("--sweep", options.sweep,
               "On a GPU: tables of interactions/s against N for each block size, unrolling and number of threads that "
               "share i-particles")
      ->excludes(resident)
      ->excludes(host_arrays)
      ->excludes(plotted);
  app.footer(
      "The particles are random, from the field list. Times are of whole runs, packing included. On a GPU\n"
      "arrays are on the device, in the working precision, and the time is that of many runs and one wait.\n"
      "\nExamples:\n"
      "  nbcc bench pipelines/gravity.pipe\n"
      "  nbcc bench pipelines/gravity.pipe --n 1024,16384 --threads 1 --precision double --json\n"
      "  nbcc bench pipelines/gravity.pipe --n 1024..16384 --plot gravity.png\n"
      "  nbcc bench pipelines/gravity.pipe --device cuda --sweep --n 1024..262144");
}

int run_bench(const BenchOptions& options) {
  if (options.sweep) return run_sweep(options);
  const std::vector<std::int64_t> counts = parse_counts(options.counts, "--n");
  const std::int64_t ni = options.count_i.empty() ? 0 : parse_counts(options.count_i, "--ni").front();
  std::vector<ParamValue> params;
  for (const std::string& text : options.params) params.push_back(parse_param(text));
  if (!options.plot.empty()) check_can_plot(options.plot, options.force);

  // The first compilation of this process, as a user meets it; then one that fills the cache where it has to.
  KernelChoice without_cache = options.kernel;
  without_cache.cache_folder = "";
  const double cold = timed([&] { ParticleSum(options.file, without_cache); });
  ParticleSum sum(options.file, options.kernel);
  const double cached = timed([&] { ParticleSum(options.file, options.kernel); });
  sum.set_params(params);
  const PipelineSummary summary =
      summarize(read_source(options.file), compiler_options(options.kernel), compiler_target(options.kernel));

  Json report = Json::array();
  std::vector<PlotPoint> points;
  if (!options.json) write_standard_output(heading(sum, summary, options, cold, cached));
  for (const std::int64_t n : counts) {
    const Row row = bench_one(sum, ni == 0 ? n : ni, n, options);
    if (!options.json) write_standard_output(line_of(row, summary));
    report.push_back(json_of(row, sum, summary, options, cold, cached));
    points.push_back({n, row.interactions_per_s()});
  }
  if (options.json) write_standard_output(report.dump(2) + "\n");
  if (!options.plot.empty()) {
    plot(options.plot, fmt::format("{} on {}, {}", summary.name, sum.device_name(), describe(options.kernel)), points,
         options.force);
  }
  return kDone;
}

}  // namespace nbcc
