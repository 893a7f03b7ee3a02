// Steps of which each is done although another has thrown, as where several devices are waited for. Threads do not
// share it. Tested by tests/unit/first_failure_test.cpp.
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
  // Throws what was thrown first, if anything was.
  void rethrow() const {
    if (first_) std::rethrow_exception(first_);
  }

 private:
  std::exception_ptr first_;
};

}  // namespace nbcc
