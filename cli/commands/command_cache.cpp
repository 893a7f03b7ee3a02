// nbcc cache: lists or removes the compiled kernels and the tunings on disk.
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/commands/commands.h"
#include "cli/report/standard_output.h"
#include "runtime/cache/disk_cache.h"
#include "runtime/cuda/program/cuda_tunings.h"

namespace nbcc {
namespace {

using Json = nlohmann::ordered_json;

struct CacheOptions {
  std::string action;  // "list" or "clear"
  std::string only;    // "kernels", "tunings"; empty: both
  bool json = false;
};

std::string when(std::time_t time) { return fmt::format("{:%Y-%m-%d %H:%M:%S}", fmt::localtime(time)); }

std::string counted(int number, const char* what) {
  return fmt::format("{} {}{}", number, what, number == 1 ? "" : "s");
}

void clear(const CacheOptions& options, const DiskCache& kernels, const CudaTunings& tunings) {
  std::string removed;
  if (options.only != "tunings") removed = counted(kernels.clear(), "kernel");
  if (options.only != "kernels") removed += (removed.empty() ? "" : " and ") + counted(tunings.clear(), "tuning");
  fmt::print(stderr, "removed {} from {}\n", removed, kernels.folder());
}

// "2048..4095": the range of particle numbers of a size class.
std::string numbers_of(int size_class) {
  return fmt::format("{}..{}", std::int64_t(1) << size_class, (std::int64_t(2) << size_class) - 1);
}

std::string text_of(const CudaTunings::Entry& entry) {
  std::string text = fmt::format("{}     tuning  {}, {}\n", when(entry.modified), entry.kernel, entry.gpu);
  for (const auto& [size, tuned] : entry.table.all()) {
    const std::string choice = tuned.config == LaunchConfig{} ? "the model's choice" : describe(tuned.config);
    text += fmt::format("  ni {}, nj {}: {}, {:.4g} G/s, {:+.1f}%\n", numbers_of(size.i), numbers_of(size.j), choice,
                        tuned.rate * 1e-9, 100 * (tuned.gain() - 1));
  }
  return text;
}

Json json_of(const CudaTunings::Entry& entry) {
  Json choices = Json::array();
  for (const auto& [size, tuned] : entry.table.all()) {
    Json choice = {{"ni_from", std::int64_t(1) << size.i}, {"nj_from", std::int64_t(1) << size.j}};
    for (const LaunchNumber& number : kLaunchNumbers) choice[number.name] = tuned.config.*number.member;
    choice["interactions_per_s"] = tuned.rate;
    choice["model_interactions_per_s"] = tuned.model_rate;
    choices.push_back(choice);
  }
  return {{"name", entry.name}, {"pipeline", entry.pipeline}, {"kernel", entry.kernel},
          {"gpu", entry.gpu},   {"modified", entry.modified}, {"choices", choices}};
}

void run_cache(const CacheOptions& options) {
  const DiskCache kernels(DiskCache::default_folder());
  const CudaTunings tunings(DiskCache::default_folder());
  if (options.action == "clear") return clear(options, kernels, tunings);
  Json report = {{"folder", kernels.folder()}};
  std::string text;
  if (options.only != "tunings") {
    report["entries"] = Json::array();
    for (const DiskCache::Entry& entry : kernels.list()) {
      report["entries"].push_back(
          {{"name", entry.name}, {"kernel", entry.first_line}, {"bytes", entry.bytes}, {"modified", entry.modified}});
      text += fmt::format("{}  {:>9}  {}\n", when(entry.modified), entry.bytes, entry.first_line);
    }
  }
  if (options.only != "kernels") {
    report["tunings"] = Json::array();
    for (const CudaTunings::Entry& entry : tunings.list()) {
      report["tunings"].push_back(json_of(entry));
      text += text_of(entry);
    }
  }
  options.json ? write_json(report) : write_standard_output(text);
}

}  // namespace

void add_cache(CLI::App& app, Invocation&) {
  const auto options = std::make_shared<CacheOptions>();
  CLI::App& command = *app.add_subcommand("cache", "List or remove the compiled kernels and the tunings on disk");
  command.add_option("ACTION", options->action, "list: newest first; clear: remove all")
      ->required()
      ->check(CLI::IsMember({"list", "clear"}));
  command.add_option("--only", options->only, "Kernels, or what `nbcc tune` has found (default: both)")
      ->check(CLI::IsMember({"kernels", "tunings"}));
  command.add_flag("--json", options->json, "list: an object on standard output");
  command.footer(
      "The folder is $NBCC_CACHE_DIR, else $XDG_CACHE_HOME/nbcc, else ~/.cache/nbcc; tunings are in its folder "
      "tunings.\n"
      "\nExamples:\n"
      "  nbcc cache list\n"
      "  nbcc cache clear --only kernels");
  command.callback([=] { run_cache(*options); });
}

}  // namespace nbcc
