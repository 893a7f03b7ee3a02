// CUDA source -> a cubin or PTX, by NVIDIA's run-time compiler NVRTC, a library opened at first use. Interface:
// make_nvrtc(). Caches nothing and needs neither a GPU nor CUDA's headers.
#include "runtime/cuda/driver/nvrtc.h"

#include <dlfcn.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <utility>

#include "fmt/format.h"
#include "runtime/cuda/driver/nvrtc_processes.h"
#include "runtime/error.h"

namespace nbcc {
namespace {

// NVRTC's type under a name of nbcc, and its result codes.
struct Program;
constexpr int kSuccess = 0, kOutOfMemory = 1, kInvalidOption = 5, kCompilation = 6, kBuiltinOperationFailure = 7;

struct Functions {
  const char* (*get_error_string)(int result);
  int (*version)(int* major, int* minor);
  int (*get_num_supported_archs)(int* count);
  int (*get_supported_archs)(int* archs);
  int (*create_program)(Program** program, const char* text, const char* name, int headers, const char* const* header,
                        const char* const* header_name);
  int (*destroy_program)(Program** program);
  int (*compile_program)(Program* program, int options, const char* const* option);
  int (*get_program_log_size)(Program* program, std::size_t* bytes);
  int (*get_program_log)(Program* program, char* log);
  int (*get_cubin_size)(Program* program, std::size_t* bytes);
  int (*get_cubin)(Program* program, char* cubin);
  int (*get_ptx_size)(Program* program, std::size_t* bytes);
  int (*get_ptx)(Program* program, char* ptx);
};

// Kernel sources state fused operations and flushing to zero explicitly, so the compiler must add none; the remaining
// divisions and roots are IEEE's. All functions, and so generic lambdas, are device functions.
constexpr const char* kOptions[] = {"--std=c++17",     "--fmad=false",     "--ftz=false",
                                    "--prec-div=true", "--prec-sqrt=true", "--device-as-default-execution-space"};

// NVRTC 13 has a disk cache, and code from that cache comes without the report of ptxas: spills would be detected only
// at the first compilation. Earlier versions reject the option.
constexpr const char* kNoCache = "--no-cache";

constexpr int kMaxRegistersPerThread = 255;

// The newest first. CUDA 11.2 to 11.8 share one name.
constexpr const char* kLibraries[] = {"libnvrtc.so.15", "libnvrtc.so.14",   "libnvrtc.so.13",
                                      "libnvrtc.so.12", "libnvrtc.so.11.2", "libnvrtc.so"};

template <typename Function>
bool take(void* library, Function*& member, const char* symbol) {
  member = reinterpret_cast<Function*>(::dlsym(library, symbol));
  return member != nullptr;
}

bool take_all(void* library, Functions& nvrtc) {
  return take(library, nvrtc.get_error_string, "nvrtcGetErrorString") && take(library, nvrtc.version, "nvrtcVersion") &&
         take(library, nvrtc.get_num_supported_archs, "nvrtcGetNumSupportedArchs") &&
         take(library, nvrtc.get_supported_archs, "nvrtcGetSupportedArchs") &&
         take(library, nvrtc.create_program, "nvrtcCreateProgram") &&
         take(library, nvrtc.destroy_program, "nvrtcDestroyProgram") &&
         take(library, nvrtc.compile_program, "nvrtcCompileProgram") &&
         take(library, nvrtc.get_program_log_size, "nvrtcGetProgramLogSize") &&
         take(library, nvrtc.get_program_log, "nvrtcGetProgramLog") &&
         take(library, nvrtc.get_cubin_size, "nvrtcGetCUBINSize") && take(library, nvrtc.get_cubin, "nvrtcGetCUBIN") &&
         take(library, nvrtc.get_ptx_size, "nvrtcGetPTXSize") && take(library, nvrtc.get_ptx, "nvrtcGetPTX");
}

// The file that contains a function, with symbolic links resolved: its name distinguishes builds of one version.
std::string file_of(const void* function) {
  Dl_info info{};
  if (!::dladdr(function, &info) || !info.dli_fname) return "libnvrtc.so";
  char* const resolved = ::realpath(info.dli_fname, nullptr);
  const std::string path = resolved ? resolved : info.dli_fname;
  std::free(resolved);
  return path;
}

std::int64_t bytes_of(const std::string& path) {
  struct stat status;
  return ::stat(path.c_str(), &status) == 0 ? std::int64_t(status.st_size) : 0;
}

std::vector<std::string> options_for(const std::string& architecture, const LaunchConfig& config,
                                     CudaCompiler::Form form, int fewer_resident) {
  std::vector<std::string> options(std::begin(kOptions), std::end(kOptions));
  if (form == CudaCompiler::Form::Ptx) {
    // ptxas does not run for PTX.
    options.push_back("--gpu-architecture=compute_" + architecture.substr(3));
  } else {
    options.push_back("--gpu-architecture=" + architecture);
    options.push_back("--ptxas-options=-v");
  }
  const auto define = [&](const char* macro, int value) {
    if (value != 0) options.push_back(fmt::format("-D{}={}", macro, value));
  };
  define("NBCC_THREADS", config.threads);
  define("NBCC_I_PER_THREAD", config.i_per_thread);
  define("NBCC_J_TILE", config.j_tile);
  define("NBCC_UNROLL", config.unroll);
  define("NBCC_J_SLICES", config.j_slices);
  define("NBCC_FEWER_RESIDENT", fewer_resident);
  return options;
}

class Nvrtc final : public CudaCompiler {
 public:
  explicit Nvrtc(const Functions& functions) : nvrtc_(functions) {
    path_ = file_of(reinterpret_cast<const void*>(nvrtc_.version));
    check(nvrtc_.version(&major_, &minor_), "nvrtcVersion");
    // Open libnvrtc-builtins by path. NVRTC opens it by name at its first compilation and then gets the library that is
    // already open. So a toolkit unknown to ldconfig works, and libraries of two toolkits are not mixed.
    ::dlopen(builtins().c_str(), RTLD_LAZY | RTLD_LOCAL);
    int count = 0;
    check(nvrtc_.get_num_supported_archs(&count), "nvrtcGetNumSupportedArchs");
    std::vector<int> numbers(std::size_t(std::max(count, 0)));
    check(nvrtc_.get_supported_archs(numbers.data()), "nvrtcGetSupportedArchs");
    std::ranges::sort(numbers);
    for (const int number : numbers) architectures_.push_back(fmt::format("sm_{}", number));
    // Updates of one version report the same version but generate different code; file name and size distinguish them.
    // The options are those of a configuration of which each number differs.
    identity_ = fmt::format("NVRTC {}.{}, {} of {} bytes, {}", major_, minor_, path_.substr(path_.rfind('/') + 1),
                            bytes_of(path_), fmt::join(options_for("sm_0", {1, 2, 3, 4, 5}, Form::Cubin, 6), " "));
    Handle empty{nvrtc_};
    check(nvrtc_.create_program(&empty.program, "", "empty.cu", 0, nullptr, nullptr), "nvrtcCreateProgram");
    knows_no_cache_ = nvrtc_.compile_program(empty.program, 1, &kNoCache) == kSuccess;
    others_.emplace(own_command(), path_, identity_);
  }

  std::string identity() const override { return identity_; }
  std::string path() const override { return path_; }
  int version() const override { return major_ * 1000 + minor_ * 10; }
  std::vector<std::string> architectures() const override { return architectures_; }
  CudaCode compile(const std::string& text, const std::string& architecture, const LaunchConfig& config,
                   Form form) const override;

 private:
  struct Handle {
    const Functions& nvrtc;
    Program* program = nullptr;
    ~Handle() {
      if (program) nvrtc.destroy_program(&program);
    }
  };

  void check(int result, const char* what) const {
    if (result == kOutOfMemory) throw std::bad_alloc();
    if (result != kSuccess) throw DeviceError(fmt::format("{}: {}: {}", path_, what, nvrtc_.get_error_string(result)));
  }
  std::string get(Program* program, int (*size)(Program*, std::size_t*), int (*content)(Program*, char*),
                  const char* what) const {
    std::size_t bytes = 0;
    check(size(program, &bytes), what);
    std::string result(bytes, '\0');
    check(content(program, result.data()), what);
    return result;
  }
  std::string ptx_of(Program* program) const {
    std::string ptx = get(program, nvrtc_.get_ptx_size, nvrtc_.get_ptx, "nvrtcGetPTX");
    ptx.erase(ptx.find_last_not_of('\0') + 1);  // nvrtcGetPTXSize counts the terminating 0
    return ptx;
  }
  std::string builtins() const {
    return fmt::format("{}/libnvrtc-builtins.so.{}.{}", path_.substr(0, path_.rfind('/')), major_, minor_);
  }
  CudaCode compile_here(const std::string& text, const std::string& architecture, const LaunchConfig& config,
                        Form form) const;
  CudaCode compile_with(const std::vector<std::string>& options, const std::string& text,
                        const std::string& architecture, Form form) const;
  [[noreturn]] void fail(int result, const std::string& log, const std::string& architecture) const;

  Functions nvrtc_;
  std::string path_, identity_;
  int major_ = 0, minor_ = 0;
  bool knows_no_cache_ = false;
  std::vector<std::string> architectures_;
  // The text that this process compiles, and the processes for those that come meanwhile; they end with the last text.
  mutable std::mutex compiles_;
  mutable std::optional<NvrtcProcesses> others_;
  mutable std::atomic<int> texts_ = 0;
};

CudaCode Nvrtc::compile(const std::string& text, const std::string& architecture, const LaunchConfig& config,
                        Form form) const {
  if (std::ranges::find(architectures_, architecture) == architectures_.end()) {
    throw DeviceError(fmt::format("NVRTC {}.{} ({}) does not compile for '{}'; it knows {}", major_, minor_, path_,
                                  architecture, fmt::join(architectures_, ", ")));
  }
  struct Text {
    const Nvrtc& nvrtc;
    explicit Text(const Nvrtc& of) : nvrtc(of) { ++nvrtc.texts_; }
    ~Text() {
      if (--nvrtc.texts_ == 0) nvrtc.others_->end_idle();
    }
  } const counted(*this);
  std::unique_lock lock(compiles_, std::try_to_lock);
  if (!lock) {
    if (std::optional<CudaCode> code = others_->compile(text, architecture, config, form)) return std::move(*code);
    lock.lock();
  }
  return compile_here(text, architecture, config, form);
}

CudaCode Nvrtc::compile_here(const std::string& text, const std::string& architecture, const LaunchConfig& config,
                             Form form) const {
  const auto attempt = [&](int fewer_resident) {
    return compile_with(options_for(architecture, config, form, fewer_resident), text, architecture, form);
  };
  CudaCode code = attempt(0);
  // The source sets a minimum of resident threads (NBCC_RESIDENT), which limits registers. If values are spilled, try
  // with 128 and 256 resident threads less, as long as that reduces spilling.
  for (int fewer = 128; code.spilled_bytes > 0 && code.registers < kMaxRegistersPerThread && fewer <= 256;
       fewer += 128) {
    CudaCode other = attempt(fewer);
    if (other.spilled_bytes >= code.spilled_bytes) break;
    other.ptx = std::move(code.ptx);
    code = std::move(other);
  }
  return code;
}

CudaCode Nvrtc::compile_with(const std::vector<std::string>& options, const std::string& text,
                             const std::string& architecture, Form form) const {
  std::vector<const char*> words;
  for (const std::string& option : options) words.push_back(option.c_str());
  if (knows_no_cache_) words.push_back(kNoCache);

  Handle handle{nvrtc_};
  check(nvrtc_.create_program(&handle.program, text.c_str(), "kernel.cu", 0, nullptr, nullptr), "nvrtcCreateProgram");
  const int result = nvrtc_.compile_program(handle.program, int(words.size()), words.data());
  std::string log = get(handle.program, nvrtc_.get_program_log_size, nvrtc_.get_program_log, "nvrtcGetProgramLog");
  log.erase(log.find_last_not_of(std::string_view("\0\n", 2)) + 1);
  if (result != kSuccess) fail(result, log, architecture);

  CudaCode code;
  if (form == Form::Ptx) {
    code.image = ptx_of(handle.program);
  } else {
    code.ptx = ptx_of(handle.program);
    code.image = get(handle.program, nvrtc_.get_cubin_size, nvrtc_.get_cubin, "nvrtcGetCUBIN");
    read_assembler_report(log, code);
  }
  code.log = std::move(log);
  return code;
}

void Nvrtc::fail(int result, const std::string& log, const std::string& architecture) const {
  if (result == kOutOfMemory) throw std::bad_alloc();
  if (result == kBuiltinOperationFailure || log.find("libnvrtc-builtins") != std::string::npos) {
    throw DeviceError(fmt::format("NVRTC {}.{} ({}) cannot open its library of builtins, expected at {}{}{}", major_,
                                  minor_, path_, builtins(), log.empty() ? "" : ":\n", log));
  }
  const std::string message =
      fmt::format("NVRTC {}.{} for {}: {}\n{}", major_, minor_, architecture, nvrtc_.get_error_string(result), log);
  if (result == kCompilation || result == kInvalidOption) throw SourceRejected(message);
  throw DeviceError(message);
}

// The number directly before the first occurrence of `unit`; 0 if there is none.
int number_before(std::string_view text, std::string_view unit) {
  const std::size_t end = text.find(unit);
  if (end == std::string_view::npos) return 0;
  std::size_t begin = end;
  while (begin > 0 && text[begin - 1] >= '0' && text[begin - 1] <= '9') --begin;
  int number = 0;
  std::from_chars(text.data() + begin, text.data() + end, number);
  return number;
}

}  // namespace

void read_assembler_report(std::string_view log, CudaCode& code) {
  // The report has "Compiling entry function 'NAME'", then the properties of the entry function and of the functions
  // that it calls, in any order, then the registers of the entry function.
  const std::size_t entry = log.find("Compiling entry function 'nbcc_interact'");
  if (entry == std::string_view::npos) return;
  log.remove_prefix(entry);
  log = log.substr(0, log.find("Compiling entry function", 1));
  code.registers = number_before(log, " registers");
  const std::size_t properties = log.find("Function properties for nbcc_interact");
  if (properties == std::string_view::npos) return;
  log.remove_prefix(properties);
  log = log.substr(0, log.find("Function properties", 1));
  code.spilled_bytes = std::max(number_before(log, " bytes spill stores"), number_before(log, " bytes spill loads"));
}

int number_of_architecture(const std::string& name) {
  int number = 0;
  const std::size_t digits = std::min(name.find_first_of("0123456789"), name.size());
  std::from_chars(name.data() + digits, name.data() + name.size(), number);
  return number;
}

std::string cuda_version_text(int version) { return fmt::format("{}.{}", version / 1000, version % 1000 / 10); }

std::shared_ptr<const CudaCompiler> open_nvrtc(const std::vector<LibraryLocation>& locations) {
  std::string problems;
  for (const LibraryLocation& location : locations) {
    for (const std::string& folder : location.folders) {
      for (const char* library : kLibraries) {
        const std::string path = folder.empty() ? library : folder + "/" + library;
        if (!folder.empty() && ::access(path.c_str(), F_OK) != 0) continue;
        // Never closed: NVRTC's exit handlers execute code of the library.
        void* const handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
        Functions functions{};
        if (handle && take_all(handle, functions)) return std::make_shared<Nvrtc>(functions);
        // A library missing from the loader's search path is no problem to report.
        if (!handle && folder.empty()) continue;
        problems += handle ? fmt::format("\n  {}: older than CUDA 11.2", path) : fmt::format("\n  {}", ::dlerror());
      }
    }
  }
  std::string looked;
  for (const LibraryLocation& location : locations) looked += "\n  " + location.name;
  throw DeviceError(fmt::format(
      "no NVRTC, the compiler for NVIDIA's GPUs (libnvrtc.so of CUDA 11.2 or later). It comes with the CUDA "
      "toolkit, or by 'pip install nvidia-cuda-nvrtc'. Looked in{}{}{}",
      looked, problems.empty() ? "" : "\nand could not use", problems));
}

std::shared_ptr<const CudaCompiler> make_nvrtc() { return open_nvrtc(nvrtc_locations()); }

}  // namespace nbcc
