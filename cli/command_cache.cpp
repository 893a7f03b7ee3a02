// The cache folder -> a listing, or an empty folder. Doors: declare_cache(), run_cache().
#include "cli/command_cache.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <CLI/Validators.hpp>
#include <nlohmann/json.hpp>

#include "cli/exit_code.h"
#include "cli/standard_output.h"
#include "runtime/disk_cache.h"

namespace nbcc {

void declare_cache(CLI::App& app, CacheOptions& options) {
  app.add_option("ACTION", options.action, "list: newest first; clear: remove all")
      ->required()
      ->check(CLI::IsMember({"list", "clear"}));
  app.add_flag("--json", options.json, "list: an object on standard output");
  app.footer(
      "The folder is $NBCC_CACHE_DIR, else $XDG_CACHE_HOME/nbcc, else ~/.cache/nbcc.\n"
      "\nExamples:\n"
      "  nbcc cache list\n"
      "  nbcc cache clear");
}

int run_cache(const CacheOptions& options) {
  const DiskCache cache(DiskCache::default_folder());
  if (options.action == "clear") {
    const int removed = cache.clear();
    fmt::print(stderr, "removed {} kernel{} from {}\n", removed, removed == 1 ? "" : "s", cache.folder());
    return kDone;
  }
  nlohmann::ordered_json entries = nlohmann::ordered_json::array();
  std::string text;
  for (const DiskCache::Entry& entry : cache.list()) {
    const std::string when = fmt::format("{:%Y-%m-%d %H:%M:%S}", fmt::localtime(entry.modified));
    entries.push_back(
        {{"name", entry.name}, {"kernel", entry.first_line}, {"bytes", entry.bytes}, {"modified", entry.modified}});
    text += fmt::format("{}  {:>9}  {}\n", when, entry.bytes, entry.first_line);
  }
  if (options.json) {
    const nlohmann::ordered_json report = {{"folder", cache.folder()}, {"entries", entries}};
    text = report.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
  }
  write_standard_output(text);
  return kDone;
}

}  // namespace nbcc
