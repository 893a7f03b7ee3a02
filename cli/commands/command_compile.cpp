// nbcc compile: compiles pipelines to a library, and writes headers and language bindings into the same folder.
// jit/build_library.cpp and the bindings make the contents; no file is written before all contents are made.
#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <optional>
#include <regex>
#include <string_view>
#include <utility>

#include "bindings/cpp/cpp_binding.h"
#include "bindings/cunbody/cunbody_binding.h"
#include "bindings/fdps/fdps_binding.h"
#include "bindings/fortran/fortran_binding.h"
#include "cli/commands/commands.h"
#include "cli/options/kernel_options.h"
#include "jit/build_library.h"
#include "particles/files/read_input.h"
#include "particles/files/replace_file.h"
#include "runtime/cpu/cpu_device.h"
#include "runtime/error.h"
#include "runtime/image/stored_rows.h"

namespace nbcc {
namespace {

struct CompileOptions {
  std::vector<std::string> files;
  std::string output;
  bool force = false;
  KernelChoice kernel;
  std::vector<std::string> isas;
  std::vector<std::string> architectures, with;
  bool is_static = false, fortran = false;
  std::string api;
  std::vector<std::string> class_map;
  std::string cxx_namespace;
  std::vector<std::string> rpath{"$ORIGIN"};
};

// "" for a C++ namespace such as "a::b", else the problem.
std::string problem_of_namespace(const std::string& name) {
  static const std::regex names(R"([A-Za-z_]\w*(::[A-Za-z_]\w*)*)");
  return std::regex_match(name, names) ? "" : fmt::format("'{}' is no C++ namespace", name);
}

std::vector<Isa> isas_of(const CompileOptions& options) {
  std::vector<Isa> isas;
  for (const std::string& name : options.isas) isas.push_back(isa_from_name(name));
  for (const IsaFacts& isa : kIsas)
    if (options.isas.empty() && isa.triple == kHostTriple) isas.push_back(isa.isa);
  // Best instruction set first, without duplicates: the library tries them in this order when it is loaded.
  std::ranges::sort(isas, [](Isa a, Isa b) { return int(a) > int(b); });
  isas.erase(std::unique(isas.begin(), isas.end()), isas.end());
  return isas;
}

std::vector<std::string> architectures_of(const CompileOptions& options, const CudaCompiler& compiler) {
  const std::vector<std::string> known = compiler.architectures();
  for (const std::string& name : options.architectures) {
    if (std::ranges::find(known, name) == known.end()) {
      throw UsageError(fmt::format("--arch: {} does not compile for '{}'; it knows {}",
                                   compiler.identity().substr(0, compiler.identity().find(',')), name,
                                   fmt::join(known, ", ")));
    }
  }
  // In the compiler's order, without duplicates.
  std::vector<std::string> chosen;
  for (const std::string& name : known) {
    if (std::ranges::count(options.architectures, name) > 0) chosen.push_back(name);
  }
  return chosen;
}

void check_output(const CompileOptions& options) {
  const std::string ending = options.is_static ? ".a" : ".so";
  const std::filesystem::path path(options.output);
  if (path.extension() != ending || path.stem().empty()) {
    throw UsageError(fmt::format("-o {}: a {} library's file ends in '{}'", options.output,
                                 options.is_static ? "static" : "shared", ending));
  }
}

std::string beside(const std::string& library, const std::string& name) {
  return (std::filesystem::path(library).parent_path() / name).string();
}

std::vector<LanguageBinding> bindings_of(const CompileOptions& options, const std::string& library) {
  std::vector<LanguageBinding> bindings{cpp_binding(library)};
  if (options.fortran) bindings.push_back(fortran_binding(library));
  if (options.api == "cunbody") bindings.push_back(cunbody_binding());
  if (options.api == "fdps") bindings.push_back(fdps_binding(library, class_map_from(options.class_map)));
  return bindings;
}

// Writes several files as one transaction: unless commit() is called, the destructor restores the files of before.
class FileTransaction {
 public:
  FileTransaction() = default;
  FileTransaction(const FileTransaction&) = delete;
  FileTransaction& operator=(const FileTransaction&) = delete;
  ~FileTransaction() {
    for (const auto& [path, before] : written_) {
      try {
        if (before)
          replace_file(path, *before, true);
        else
          std::filesystem::remove(path);
      } catch (const std::exception&) {
        // The first failure is reported.
      }
    }
  }
  void replace(const std::string& path, std::string_view bytes, bool force) {
    std::optional<std::string> before;
    std::error_code unknown;  // errors (such as a symbolic link to itself) are reported by replace_file
    if (std::filesystem::is_regular_file(path, unknown)) before = read_input(path, "a file of a library");
    replace_file(path, bytes, force);
    written_.emplace_back(path, std::move(before));
  }
  void commit() { written_.clear(); }

 private:
  std::vector<std::pair<std::string, std::optional<std::string>>> written_;  // path, and its content of before
};

void run_compile(const CompileOptions& options) {
  check_output(options);
  if ((options.api == "fdps") == options.class_map.empty()) {
    throw UsageError(options.class_map.empty() ? "--api fdps needs --class-map, as xi=pos,xj=pos,mj=mass"
                                               : "--class-map goes with --api fdps");
  }
  LibraryRequest request;
  request.file_name = std::filesystem::path(options.output).filename().string();
  const std::string name = library_name(request.file_name);
  request.bindings = bindings_of(options, name);
  check_replaceable(beside(options.output, name + ".h"), options.force);
  for (const LanguageBinding& binding : request.bindings) {
    check_replaceable(beside(options.output, binding.file), options.force);
  }
  check_replaceable(options.output, options.force);

  for (const std::string& file : options.files) request.sources.push_back(read_source(file));
  request.options = options.kernel.options;
  request.is_static = options.is_static;
  request.isas = isas_of(options);
  request.cxx_namespace = options.cxx_namespace;
  request.rpath = options.rpath;
  request.with = options.with;
  if (!options.architectures.empty()) {
    request.cuda_compiler = make_nvrtc();
    request.architectures = architectures_of(options, *request.cuda_compiler);
  }
  const LibraryFiles made = build_library(request);
  // All contents are made; only writing can fail now. The library is written last, so that its existence means that all
  // files exist.
  FileTransaction files;
  for (const auto& [file, text] : made.texts) files.replace(beside(options.output, file), text, options.force);
  files.replace(options.output, made.library, options.force);
  files.commit();
}

}  // namespace

void add_compile(CLI::App& app, Invocation&) {
  const auto options = std::make_shared<CompileOptions>();
  CLI::App& command = *app.add_subcommand("compile", "Make a library of pipelines, for C, C++ and Fortran");
  command.add_option("FILE", options->files, "Pipelines; each becomes a function with the name of its file")
      ->required()
      ->type_name("");
  command
      .add_option("-o,--output", options->output,
                  "The library: libNAME.so, or libNAME.a with --static; NAME.h and NAME.hpp are written beside it")
      ->required();
  command.add_flag("--force", options->force, "Overwrite existing files");
  declare_arithmetic(command, options->kernel);
  std::vector<std::string> names, defaults;
  for (const IsaFacts& isa : kIsas) {
    names.emplace_back(isa.name);
    if (isa.triple == kHostTriple) defaults.insert(defaults.begin(), names.back());
  }
  command
      .add_option("--isa", options->isas,
                  fmt::format("Instruction sets, separated by commas; the library uses the best one of the machine "
                              "(default: {})",
                              fmt::join(defaults, ",")))
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::IsMember(names));
  command
      .add_option(
          "--arch", options->architectures,
          "GPU architectures to compile for, as sm_80,sm_90; needs NVRTC. Without --arch the library contains the "
          "kernel's source for GPUs, and needs NVRTC where it is used")
      ->delimiter(',')
      ->allow_extra_args(false);
  std::vector<std::string> rows;
  std::string what_for;
  for (const StorableRow& row : kStorableRows) {
    if (std::ranges::find(rows, row.choice) != rows.end()) continue;
    rows.emplace_back(row.choice);
    what_for += fmt::format("{}{}: {}", what_for.empty() ? "" : "; ", row.choice, row.for_what);
  }
  command
      .add_option("--with", options->with,
                  "More kernels of each pipeline, separated by commas, for the handles of the C interface and "
                  "NBCC_TOLERANCE. " +
                      what_for)
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::IsMember(rows));
  command.add_flag("--static", options->is_static, "Make an archive instead of a shared library");
  command.add_flag("--fortran", options->fortran, "NAME.f90 as well, a module");
  command
      .add_option("--api", options->api,
                  "Functions of another program's interface as well. cunbody: cunbody_api() of CUNBODY-1, and "
                  "cunbody_api.h, for one pipeline in its dialect. fdps: NAME_fdps.hpp, functors for FDPS")
      ->check(CLI::IsMember({"cunbody", "fdps"}));
  command
      .add_option(
          "--class-map", options->class_map,
          "With --api fdps: the member of the program's classes that holds each field, as xi=pos,xj=pos,mj=mass; "
          "mj=m:mass is the first of both that a class has")
      ->delimiter(',')
      ->allow_extra_args(false);
  command.add_option("--cxx-namespace", options->cxx_namespace, "The namespace of NAME.hpp (default: NAME)")
      ->check(CLI::Validator(problem_of_namespace, ""));
  command
      .add_option(
          "--rpath", options->rpath,
          "Folders where the loader looks for libnbcc_runtime first, separated by colons; $ORIGIN is the library's "
          "folder")
      ->delimiter(':')
      ->allow_extra_args(false)
      ->capture_default_str();
  command.footer(
      "Examples:\n"
      "  nbcc compile pipelines/gravity.pipe pipelines/lennard_jones.pipe -o libforces.so --fortran\n"
      "  nbcc compile pipelines/gravity.pipe -o libgravity.so --arch sm_80,sm_90 --precision double\n"
      "  nbcc compile pipelines/gravity.pipe -o libgravity.so --with tolerance,symmetric\n"
      "  nbcc compile pipelines/gravity.pipe -o libgravity.a --static --isa avx2,sse2\n"
      "  nbcc compile pipelines/cunbody_gravity.pipe -o libnbody.so --api cunbody\n"
      "  nbcc compile pipelines/gravity.pipe -o libforces.so --api fdps "
      "--class-map xi=pos,xj=pos,mj=mass,acc=acc,pot=pot");
  command.callback([=] { run_compile(*options); });
}

}  // namespace nbcc
