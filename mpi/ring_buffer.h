// A buffer in device memory or in pinned host memory; it grows and never shrinks.
#pragma once
#include <cstddef>

#include "runtime/api/nbcc.hpp"

namespace nbcc {

class RingBuffer {
 public:
  RingBuffer(nbcc_device* device, bool on_host) : device_(device), on_host_(on_host) {}
  ~RingBuffer() { nbcc_device_free(device_, data_); }
  RingBuffer(const RingBuffer&) = delete;
  RingBuffer& operator=(const RingBuffer&) = delete;
  void reserve(std::size_t bytes);  // the old content is lost when the buffer grows. Throws Error
  void* data() const { return data_; }

 private:
  nbcc_device* const device_;
  const bool on_host_;
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace nbcc
