// A GPU with its primary context, and owners of what lives in it. All calls go through the driver's table.
// Tested by tests/unit/cuda_sum_test.cpp and cuda_stage_test.cpp.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/cuda/cuda_driver.h"
#include "runtime/sum/progress.h"

namespace nbcc {

// One GPU, its primary context retained: the one that programs of the CUDA runtime use, so that their pointers and
// streams are ours as well. Outlives everything below.
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
  double clock_hertz() const { return clock_hertz_; }                           // at its peak
  double cycles_per_second() const { return clock_hertz_ * multiprocessors_; }  // of all multiprocessors

  // Kernels of this GPU read and write memory of the other from now on. False: there is no way between the two.
  [[nodiscard]] bool reach(const CudaGpu& other) const;
  bool reaches(std::int64_t ordinal) const;  // its own memory, and what reach() has opened

  // Pinned memory of the host that counts as the GPU's own: kernels read and write it where it is. Any thread may ask.
  void share(const void* begin, std::size_t bytes) const;
  bool unshare(const void* begin) const;  // false: none begins there
  bool shares(const void* at) const;

  // Throws DeviceError unless `result` is success. A plain pointer: nothing is built when all is well.
  void require(CudaResult result, const char* what) const {
    if (result != kCudaSuccess) check(driver_, result, what);
  }
  // With the context current.
  void send(CudaDevicePointer to, const void* from, std::size_t bytes, CudaStream* stream) const {
    require(driver_.memcpy_htod_async(to, from, bytes, stream), "copying to the GPU");
  }
  void fetch(void* to, CudaDevicePointer from, std::size_t bytes, CudaStream* stream) const {
    require(driver_.memcpy_dtoh_async(to, from, bytes, stream), "copying from the GPU");
  }
  void synchronize(CudaStream* stream) const { require(driver_.stream_synchronize(stream), "waiting for the GPU"); }

 private:
  const CudaDriver& driver_;
  int ordinal_ = 0, device_ = 0;
  CudaContext* context_ = nullptr;
  std::string model_, architecture_;
  int multiprocessors_ = 1;
  double clock_hertz_ = 1;
  mutable std::mutex shared_mutex_;                       // of the two below
  mutable std::vector<int> reached_;                      // ordinals
  mutable std::map<std::uintptr_t, std::size_t> shared_;  // bytes, by where they begin
};

// The GPU's context is the current one of this thread as long as this lives; then the caller's is again.
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

// Memory of the GPU that only grows; growing loses the contents. Nothing may use the old memory any more, except after
// keep_old(). Call with the context current.
class CudaBuffer {
 public:
  explicit CudaBuffer(const CudaGpu& gpu) : gpu_(gpu) {}
  ~CudaBuffer();
  CudaBuffer(const CudaBuffer&) = delete;
  CudaBuffer& operator=(const CudaBuffer&) = delete;

  // False: the GPU has not so much memory, and the buffer is empty. Throws DeviceError for anything else.
  [[nodiscard]] bool reserve(std::size_t bytes);
  // The same, for contents that a captured graph must not see: not in memory that it knows.
  [[nodiscard]] bool renew(std::size_t bytes) {
    if (keeps_old_) release();
    return reserve(bytes);
  }
  void release();
  // From now on memory that was handed out stays until the end: a captured graph knows its address.
  void keep_old() { keeps_old_ = true; }
  CudaDevicePointer data() const { return data_; }
  std::size_t bytes() const { return bytes_; }

 private:
  const CudaGpu& gpu_;
  CudaDevicePointer data_ = 0;
  std::size_t bytes_ = 0;
  bool keeps_old_ = false;
  std::vector<CudaDevicePointer> old_;
};

// Memory of the host that the GPU copies from and to by itself. Only grows; growing loses the contents.
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

// A point in a stream. Made at the first record().
class CudaEventOwner {
 public:
  explicit CudaEventOwner(const CudaGpu& gpu) : gpu_(gpu) {}
  ~CudaEventOwner();
  CudaEventOwner(const CudaEventOwner&) = delete;
  CudaEventOwner& operator=(const CudaEventOwner&) = delete;

  void record(CudaStream* stream);
  // Both do nothing before the first record().
  void make_wait(CudaStream* stream) const;  // what the stream is given from now on comes after the event
  // Until all before the event is done. Where there is a `progress` it is asked meanwhile, and Interrupted is thrown.
  void wait(Progress* progress = nullptr) const;

 private:
  const CudaGpu& gpu_;
  CudaEvent* event_ = nullptr;
};

// A stream of our own that waits for no other. Made at the first get().
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
