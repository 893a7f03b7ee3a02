// A GPU with its primary context, and owners of its memory, events and streams. All calls go through the driver's
// table. Tested by tests/unit/runtime/cuda/run/cuda_sum_test.cpp and cuda_stage_test.cpp.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/cuda/driver/choose_launch.h"
#include "runtime/cuda/driver/cuda_driver.h"
#include "runtime/sum/request/progress.h"

namespace nbcc {

// One GPU; retains its primary context. Programs of the CUDA runtime use the primary context too, so nbcc can use their
// pointers and streams. Must outlive all objects of the classes below.
class CudaGpu {
 public:
  // Throws DeviceError: there is no such GPU.
  CudaGpu(const CudaDriver& driver, int ordinal);
  ~CudaGpu();
  CudaGpu(const CudaGpu&) = delete;
  CudaGpu& operator=(const CudaGpu&) = delete;

  const CudaDriver& driver() const { return driver_; }
  CudaContext* context() const { return context_; }
  int ordinal() const { return ordinal_; }
  const std::string& model() const { return model_; }                // "NVIDIA H200"
  const std::string& architecture() const { return architecture_; }  // "sm_90"
  int multiprocessors() const { return multiprocessors_; }
  double clock_hertz() const { return clock_hertz_; }                           // peak
  double cycles_per_second() const { return clock_hertz_ * multiprocessors_; }  // of all multiprocessors
  int shared_bytes() const { return shared_bytes_; }                            // shared memory of a multiprocessor
  int reserved_shared_bytes() const { return reserved_shared_bytes_; }          // of each block, reserved by the system
  const CudaRates& rates() const { return rates_; }

  // Enables peer access, so that kernels of this GPU can access memory of the other. False: peer access is not
  // possible.
  [[nodiscard]] bool reach(const CudaGpu& other) const;
  bool reaches(std::int64_t ordinal) const;  // true for this GPU and for those opened by reach()

  // Registers pinned host memory that nbcc treats as memory of the GPU: kernels access it directly (zero-copy). Thread
  // safe.
  void share(const void* begin, std::size_t bytes) const;
  bool unshare(const void* begin) const;  // false: no registered memory begins there
  bool shares(const void* at) const;

  // Throws DeviceError unless `result` is success. `what` is a plain pointer, so that success constructs no string.
  void require(CudaResult result, const char* what) const {
    if (result != kCudaSuccess) check(driver_, result, what);
  }
  // Asynchronous copies to and from the GPU. Call with the context current.
  void send(CudaDevicePointer to, const void* from, std::size_t bytes, CudaStream* stream) const {
    require(driver_.memcpy_htod_async(to, from, bytes, stream), "copying to the GPU");
  }
  void fetch(void* to, CudaDevicePointer from, std::size_t bytes, CudaStream* stream) const {
    require(driver_.memcpy_dtoh_async(to, from, bytes, stream), "copying from the GPU");
  }
  // True if the caller is capturing the stream into a graph. Call with the context current.
  bool is_captured(CudaStream* stream) const;
  void synchronize(CudaStream* stream) const { require(driver_.stream_synchronize(stream), "waiting for the GPU"); }

 private:
  const CudaDriver& driver_;
  int ordinal_ = 0, device_ = 0;
  CudaContext* context_ = nullptr;
  std::string model_, architecture_;
  int multiprocessors_ = 1;
  double clock_hertz_ = 1;
  int shared_bytes_ = 0, reserved_shared_bytes_ = 0;
  CudaRates rates_;
  mutable std::mutex shared_mutex_;                       // protects the next two members
  mutable std::vector<int> reached_;                      // ordinals
  mutable std::map<std::uintptr_t, std::size_t> shared_;  // address -> bytes
};

// Makes the GPU's context current in this thread; the destructor restores the caller's context.
class CudaContextGuard {
 public:
  explicit CudaContextGuard(const CudaGpu& gpu);
  ~CudaContextGuard();
  CudaContextGuard(const CudaContextGuard&) = delete;
  CudaContextGuard& operator=(const CudaContextGuard&) = delete;

 private:
  const CudaGpu& gpu_;
  bool pushed_ = false;
};

// GPU memory that only grows; growing loses the contents and frees the old memory, so nothing may still use it, except
// after retain_for_capture(). Call with the context current.
class CudaBuffer {
 public:
  explicit CudaBuffer(const CudaGpu& gpu) : gpu_(gpu) {}
  ~CudaBuffer();
  CudaBuffer(const CudaBuffer&) = delete;
  CudaBuffer& operator=(const CudaBuffer&) = delete;

  // False: the GPU's memory does not suffice, and the buffer is empty. Throws DeviceError for any other failure.
  [[nodiscard]] bool reserve(std::size_t bytes);
  // Like reserve(), for contents that captured graphs must not see: does not use memory whose address a graph may hold.
  [[nodiscard]] bool reallocate(std::size_t bytes) {
    if (retains_) release();
    retains_ = false;  // no graph holds the new address
    return reserve(bytes);
  }
  void release();
  // From now on old memory is freed only by the destructor, because captured graphs may hold its address.
  void retain_for_capture() { retains_ = true; }
  CudaDevicePointer data() const { return data_; }
  std::size_t bytes() const { return bytes_; }

 private:
  const CudaGpu& gpu_;
  CudaDevicePointer data_ = 0;
  std::size_t bytes_ = 0;
  bool retains_ = false;
  std::vector<CudaDevicePointer> retained_;
};

// An address of GPU memory as a pointer member of a struct that host and kernels share. The host does not dereference
// the pointer.
template <typename T>
T* gpu_pointer(CudaDevicePointer at) {
  return reinterpret_cast<T*>(at);
}

// Pinned memory of the host, for asynchronous copies. Only grows; growing loses the contents.
class CudaPinned {
 public:
  explicit CudaPinned(const CudaGpu& gpu) : gpu_(gpu) {}
  ~CudaPinned();
  CudaPinned(const CudaPinned&) = delete;
  CudaPinned& operator=(const CudaPinned&) = delete;

  void reserve(std::size_t bytes);
  std::byte* data() const { return static_cast<std::byte*>(data_); }

 private:
  const CudaGpu& gpu_;
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

// An event of a stream, created by the first record(). The destructor destroys it.
class CudaEventOwner {
 public:
  // `flags`: kCudaNoTiming, or kCudaTiming for seconds_since().
  explicit CudaEventOwner(const CudaGpu& gpu, unsigned flags = kCudaNoTiming) : gpu_(gpu), flags_(flags) {}
  ~CudaEventOwner();
  CudaEventOwner(const CudaEventOwner&) = delete;
  CudaEventOwner& operator=(const CudaEventOwner&) = delete;

  void record(CudaStream* stream);
  // make_wait() and wait() do nothing before the first record().
  void make_wait(CudaStream* stream) const;  // later work of `stream` waits for the event
  // Blocks until the event has happened. With `progress`, polls it meanwhile; throws Interrupted if it interrupts.
  void wait(Progress* progress = nullptr) const;
  // The time between two events. Both have kCudaTiming, were recorded and have happened.
  double seconds_since(const CudaEventOwner& begin) const;

 private:
  const CudaGpu& gpu_;
  unsigned flags_;
  CudaEvent* event_ = nullptr;
};

// A stream of nbcc's that does not synchronise with the default stream. Created by the first get().
class CudaOwnStream {
 public:
  explicit CudaOwnStream(const CudaGpu& gpu) : gpu_(gpu) {}
  ~CudaOwnStream();
  CudaOwnStream(const CudaOwnStream&) = delete;
  CudaOwnStream& operator=(const CudaOwnStream&) = delete;

  CudaStream* get();
  void wait() const;

 private:
  const CudaGpu& gpu_;
  CudaStream* stream_ = nullptr;
};

}  // namespace nbcc
