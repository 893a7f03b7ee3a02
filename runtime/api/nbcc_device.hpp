// Part of nbcc's C++ interface, included by nbcc.hpp: devices and their memory, and how calls of nbcc.h throw.
#pragma once
#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "runtime/api/nbcc.h"
#include "runtime/api/nbcc_views.hpp"

namespace nbcc {
inline namespace v0 {

namespace detail {

struct Close {
  void operator()(nbcc_device* device) const { nbcc_device_close(device); }
  void operator()(nbcc_pipeline* pipeline) const { nbcc_pipeline_close(pipeline); }
  void operator()(nbcc_sum* sum) const { nbcc_sum_destroy(sum); }
  void operator()(nbcc_error* error) const { nbcc_error_free(error); }
};

// Throws if `status` is a failure. Call the function that sets *error in an earlier statement, because the order in
// which arguments are evaluated is unspecified.
inline void check(nbcc_status status, nbcc_error* error) {
  const std::unique_ptr<nbcc_error, Close> owner(error);
  if (status == NBCC_INTERRUPTED) throw Interrupted(error ? nbcc_error_message(error) : "interrupted");
  if (status != NBCC_OK) throw Error(status, error ? nbcc_error_message(error) : "out of memory");
}

// Calls a function of nbcc.h with an nbcc_error** as additional last argument; throws on failure.
template <typename Function, typename... Given>
void call(Function function, Given... given) {
  nbcc_error* error = nullptr;
  const nbcc_status status = function(given..., &error);
  check(status, error);
}

}  // namespace detail

struct DeviceOptions {
  int threads = 0;    // 0: all cores that this process may run on
  std::string isa{};  // "sse2", "avx2", "avx512"; empty: the best that this machine supports
  // Folders; "" means none. No value: $NBCC_CACHE_DIR, $XDG_CACHE_HOME/nbcc or ~/.cache/nbcc; and $NBCC_DUMP.
  std::optional<std::string> cache_dir{}, dump_dir{};
};

class Device {
 public:
  // name: "cpu", "cuda", "cuda:N", "cuda:0,2" or "cuda:all". Throws Error: NBCC_ERROR_DEVICE if there is no such
  // device, NBCC_ERROR_USAGE if options are invalid.
  explicit Device(const std::string& name = "cpu", const DeviceOptions& options = {}) {
    nbcc_device_options given{};
    given.size = sizeof given;
    given.threads = options.threads;
    given.isa = options.isa.empty() ? nullptr : options.isa.c_str();
    given.cache_dir = options.cache_dir ? options.cache_dir->c_str() : nullptr;
    given.dump_dir = options.dump_dir ? options.dump_dir->c_str() : nullptr;
    nbcc_device* device = nullptr;
    detail::call(nbcc_device_open, name.c_str(), &given, &device);
    handle_.reset(device);
  }
  // Takes ownership of a device that was opened through nbcc.h.
  explicit Device(nbcc_device* device) : handle_(device) {}

  // "cpu, avx2, 2 threads", "cuda:0, NVIDIA H200, sm_90"
  std::string name() const { return nbcc_device_name(handle_.get()); }
  nbcc_device* get() const { return handle_.get(); }

 private:
  std::unique_ptr<nbcc_device, detail::Close> handle_;
};

// Memory of a device, for arrays that runs use without a copy; on the CPU it is host memory. The contents are
// uninitialized. The device must outlive the memory. All functions may throw Error.
class DeviceMemory {
 public:
  // shared: host memory that the device reads and writes over the bus, and the caller through data(); see
  // nbcc_device_allocate_shared.
  DeviceMemory(const Device& device, std::size_t bytes, bool shared = false) : device_(device.get()), bytes_(bytes) {
    detail::call(shared ? nbcc_device_allocate_shared : nbcc_device_allocate, device_, bytes, &data_);
  }
  ~DeviceMemory() { nbcc_device_free(device_, data_); }
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  void* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }

  // Copy `bytes` bytes between the host and this memory from `offset` (bytes) on. The copy begins when earlier work in
  // the default stream is done; the function returns when the copy is done.
  void write(std::size_t offset, const void* from_host, std::size_t bytes) {
    check_range(offset, bytes);
    detail::call(nbcc_device_write, device_, static_cast<std::byte*>(data_) + offset, from_host, bytes);
  }
  void read(std::size_t offset, void* to_host, std::size_t bytes) const {
    check_range(offset, bytes);
    detail::call(nbcc_device_read, device_, to_host, static_cast<const std::byte*>(data_) + offset, bytes);
  }

 private:
  void check_range(std::size_t offset, std::size_t bytes) const {
    if (offset <= bytes_ && bytes <= bytes_ - offset) return;
    throw Error(NBCC_ERROR_USAGE, std::to_string(bytes) + " bytes from " + std::to_string(offset) + " on of " +
                                      std::to_string(bytes_) + " bytes of a device's memory");
  }

  nbcc_device* device_;
  std::size_t bytes_;
  void* data_ = nullptr;
};

}  // namespace v0
}  // namespace nbcc
