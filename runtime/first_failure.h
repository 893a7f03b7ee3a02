// Runs every one of several steps even if some throw, and then rethrows the first exception; used to wait for several
// devices. An object is used by one thread only. Tested by tests/unit/runtime/first_failure_test.cpp.
#pragma once
#include <exception>

namespace nbcc {

class FirstFailure {
 public:
  template <typename Step>
  void attempt(const Step& step) noexcept {
    try {
      step();
    } catch (...) {
      if (!first_) first_ = std::current_exception();
    }
  }
  bool has_failed() const { return first_ != nullptr; }
  // Throws the first exception of the steps, if there was one.
  void rethrow() const {
    if (first_) std::rethrow_exception(first_);
  }

 private:
  std::exception_ptr first_;
};

}  // namespace nbcc
