// Arrays and launches of copies. Interface: CudaDeviceCopies, which CudaSummation::device_copies() makes.
#include "runtime/cuda/run/cuda_device_copies.h"

#include <algorithm>

#include "fmt/format.h"
#include "runtime/cuda/program/cuda_arguments.h"
#include "runtime/cuda/run/cuda_plain_source.h"
#include "runtime/cuda/run/cuda_sum.h"
#include "runtime/error.h"
#include "templates/cuda/frames/cuda_copy_data.h"

namespace nbcc {
DeviceCopies* CudaSummation::device_copies(std::span<const ArrayView> arrays) {
  const CudaContextGuard guard(gpu_);
  // Kernels read naturally aligned elements.
  const auto is_here = [&](const ArrayView& view) {
    const std::int64_t bits =
        std::int64_t(reinterpret_cast<std::uintptr_t>(view.data)) | view.stride | view.component_stride;
    if ((bits & (size_of(view.element) - 1)) != 0) return false;
    if (gpu_.shares(view.data)) return true;
    const CudaPointer pointer = find_pointer(gpu_, view.data);
    return pointer.managed || (pointer.on_gpu && gpu_.reaches(pointer.ordinal));
  };
  if (arrays.empty() || !std::ranges::all_of(arrays, is_here)) return nullptr;
  if (!copies_ && !has_no_copies_) {
    try {
      copies_ = std::make_unique<CudaDeviceCopies>(kernel_);
    } catch (const DeviceError&) {
      has_no_copies_ = true;  // no compiler: the copies are made on the host
    }
  }
  return copies_.get();
}

CudaDeviceCopies::CudaDeviceCopies(const CudaKernel& kernel)
    : gpu_(kernel.gpu()), kernel_(std::static_pointer_cast<const CudaKernel>(kernel.load(copies_source()))) {}

CudaDeviceCopies::~CudaDeviceCopies() {
  try {
    const CudaContextGuard guard(gpu_);
    read_.wait();
  } catch (...) {
    // A GPU that has failed no longer uses memory.
  }
}

void CudaDeviceCopies::begin(void* stream) {
  const CudaContextGuard guard(gpu_);
  stream_ = static_cast<CudaStream*>(stream);
  captured_ = gpu_.is_captured(stream_);
  if (!captured_) read_.make_wait(stream_);
}

void CudaDeviceCopies::end() noexcept {
  if (captured_) return;
  try {
    const CudaContextGuard guard(gpu_);
    read_.record(stream_);
  } catch (...) {
    // A GPU that has failed: the next call reports it.
  }
}

void CudaDeviceCopies::refuse_capture(const char* what) const {
  if (captured_)
    throw DeviceError(fmt::format(
        "copies of particles, for every_image(), results per pair, arrays of 16-bit numbers or softmax: {}, which "
        "cannot be done while a "
        "stream is captured",
        what));
}

void* CudaDeviceCopies::reserve(std::size_t number, std::size_t bytes) {
  const CudaContextGuard guard(gpu_);
  CudaBuffer& array = arrays_.try_emplace(number, gpu_).first->second;
  if (bytes > array.bytes()) {
    refuse_capture("their memory must grow (run once before the capture)");
    read_.wait();  // the runs that read the old memory
    if (!array.reserve(bytes))
      throw DeviceError(fmt::format("out of memory of the GPU: copies of particles need {} MB", bytes >> 20));
  }
  if (captured_) array.retain_for_capture();
  return reinterpret_cast<void*>(array.data());
}

void CudaDeviceCopies::send(void* to, const void* from, std::size_t bytes) {
  const CudaContextGuard guard(gpu_);
  refuse_capture("the host sends lists or formulas (run once before the capture)");
  gpu_.send(reinterpret_cast<std::uintptr_t>(to), from, bytes, stream_);
  gpu_.synchronize(stream_);
}

void CudaDeviceCopies::fetch(void* to, const void* from, std::size_t bytes) {
  const CudaContextGuard guard(gpu_);
  refuse_capture("the host reads their number, or the list of chosen i");
  gpu_.fetch(to, reinterpret_cast<std::uintptr_t>(from), bytes, stream_);
  gpu_.synchronize(stream_);
}

void CudaDeviceCopies::launch(std::string_view kernel, std::int64_t items, const void* argument,
                              std::int64_t max_blocks) {
  if (items == 0) return;
  const CudaContextGuard guard(gpu_);
  CudaFunction*& function = functions_[kernel];
  if (!function) function = kernel_->program().find(std::string(kernel).c_str());
  const std::int64_t blocks = std::min(ceil_div(items, copy_data::kThreads), max_blocks);
  void* arguments[] = {const_cast<void*>(argument)};
  launch_kernel(gpu_, function, std::string(kernel).c_str(), unsigned(blocks), 1, copy_data::kThreads, arguments,
                stream_, false);
}

}  // namespace nbcc
