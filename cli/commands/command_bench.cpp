// nbcc bench: measures the time of a pipeline's sums through the public interface.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "chart/chart.h"
#include "cli/commands/bench_sweep.h"
#include "cli/commands/commands.h"
#include "cli/report/provenance.h"
#include "cli/report/search_statistics.h"
#include "cli/report/standard_output.h"
#include "cli/sum/measure_sum.h"
#include "compiler/source/parse.h"
#include "particles/files/replace_file.h"
#include "runtime/error.h"
#include "runtime/thread_pool.h"

namespace nbcc {
namespace {

using Json = nlohmann::ordered_json;

struct BenchOptions {
  std::string file;
  SizeWords sizes{"1024..65536", ""};
  int repeat = 5;
  bool resident = false;
  bool host_arrays = false;
  std::vector<std::string> params;
  KernelChoice kernel;
  PairsChoice pairs;
  bool sweep = false;
  bool json = false;
  std::string plot;
  bool force = false;
};

struct Row {
  std::int64_t ni = 0, nj = 0;
  Times times;
  SumStatistics searched;   // statistics of all runs of this size
  double interactions = 0;  // ni * nj, or the listed pairs or those of batches
  double interactions_per_s() const { return interactions / times.median; }
};

bool on_device(const BenchOptions& options) { return has_own_memory(options.kernel) && !options.host_arrays; }

Row bench_one(ParticleSum& sum, std::int64_t ni, std::int64_t nj, const BenchOptions& options) {
  const RandomBinding particles(sum, ni, nj, options.kernel,
                                on_device(options) ? ParticleSum::Arrays::OfDevice : ParticleSum::Arrays::OfHost,
                                options.pairs);
  sum.keep_j(options.resident);
  const SumStatistics before = sum.statistics();
  const Times times = measure(sum, options.repeat);
  const double interactions = options.pairs.listed > 0
                                  ? double(ni) * double(options.pairs.listed)
                                  : double(ni) * double(nj) / double(std::max<std::int64_t>(options.pairs.batches, 1));
  return {ni, nj, times, since(before, sum.statistics()), interactions};
}

Json json_of(const Row& row, const ParticleSum& sum, const Pipeline& pipeline, const BenchOptions& options, double cold,
             double cached) {
  const int stated = pipeline.flops.value_or(pipeline.raw_operations);
  const double rate = row.interactions_per_s();
  Json object = {{"pipeline", sum.pipeline_name()},
                 {"device", sum.device_name()},
                 {"precision", name(options.kernel.options.precision)},
                 {"math", name(options.kernel.options.math)},
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
                 {"gflops_raw", rate * pipeline.raw_operations * 1e-9},
                 {"operations_raw", pipeline.raw_operations},
                 {"compile_seconds", cold},
                 {"compile_seconds_cached", cached},
                 {"neighbours", json_of(row.searched)}};
  add_provenance(object, sum);
  return object;
}

std::string heading(const ParticleSum& sum, const Pipeline& pipeline, const BenchOptions& options, double cold,
                    double cached) {
  const char* const arrays = on_device(options) ? "arrays on the device"
                             : options.resident ? "j resident"
                                                : "j packed in every run";
  std::string text =
      fmt::format("{} on {}, {}, {}\n", sum.pipeline_name(), sum.device_name(), describe(options.kernel), arrays);
  text += fmt::format("compiled in {:.1f} ms, from the cache in {:.1f} ms; operations per interaction: ", 1e3 * cold,
                      1e3 * cached);
  if (pipeline.flops) text += fmt::format("{} stated, ", *pipeline.flops);
  text += fmt::format("{} raw\n", pipeline.raw_operations);
  text += fmt::format("{:>9} {:>9} {:>11} {:>17} {:>9} {:>9} {:>9}\n", "ni", "nj", "median s", "min .. max", "G/s",
                      pipeline.flops ? "GFLOP/s" : "", "raw");
  return text;
}

std::string line_of(const Row& row, const Pipeline& pipeline) {
  const double rate = row.interactions_per_s() * 1e-9;
  const std::string stated = pipeline.flops ? fmt::format("{:.1f}", rate * *pipeline.flops) : "";
  return fmt::format("{:>9} {:>9} {:>11.4g} {:>17} {:>9.4f} {:>9} {:>9.1f}\n", row.ni, row.nj, row.times.median,
                     fmt::format("{:+.1f}% .. {:+.1f}%", 100 * (row.times.fastest / row.times.median - 1),
                                 100 * (row.times.slowest / row.times.median - 1)),
                     rate, stated, rate * pipeline.raw_operations);
}

// Throws UsageError and FileError if no chart can be written to `path`.
void check_can_plot(const std::string& path, bool force) {
  if (const std::string problem = problem_of_chart_name(path); !problem.empty()) throw UsageError("--plot " + problem);
  check_replaceable(path, force);
}

// Draws interactions/s over N, with logarithmic axes.
void plot(const std::string& path, const std::string& title, const std::vector<Row>& rows, bool force) {
  Chart chart{title, {"N (j-particles)", true}, {"interactions per second", true}, {{}}};
  for (const Row& row : rows) chart.series.front().points.push_back({double(row.nj), row.interactions_per_s()});
  replace_file(path, svg_of(chart), force);
}

void run_sweep(const BenchOptions& options, const Invocation& invocation) {
  require_one_gpu(options.kernel, "--sweep");
  const Sizes sizes = options.sizes.sizes();
  // Most of these kernels are not used again, so they are not cached.
  KernelChoice trial = options.kernel;
  trial.cache_folder = "";
  ParticleSum sum(options.file, trial, parse_params(options.params), invocation.device);
  sweep(sum, sizes, options.kernel, options.repeat, options.json);
}

void run_bench(BenchOptions options) {
  const Sizes sizes = options.sizes.sizes();
  const std::vector<ParamValue> params = parse_params(options.params);
  if (!options.plot.empty()) check_can_plot(options.plot, options.force);

  // Times the first compilation of this process without a cache. The second compilation fills the cache if needed; then
  // loading from the cache is timed.
  KernelChoice without_cache = options.kernel;
  without_cache.cache_folder = "";
  const double cold = timed([&] { ParticleSum(options.file, without_cache); });
  ParticleSum sum(options.file, options.kernel, params);
  const double cached = timed([&] { ParticleSum(options.file, options.kernel); });
  const Pipeline pipeline = parse(read_source(options.file));
  list_pairs_if_needed(options.pairs, std::ranges::any_of(pipeline.fields, &Field::is_of_pair));

  Json report = Json::array();
  std::vector<Row> rows;
  std::set<std::string> shown;  // warnings
  if (!options.json) write_standard_output(heading(sum, pipeline, options, cold, cached));
  for (const auto& [ni, nj] : sizes) {
    const Row row = bench_one(sum, ni, nj, options);
    if (!options.json) write_standard_output(line_of(row, pipeline));
    if (!options.json && (sum.has_neighbours() || options.kernel.tolerance > 0))
      write_standard_output(text_of(row.searched));
    report.push_back(json_of(row, sum, pipeline, options, cold, cached));
    rows.push_back(row);
    for (const std::string& warning : sum.warnings())
      if (shown.insert(warning).second) fmt::print(stderr, "nbcc: warning: {}\n", warning);
  }
  if (options.json) write_json(report);
  if (!options.plot.empty()) {
    plot(options.plot, fmt::format("{} on {}, {}", sum.pipeline_name(), sum.device_name(), describe(options.kernel)),
         rows, options.force);
  }
}

}  // namespace

void add_bench(CLI::App& app, Invocation& invocation) {
  const auto options = std::make_shared<BenchOptions>();
  CLI::App& command = *app.add_subcommand("bench", "Measure how fast a pipeline runs");
  command.add_option("FILE", options->file, "A pipeline, or its name in `nbcc list`")->required()->type_name("");
  declare_sizes(command, options->sizes);
  declare_params(command, options->params);
  declare_kernel_options(command, options->kernel, "single");
  CLI::Option* const tolerance = declare_tolerance(command, options->kernel);
  declare_random_pairs(command, options->pairs);
  command.add_option("--repeat", options->repeat, "Number of samples; the median is shown")
      ->check(CLI::Range(5, 10000).description(""))
      ->capture_default_str();
  CLI::Option* const resident = command.add_flag("--resident", options->resident,
                                                 "Keep the j-particles packed between runs, as when only i change");
  CLI::Option* const host_arrays =
      command.add_flag("--host-arrays", options->host_arrays,
                       "On a GPU: arrays of the host, copied in every run (default: arrays on the device)");
  command.add_flag("--json", options->json, "A list of objects on standard output, one for each number of particles");
  CLI::Option* const plotted =
      command.add_option("--plot", options->plot, "Draw interactions/s over N into an SVG file, which browsers show")
          ->type_name("FILE");
  command.add_flag("--force", options->force, "Overwrite an existing plot");
  command
      .add_flag(
          "--sweep", options->sweep,
          "On a GPU: tables of interactions/s against N for each block size, unrolling and number of threads that "
          "share i-particles")
      ->excludes(resident)
      ->excludes(host_arrays)
      ->excludes(tolerance)
      ->excludes(plotted);
  command.footer(
      "The particles are random, from the field list; the precision is single unless --precision or NBCC_PRECISION\n"
      "says otherwise. Times are of complete runs, packing included. On a GPU arrays are on the device, in the "
      "working\n"
      "precision, and many runs are timed together with one wait.\n"
      "\nExamples:\n"
      "  nbcc bench pipelines/gravity.pipe\n"
      "  nbcc bench pipelines/gravity.pipe --n 1024,16384 --threads 1 --precision double --json\n"
      "  nbcc bench pipelines/gravity.pipe --n 1024..16384 --plot gravity.svg\n"
      "  nbcc bench pipelines/gravity.pipe --device cuda --sweep --n 1024..262144");
  command.callback([=, &invocation] {
    options->kernel.precision_origin = options->kernel.precision_is_chosen ? "" : "the default of bench";
    take_precision_of_environment(options->kernel);
    options->sweep ? run_sweep(*options, invocation) : run_bench(*options);
  });
}

}  // namespace nbcc
