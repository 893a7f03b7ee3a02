// An ordinal -> a GPU with a context, and owners of memory, events and streams in it. Interface: CudaGpu,
// CudaContextGuard and the owners. Knows no kernels. Destructors ignore errors of the driver: they cannot report them.
#include "runtime/cuda/driver/cuda_memory.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <utility>

#include "fmt/format.h"
#include "runtime/error.h"

namespace nbcc {
namespace {

// For destructors: calls `free` with the GPU's context current; ignores all errors.
template <typename Free>
void in_context(const CudaGpu& gpu, Free free) noexcept {
  try {
    const CudaContextGuard guard(gpu);
    free(gpu.driver());
  } catch (...) {
  }
}

}  // namespace

CudaGpu::CudaGpu(const CudaDriver& driver, int ordinal) : driver_(driver), ordinal_(ordinal) {
  int count = 0;
  require(driver_.device_get_count(&count), "counting the GPUs");
  if (ordinal < 0 || ordinal >= count) {
    throw DeviceError(count == 0 ? "there is no GPU here"
                                 : fmt::format("there is no device cuda:{}; there {} cuda:0{}", ordinal,
                                               count == 1 ? "is" : "are",
                                               count == 1 ? "" : fmt::format(" to cuda:{}", count - 1)));
  }
  require(driver_.device_get(&device_, ordinal), "opening the GPU");
  std::array<char, 256> name{};
  require(driver_.device_get_name(name.data(), int(name.size()) - 1, device_), "reading the GPU's name");
  model_ = name.data();
  const auto attribute = [&](int which) {
    int value = 0;
    require(driver_.device_get_attribute(&value, which, device_), "reading the GPU's properties");
    return value;
  };
  architecture_ = fmt::format("sm_{}{}", attribute(kCudaMajor), attribute(kCudaMinor));
  multiprocessors_ = attribute(kCudaMultiprocessors);
  clock_hertz_ = 1e3 * std::max(attribute(kCudaClockKilohertz), 1);
  shared_bytes_ = attribute(kCudaSharedPerMultiprocessor);
  reserved_shared_bytes_ = attribute(kCudaReservedSharedPerBlock);
  rates_ = cuda_rates(10 * attribute(kCudaMajor) + attribute(kCudaMinor), attribute(kCudaSingleToDoubleRatio));
  require(driver_.device_primary_ctx_retain(&context_, device_), "opening the GPU's primary context");
}

CudaGpu::~CudaGpu() { driver_.device_primary_ctx_release(device_); }

bool CudaGpu::is_captured(CudaStream* stream) const {
  // Null and 1 are the legacy default stream, which cannot be captured; asking about it is an error.
  if (reinterpret_cast<std::uintptr_t>(stream) <= 1) return false;
  int captured = 0;
  require(driver_.stream_is_capturing(stream, &captured), "asking whether the stream is captured");
  return captured != 0;
}

bool CudaGpu::reach(const CudaGpu& other) const {
  int can = 0;
  require(driver_.device_can_access_peer(&can, device_, other.device_), "asking whether two GPUs are linked");
  if (can == 0) return false;
  const CudaContextGuard guard(*this);
  const CudaResult result = driver_.ctx_enable_peer_access(other.context_, 0);
  if (result != kCudaPeerAccessAlready) require(result, "opening another GPU's memory");
  const std::lock_guard lock(shared_mutex_);
  reached_.push_back(other.ordinal_);
  return true;
}

bool CudaGpu::reaches(std::int64_t ordinal) const {
  const std::lock_guard lock(shared_mutex_);
  return ordinal == ordinal_ || std::ranges::find(reached_, ordinal) != reached_.end();
}

void CudaGpu::share(const void* begin, std::size_t bytes) const {
  const std::lock_guard lock(shared_mutex_);
  shared_[reinterpret_cast<std::uintptr_t>(begin)] = bytes;
}

bool CudaGpu::unshare(const void* begin) const {
  const std::lock_guard lock(shared_mutex_);
  return shared_.erase(reinterpret_cast<std::uintptr_t>(begin)) > 0;
}

bool CudaGpu::shares(const void* at) const {
  const std::lock_guard lock(shared_mutex_);
  const auto address = reinterpret_cast<std::uintptr_t>(at);
  const auto behind = shared_.upper_bound(address);
  if (behind == shared_.begin()) return false;
  const auto& [begin, bytes] = *std::prev(behind);
  return address - begin < bytes;
}

CudaContextGuard::CudaContextGuard(const CudaGpu& gpu) : gpu_(gpu) {
  CudaContext* now = nullptr;
  gpu.require(gpu.driver().ctx_get_current(&now), "asking for the current context");
  if (now == gpu.context()) return;
  gpu.require(gpu.driver().ctx_push_current(gpu.context()), "making the GPU's context current");
  pushed_ = true;
}

CudaContextGuard::~CudaContextGuard() {
  CudaContext* popped = nullptr;
  if (pushed_) gpu_.driver().ctx_pop_current(&popped);
}

CudaBuffer::~CudaBuffer() {
  if (data_ != 0) retained_.push_back(data_);
  if (retained_.empty()) return;
  in_context(gpu_, [&](const CudaDriver& driver) {
    for (const CudaDevicePointer pointer : retained_) driver.mem_free(pointer);
  });
}

bool CudaBuffer::reserve(std::size_t bytes) {
  if (bytes <= bytes_) return true;
  release();
  if (bytes > std::numeric_limits<std::size_t>::max() - 255) return false;
  // Rounding up wastes nothing: the driver's allocations begin at multiples of 256 bytes.
  const std::size_t rounded = (bytes + 255) / 256 * 256;
  const CudaResult result = gpu_.driver().mem_alloc(&data_, rounded);
  if (result != kCudaSuccess) data_ = 0;
  if (result == kCudaOutOfMemory) return false;
  gpu_.require(result, "allocating memory of the GPU");
  bytes_ = rounded;
  return true;
}

void CudaBuffer::release() {
  if (data_ == 0) return;
  const CudaDevicePointer pointer = std::exchange(data_, 0);
  bytes_ = 0;
  if (retains_) return retained_.push_back(pointer);
  gpu_.require(gpu_.driver().mem_free(pointer), "freeing memory of the GPU");
}

CudaPinned::~CudaPinned() {
  if (data_) in_context(gpu_, [&](const CudaDriver& driver) { driver.mem_free_host(data_); });
}

void CudaPinned::reserve(std::size_t bytes) {
  if (bytes <= bytes_) return;
  if (data_) gpu_.driver().mem_free_host(data_);
  data_ = nullptr;
  bytes_ = 0;
  void* made = nullptr;
  gpu_.require(gpu_.driver().mem_host_alloc(&made, bytes, 0), "allocating pinned memory of the host");
  data_ = made;
  bytes_ = bytes;
}

CudaEventOwner::~CudaEventOwner() {
  if (event_) in_context(gpu_, [&](const CudaDriver& driver) { driver.event_destroy(event_); });
}

void CudaEventOwner::record(CudaStream* stream) {
  if (!event_) gpu_.require(gpu_.driver().event_create(&event_, flags_), "making an event");
  gpu_.require(gpu_.driver().event_record(event_, stream), "recording an event");
}

void CudaEventOwner::make_wait(CudaStream* stream) const {
  if (event_) gpu_.require(gpu_.driver().stream_wait_event(stream, event_, 0), "letting a stream wait for an event");
}

void CudaEventOwner::wait(Progress* progress) const {
  if (!event_) return;
  if (!progress) return gpu_.require(gpu_.driver().event_synchronize(event_), "waiting for the GPU");
  progress->wait_until([&] {
    const CudaResult result = gpu_.driver().event_query(event_);
    if (result == kCudaNotReady) return false;
    gpu_.require(result, "waiting for the GPU");
    return true;
  });
}

double CudaEventOwner::seconds_since(const CudaEventOwner& begin) const {
  float milliseconds = 0;
  gpu_.require(gpu_.driver().event_elapsed_time(&milliseconds, begin.event_, event_),
               "reading the time between two events");
  return double(milliseconds) / 1000;
}

CudaOwnStream::~CudaOwnStream() {
  if (stream_) in_context(gpu_, [&](const CudaDriver& driver) { driver.stream_destroy(stream_); });
}

CudaStream* CudaOwnStream::get() {
  if (!stream_) gpu_.require(gpu_.driver().stream_create(&stream_, kCudaNonBlocking), "making a stream");
  return stream_;
}

void CudaOwnStream::wait() const {
  if (stream_) gpu_.synchronize(stream_);
}

}  // namespace nbcc
