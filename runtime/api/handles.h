// The C interface, nbcc.h -> the runtime's objects: what stands behind its handles, and how an exception becomes a
// status. For the files that implement it.
#pragma once
#include <algorithm>
#include <cstring>
#include <memory>
#include <string>

#include "runtime/api/nbcc.h"
#include "runtime/error.h"
#include "runtime/sum/device.h"
#include "runtime/sum/sum.h"

struct nbcc_error {
  nbcc_status status;
  std::string message;
};

struct nbcc_device {
  std::shared_ptr<nbcc::KernelDevice> device;
};

struct nbcc_pipeline {
  std::shared_ptr<const nbcc::Kernel> kernel;
};

struct nbcc_sum {
  nbcc::SumState state;
  nbcc_progress progress = nullptr;  // with its first argument
  void* progress_data = nullptr;
  mutable std::string method = {}, reason = {};  // of the last nbcc_sum_get_statistics
};

namespace nbcc {

// Fills *error (where error is not null) and hands the status back. Without memory for the message *error becomes null.
nbcc_status fail(nbcc_error** error, nbcc_status status, const std::string& message) noexcept;
// For use in a catch block: UsageError, DeviceError and a lack of memory get their status, anything else is
// our bug.
nbcc_status fail_with_current_exception(nbcc_error** error) noexcept;

// Runs the body; every exception becomes a status with a message, by way of `failed`, which may look at it.
template <typename Body>
nbcc_status guarded(nbcc_error** error, Body body,
                    nbcc_status (*failed)(nbcc_error**) noexcept = fail_with_current_exception) noexcept {
  if (error) *error = nullptr;
  try {
    body();
    return NBCC_OK;
  } catch (...) {
    return failed(error);
  }
}

template <typename T>
T& checked(T* pointer, const char* what) {
  if (!pointer) throw UsageError(std::string(what) + " is a null pointer");
  return *pointer;
}

// A caller from C may have put any number into an enumeration; reading it as one would be undefined.
template <typename Enum>
int number_of(const Enum& value) {
  static_assert(sizeof(Enum) == sizeof(int));
  int number;
  std::memcpy(&number, &value, sizeof number);
  return number;
}

// The caller's options as far as the caller's version of the struct knows them; null means the defaults.
template <typename Options>
Options read_options(const Options* given, Options defaults) {
  if (!given) return defaults;
  if (given->size < sizeof(std::size_t)) throw UsageError("options: `size` must be the size of the struct");
  std::memcpy(&defaults, given, std::min(given->size, sizeof(Options)));
  return defaults;
}

}  // namespace nbcc
