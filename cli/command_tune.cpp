// nbcc tune: a pipeline -> the fastest cuts of its sums on a GPU, in a table and on disk. Which cuts are tried is
// tune_search.cpp's; what is done with those that are kept, the runtime's.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/kernel_options.h"
#include "cli/measure_sum.h"
#include "cli/progress_bar.h"
#include "cli/standard_output.h"
#include "cli/tune_search.h"
#include "runtime/cache/disk_cache.h"
#include "runtime/cuda/cuda_device.h"
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

// A cut must be so much faster than the model's to be kept: less is noise.
constexpr double kGain = 1.02;
// Samples of a cut while searching, and rounds of the comparison at the end.
constexpr int kSamples = 3, kRounds = 5;
constexpr std::int64_t kSharedBytes = 48 << 10;  // that a kernel may have without asking for more

struct TuneRow {
  std::int64_t ni = 0, nj = 0;
  CudaTuning model, best;
  double model_rate = 0, best_rate = 0;  // interactions/s
  int measured = 0;                      // cuts; 0: the row is of an earlier time
  bool out_of_time = false;
  const char* outcome = "";

  double gain() const { return model_rate > 0 ? best_rate / model_rate : 1; }
};

// What a kernel's text itself says of its shape.
int stated_in(const std::string& text, const std::string& macro) {
  const std::string line = "#define " + macro + " ";
  const std::size_t at = text.find(line);
  int number = 0;
  if (at != std::string::npos) std::from_chars(text.data() + at + line.size(), text.data() + text.size(), number);
  return std::max(number, 1);
}

class Tuner {
 public:
  Tuner(const TuneOptions& options, ParticleSum& sum, const std::string& cache_folder)
      : options_(options),
        sum_(sum),
        tunings_(cache_folder),
        subject_(sum.cuda_kernel().tuning_subject()),
        known_(tunings_.read(subject_)) {}

  // `share` is the part of what is left of the budget that this size may take.
  TuneRow tune(std::int64_t ni, std::int64_t nj, double share);

 private:
  CudaTuning model_choice(std::int64_t ni, std::int64_t nj) const;  // complete
  TuneRow recall(std::int64_t ni, std::int64_t nj, const CudaTuned& tuned) const;
  TuneFound search(const TuneRow& row, double seconds);
  std::optional<double> rate(const TuneRow& row, const CudaTuning& cut);
  int local_bytes() const;
  void compare(TuneRow& row);
  void keep(TuneRow& row);
  double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

  const TuneOptions& options_;
  ParticleSum& sum_;
  CudaTunings tunings_;
  CudaTuningSubject subject_;
  CudaTuningTable known_;
  std::optional<CudaShape> last_best_;  // of another size
  int local_bytes_ = 0;                 // of the model's kernel
  Clock::time_point start_ = Clock::now();
};

TuneRow Tuner::tune(std::int64_t ni, std::int64_t nj, double share) {
  const CudaTuned* const before = known_.measured(size_class(ni, nj));
  if (before && !options_.force) return recall(ni, nj, *before);
  const double seconds_here = (options_.budget - seconds()) * share;
  const RandomBinding particles(sum_, ni, nj, options_.kernel, ParticleSum::Arrays::OfDevice);
  TuneRow row;
  row.ni = ni;
  row.nj = nj;
  sum_.cut({});
  row.model = model_choice(ni, nj);
  const TuneFound found = search(row, seconds_here);
  row.measured = found.measured;
  row.out_of_time = found.out_of_time;
  row.best = found.best;
  compare(row);
  keep(row);
  return row;
}

CudaTuning Tuner::model_choice(std::int64_t ni, std::int64_t nj) const {
  CudaTuning choice = sum_.cuda_kernel().model_choice(ni, nj);
  if (choice.shape.unroll == 0) choice.shape.unroll = stated_in(sum_.cuda_kernel().source.text, "NBCC_UNROLL");
  return choice;
}

TuneRow Tuner::recall(std::int64_t ni, std::int64_t nj, const CudaTuned& tuned) const {
  TuneRow row;
  row.ni = ni;
  row.nj = nj;
  row.model = model_choice(ni, nj);
  row.best = tuned.tuning;
  row.best_rate = tuned.rate;
  row.model_rate = tuned.model_rate;
  row.outcome = "known";
  return row;
}

TuneFound Tuner::search(const TuneRow& row, double seconds_here) {
  const double begin = seconds();
  ProgressBar progress;
  TuneSearch search;
  search.nj = row.nj;
  search.most_terms = sum_.cuda_kernel().source.tile;
  search.spent = [&] {
    const double share = (seconds() - begin) / std::max(seconds_here, 1e-3);
    progress.show(std::min(1.0, share));
    return share;
  };
  search.rate = [&](const CudaTuning& cut) { return rate(row, cut); };
  sum_.cut({row.model.shape, 0});
  local_bytes_ = local_bytes();
  search.starts = {{row.model.shape, 0}};
  // The best of a size is seldom bad for the next one, and its kernel is there already.
  if (last_best_) search.starts.push_back({*last_best_, 0});
  const TuneFound found = search_tuning(search);
  if (found.rate > 0) last_best_ = found.best.shape;
  return found;
}

std::optional<double> Tuner::rate(const TuneRow& row, const CudaTuning& cut) {
  // What a block has found passes through shared memory, a double for each output and i at least; where that cannot be,
  // the compiler is not asked.
  const auto outputs = std::int64_t(sum_.cuda_kernel().source.reductions.size());
  if (8 * outputs * cut.shape.threads * cut.shape.i_per_thread > kSharedBytes) return {};
  const std::optional<Times> times = measure_cut(sum_, cut, kSamples, [&] {
    // Registers that do not suffice are never fast.
    return local_bytes() <= local_bytes_;
  });
  if (!times) return {};
  return double(row.ni) * double(row.nj) / times->fastest;
}

// Of each thread of the kernel as it is cut now: arrays, and registers that did not suffice.
int Tuner::local_bytes() const {
  const CudaKernel& kernel = sum_.cuda_kernel();
  const CudaGpu& gpu = kernel.gpu();
  const CudaCurrent current(gpu);
  int bytes = 0;
  gpu.require(gpu.driver().func_get_attribute(&bytes, kCudaLocalBytes, kernel.program().function()),
              "asking for a kernel's memory");
  return bytes;
}

// Both in turn, so that a GPU that gets warmer or slower does so for both.
void Tuner::compare(TuneRow& row) {
  std::vector<double> model, best;
  const auto sample = [&](const CudaTuning& cut, std::vector<double>& rates) {
    sum_.cut(cut);
    rates.push_back(double(row.ni) * double(row.nj) / measure(sum_, 1).median);
  };
  for (int round = 0; round < kRounds; ++round) {
    sample({}, model);
    sample(row.best, best);
  }
  std::sort(model.begin(), model.end());
  std::sort(best.begin(), best.end());
  row.model_rate = model[kRounds / 2];
  row.best_rate = best[kRounds / 2];
}

// Where the model's choice is the best, that is kept: without a shape, so that no neighbouring size lends one.
void Tuner::keep(TuneRow& row) {
  if (row.gain() < kGain) {
    row.best = {};
    row.best_rate = row.model_rate;
  }
  row.outcome = row.out_of_time ? "out of time" : "";
  // A search that was not finished and found nothing has not shown that there is nothing.
  const bool unknown = row.out_of_time && row.best == CudaTuning{};
  if (options_.dry_run || unknown) return;
  const bool kept = tunings_.store(subject_, size_class(row.ni, row.nj), {row.best, row.best_rate, row.model_rate});
  row.outcome = kept ? (row.out_of_time ? "kept, out of time" : "kept") : "cannot be kept";
}

// "128/4/128/16/1/8"; nothing but zeros is the model's own.
std::string spell(const CudaTuning& cut) {
  if (cut == CudaTuning{}) return "the same";
  const CudaShape& shape = cut.shape;
  return fmt::format("{}/{}/{}/{}/{}/{}", shape.threads, shape.i_per_thread, shape.j_tile, shape.unroll, shape.lanes,
                     cut.parts == 0 ? "-" : std::to_string(cut.parts));
}

std::string heading(const ParticleSum& sum, const TuneOptions& options) {
  return fmt::format(
             "{} on {}, {}; G interactions/s\n"
             "A cut is threads of a block / i per thread / j tile / unroll / lanes / parts of j (-: the model's).\n",
             sum.pipeline_name(), sum.device_name(), describe(options.kernel.options)) +
         fmt::format("{:>9} {:>9}  {:<22} {:>8}  {:<22} {:>8} {:>7} {:>8}\n", "ni", "nj", "the model's cut", "G/s",
                     "the best", "G/s", "gain", "measured");
}

std::string line_of(const TuneRow& row) {
  return fmt::format("{:>9} {:>9}  {:<22} {:>8.4g}  {:<22} {:>8.4g} {:>6.1f}% {:>8}  {}\n", row.ni, row.nj,
                     spell(row.model), row.model_rate * 1e-9, spell(row.best), row.best_rate * 1e-9,
                     100 * (row.gain() - 1), row.measured, row.outcome);
}

Json json_of(const CudaTuning& cut) {
  return {{"threads", cut.shape.threads}, {"i_per_thread", cut.shape.i_per_thread},
          {"j_tile", cut.shape.j_tile},   {"unroll", cut.shape.unroll},
          {"lanes", cut.shape.lanes},     {"parts", cut.parts}};
}

Json json_of(const TuneRow& row, const ParticleSum& sum, const TuneOptions& options) {
  return {{"pipeline", sum.pipeline_name()},
          {"device", sum.device_name()},
          {"precision", name(options.kernel.options.precision)},
          {"math", name(options.kernel.options.math)},
          {"ni", row.ni},
          {"nj", row.nj},
          {"model", json_of(row.model)},
          {"model_interactions_per_s", row.model_rate},
          {"best", row.best == CudaTuning{} ? Json() : json_of(row.best)},
          {"best_interactions_per_s", row.best_rate},
          {"gain", row.gain()},
          {"measured", row.measured},
          {"out_of_time", row.out_of_time},
          {"outcome", row.outcome}};
}

void run_tune(const TuneOptions& options, const Invocation& invocation) {
  if (!is_gpu(options.kernel)) {
    throw UsageError("tune: only sums on a GPU can be cut in different ways; --device takes cuda, cuda:0, cuda:1, ...");
  }
  const Sizes sizes = options.sizes.sizes();
  const std::vector<ParamValue> params = parse_params(options.params);
  // Of the kernels that are tried, one is of use later: the cache is not filled with the others.
  KernelChoice trial = options.kernel;
  trial.cache_folder = "";
  ParticleSum sum(options.file, trial, invocation.device);
  sum.set_params(params);
  Tuner tuner(options, sum, DiskCache::default_folder());
  Json report = Json::array();
  if (!options.json) write_standard_output(heading(sum, options));
  for (std::size_t k = 0; k < sizes.size(); ++k) {
    // The first sizes have most kernels to compile: of two equal shares of time each of them gets nearly both.
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
  command.add_option("FILE", options->file, "A pipeline")->required()->type_name("");
  declare_sizes(command, options->sizes);
  declare_params(command, options->params);
  declare_gpu_options(command, options->kernel);
  command.add_option("--budget", options->budget, "Seconds that all of it may take, more or less")
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
      "in another order: results differ in the last bits. NBCC_TUNINGS=0 in the environment leaves all of it aside.\n"
      "\nExamples:\n"
      "  nbcc tune pipelines/gravity.pipe --n 2048,16384\n"
      "  nbcc tune pipelines/gravity.pipe --device cuda:1 --precision double --budget 600\n"
      "  nbcc tune pipelines/gravity.pipe --n 4096 --dry-run --json");
  command.callback([=, &invocation] { run_tune(*options, invocation); });
}

}  // namespace nbcc
