// CUDA text -> a shared object for this CPU, by clang++-19. Entry points: make_shim_compiler(),
// shim_compile_requests(), shim_compilations(). Does not load what it made; cuda_shim_driver.cpp does.
#include <fcntl.h>
#include <fmt/core.h>
#include <spawn.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "runtime/error.h"
#include "tests/support/cuda_shim.h"
#include "tests/support/cuda_shim_image.h"
#include "tests/support/cuda_shim_prelude.h"
#include "tests/support/scratch_folder.h"

extern char** environ;

namespace nbcc::test {
namespace {

struct Kernel {
  std::string name;
  std::string bounds = "0";  // the first argument of __launch_bounds__
};

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

// The word before the first parenthesis behind __global__ that is not __launch_bounds__'s own.
Kernel kernel_at(const std::string& text, std::size_t at) {
  constexpr std::string_view kBounds = "__launch_bounds__(";
  Kernel kernel;
  const std::size_t body = text.find('{', at);
  if (const std::size_t bounds = text.find(kBounds, at); bounds < body) {
    const std::size_t begin = bounds + kBounds.size();
    kernel.bounds = text.substr(begin, text.find_first_of(",)", begin) - begin);
    at = text.find(')', begin) + 1;
  }
  std::size_t end = text.find('(', at);
  while (end > at && !is_word(text[end - 1])) --end;
  std::size_t begin = end;
  while (begin > at && is_word(text[begin - 1])) --begin;
  kernel.name = text.substr(begin, end - begin);
  return kernel;
}

std::string translation_unit(const std::string& text) {
  std::string unit = kShimPrelude + text + kShimPostlude;
  for (std::size_t at = text.find("__global__"); at != std::string::npos; at = text.find("__global__", at + 1)) {
    const Kernel kernel = kernel_at(text, at);
    unit += fmt::format("NBCC_SHIM_KERNEL({}, {})\n", kernel.name, kernel.bounds);
  }
  return unit;
}

std::vector<std::string> command(const LaunchConfig& shape, const std::string& source, const std::string& object) {
  std::vector<std::string> words{
      "clang++-19", "-x", "c++", "-std=c++17", "-O1", "-w", "-march=native", "-ffp-contract=off",
      // Casts that saturate, as the GPU's do.
      "-fno-strict-float-cast-overflow", "-fwrapv", "-fno-strict-aliasing", "-fno-exceptions", "-fno-rtti",
      "-fno-unroll-loops", "-nostdinc", "-fPIC", "-shared", "-nostdlib", "-fvisibility=hidden"};
  const std::array<std::pair<const char*, int>, 5> macros{{{"NBCC_THREADS", shape.threads},
                                                           {"NBCC_I_PER_THREAD", shape.i_per_thread},
                                                           {"NBCC_J_TILE", shape.j_tile},
                                                           {"NBCC_UNROLL", shape.unroll},
                                                           {"NBCC_J_SLICES", shape.j_slices}}};
  for (const auto& [name, value] : macros) {
    if (value) words.push_back(fmt::format("-D{}={}", name, value));
  }
  words.insert(words.end(), {source, "-o", object});
  return words;
}

// The exit status.
int run(std::vector<std::string> words, const std::string& log) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 2, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  pid_t process = 0;
  const int error = posix_spawnp(&process, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  int status = 0;
  if (error != 0) throw DeviceError(fmt::format("the shim needs {} (package clang-19)", words[0]));
  while (waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

std::string compile_here(const std::string& text, const LaunchConfig& shape) {
  const ScratchFolder folder;
  const std::string source = folder.write("kernel.cpp", translation_unit(text));
  if (run(command(shape, source, folder.path("kernel.so")), folder.path("log")) != 0)
    throw SourceRejected("the shim's compiler refused the text:\n" + folder.read("log"));
  return shim_image(folder.read("kernel.so"));
}

struct Compiled {
  std::mutex mutex;
  std::map<std::pair<std::string, LaunchConfig>, std::string> images;
  int requests = 0, made = 0;
};

Compiled& compiled() {
  static Compiled here;
  return here;
}

class ShimCompiler final : public CudaCompiler {
 public:
  std::string identity() const override { return "shim, clang 19"; }
  std::vector<std::string> architectures() const override { return {"sm_75", "sm_80", "sm_90", "sm_100"}; }
  CudaCode compile(const std::string& text, const std::string& architecture, const LaunchConfig& shape,
                   Form) const override {
    const std::vector<std::string> known = architectures();
    if (std::find(known.begin(), known.end(), architecture) == known.end())
      throw DeviceError(fmt::format("the shim does not know {}", architecture));
    Compiled& all = compiled();
    const std::lock_guard lock(all.mutex);
    ++all.requests;
    std::string& image = all.images[{text, shape}];
    if (image.empty()) image = compile_here(text, shape), ++all.made;
    return {image, 64, 0};
  }
};

}  // namespace

std::shared_ptr<const CudaCompiler> make_shim_compiler() { return std::make_shared<ShimCompiler>(); }

int shim_compile_requests() {
  const std::lock_guard lock(compiled().mutex);
  return compiled().requests;
}

int shim_compilations() {
  const std::lock_guard lock(compiled().mutex);
  return compiled().made;
}

}  // namespace nbcc::test
