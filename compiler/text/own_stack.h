// Calls on a stack of a size of their own, for what recurses deeper than a caller's stack may be.
// Tested by tests/unit/own_stack_test.cpp.
#pragma once
#include <cstddef>
#include <functional>
#include <stdexcept>

namespace nbcc {

// The system gives no such thread or stack: a limit of this process or a lack of memory, neither the text's fault nor
// ours.
struct StackRefused : std::runtime_error {
  using std::runtime_error::runtime_error;
  ~StackRefused() override;
};

// Holds the deepest chain within the limits of the language (compiler/ir/limits.h): Clang takes some 4 KB of it for
// each variable that is initialised by the one before.
inline constexpr std::size_t kDeepStack = std::size_t(512) << 20;

// Runs the body on a thread that has so much of a stack, and returns when it has ended; what it throws is thrown here.
// Throws StackRefused before it has begun. A stack takes address space; memory only as far as it is used.
void run_on_own_stack(std::size_t bytes, const std::function<void()>& body);

}  // namespace nbcc
