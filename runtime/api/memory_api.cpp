// Turns the C interface's calls for memory of a device into those of KernelDevice. The doors are nbcc_device_allocate,
// _allocate_shared, _free, _write and _read of nbcc.h. It knows no sums.
#include "runtime/api/handles.h"

namespace nbcc {
namespace {

template <typename Body>
nbcc_status with(nbcc_device* device, nbcc_error** error, Body body) noexcept {
  if (error) *error = nullptr;
  try {
    if (!device) throw UsageError("device is a null pointer");
    body(*device->device);
    return NBCC_OK;
  } catch (...) {
    return fail_with_current_exception(error);
  }
}

void check_ends(const void* to, const void* from, std::size_t bytes) {
  if (bytes == 0) return;
  if (!to) throw UsageError("the place to copy to is a null pointer");
  if (!from) throw UsageError("the place to copy from is a null pointer");
}

}  // namespace
}  // namespace nbcc

extern "C" {

nbcc_status nbcc_device_allocate(nbcc_device* device, size_t bytes, void** memory, nbcc_error** error) {
  return nbcc::with(device, error, [&](nbcc::KernelDevice& on) {
    if (!memory) throw nbcc::UsageError("the place for the memory is a null pointer");
    *memory = nullptr;
    *memory = on.allocate(bytes);
  });
}

nbcc_status nbcc_device_allocate_shared(nbcc_device* device, size_t bytes, void** memory, nbcc_error** error) {
  return nbcc::with(device, error, [&](nbcc::KernelDevice& on) {
    if (!memory) throw nbcc::UsageError("the place for the memory is a null pointer");
    *memory = nullptr;
    *memory = on.allocate_shared(bytes);
  });
}

void nbcc_device_free(nbcc_device* device, void* memory) {
  if (device && memory) device->device->release(memory);
}

nbcc_status nbcc_device_write(nbcc_device* device, void* to, const void* from_host, size_t bytes, nbcc_error** error) {
  return nbcc::with(device, error, [&](nbcc::KernelDevice& on) {
    nbcc::check_ends(to, from_host, bytes);
    if (bytes > 0) on.write(to, from_host, bytes);
  });
}

nbcc_status nbcc_device_read(nbcc_device* device, void* to_host, const void* from, size_t bytes, nbcc_error** error) {
  return nbcc::with(device, error, [&](nbcc::KernelDevice& on) {
    nbcc::check_ends(to_host, from, bytes);
    if (bytes > 0) on.read(to_host, from, bytes);
  });
}

}  // extern "C"
