// The layers, checked over the #include lines of the sources: who may know whom.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
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
};

const std::vector<std::string> kFolders = {"compiler",  "runtime", "jit",   "particles", "cli",
                                           "templates", "tests",   "bench", "bindings",  "examples"};

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
        std::ifstream in(entry.path());
        for (std::string line; std::getline(in, line); ++file.lines) {
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

std::string folder_of(const std::string& path) { return path.substr(0, path.find('/')); }

bool is_ours(const std::string& include) {
  return std::count(kFolders.begin(), kFolders.end(), folder_of(include)) > 0;
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

const std::vector<std::string> kNone;

TEST(layering, the_sources_are_found) {
  EXPECT_TRUE(sources().contains("compiler/ir/ir.h"));
  EXPECT_FALSE(sources().at("compiler/source/parse.cpp").quoted.empty());
  EXPECT_GT(sources().at("compiler/ir/ir.h").lines, 50);
}

TEST(layering, the_compiler_knows_nobody) {
  EXPECT_EQ(violations([](const std::string& file, const std::string& include) {
              return folder_of(file) == "compiler" && is_ours(include) && folder_of(include) != "compiler" &&
                     folder_of(include) != "templates";
            }),
            kNone);
}

TEST(layering, the_runtime_knows_of_the_compiler_what_a_kernel_is) {
  EXPECT_EQ(violations([](const std::string& file, const std::string& include) {
              return folder_of(file) == "runtime" && is_ours(include) && folder_of(include) != "runtime" &&
                     include != "compiler/kernel_source.h" && include != "compiler/options.h";
            }),
            kNone);
}

TEST(layering, the_libraries_know_neither_command_nor_tests) {
  const std::set<std::string> libraries = {"compiler", "runtime", "jit", "particles", "templates"};
  const std::set<std::string> outside = {"cli", "tests", "bench", "bindings", "examples"};
  EXPECT_EQ(violations([&](const std::string& file, const std::string& include) {
              return libraries.contains(folder_of(file)) && outside.contains(folder_of(include));
            }),
            kNone);
  EXPECT_EQ(violations([&](const std::string& file, const std::string& include) {
              return folder_of(file) == "cli" && (folder_of(include) == "tests" || folder_of(include) == "bench");
            }),
            kNone);
}

// What LLVM's next major version changes is then changed in these files alone.
TEST(layering, clang_and_llvm_are_kept_in_few_files) {
  EXPECT_EQ(violations([](const std::string& file, const std::string& include) {
              const bool llvm = include.starts_with("clang/") || include.starts_with("llvm/") ||
                                include.starts_with("lld/") || include.starts_with("clang-c/");
              static const std::set<std::string> few = {"compiler/source/parse.cpp", "jit/cpu_jit.cpp",
                                                        "jit/clang_compile.cpp", "jit/link_library.cpp",
                                                        "jit/read_library.cpp"};
              const bool allowed = few.contains(file) || file.starts_with("compiler/source/lower");
              return llvm && !allowed;
            }),
            kNone);
}

TEST(layering, cuda_and_mpi_are_kept_in_few_files) {
  EXPECT_EQ(violations([](const std::string& file, const std::string& include) {
              return (include.starts_with("cuda") || include.starts_with("nvrtc")) &&
                     !file.starts_with("runtime/cuda/");
            }),
            kNone);
  EXPECT_EQ(violations([](const std::string&, const std::string& include) { return include == "mpi.h"; }), kNone);
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
  EXPECT_EQ(found, kNone);
}

TEST(layering, no_header_includes_itself_by_a_detour) {
  std::set<std::string> done;
  std::vector<std::string> open;
  const std::function<void(const std::string&)> visit = [&](const std::string& path) {
    if (std::count(open.begin(), open.end(), path)) {
      std::string circle;
      for (const std::string& p : open) circle += p + " -> ";
      ADD_FAILURE() << circle << path;
      return;
    }
    if (done.contains(path)) return;
    open.push_back(path);
    for (const std::string& include : sources().at(path).quoted) {
      if (sources().contains(include)) visit(include);
    }
    open.pop_back();
    done.insert(path);
  };
  for (const auto& [path, file] : sources()) visit(path);
}

// File -> why it may be longer than 500 lines.
const std::map<std::string, std::string> kLong = {};

TEST(layering, files_stay_readable) {
  std::vector<std::string> found;
  for (const auto& [path, file] : sources()) {
    if (file.lines > 500 && !kLong.contains(path))
      found.push_back(path + " has " + std::to_string(file.lines) + " lines");
  }
  EXPECT_EQ(found, kNone);
  for (const auto& [path, reason] : kLong) {
    EXPECT_TRUE(sources().contains(path) && sources().at(path).lines > 500) << path << " needs no exception any more";
    EXPECT_FALSE(reason.empty()) << path;
  }
}

}  // namespace
}  // namespace nbcc
