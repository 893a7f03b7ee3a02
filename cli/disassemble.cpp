// Cubin -> SASS, the machine's own assembly, by running nvdisasm or cuobjdump on it. One door: disassemble(). Reads
// nothing of the cubin itself.
#include "cli/disassemble.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <vector>

#include "cli/find_program.h"
#include "jit/temporary_folder.h"
#include "runtime/error.h"

namespace nbcc {
namespace {

struct Tool {
  const char *name, *options;
};
constexpr Tool kTools[] = {{"nvdisasm", "-c"}, {"cuobjdump", "-sass"}};

// As one word.
std::string for_shell(const std::string& text) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// The program's path and its options.
std::string find_tool() {
  std::vector<std::string> folders;
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const char* const value = std::getenv(variable)) folders.push_back(std::string(value) + "/bin");
  }
  for (const char* folder : {"/usr/local/cuda/bin", "/opt/cuda/bin"}) {
    if (std::find(folders.begin(), folders.end(), folder) == folders.end()) folders.emplace_back(folder);
  }
  for (const Tool& tool : kTools) {
    std::string path = find_program(tool.name);
    for (const std::string& folder : folders) {
      const std::string here = folder + "/" + tool.name;
      if (path.empty() && access(here.c_str(), X_OK) == 0) path = here;
    }
    if (!path.empty()) return fmt::format("{} {}", for_shell(path), tool.options);
  }
  throw DeviceError(fmt::format("showing SASS needs nvdisasm or cuobjdump of the CUDA toolkit; neither is in $PATH, {}",
                                fmt::join(folders, ", ")));
}

}  // namespace

std::string disassemble(const std::string& cubin) {
  const std::string tool = find_tool();
  const TemporaryFolder scratch;
  const std::string object = scratch.file("kernel.cubin"), complaints = scratch.file("complaints");
  std::ofstream(object, std::ios::binary) << cubin;
  std::FILE* const program =
      popen(fmt::format("{} {} 2>{}", tool, for_shell(object), for_shell(complaints)).c_str(), "r");
  if (!program) throw DeviceError(fmt::format("{} cannot be started", tool));
  std::string text;
  for (int c; (c = std::fgetc(program)) != EOF;) text += char(c);
  if (pclose(program) != 0) throw DeviceError(fmt::format("{} failed: {}", tool, content_of(complaints)));
  return text;
}

}  // namespace nbcc
