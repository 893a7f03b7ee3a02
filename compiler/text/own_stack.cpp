// Runs a call on a thread with a stack of a given size. Entry point: run_on_own_stack(). It uses pthreads, because
// std::thread has no stack size and LLVM's thread terminates the program if the system refuses a thread.
#include "compiler/text/own_stack.h"

#include <fmt/core.h>
#include <pthread.h>

#include <exception>
#include <system_error>

namespace nbcc {
namespace {

struct Call {
  const std::function<void()>& body;
  std::exception_ptr failure;
};

void* run(void* argument) {
  Call& call = *static_cast<Call*>(argument);
  try {
    call.body();
  } catch (...) {
    call.failure = std::current_exception();
  }
  return nullptr;
}

}  // namespace

StackRefused::~StackRefused() = default;

void run_on_own_stack(std::size_t bytes, const std::function<void()>& body) {
  Call call{body, {}};
  pthread_t thread{};
  pthread_attr_t attributes;
  int fault = pthread_attr_init(&attributes);
  if (fault == 0) {
    fault = pthread_attr_setstacksize(&attributes, bytes);
    if (fault == 0) fault = pthread_create(&thread, &attributes, &run, &call);
    pthread_attr_destroy(&attributes);
  }
  if (fault != 0) {
    throw StackRefused(fmt::format(
        "compiling takes a thread with a stack of {} MiB of address space, which the system refuses: {} (its limits: "
        "ulimit -u, ulimit -v)",
        bytes >> 20, std::generic_category().message(fault)));
  }
  pthread_join(thread, nullptr);
  if (call.failure) std::rethrow_exception(call.failure);
}

}  // namespace nbcc
