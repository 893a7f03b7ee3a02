// The machine and the installation -> a few lines, or JSON. Doors: declare_info(), run_info(). Changes nothing.
#include "cli/command_info.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <vector>

#include "cli/exit_code.h"
#include "cli/find_program.h"
#include "cli/standard_output.h"
#include "jit/cpu_jit.h"
#include "runtime/cpu_device.h"
#include "runtime/disk_cache.h"
#include "runtime/nbcc.h"
#include "runtime/thread_pool.h"

namespace nbcc {
namespace {

// The folder of the CUDA toolkit, or "".
std::string cuda_toolkit() {
  std::vector<std::string> places;
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"})
    if (const char* value = std::getenv(variable)) places.emplace_back(value);
  places.emplace_back("/usr/local/cuda");
  for (const std::string& place : places)
    if (access((place + "/bin/nvcc").c_str(), X_OK) == 0) return place;
  const std::string compiler = find_program("nvcc");
  return compiler.empty() ? "" : std::filesystem::path(compiler).parent_path().parent_path().string();
}

}  // namespace

void declare_info(CLI::App& app, InfoOptions& options) {
  app.add_flag("--json", options.json, "An object on standard output");
  app.footer(
      "Examples:\n"
      "  nbcc info\n"
      "  nbcc info --json");
}

int run_info(const InfoOptions& options) {
  const std::string version = fmt::format("{}.{}.{}", NBCC_VERSION_MAJOR, NBCC_VERSION_MINOR, NBCC_VERSION_PATCH);
  const std::string toolchain = make_cpu_toolchain()->identity();
  const std::string isa(name(detect_isa()));
  const int cores = available_cores();
  const DiskCache cache(DiskCache::default_folder());
  std::int64_t entries = 0, bytes = 0;
  for (const DiskCache::Entry& entry : cache.list()) ++entries, bytes += entry.bytes;
  const std::string cuda = cuda_toolkit();
  if (options.json) {
    const nlohmann::ordered_json report = {
        {"version", version},
        {"toolchain", toolchain},
        {"isa", isa},
        {"cores", cores},
        {"devices", {"cpu"}},
        {"cache", {{"folder", cache.folder()}, {"entries", entries}, {"bytes", bytes}}},
        {"cuda_toolkit", cuda.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(cuda)}};
    write_standard_output(report.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
    return kDone;
  }
  write_standard_output(fmt::format(
      "nbcc          {}\n"
      "toolchain     {}\n"
      "devices       cpu\n"
      "CPU           {}, {} core{} for this process\n"
      "cache         {}, {} kernel{}, {:.1f} MB\n"
      "CUDA toolkit  {}\n",
      version, toolchain, isa, cores, cores == 1 ? "" : "s", cache.folder().empty() ? "none" : cache.folder(), entries,
      entries == 1 ? "" : "s", double(bytes) * 1e-6, cuda.empty() ? "not found" : cuda));
  return kDone;
}

}  // namespace nbcc
