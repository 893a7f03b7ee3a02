// Kernel source and launch configuration -> a function on a GPU. Interface: CudaLoader::load. Launches nothing.
#include "runtime/cuda/program/cuda_loader.h"

#include <algorithm>
#include <filesystem>
#include <stdexcept>
#include <utility>

#include "fmt/format.h"
#include "runtime/cache/dump.h"
#include "runtime/cuda/program/blame.h"
#include "runtime/cuda/program/cuda_arguments.h"
#include "runtime/error.h"

namespace nbcc {
namespace {

// The driver's errors for a bad image: invalid image, no binary for this GPU, invalid PTX, unsupported PTX version,
// invalid source. Other errors concern the state of the GPU.
constexpr CudaResult kBadImage[] = {200, 209, 218, 222, 300};

// The first architecture whose kernels wait for earlier launches themselves, for PDL
// (templates/cuda/frames/cuda_types.cuh.in).
constexpr int kFirstPdlArchitecture = 90;

struct BadImage : DeviceError {
  using DeviceError::DeviceError;
};

// Writes a rejected source to a temporary file. Returns the path without its suffix; "" if writing failed.
std::string keep_refused(const KernelSource& kernel, const std::string& source, const std::string& key) {
  try {
    const std::string stem = dump_stem(std::filesystem::temp_directory_path().string(), kernel, key);
    write_dump(stem + ".cu", source);
    return stem;
  } catch (const std::runtime_error&) {
    return "";
  }
}

}  // namespace

CudaProgram::CudaProgram(std::shared_ptr<const CudaGpu> gpu, const std::string& image, const LaunchConfig& config,
                         int shared_bytes)
    : gpu_(std::move(gpu)), config_(config.compiled()) {
  const CudaDriver& driver = gpu_->driver();
  const CudaContextGuard guard(*gpu_);
  const CudaResult result = driver.module_load_data(&module_, image.data());
  if (std::ranges::find(kBadImage, result) != std::end(kBadImage)) {
    try {
      check(driver, result, "loading a kernel");
    } catch (const DeviceError& e) {
      throw BadImage(e.what());
    }
  }
  gpu_->require(result, "loading a kernel");
  try {
    gpu_->require(driver.module_get_function(&function_, module_, "nbcc_interact"), "looking for nbcc_interact");
    if (shared_bytes > 0)
      gpu_->require(driver.func_set_attribute(function_, kCudaMaxDynamicSharedBytes, shared_bytes),
                    "asking for a kernel's shared memory");
    gpu_->require(driver.occupancy_max_active_blocks_per_multiprocessor(&blocks_, function_, config_.threads,
                                                                        std::size_t(shared_bytes)),
                  "asking for the kernel's occupancy");
    // Asks for the code's architecture, because code from a compiled library may be older than the GPU's.
    int version = 0;
    gpu_->require(driver.func_get_attribute(&version, kCudaPtxVersion, function_),
                  "asking for the kernel's architecture");
    waits_ = version >= kFirstPdlArchitecture;
  } catch (...) {
    driver.module_unload(module_);
    throw;
  }
  blocks_ = std::max(blocks_, 1);
}

CudaProgram::~CudaProgram() {
  try {
    const CudaContextGuard guard(*gpu_);
    gpu_->driver().module_unload(module_);
  } catch (...) {
    // A destroyed context has unloaded the module.
  }
}

CudaFunction* CudaProgram::find(const char* name) const {
  const CudaContextGuard guard(*gpu_);
  CudaFunction* function = nullptr;
  gpu_->require(gpu_->driver().module_get_function(&function, module_, name), name);
  return function;
}

int CudaProgram::local_bytes() const {
  const CudaContextGuard guard(*gpu_);
  int bytes = 0;
  gpu_->require(gpu_->driver().func_get_attribute(&bytes, kCudaLocalBytes, function_), "asking for a kernel's memory");
  return bytes;
}

CudaLoader::CudaLoader(std::shared_ptr<const CudaGpu> gpu, std::shared_ptr<const CudaCompiler> compiler,
                       std::string cache_folder, std::string dump_folder)
    : gpu_(std::move(gpu)),
      compiler_(std::move(compiler)),
      cache_(std::move(cache_folder)),
      dump_folder_(std::move(dump_folder)) {
  const int wanted = number_of_architecture(gpu_->architecture());
  for (const std::string& known : compiler_->architectures()) {
    if (number_of_architecture(known) <= wanted) compiled_for_ = known;
  }
  if (compiled_for_.empty()) {
    const std::vector<std::string> known = compiler_->architectures();
    throw DeviceError(
        fmt::format("cuda:{}, {}, is {}, which {} does not know any more (the oldest is {}): an older "
                    "CUDA toolkit, named by $CUDA_HOME, may",
                    gpu_->ordinal(), gpu_->model(), gpu_->architecture(), compiler_->identity(),
                    known.empty() ? "none" : known.front()));
  }
  // For a GPU newer than the compiler, compile to PTX, which the driver translates.
  if (number_of_architecture(compiled_for_) != wanted) form_ = CudaCompiler::Form::Ptx;
}

// The source of a search is laid out for the shared memory of the GPU. In a compiled library it was laid out for that
// of the architecture.
std::string CudaLoader::source_for(const KernelSource& kernel, const CudaVariant& variant) const {
  const std::string source = source_of(kernel, variant);
  if (variant.frame != Frame::Search || compiler_->holds_code()) return source;
  return fmt::format("#define NBCC_SHARED_BYTES {}\n#define NBCC_RESERVED_SHARED_BYTES {}\n{}", gpu_->shared_bytes(),
                     gpu_->reserved_shared_bytes(), source);
}

// Listings of the cache show the first line.
std::string CudaLoader::key_of(const KernelSource& kernel, const LaunchConfig& config,
                               const std::string& source) const {
  return fmt::format("{}, {}\n{}, {} {}\nthreads {}, i per thread {}, j tile {}, unroll {}, j_slices {}\n{}",
                     kernel.pipeline, kernel.target, compiler_->identity(), compiled_for_,
                     form_ == CudaCompiler::Form::Ptx ? "PTX" : "cubin", config.threads, config.i_per_thread,
                     config.j_tile, config.unroll, config.j_slices, source);
}

namespace {

// CUDA C++ Programming Guide: bytes of a kernel's parameters, from compute capability 7.0 on. Other parameters take
// some.
constexpr std::size_t kMostArgumentBytes = 32764 - 128;

void check_argument(const KernelSource& kernel, const CudaVariant& variant) {
  const std::size_t bytes = CudaArguments(kernel).size();
  const bool in_memory = kernel.on_gpu.argument_in_memory && variant.frame == kernel.first().frame;
  if (in_memory || bytes <= kMostArgumentBytes) return;
  throw UsageError(fmt::format(
      "pipeline '{}' has too many components for this run on a GPU: the addresses of its inputs and outputs "
      "take {} bytes of a kernel's arguments, of which there are {}. All pairs in single or double precision "
      "need none, if the text reads its arrays by loops of more than 32 like terms",
      kernel.pipeline, bytes, kMostArgumentBytes));
}

}  // namespace

std::shared_ptr<const CudaProgram> CudaLoader::load(const KernelSource& kernel, const CudaVariant& variant) {
  check_argument(kernel, variant);
  const std::string source = source_for(kernel, variant), key = key_of(kernel, variant.config, source);
  return loaded_.get(key, [&] { return make(kernel, variant, source, key); });
}

std::shared_ptr<const CudaProgram> CudaLoader::make(const KernelSource& kernel, const CudaVariant& variant,
                                                    const std::string& source, const std::string& key) {
  std::string stem;
  if (!dump_folder_.empty()) {
    // Dump the source before anything can fail.
    stem = dump_stem(dump_folder_, kernel, key);
    write_dump(stem + ".cu", source);
  }
  bool compiled = false;
  const auto make_image = [&] {
    compiled = true;
    try {
      return compiler_->compile(source, compiled_for_, variant.config, form_).image;
    } catch (const SourceRejected& e) {
      // A configuration chosen by the user may be invalid. A rejected source in any other configuration is a bug of
      // nbcc: keep it.
      if (stem.empty() && !is_choice_by_size(kernel, variant)) stem = keep_refused(kernel, source, key);
      const std::string place = stem.empty() ? "" : fmt::format("the source is in {}.cu", stem);
      throw SourceRejected(fmt::format("{}\n{}{}", e.what(), blame(kernel, source, e.what()), place));
    }
  };
  std::string image;
  std::shared_ptr<const CudaProgram> program;
  for (bool again = false; !program; again = true) {
    image = again ? make_image() : cache_.get_or_make(key, make_image);
    try {
      program = std::make_shared<const CudaProgram>(gpu_, image, variant.config, kernel.packed_vectors.shared_bytes);
      if (again) cache_.store(key, image);
    } catch (const BadImage& e) {
      // The entry is intact, but this driver cannot load it: treat it like a corrupt entry.
      cache_.remove(key);
      if (compiled) fail_to_open(kernel, e.what());
    }
  }
  if (!stem.empty()) write_dump(stem + (form_ == CudaCompiler::Form::Ptx ? ".ptx" : ".cubin"), image);
  return program;
}

void CudaLoader::fail_to_open(const KernelSource& kernel, const std::string& problem) const {
  int driver = 0;
  gpu_->require(gpu_->driver().driver_get_version(&driver), "asking for the driver's version");
  std::string text = fmt::format("kernel '{}' for {}: {}", kernel.pipeline, compiled_for_, problem);
  if (driver < compiler_->version()) {
    text += fmt::format(
        "; the driver is of CUDA {} and older than {}, which compiled the kernel: update the driver, or name an older "
        "CUDA toolkit by $CUDA_HOME",
        cuda_version_text(driver), compiler_->identity());
  }
  throw DeviceError(text);
}

}  // namespace nbcc
