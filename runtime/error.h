// The runtime's ways to fail; the compiler's are in compiler/text/diagnostic.h.
#pragma once
#include <stdexcept>

namespace nbcc {

// Driver or toolchain: no device, out of memory, object code that does not load. The message carries their log.
struct DeviceError : std::runtime_error {
  using std::runtime_error::runtime_error;
  ~DeviceError() override;
};

// The caller asked for something that cannot be: a field that is not there, counts that differ, a null pointer.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
  ~UsageError() override;
};

// The caller's progress callback has asked to end the run. No mistake of the caller, nor of ours.
struct Interrupted : std::runtime_error {
  using std::runtime_error::runtime_error;
  ~Interrupted() override;
};

// Our bug: a device's compiler refused the text that ours emitted. To the runtime what InternalError is to the
// compiler, of which it knows nothing. The message carries the log.
struct TextRefused : std::logic_error {
  using std::logic_error::logic_error;
  ~TextRefused() override;
};

}  // namespace nbcc
