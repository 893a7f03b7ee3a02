// Calls on a stack of a given size, for functions that recurse deeper than the caller's stack allows.
// Tested by tests/unit/compiler/text/own_stack_test.cpp.
#pragma once
#include <cstddef>
#include <functional>
#include <stdexcept>

namespace nbcc {

// The system refuses the thread or its stack: a limit of this process or a lack of memory, no error in the text and no
// bug in nbcc.
struct StackRefused : std::runtime_error {
  using std::runtime_error::runtime_error;
  ~StackRefused() override;
};

// Bytes of a stack for the deepest chain within the limits of the language (compiler/ir/limits.h): Clang uses about 4
// KB for each variable that is initialised from the previous one.
inline constexpr std::size_t kDeepStack = std::size_t(512) << 20;

// Runs the body on a thread with a stack of `bytes`, waits for its end and rethrows its exception. Throws StackRefused
// if the thread cannot be started. The stack reserves address space; it takes memory only as far as it is used.
void run_on_own_stack(std::size_t bytes, const std::function<void()>& body);

}  // namespace nbcc
