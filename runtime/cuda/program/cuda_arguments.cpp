// Particles and params -> kernel arguments as bytes; launches. Interface: CudaArguments, launch_kernel().
#include "runtime/cuda/program/cuda_arguments.h"

#include <algorithm>
#include <new>

#include "fmt/format.h"

namespace nbcc {
namespace {

int components_of(const KernelSource& source, Role role) {
  int count = 0;
  for (const FieldLayout& field : source.fields) {
    if (field.role == role) count += field.components();
  }
  return std::max(count, 1);
}

// Constructs the next `count` values of the argument with the initial values of T. Advances `at`.
template <typename T>
T* construct(std::byte*& at, int count) {
  T* const first = reinterpret_cast<T*>(at);
  for (int k = 0; k < count; ++k, at += sizeof(T)) new (at) T{};
  return first;
}

}  // namespace

CudaArguments::CudaArguments(const KernelSource& source) {
  const int i = components_of(source, Role::InputI), j = components_of(source, Role::InputJ);
  const int outputs = std::max(source.outputs, 1), params = std::max(source.params, 1);
  const int tables = source.tables.empty() ? 0 : 1;
  const int pairs = source.sums_listed_pairs_only() ? components_of(source, Role::InputPair) : 0;
  const int histograms = source.histograms.empty() ? 0 : int(source.histograms.size()) + 3;
  size_ = std::size_t(i + j + pairs) * sizeof(CudaView) + std::size_t(tables + histograms) * sizeof(CudaDevicePointer) +
          std::size_t(outputs) * sizeof(CudaOutput) + std::size_t(params) * sizeof(double) + sizeof(CudaRun);
  bytes_ = std::make_unique<std::byte[]>(size_);
  std::byte* at = bytes_.get();
  i_ = construct<CudaView>(at, i);
  j_ = construct<CudaView>(at, j);
  pairs_ = construct<CudaView>(at, pairs);
  if (tables > 0) tables_ = construct<CudaDevicePointer>(at, tables);
  histograms_ = construct<CudaDevicePointer>(at, histograms);
  outputs_ = construct<CudaOutput>(at, outputs);
  params_ = construct<double>(at, params);
  run_ = construct<CudaRun>(at, 1);
}

CudaArguments::CudaArguments(const CudaArguments& other)
    : size_(other.size_), bytes_(std::make_unique<std::byte[]>(size_)) {
  std::memcpy(bytes_.get(), other.bytes_.get(), size_);
  const auto here = [&]<typename T>(T* there) {
    return there ? reinterpret_cast<T*>(bytes_.get() + (reinterpret_cast<std::byte*>(there) - other.bytes_.get()))
                 : nullptr;
  };
  i_ = here(other.i_);
  j_ = here(other.j_);
  pairs_ = here(other.pairs_);
  outputs_ = here(other.outputs_);
  params_ = here(other.params_);
  tables_ = here(other.tables_);
  histograms_ = here(other.histograms_);
  run_ = here(other.run_);
}

void CudaArguments::set_piece(const CudaPiece& piece) {
  run_->running = piece.accumulators.at;
  run_->running_stride = piece.accumulators.stride;
  run_->i_list = piece.i_list;
  run_->i_begin = piece.i_begin;
  run_->ni = piece.ni;
  run_->j_begin = piece.j_begin;
  run_->nj = piece.nj;
  run_->first = piece.first ? 1 : 0;
  run_->last = piece.last ? 1 : 0;
}

void launch_kernel(const CudaGpu& gpu, CudaFunction* function, const char* name, unsigned grid_x, unsigned grid_y,
                   unsigned threads, void** arguments, CudaStream* stream, bool overlaps, unsigned shared_bytes) {
  const CudaDriver& driver = gpu.driver();
  CudaResult result = kCudaSuccess;
  if (overlaps && driver.launch_kernel_ex) {
    CudaLaunchAttribute attribute{};
    attribute.id = kCudaProgrammaticStreamSerialization;
    attribute.value = 1;
    const CudaLaunchConfig config{grid_x, grid_y, 1, threads, 1, 1, shared_bytes, stream, &attribute, 1};
    result = driver.launch_kernel_ex(&config, function, arguments, nullptr);
  } else {
    result = driver.launch_kernel(function, grid_x, grid_y, 1, threads, 1, 1, shared_bytes, stream, arguments, nullptr);
  }
  if (result != kCudaSuccess) gpu.require(result, fmt::format("launching {}", name).c_str());
}

}  // namespace nbcc
