// The modules and the directions of their dependencies, checked over the #include lines of the sources: who may know
// whom.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "tests/support/folders.h"

namespace nbcc {
namespace {

namespace fs = std::filesystem;

struct SourceFile {
  int lines = 0;
  std::vector<std::string> quoted, angled;
  std::vector<std::string> types;  // that it defines at namespace level, which is not indented: "namespace nbcc { Isa"
};

const std::vector<std::string> kFolders = {"compiler",  "runtime", "jit",   "particles", "cli",      "mpi",
                                           "templates", "tests",   "bench", "bindings",  "examples", "chart"};

// The name of the type whose definition begins with this line; "" if none does.
std::string defined_type(const std::string& line) {
  static const std::regex form(R"((?:struct|enum class|class|enum) (?:alignas\(\w+\) )?(\w+)[^;]*\{.*)");
  std::smatch found;
  return std::regex_match(line, found, form) ? found[1].str() : "";
}

const std::map<std::string, SourceFile>& sources() {
  static const std::map<std::string, SourceFile> all = [] {
    std::map<std::string, SourceFile> result;
    const fs::path root = test::source_folder();
    for (const std::string& folder : kFolders) {
      if (!fs::exists(root / folder)) continue;
      for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
        const std::string path = fs::relative(entry.path(), root), kind = entry.path().extension();
        // Texts of the compiler's, and a project that is not ours.
        if (path.starts_with("tests/golden/") || path.starts_with("tests/library/outside/")) continue;
        if (kind != ".cpp" && kind != ".h" && kind != ".hpp") continue;
        SourceFile& file = result[path];
        std::string scope;
        std::ifstream in(entry.path());
        for (std::string line; std::getline(in, line); ++file.lines) {
          if (line.starts_with("namespace ")) scope = line + " ";
          if (const std::string type = defined_type(line); !type.empty()) file.types.push_back(scope + type);
          if (!line.starts_with("#include ") || line.size() < 11) continue;
          const bool angle = line[9] == '<';
          const std::size_t end = line.find(angle ? '>' : '"', 10);
          (angle ? file.angled : file.quoted).push_back(line.substr(10, end - 10));
        }
      }
    }
    return result;
  }();
  return all;
}

std::string folder_of(const std::string& path) { return path.substr(0, path.rfind('/')); }

// A module is a folder; a file that no module names is of the next folder above. A module may include headers of its
// own, of the modules that it depends on, and of those below them.
const std::map<std::string, std::vector<std::string>> kModules = {
    {"compiler", {}},  // plain data: kernel_source.h, options.h, target.h
    {"templates", {}},
    {"compiler/text", {"compiler", "templates"}},
    {"compiler/ir", {"compiler/text"}},
    {"compiler/ir/text", {"compiler/ir"}},
    {"compiler/passes", {"compiler/ir"}},  // passes.h, which declares fold, cse and other passes of optimize/
    {"compiler/passes/facts", {"compiler/passes"}},
    {"compiler/passes/derive", {"compiler/passes/facts"}},
    {"compiler/passes/optimize", {"compiler/passes/facts"}},
    {"compiler/passes/prove", {"compiler/passes/derive", "compiler/ir/text"}},
    {"compiler/passes/outputs", {"compiler/passes/optimize"}},
    {"compiler/passes/derived", {"compiler/passes/prove", "compiler/passes/outputs"}},
    {"compiler/passes/far", {"compiler/passes/derived"}},
    {"compiler/editing", {"compiler/ir"}},
    {"compiler/source", {"compiler/passes/far", "compiler/passes/optimize", "compiler/editing"}},
    {"compiler/emit", {"compiler/passes/derived", "compiler/passes/optimize"}},
    {"compiler/emit/cpu", {"compiler/emit"}},
    {"compiler/emit/cuda/launch", {"compiler/emit"}},
    {"compiler/emit/cuda/pair", {"compiler/emit/cuda/launch"}},
    {"compiler/emit/cuda/frames", {"compiler/emit/cuda/pair"}},
    {"compiler/emit/cuda", {"compiler/emit/cuda/frames"}},  // emit_cuda.h, which calls frames/
    {"runtime", {"compiler"}},                              // error.h
    {"runtime/sum/request", {"runtime"}},
    {"runtime/sum/plan", {"runtime/sum/request"}},
    {"runtime/sum/run", {"runtime/sum/plan", "templates"}},
    {"runtime/sum/derived", {"runtime/sum/run"}},
    {"runtime/sum/check", {"runtime/sum/run"}},
    {"runtime/cache", {"runtime"}},
    {"runtime/search", {"runtime"}},  // reads the compiler's plain data alone
    {"runtime/pairs", {"runtime", "templates"}},
    {"runtime/far/periodic", {"runtime"}},
    {"runtime/far", {"runtime/sum/run", "runtime/far/periodic"}},
    {"runtime/far/ranks", {"runtime/far"}},
    {"runtime/tolerance", {"runtime/far/ranks"}},
    {"runtime/cpu", {"runtime/sum/run", "runtime/cache", "runtime/search"}},
    {"runtime/cuda/driver", {"runtime/sum/request"}},
    {"runtime/cuda/program", {"runtime/cuda/driver", "runtime/sum/plan", "runtime/cache", "templates"}},
    {"runtime/cuda/launch", {"runtime/cuda/program"}},
    {"runtime/cuda/methods", {"runtime/cuda/launch"}},
    {"runtime/cuda/run", {"runtime/cuda/methods", "runtime/sum/run"}},
    {"runtime/cuda/far", {"runtime/cuda/run", "runtime/far"}},
    {"runtime/cuda/pairs", {"runtime/cuda/run", "runtime/pairs"}},
    {"runtime/cuda/group", {"runtime/cuda/far"}},
    {"runtime/api",
     {"runtime/cpu", "runtime/cuda/group", "runtime/cuda/pairs", "runtime/sum/check", "runtime/tolerance"}},
    {"runtime/image", {"runtime/api", "runtime/sum/derived"}},
    {"particles", {"compiler/text", "runtime"}},
    {"particles/error_bounds", {"compiler/passes/facts"}},
    {"particles/files/hdf5", {"particles"}},
    {"particles/files/numpy", {"particles"}},
    {"particles/files/text", {"particles"}},
    {"particles/files", {"particles/files/hdf5", "particles/files/numpy", "particles/files/text"}},
    {"particles/initial_conditions", {"particles"}},
    {"jit", {"compiler/source", "compiler/passes/far", "compiler/emit/cpu", "compiler/emit/cuda", "runtime/image"}},
    {"bindings", {"jit"}},
    {"bindings/grape", {"runtime/api"}},
    {"mpi", {"runtime/api"}},
    {"bindings/lammps", {"runtime/api"}},
    {"cli/options", {"particles/files", "bindings"}},
    {"cli/sum", {"cli/options", "particles/initial_conditions"}},
    {"cli/report", {"cli/sum"}},
    {"cli/machine", {"cli/sum"}},
    {"cli/lsp", {"cli/report"}},
    {"cli/commands", {"cli/report", "cli/machine", "cli/lsp", "chart", "particles/error_bounds"}},
    {"cli", {"cli/commands"}},  // main.cpp
    {"examples", {"chart", "mpi", "particles/files", "particles/initial_conditions"}},
    {"examples/capacitance/tests", {"examples", "tests"}},
    {"examples/hermite/tests", {"examples", "tests"}},
    {"examples/nbody/tests", {"examples", "tests"}},
    {"examples/water/tests", {"examples", "tests"}},
    {"chart", {}},
    {"bench", {"runtime/api", "mpi"}},
    {"tests", {"cli", "bindings/grape", "mpi"}},
};

std::string module_of(std::string path) {
  do path = folder_of(path);
  while (!kModules.contains(path) && path.find('/') != std::string::npos);
  return path;
}

bool depends_on(const std::string& module, const std::string& other) {
  const std::vector<std::string>& below = kModules.at(module);
  return std::any_of(below.begin(), below.end(),
                     [&](const std::string& next) { return next == other || depends_on(next, other); });
}

// Each violation as "file includes header".
std::vector<std::string> violations(
    const std::function<bool(const std::string& file, const std::string& include)>& forbidden) {
  std::vector<std::string> found;
  for (const auto& [path, file] : sources()) {
    for (const auto* includes : {&file.quoted, &file.angled}) {
      for (const std::string& include : *includes) {
        if (forbidden(path, include)) found.push_back(path + " includes " + include);
      }
    }
  }
  return found;
}

const std::vector<std::string> kNoFiles;

// Two types of one name in the libraries' namespace would share their members' code, and those of its containers: the
// linker keeps one copy of each inline function.
TEST(layering, types_of_headers_have_distinct_names) {
  const std::set<std::string> elsewhere{"tests", "bench", "examples"};  // in namespaces of their own
  std::map<std::string, std::string> header_of;
  for (const auto& [path, file] : sources()) {
    if (!path.ends_with(".h") || elsewhere.contains(path.substr(0, path.find('/')))) continue;
    for (const std::string& type : file.types) {
      const auto [found, is_new] = header_of.emplace(type, path);
      EXPECT_TRUE(is_new) << type << " is defined in " << found->second << " and in " << path;
    }
  }
  EXPECT_GT(header_of.size(), 100u);
}

TEST(layering, the_sources_are_found) {
  EXPECT_TRUE(sources().contains("compiler/ir/ir.h"));
  EXPECT_FALSE(sources().at("compiler/source/parse.cpp").quoted.empty());
  EXPECT_GT(sources().at("compiler/ir/ir.h").lines, 50);
}

TEST(layering, every_file_has_a_module) {
  for (const auto& [path, file] : sources()) EXPECT_TRUE(kModules.contains(module_of(path))) << path;
}

TEST(layering, no_module_includes_one_above_it) {
  EXPECT_EQ(violations([](const std::string& file, const std::string& include) {
              const std::string from = module_of(file), to = module_of(include);
              return sources().contains(include) && from != to && !depends_on(from, to);
            }),
            kNoFiles);
}

// What LLVM's next major version changes is then changed in these files alone.
TEST(layering, clang_and_llvm_are_kept_in_few_files) {
  EXPECT_EQ(violations([](const std::string& file, const std::string& include) {
              const bool llvm = include.starts_with("clang/") || include.starts_with("llvm/") ||
                                include.starts_with("lld/") || include.starts_with("clang-c/");
              static const std::set<std::string> few = {"compiler/editing/collect_names.cpp",
                                                        "compiler/editing/format.cpp",
                                                        "compiler/source/llvm_versions.h",
                                                        "compiler/source/parse.cpp",
                                                        "compiler/text/sha256.cpp",
                                                        "jit/cpu_jit.cpp",
                                                        "jit/clang_compile.cpp",
                                                        "jit/link_library.cpp",
                                                        "jit/read_library.cpp",
                                                        "bindings/python/wheel/no_polly.cpp"};
              const bool allowed = few.contains(file) || file.starts_with("compiler/source/lower");
              return llvm && !allowed;
            }),
            kNoFiles);
}

TEST(layering, cuda_and_mpi_are_kept_in_few_files) {
  EXPECT_EQ(violations([](const std::string& file, const std::string& include) {
              return (include.starts_with("cuda") || include.starts_with("nvrtc")) &&
                     !file.starts_with("runtime/cuda/") && file != "tests/support/occupancy.cpp";
            }),
            kNoFiles);
  EXPECT_EQ(violations([](const std::string& file, const std::string& include) {
              return include == "mpi.h" && !file.starts_with("mpi/") && folder_of(file) != "tests/mpi" &&
                     folder_of(file) != "examples/support/mpi";
            }),
            kNoFiles);
}

TEST(layering, includes_are_written_from_the_root) {
  std::vector<std::string> found;
  for (const auto& [path, file] : sources()) {
    for (const std::string& include : file.quoted) {
      const bool third_party = include.starts_with("clang/") || include.starts_with("llvm/") ||
                               include.starts_with("lld/") || include.starts_with("fmt/");
      if (!third_party && !sources().contains(include)) found.push_back(path + " includes \"" + include + "\"");
    }
  }
  EXPECT_EQ(found, kNoFiles);
}

// An instruction set is added by a row of compiler/isa.h and templates (CONTRIBUTING.md).
TEST(layering, instruction_sets_are_named_in_their_table_alone) {
  std::vector<std::string> found;
  for (const auto& [path, file] : sources()) {
    const std::string top = path.substr(0, path.find('/'));
    if (path == "compiler/isa.h" || !(top == "compiler" || top == "runtime" || top == "jit" || top == "cli")) continue;
    std::ifstream in(fs::path(test::source_folder()) / path);
    for (std::string line; std::getline(in, line);) {
      const std::size_t at = line.find("Isa::");
      if (at != std::string::npos && std::isupper(line[at + 5])) found.push_back(path + ": " + line);
    }
  }
  EXPECT_EQ(found, kNoFiles);
}

// One line explains what a folder converts to what. A file that makes a folder larger than this belongs into a new
// folder inside of it. Folders of cases (tests, pipelines, docs) grow with their cases.
TEST(layering, folders_stay_small) {
  std::map<std::string, int> count;
  for (const std::string& top : {"compiler", "runtime", "cli", "bindings", "particles", "templates"})
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(test::source_folder()) / top)) {
      const std::string path = fs::relative(entry.path(), test::source_folder());
      if (entry.is_regular_file() && path.find("__pycache__") == std::string::npos) ++count[folder_of(path)];
    }
  EXPECT_GT(count["compiler/ir"], 10);
  for (const auto& [folder, files] : count)
    EXPECT_LE(files, folder.starts_with("templates") ? 40 : 30) << folder << " has " << files << " files";
}

// The first line of the main header, or a README, says what a module converts to what; kModules says what it includes.
TEST(layering, every_folder_of_sources_is_a_module) {
  for (const auto& [path, file] : sources()) {
    const std::string top = path.substr(0, path.find('/'));
    if (top == "compiler" || top == "runtime" || top == "cli" || top == "particles")
      EXPECT_TRUE(kModules.contains(folder_of(path))) << path;
  }
}

// Blocks of a GPU that wait for each other use load_acquire() and store_release(): `volatile` orders no other access.
// cuda_indices.cu.in reports to the host.
TEST(layering, cuda_kernels_share_no_volatile_words) {
  std::vector<std::string> found;
  int files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(test::source_folder()) / "templates/cuda")) {
    if (!entry.is_regular_file() || entry.path().filename() == "cuda_indices.cu.in") continue;
    ++files;
    std::ifstream in(entry.path());
    for (std::string line; std::getline(in, line);)
      if (std::regex_search(line, std::regex(R"(volatile \w+\*)")))
        found.push_back(entry.path().filename().string() + ": " + line);
  }
  EXPECT_GT(files, 30);
  EXPECT_EQ(found, kNoFiles);
}

// A .h and its .cpp are one: neither may lead back to itself by way of others.
TEST(layering, no_file_runs_back_up) {
  std::map<std::string, std::set<std::string>> below;
  // x.cpp and x.h are one file here; x.h and x.hpp are two.
  const auto name_of = [](const std::string& path) {
    return path.ends_with(".cpp") ? path.substr(0, path.rfind('.')) + ".h" : path;
  };
  for (const auto& [path, file] : sources()) {
    for (const std::string& include : file.quoted) {
      if (sources().contains(include)) below[name_of(path)].insert(name_of(include));
    }
  }
  std::set<std::string> done;
  std::vector<std::string> open;
  const std::function<void(const std::string&)> visit = [&](const std::string& name) {
    if (const auto begin = std::find(open.begin(), open.end(), name); begin != open.end()) {
      std::string circle;
      for (auto step = begin; step != open.end(); ++step) circle += *step + " -> ";
      ADD_FAILURE() << circle << name;
    } else if (!done.contains(name)) {
      open.push_back(name);
      for (const std::string& next : below[name])
        if (next != name) visit(next);
      open.pop_back();
      done.insert(name);
    }
  };
  for (const auto& [path, file] : sources()) visit(name_of(path));
}

TEST(layering, files_stay_readable) {
  std::vector<std::string> found;
  for (const auto& [path, file] : sources()) {
    if (file.lines > 500) found.push_back(path + " has " + std::to_string(file.lines) + " lines");
  }
  EXPECT_EQ(found, kNoFiles);
}

}  // namespace
}  // namespace nbcc
