// nbcc tune: finds the fastest launch configurations of a pipeline's sums on a GPU, prints them and stores them on
// disk. tune_search.cpp chooses the configurations to measure; the runtime uses the stored ones.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include "cli/commands/commands.h"
#include "cli/options/kernel_options.h"
#include "cli/report/progress_bar.h"
#include "cli/report/provenance.h"
#include "cli/report/standard_output.h"
#include "cli/sum/measure_sum.h"
#include "cli/sum/tune_search.h"
#include "runtime/cache/disk_cache.h"
#include "runtime/cuda/program/cuda_device.h"
#include "runtime/error.h"

namespace nbcc {
namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

struct TuneOptions {
  TuneOptions() { kernel.device = "cuda"; }
  std::string file;
  SizeWords sizes{"1024..262144", ""};
  std::vector<std::string> params;
  KernelChoice kernel;
  double budget = 120;  // seconds
  bool dry_run = false;
  bool force = false;
  bool json = false;
};

// A configuration is kept only if it is faster than the model's by this factor; a smaller gain may be noise.
constexpr double kMinGain = 1.02;
// Samples of a configuration while searching, and rounds of the comparison at the end.
constexpr int kSamples = 3, kRounds = 5;

struct TuneRow {
  std::int64_t ni = 0, nj = 0;
  LaunchConfig model{}, best{};
  double model_rate = 0, best_rate = 0;  // interactions/s
  int measured = 0;                      // number of configurations; 0: the result of an earlier tuning
  bool out_of_time = false;
  const char* outcome = "";

  double gain() const { return model_rate > 0 ? best_rate / model_rate : 1; }
};

class Tuner {
 public:
  Tuner(const TuneOptions& options, ParticleSum& sum, const std::string& cache_folder)
      : options_(options),
        sum_(sum),
        tunings_(cache_folder),
        subject_(sum.cuda_kernel().tuning_subject()),
        known_(tunings_.read(subject_)) {}

  // `share`: the fraction of the remaining budget that this size may take.
  TuneRow tune(std::int64_t ni, std::int64_t nj, double share);

 private:
  TuneResult search(const TuneRow& row, double seconds);
  int local_bytes(const TuneRow& row, const LaunchConfig& config) const;
  void compare(TuneRow& row);
  void keep(TuneRow& row);
  double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

  const TuneOptions& options_;
  ParticleSum& sum_;
  CudaTunings tunings_;
  CudaTuningSubject subject_;
  CudaTuningTable known_;
  std::optional<LaunchConfig> last_best_;  // the best configuration of the previous size
  Clock::time_point start_ = Clock::now();
};

TuneRow Tuner::tune(std::int64_t ni, std::int64_t nj, double share) {
  TuneRow row{.ni = ni, .nj = nj, .model = sum_.cuda_kernel().model_choice(ni, nj)};
  const CudaTuned* const before = known_.measured(size_class(ni, nj));
  if (before && !options_.force) {
    row.best = before->config;
    row.best_rate = before->rate;
    row.model_rate = before->model_rate;
    row.outcome = "known";
    return row;
  }
  const double seconds_here = (options_.budget - seconds()) * share;
  const RandomBinding particles(sum_, ni, nj, options_.kernel, ParticleSum::Arrays::OfDevice);
  const TuneResult found = search(row, seconds_here);
  row.measured = found.measured;
  row.out_of_time = found.out_of_time;
  row.best = found.best;
  compare(row);
  keep(row);
  return row;
}

TuneResult Tuner::search(const TuneRow& row, double seconds_here) {
  const double begin = seconds();
  ProgressBar progress;
  TuneSearch search;
  search.nj = row.nj;
  search.max_terms_per_slice = sum_.cuda_kernel().source.tile;
  search.spent = [&] {
    const double share = (seconds() - begin) / std::max(seconds_here, 1e-3);
    progress.show(std::min(1.0, share));
    return share;
  };
  const int max_local_bytes = local_bytes(row, row.model);
  search.rate = [&](const LaunchConfig& config) -> std::optional<double> {
    // Configurations that spill more registers than the model's are never fast.
    const int local = local_bytes(row, config);
    if (local < 0 || local > max_local_bytes) return {};
    const std::optional<Times> times = measure_in(sum_, config, kSamples);
    return times ? std::optional(double(row.ni) * double(row.nj) / times->fastest) : std::nullopt;
  };
  search.starts = {row.model.compiled()};
  // The best configuration of one size is seldom bad for the next size, and its kernel is already compiled.
  if (last_best_) search.starts.push_back(*last_best_);
  const TuneResult found = search_tuning(search);
  if (found.rate > 0) last_best_ = found.best.compiled();
  return found;
}

// Bytes of local memory per thread; -1: no such kernel is possible.
int Tuner::local_bytes(const TuneRow& row, const LaunchConfig& config) const {
  try {
    return sum_.cuda_kernel().launch_for(row.ni, row.nj, false, true, config).program->local_bytes();
  } catch (const UsageError&) {
    return -1;
  } catch (const DeviceError&) {
    return -1;
  }
}

// Both in turn, so that a GPU that gets warmer or slower does so for both.
void Tuner::compare(TuneRow& row) {
  std::vector<double> model, best;
  const auto sample = [&](const LaunchConfig& config, std::vector<double>& rates) {
    sum_.set_launch(config);
    rates.push_back(double(row.ni) * double(row.nj) / measure(sum_, 1).median);
  };
  for (int round = 0; round < kRounds; ++round) {
    sample({}, model);
    sample(row.best, best);
  }
  std::ranges::sort(model);
  std::ranges::sort(best);
  row.model_rate = model[kRounds / 2];
  row.best_rate = best[kRounds / 2];
}

// If the model's choice is the best, zeros are stored, so that this size does not use the tuning of a neighbouring
// size.
void Tuner::keep(TuneRow& row) {
  if (row.gain() < kMinGain) {
    row.best = {};
    row.best_rate = row.model_rate;
  }
  row.outcome = row.out_of_time ? "out of time" : "";
  // An unfinished search without a gain does not show that there is no better configuration, so nothing is stored.
  const bool unknown = row.out_of_time && row.best == LaunchConfig{};
  if (options_.dry_run || unknown) return;
  const bool kept = tunings_.store(subject_, size_class(row.ni, row.nj), {row.best, row.best_rate, row.model_rate});
  row.outcome = kept ? (row.out_of_time ? "kept, out of time" : "kept") : "cannot be kept";
}

// "128/4/128/16/1/8"; all zeros mean the model's configuration.
std::string spell(const LaunchConfig& config) {
  if (config == LaunchConfig{}) return "the same";
  std::string text;
  for (const LaunchNumber& number : kLaunchNumbers) {
    const int value = config.*number.member;
    text += (text.empty() ? "" : "/") + (value == 0 ? "-" : std::to_string(value));
  }
  return text;
}

std::string heading(const ParticleSum& sum, const TuneOptions& options) {
  return fmt::format(
             "{} on {}, {}; G interactions/s\n"
             "A launch configuration is threads / i per thread / j tile / unroll / j-slices / j-splits (-: the "
             "model's).\n",
             sum.pipeline_name(), sum.device_name(), describe(options.kernel.options)) +
         fmt::format("{:>9} {:>9}  {:<22} {:>8}  {:<22} {:>8} {:>7} {:>8}\n", "ni", "nj", "the model's", "G/s",
                     "the best", "G/s", "gain", "measured");
}

std::string line_of(const TuneRow& row) {
  return fmt::format("{:>9} {:>9}  {:<22} {:>8.4g}  {:<22} {:>8.4g} {:>6.1f}% {:>8}  {}\n", row.ni, row.nj,
                     spell(row.model), row.model_rate * 1e-9, spell(row.best), row.best_rate * 1e-9,
                     100 * (row.gain() - 1), row.measured, row.outcome);
}

Json json_of(const LaunchConfig& config) {
  Json numbers;
  for (const LaunchNumber& number : kLaunchNumbers) numbers[number.name] = config.*number.member;
  return numbers;
}

Json json_of(const TuneRow& row, const ParticleSum& sum, const TuneOptions& options) {
  Json object = {{"pipeline", sum.pipeline_name()},
                 {"device", sum.device_name()},
                 {"precision", name(options.kernel.options.precision)},
                 {"math", name(options.kernel.options.math)},
                 {"ni", row.ni},
                 {"nj", row.nj},
                 {"model", json_of(row.model)},
                 {"model_interactions_per_s", row.model_rate},
                 {"best", row.best == LaunchConfig{} ? Json() : json_of(row.best)},
                 {"best_interactions_per_s", row.best_rate},
                 {"gain", row.gain()},
                 {"measured", row.measured},
                 {"out_of_time", row.out_of_time},
                 {"outcome", row.outcome}};
  add_provenance(object, sum);
  return object;
}

void run_tune(const TuneOptions& options, const Invocation& invocation) {
  require_one_gpu(options.kernel, "tune");
  const Sizes sizes = options.sizes.sizes();
  // Only one of the tried kernels is used later, so the trials do not write to the cache.
  KernelChoice trial = options.kernel;
  trial.cache_folder = "";
  ParticleSum sum(options.file, trial, parse_params(options.params), invocation.device);
  Tuner tuner(options, sum, DiskCache::default_folder());
  Json report = Json::array();
  if (!options.json) write_standard_output(heading(sum, options));
  for (std::size_t k = 0; k < sizes.size(); ++k) {
    // The first sizes have most of the kernels to compile, so a size may take nearly twice an equal share of the time.
    const double share = 2 / double(sizes.size() - k + 1);
    const TuneRow row = tuner.tune(sizes[k].first, sizes[k].second, share);
    if (!options.json) write_standard_output(line_of(row));
    report.push_back(json_of(row, sum, options));
  }
  if (options.json) write_json(report);
}

}  // namespace

void add_tune(CLI::App& app, Invocation& invocation) {
  const auto options = std::make_shared<TuneOptions>();
  CLI::App& command = *app.add_subcommand("tune", "Find the fastest kernels for a GPU, and keep them for later runs");
  command.add_option("FILE", options->file, "A pipeline, or its name in `nbcc list`")->required()->type_name("");
  declare_sizes(command, options->sizes);
  declare_params(command, options->params);
  declare_gpu_options(command, options->kernel);
  command.add_option("--budget", options->budget, "Approximate limit of the total time, in seconds")
      ->check(CLI::Range(1.0, 1e6).description(""))
      ->type_name("SECONDS")
      ->capture_default_str();
  command.add_flag("--dry-run", options->dry_run, "Measure and show, but keep nothing");
  command.add_flag("--force", options->force, "Measure sizes again that have been measured before");
  command.add_flag("--json", options->json, "A list of objects on standard output, one for each number of particles");
  command.footer(
      "For each size the cut that nbcc's model chooses is compared with others. Sums of that size (2^k to 2^(k+1) - 1\n"
      "particles), of the same pipeline, precision and math on a GPU of the same kind then take the best one. They "
      "add\n"
      "in another order: results differ in the last bits. NBCC_TUNINGS=0 in the environment disables tunings.\n"
      "\nExamples:\n"
      "  nbcc tune pipelines/gravity.pipe --n 2048,16384\n"
      "  nbcc tune pipelines/gravity.pipe --device cuda:1 --precision double --budget 600\n"
      "  nbcc tune pipelines/gravity.pipe --n 4096 --dry-run --json");
  command.callback([=, &invocation] { run_tune(*options, invocation); });
}

}  // namespace nbcc
