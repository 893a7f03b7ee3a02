// An ordinal -> a device; kernel text -> a Kernel of it. Doors: cuda_ordinal(), CudaDevice,
// CudaKernel. Compiling and caching is
// cuda_loader.cpp's, summing cuda_sum.cpp's.
#include "runtime/cuda/cuda_device.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <system_error>
#include <utility>

#include "fmt/format.h"
#include "runtime/cuda/cuda_sum.h"
#include "runtime/error.h"
#include "runtime/sum/reduction.h"

namespace nbcc {

std::optional<int> cuda_ordinal(std::string_view name) {
  if (name == "cuda") return 0;
  if (!name.starts_with("cuda:")) return {};
  int ordinal = -1;
  const char* const end = name.data() + name.size();
  const auto [read, error] = std::from_chars(name.data() + 5, end, ordinal);
  if (error != std::errc() || read != end || ordinal < 0) return {};
  return ordinal;
}

namespace {

CudaTuningSubject subject_of(const KernelSource& source, const CudaGpu& gpu) {
  return {source.pipeline, source.text, gpu.model(), gpu.multiprocessors()};
}

}  // namespace

CudaKernel::CudaKernel(KernelSource kernel_source, std::shared_ptr<CudaLoader> loader, const CudaTuning& tuning,
                       CudaTuningTable tuned)
    : Kernel(std::move(kernel_source)),
      loader_(std::move(loader)),
      tuning_(tuning),
      tuned_(std::move(tuned)),
      program_(loader_->load(source, tuning_.shape)) {
  variants_[program_->shape()] = program_;
}

std::unique_ptr<Summation> CudaKernel::start() const { return std::make_unique<CudaSummation>(*this); }

const CudaProgram* CudaKernel::program(const CudaShape& shape, bool may_load) const {
  std::lock_guard lock(mutex_);
  std::shared_ptr<const CudaProgram>& found = variants_[shape];
  if (!found && may_load) found = loader_->load(source, shape);
  return found.get();
}

CudaCut CudaKernel::cut(std::int64_t ni, std::int64_t nj, bool may_load, const CudaTuning& told) const {
  CudaCut found = find_cut(ni, nj, may_load, told);
  if (found.program)
    found.short_parts =
        nbcc::short_parts(question(*found.program, ni, nj, true), {found.program->shape(), found.parts});
  return found;
}

CudaCut CudaKernel::find_cut(std::int64_t ni, std::int64_t nj, bool may_load, const CudaTuning& told) const {
  if (told != CudaTuning{}) return told_cut(ni, nj, may_load, told);
  if (const std::optional<CudaCut> tuned = tuned_cut(ni, nj, may_load)) return *tuned;
  const CudaTuning choice = model_choice(ni, nj);
  return {program(choice.shape, may_load), choice.parts};
}

CudaCut CudaKernel::told_cut(std::int64_t ni, std::int64_t nj, bool may_load, const CudaTuning& told) const {
  CudaTuning cut = tuned_choice(ni, nj).value_or(model_choice(ni, nj));
  const CudaShape chosen = cut.shape;
  for (int CudaShape::* const member :
       {&CudaShape::threads, &CudaShape::i_per_thread, &CudaShape::j_tile, &CudaShape::unroll, &CudaShape::lanes}) {
    if (told.shape.*member > 0) cut.shape.*member = told.shape.*member;
  }
  if (cut.shape != chosen || told.parts > 0) cut.parts = told.parts;
  try {
    const CudaProgram* const found = program(cut.shape, may_load);
    if (found && cut.parts == 0) cut.parts = choose_split(question(*found, ni, nj, true)).parts;
    return {found, cut.parts};
  } catch (const TextRefused& e) {
    throw UsageError(fmt::format("pipeline '{}' has no kernel of the shape asked for, {}: {}", source.pipeline,
                                 describe({cut.shape, told.parts}), e.what()));
  }
}

// Nothing: none was measured, the model was found best, or the kernel cannot be.
std::optional<CudaTuning> CudaKernel::tuned_choice(std::int64_t ni, std::int64_t nj) const {
  const std::optional<CudaTuning> choice = tuned_.find(ni, nj);
  if (!choice || *choice == CudaTuning{}) return {};
  const std::lock_guard lock(mutex_);
  if (impossible_.contains(choice->shape)) return {};
  return choice;
}

std::optional<CudaCut> CudaKernel::tuned_cut(std::int64_t ni, std::int64_t nj, bool may_load) const {
  const std::optional<CudaTuning> choice = tuned_choice(ni, nj);
  if (!choice) return {};
  const CudaProgram* found = nullptr;
  try {
    found = program(choice->shape, may_load);
  } catch (const TextRefused&) {
    // Another compiler than the one it was measured with, or a file that someone has changed.
  } catch (const DeviceError&) {
  }
  if (!found && may_load) {
    const std::lock_guard lock(mutex_);
    impossible_.insert(choice->shape);
    return {};
  }
  if (!found || choice->parts > 0) return CudaCut{found, choice->parts};
  return CudaCut{found, choose_split(question(*found, ni, nj, true)).parts};
}

CudaTuning CudaKernel::model_choice(std::int64_t ni, std::int64_t nj) const {
  const CudaSplit split = choose_split(question(*program_, ni, nj, tuning_.shape != CudaShape{}));
  return {split.shape, tuning_.parts > 0 ? tuning_.parts : split.parts};
}

CudaSplitQuestion CudaKernel::question(const CudaProgram& given, std::int64_t ni, std::int64_t nj,
                                       bool only_this_shape) const {
  CudaSplitQuestion question;
  question.multiprocessors = gpu().multiprocessors();
  question.shape = given.shape();
  question.blocks_per_multiprocessor = given.blocks_per_multiprocessor();
  question.only_this_shape = only_this_shape;
  question.slots = accumulators_of(source);
  question.pair_statements = source.pair_statements;
  question.staged_bytes = source.staged_bytes;
  question.rest_bytes = source.rest_bytes;
  question.cutoff = source.cutoff;
  question.ni = ni;
  question.nj = nj;
  return question;
}

CudaTuningSubject CudaKernel::tuning_subject() const { return subject_of(source, gpu()); }

CudaDevice::CudaDevice(const CudaDriver& driver, std::shared_ptr<const CudaCompiler> compiler, int ordinal,
                       std::string cache_folder, std::string dump_folder)
    : loader_(std::make_shared<CudaLoader>(std::make_shared<const CudaGpu>(driver, ordinal), std::move(compiler),
                                           std::move(cache_folder), std::move(dump_folder))),
      name_(fmt::format("cuda:{}, {}, {}", ordinal, gpu().model(), arch())) {}

std::shared_ptr<const Kernel> CudaDevice::load(KernelSource source) {
  source.target = "cuda-" + arch();
  CudaTuningTable tuned;
  if (tuning_ == CudaTuning{}) tuned = tunings_.read(subject_of(source, gpu()));
  return std::make_shared<CudaKernel>(std::move(source), loader_, tuning_, std::move(tuned));
}

void* CudaDevice::allocate(std::size_t bytes) {
  const CudaCurrent current(gpu());
  CudaDevicePointer memory = 0;
  // The driver refuses to allocate nothing.
  gpu().require(gpu().driver().mem_alloc(&memory, std::max<std::size_t>(bytes, 1)), "allocating memory of the GPU");
  return reinterpret_cast<void*>(memory);
}

void* CudaDevice::allocate_shared(std::size_t bytes) {
  const CudaCurrent current(gpu());
  void* memory = nullptr;
  const std::size_t some = std::max<std::size_t>(bytes, 1);
  // With unified addresses, which all systems of 64 bits have, the GPU finds it where the host does.
  gpu().require(gpu().driver().mem_host_alloc(&memory, some, 0), "allocating pinned memory of the host");
  gpu().share(memory, some);
  return memory;
}

void CudaDevice::release(void* memory) noexcept {
  try {
    const CudaCurrent current(gpu());
    if (gpu().unshare(memory))
      gpu().driver().mem_free_host(memory);
    else
      gpu().driver().mem_free(reinterpret_cast<CudaDevicePointer>(memory));
  } catch (...) {
    // The driver has ended, and the memory with it.
  }
}

void CudaDevice::write(void* to, const void* from_host, std::size_t bytes) {
  const CudaCurrent current(gpu());
  if (gpu().shares(to)) {
    gpu().require(gpu().driver().stream_synchronize(nullptr), "waiting for the GPU");
    std::memmove(to, from_host, bytes);
    return;
  }
  gpu().require(gpu().driver().memcpy_htod_async(reinterpret_cast<CudaDevicePointer>(to), from_host, bytes, nullptr),
                "copying to the GPU");
  gpu().require(gpu().driver().stream_synchronize(nullptr), "copying to the GPU");
}

void CudaDevice::read(void* to_host, const void* from, std::size_t bytes) {
  const CudaCurrent current(gpu());
  if (gpu().shares(from)) {
    gpu().require(gpu().driver().stream_synchronize(nullptr), "waiting for the GPU");
    std::memmove(to_host, from, bytes);
    return;
  }
  gpu().require(gpu().driver().memcpy_dtoh_async(to_host, reinterpret_cast<CudaDevicePointer>(from), bytes, nullptr),
                "copying from the GPU");
  gpu().require(gpu().driver().stream_synchronize(nullptr), "copying from the GPU");
}

}  // namespace nbcc
