// For the files that implement the C interface nbcc.h: the structs of its opaque handles, and the conversion of
// exceptions to statuses.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>

#include "compiler/text_facts.h"
#include "runtime/api/nbcc.h"
#include "runtime/error.h"
#include "runtime/sum/check/run_check.h"
#include "runtime/sum/plan/device.h"
#include "runtime/sum/run/sum.h"

struct nbcc_error {
  nbcc_status status;
  std::string message;
};

struct nbcc_device {
  std::shared_ptr<nbcc::KernelDevice> device;
};

struct nbcc_pipeline {
  std::shared_ptr<const nbcc::Kernel> kernel;
  nbcc::TextFacts facts = {};
};

struct nbcc_sum {
  nbcc::SumState state;
  nbcc::RunCheck check;
  bool skips_self = false;  // no pair of a particle and itself contributes
  nbcc_progress progress = nullptr;
  void* progress_data = nullptr;  // first argument of `progress`
  double tolerance = 0;           // of nbcc_sum_set_tolerance
  std::uint64_t digest = 0;       // TextFacts::digest of the pipeline
  // Strings returned by the last nbcc_sum_get_statistics.
  mutable std::string method = {}, reason = {}, precision = {}, convention = {};
};

namespace nbcc {

// Sets *error (if error is not null) and returns the status. Without memory for the message *error becomes null.
nbcc_status fail(nbcc_error** error, nbcc_status status, const std::string& message) noexcept;
// Field k for the caller: 0, or -1 if there is none. types: as declared. is_read: TextFacts::is_read.
int describe_field(const std::vector<FieldLayout>& fields, const std::vector<std::string>& types,
                   const std::vector<bool>& is_read, int k, nbcc_field* field);
// For use in a catch block: UsageError, DeviceError, Interrupted and std::bad_alloc get their statuses; any other
// exception is a defect of nbcc.
nbcc_status fail_with_current_exception(nbcc_error** error) noexcept;

// Runs the body. If it throws, `failed`, called in the catch block, converts the exception to a status and a message.
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

// nbcc_sum_run. peers: SumRequest::peers.
void run_sum(nbcc_sum& sum, const nbcc_run_options* options, FarPeers* peers);
// Throws what such a run would throw because of its arguments, without a sum.
void check_run(nbcc_sum& sum, const nbcc_run_options* options);

// The number in an enumeration. A C caller may have stored any number; reading that as an enumeration is undefined in
// C++.
template <typename Enum>
int number_of(const Enum& value) {
  static_assert(sizeof(Enum) == sizeof(int));
  int number;
  std::memcpy(&number, &value, sizeof number);
  return number;
}

// Copies the first given->size bytes of the caller's options over the defaults, because the caller may have been
// compiled with an older, shorter struct. null means the defaults.
template <typename Options>
Options read_options(const Options* given, Options defaults) {
  if (!given) return defaults;
  if (given->size < sizeof(std::size_t)) throw UsageError("options: `size` must be the size of the struct");
  std::memcpy(&defaults, given, std::min(given->size, sizeof(Options)));
  return defaults;
}

}  // namespace nbcc
