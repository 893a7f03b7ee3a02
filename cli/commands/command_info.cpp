// nbcc info: describes the machine and the installation, as text or JSON. Changes nothing.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <vector>

#include "cli/commands/commands.h"
#include "cli/machine/find_gpus.h"
#include "cli/machine/programs.h"
#include "cli/report/standard_output.h"
#include "jit/cpu_jit.h"
#include "runtime/api/nbcc.h"
#include "runtime/cache/disk_cache.h"
#include "runtime/cpu/cpu_device.h"
#include "runtime/cuda/driver/cuda_compiler.h"
#include "runtime/error.h"
#include "runtime/thread_pool.h"

namespace nbcc {
namespace {

// The folder of the CUDA toolkit, or "".
std::string cuda_toolkit() {
  for (const std::string& folder : cuda_folders())
    if (access((folder + "/bin/nvcc").c_str(), X_OK) == 0) return folder;
  const std::string compiler = find_program("nvcc");
  return compiler.empty() ? "" : std::filesystem::path(compiler).parent_path().parent_path().string();
}

using Json = nlohmann::ordered_json;

// JSON null for "".
Json text_or_null(const std::string& text) { return text.empty() ? Json() : Json(text); }

std::string cuda_version(int version) { return version == 0 ? "" : cuda_version_text(version); }

std::vector<std::string> devices_with(const Gpus& gpus) {
  std::vector<std::string> devices = {"cpu"};
  for (std::size_t k = 0; k < gpus.list.size(); ++k) devices.push_back(fmt::format("cuda:{}", k));
  return devices;
}

struct Report {
  std::string version, toolchain, isa, cache_folder, cuda_toolkit;
  int cores = 0;
  std::int64_t cache_entries = 0, cache_bytes = 0;
  Gpus gpus;
  Nvrtc nvrtc;
};

Report make_report() {
  Report report;
  report.version = nbcc_version();
  // Without the options for each target, which follow the first ';'.
  report.toolchain = make_cpu_toolchain()->identity();
  report.toolchain.resize(std::min(report.toolchain.size(), report.toolchain.find(';')));
  report.isa = name(detect_isa());
  report.cores = available_cores();
  const DiskCache cache(DiskCache::default_folder());
  report.cache_folder = cache.folder();
  for (const DiskCache::Entry& entry : cache.list()) ++report.cache_entries, report.cache_bytes += entry.bytes;
  report.cuda_toolkit = cuda_toolkit();
  report.gpus = find_gpus();
  report.nvrtc = find_nvrtc();
  return report;
}

Json json_of(const Report& report) {
  Json gpus = Json::array();
  for (const Gpu& gpu : report.gpus.list) {
    gpus.push_back({{"name", gpu.name},
                    {"compute_capability", fmt::format("{}.{}", gpu.major, gpu.minor)},
                    {"architecture", gpu.architecture()},
                    {"memory_bytes", gpu.bytes}});
  }
  const Json cuda = {
      {"driver", text_or_null(cuda_version(report.gpus.driver_version))},
      {"gpus", gpus},
      {"gpus_problem", text_or_null(report.gpus.problem)},
      {"nvrtc", text_or_null(cuda_version(report.nvrtc.version))},
      {"architectures", report.nvrtc.architectures},
      {"nvrtc_problem", text_or_null(report.nvrtc.problem)},
  };
  return {
      {"version", report.version},
      {"toolchain", report.toolchain},
      {"isa", report.isa},
      {"cores", report.cores},
      {"devices", devices_with(report.gpus)},
      {"cache", {{"folder", report.cache_folder}, {"entries", report.cache_entries}, {"bytes", report.cache_bytes}}},
      {"cuda_toolkit", text_or_null(report.cuda_toolkit)},
      {"cuda", cuda}};
}

// The first sentence of a problem; `nbcc doctor` also shows the rest, such as the searched paths.
std::string first_sentence(const std::string& problem) {
  const std::string line = problem.substr(0, problem.find('\n'));
  const std::size_t end = line.find(". ");
  std::string sentence = end == std::string::npos ? line : line.substr(0, end);
  if (sentence.ends_with(':')) sentence.pop_back();
  return sentence;
}

// Indents all lines after the first.
std::string indented(const std::string& text) {
  std::string result;
  for (const char c : text) result += c == '\n' ? std::string("\n              ") : std::string(1, c);
  return result;
}

std::string text_of(const Report& report) {
  std::string gpus;
  for (const Gpu& gpu : report.gpus.list) {
    gpus += fmt::format("{}{}, compute capability {}.{}, {:.1f} GB", gpus.empty() ? "" : "\n", gpu.name, gpu.major,
                        gpu.minor, double(gpu.bytes) * 1e-9);
  }
  if (!report.gpus.list.empty()) {
    gpus += fmt::format("\nthe driver is for CUDA {}", cuda_version(report.gpus.driver_version));
  }
  const std::string nvrtc =
      fmt::format("{}, for {}", cuda_version(report.nvrtc.version), fmt::join(report.nvrtc.architectures, " "));
  return fmt::format(
      "nbcc          {}\n"
      "toolchain     {}\n"
      "devices       {}\n"
      "CPU           {}, {} core{} for this process\n"
      "cache         {}, {} kernel{}, {:.1f} MB\n"
      "GPUs          {}\n"
      "NVRTC         {}\n"
      "CUDA toolkit  {}\n",
      report.version, report.toolchain, fmt::join(devices_with(report.gpus), ", "), report.isa, report.cores,
      report.cores == 1 ? "" : "s", report.cache_folder.empty() ? "none" : report.cache_folder, report.cache_entries,
      report.cache_entries == 1 ? "" : "s", double(report.cache_bytes) * 1e-6,
      indented(gpus.empty() ? "none: " + first_sentence(report.gpus.problem) : gpus),
      indented(report.nvrtc.problem.empty() ? nvrtc : "none: " + first_sentence(report.nvrtc.problem)),
      report.cuda_toolkit.empty() ? "not found" : report.cuda_toolkit);
}

}  // namespace

void add_info(CLI::App& app, Invocation&) {
  const auto as_json = std::make_shared<bool>();
  CLI::App& command = *app.add_subcommand("info", "Show what this nbcc is and what it finds on this machine");
  command.add_flag("--json", *as_json, "An object on standard output");
  command.footer(
      "`nbcc doctor` shows what is missing and how to mend it.\n"
      "\nExamples:\n"
      "  nbcc info\n"
      "  nbcc info --json");
  command.callback([=] {
    const Report report = make_report();
    *as_json ? write_json(json_of(report)) : write_standard_output(text_of(report));
  });
}

}  // namespace nbcc
