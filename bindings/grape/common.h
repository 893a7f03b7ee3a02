// What the interfaces of GRAPE-5 and GRAPE-6 share: the pipelines of this folder, what the environment says, failures,
// and work in the background. Every function may throw nbcc::Error. Test: tests/grape/g5_test.cpp, g6_test.cpp.
#pragma once
#include <exception>
#include <functional>
#include <future>
#include <string>
#include <utility>

#include "runtime/api/nbcc.hpp"

namespace nbcc::grape {

// "g6" of g6.pipe, which is embedded.
Pipeline pipeline_of(const Device& device, const std::string& name, nbcc_precision precision);

// Of $NBCC_DEVICE, "a,b,c", entry number `id`, over again from the first; "cpu" without it.
std::string device_of(int id);
// Of $NBCC_PRECISION; mixed without it.
nbcc_precision precision();
// A positive number in this variable, or `otherwise`.
int count_of(const char* variable, int otherwise);

inline Error usage(const std::string& message) { return Error(NBCC_ERROR_USAGE, message); }

inline void check_count(const char* name, int count) {
  if (count < 0) throw usage(std::string(name) + " is " + std::to_string(count));
}

// An array of so many particles; of none it may be null.
inline void check_given(const char* name, const void* array, int count = 1) {
  if (count > 0 && !array) throw usage(std::string(name) + " is a null pointer");
}

// Of this thread.
inline thread_local std::string last_error;

// Whether the function threw nothing; else last_error says what.
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

// One piece of work in a thread of its own, and how it failed, for whoever asks for its results. Its owner's last
// member, so that its end is waited for before anything goes that it works on.
class Background {
 public:
  // Where the system gives no thread, the one that waits does the work.
  void start(std::function<void()> work) { work_ = std::async(std::move(work)); }
  // From here on nothing is under way.
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
