// Shared by the interfaces of GRAPE-5 and GRAPE-6: the pipelines of this folder, environment variables, errors, and a
// background thread. Every function may throw nbcc::Error. Test: tests/grape/g5_test.cpp, g6_test.cpp.
#pragma once
#include <exception>
#include <functional>
#include <future>
#include <string>
#include <utility>

#include "runtime/api/nbcc.hpp"

namespace nbcc::grape {

// Compiles an embedded pipeline: "g6" is g6.pipe.
Pipeline pipeline_of(const Device& device, const std::string& name, nbcc_precision precision);

// Entry number `id` (modulo the number of entries) of $NBCC_DEVICE, "a,b,c"; "cpu" if it is not set.
std::string device_of(int id);
// The precision in $NBCC_PRECISION; mixed if it is not set.
nbcc_precision precision();
// The positive number in an environment variable; `otherwise` if it is not set or invalid.
int count_of(const char* variable, int otherwise);

inline Error usage(const std::string& message) { return Error(NBCC_ERROR_USAGE, message); }

inline void check_count(const char* name, int count) {
  if (count < 0) throw usage(std::string(name) + " is " + std::to_string(count));
}

// Throws for a null pointer, unless the array has no particles.
inline void check_given(const char* name, const void* array, int count = 1) {
  if (count > 0 && !array) throw usage(std::string(name) + " is a null pointer");
}

// The message of this thread's last failure.
inline thread_local std::string last_error;

// Calls the function; if it throws, returns false and sets last_error.
template <typename Function>
bool succeeds(Function function) noexcept {
  try {
    function();
    return true;
  } catch (const std::exception& error) {
    last_error = error.what();
  } catch (...) {
    last_error = "unknown failure";
  }
  return false;
}

// Runs one function in a background thread and keeps its exception for check(). Must be the last member of its owner,
// so that the destructor waits for the thread before other members are destroyed.
class Background {
 public:
  // If the system cannot create a thread, the thread that waits does the work.
  void start(std::function<void()> work) { work_ = std::async(std::move(work)); }
  // Waits until the work is done, and keeps its exception.
  void settle() {
    if (!work_.valid()) return;
    try {
      work_.get();
    } catch (...) {
      failure_ = std::current_exception();
    }
  }
  void forget() { fail(nullptr); }
  void fail(std::exception_ptr why) {
    settle();
    failure_ = std::move(why);
  }
  void check() {
    settle();
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  std::exception_ptr failure_;
  std::future<void> work_;
};

}  // namespace nbcc::grape
