// CUDA text and options -> cubin, by NVRTC. Entry point: HandCompiler. Finds the library where the library of the
// project does, and keeps nothing.
#include "bench/cuda/hand_compiler.h"

#include <dlfcn.h>
#include <fmt/core.h>

#include <charconv>
#include <stdexcept>

#include "runtime/cuda/driver/cuda_compiler.h"
#include "runtime/cuda/driver/nvrtc.h"

namespace nbcc::bench {

struct HandCompiler::Functions {
  int (*version)(int* major, int* minor);
  int (*create_program)(void** program, const char* text, const char* name, int headers, const char* const* header,
                        const char* const* header_name);
  int (*destroy_program)(void** program);
  int (*compile_program)(void* program, int options, const char* const* option);
  int (*get_program_log_size)(void* program, std::size_t* bytes);
  int (*get_program_log)(void* program, char* log);
  int (*get_cubin_size)(void* program, std::size_t* bytes);
  int (*get_cubin)(void* program, char* cubin);
};

namespace {

using Functions = HandCompiler::Functions;

template <typename Function>
bool take(void* library, Function*& member, const char* symbol) {
  member = reinterpret_cast<Function*>(::dlsym(library, symbol));
  return member != nullptr;
}

bool take_all(void* library, Functions& f) {
  return take(library, f.version, "nvrtcVersion") && take(library, f.create_program, "nvrtcCreateProgram") &&
         take(library, f.destroy_program, "nvrtcDestroyProgram") &&
         take(library, f.compile_program, "nvrtcCompileProgram") &&
         take(library, f.get_program_log_size, "nvrtcGetProgramLogSize") &&
         take(library, f.get_program_log, "nvrtcGetProgramLog") &&
         take(library, f.get_cubin_size, "nvrtcGetCUBINSize") && take(library, f.get_cubin, "nvrtcGetCUBIN");
}

Functions open_library() {
  // Opens NVRTC and the second half that it wants; what is opened below is the same file.
  make_nvrtc();
  for (const LibraryLocation& place : nvrtc_locations())
    for (const std::string& folder : place.folders)
      for (const char* name : {"libnvrtc.so.15", "libnvrtc.so.14", "libnvrtc.so.13", "libnvrtc.so.12",
                               "libnvrtc.so.11.2", "libnvrtc.so"}) {
        const std::string path = folder.empty() ? name : folder + "/" + name;
        void* const library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
        Functions functions{};
        if (library && take_all(library, functions)) return functions;
      }
  throw std::runtime_error("NVRTC could not be opened");
}

// The number before `unit`, where it first occurs after `from`.
int number_before(std::string_view log, std::string_view from, std::string_view unit) {
  const std::size_t start = log.find(from);
  if (start == std::string_view::npos) return 0;
  const std::size_t end = log.find(unit, start);
  if (end == std::string_view::npos) return 0;
  std::size_t begin = end;
  while (begin > 0 && log[begin - 1] >= '0' && log[begin - 1] <= '9') --begin;
  int number = 0;
  std::from_chars(log.data() + begin, log.data() + end, number);
  return number;
}

}  // namespace

HandCompiler::HandCompiler() {
  static const Functions functions = open_library();
  nvrtc_ = &functions;
}

std::string HandCompiler::version() const {
  int major = 0, minor = 0;
  nvrtc_->version(&major, &minor);
  return fmt::format("{}.{}", major, minor);
}

HandCode HandCompiler::compile(const std::string& text, const std::string& entry, const std::string& architecture,
                               const std::vector<std::string>& options) const {
  std::vector<std::string> words{"--std=c++17", "--gpu-architecture=" + architecture, "--ptxas-options=-v"};
  words.insert(words.end(), options.begin(), options.end());
  std::vector<const char*> pointers;
  for (const std::string& word : words) pointers.push_back(word.c_str());

  void* program = nullptr;
  if (nvrtc_->create_program(&program, text.c_str(), "hand_written.cu", 0, nullptr, nullptr) != 0)
    throw std::runtime_error("NVRTC takes no program");
  const int result = nvrtc_->compile_program(program, int(pointers.size()), pointers.data());
  std::size_t bytes = 0;
  nvrtc_->get_program_log_size(program, &bytes);
  std::string log(bytes, '\0');
  nvrtc_->get_program_log(program, log.data());
  HandCode code;
  if (result == 0) {
    nvrtc_->get_cubin_size(program, &bytes);
    code.image.resize(bytes);
    nvrtc_->get_cubin(program, code.image.data());
  }
  nvrtc_->destroy_program(&program);
  if (result != 0) throw std::runtime_error(fmt::format("NVRTC refuses a hand-written kernel:\n{}", log));
  code.registers = number_before(log, fmt::format("Compiling entry function '{}'", entry), " registers");
  code.spilled_bytes = number_before(log, fmt::format("Function properties for {}", entry), " bytes spill stores");
  return code;
}

}  // namespace nbcc::bench
