// Exceptions of the runtime; the compiler's are in compiler/text/diagnostic.h.
#pragma once
#include <stdexcept>

namespace nbcc {

// A driver or toolchain failed: no device, out of memory, object code that does not load. The message has the log.
struct DeviceError : std::runtime_error {
  using std::runtime_error::runtime_error;
  ~DeviceError() override;
};

// The caller's arguments are invalid: an unknown field, counts that differ, a null pointer.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
  ~UsageError() override;
};

// The caller's progress callback has asked to end the run. This is not a mistake of the caller, nor a defect of nbcc.
struct Interrupted : std::runtime_error {
  using std::runtime_error::runtime_error;
  ~Interrupted() override;
};

// A defect of nbcc: the device's compiler rejected the source that nbcc emitted. The compiler's InternalError is not
// available here, because the runtime does not include the compiler. The message has the log.
struct SourceRejected : std::logic_error {
  using std::logic_error::logic_error;
  ~SourceRejected() override;
};

}  // namespace nbcc
