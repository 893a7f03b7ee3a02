// Finds programs and runs them. The entry points are declared in the header.
#include "cli/machine/programs.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "compiler/text/read_file.h"
#include "jit/temporary_folder.h"
#include "particles/numbers.h"
#include "runtime/error.h"

namespace nbcc {

std::string find_program(const std::string& name) {
  const char* const folders = std::getenv("PATH");
  for (const std::string_view folder : split(folders ? folders : "", ':')) {
    if (folder.empty()) continue;
    const std::string path = std::string(folder) + "/" + name;
    if (access(path.c_str(), X_OK) == 0) return path;
  }
  return "";
}

std::vector<std::string> cuda_folders() {
  std::vector<std::string> folders;
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"})
    if (const char* const value = std::getenv(variable)) folders.emplace_back(value);
  for (const char* folder : {"/usr/local/cuda", "/opt/cuda"})
    if (std::ranges::count(folders, folder) == 0) folders.emplace_back(folder);
  return folders;
}

std::string shell_word(const std::string& text) {
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

std::string run_program(const std::string& program, const std::string& file) {
  const TemporaryFolder scratch;
  const std::string complaints = scratch.file("complaints");
  std::FILE* const running =
      popen(fmt::format("{} {} 2>{}", program, shell_word(file), shell_word(complaints)).c_str(), "r");
  if (!running) throw DeviceError(fmt::format("{} cannot be started", program));
  std::string text;
  for (int c; (c = std::fgetc(running)) != EOF;) text += char(c);
  if (pclose(running) != 0)
    throw DeviceError(fmt::format("{} failed: {}", program, read_file(complaints, 1 << 20).bytes));
  return text;
}

}  // namespace nbcc
