// A run -> which j act on its chosen i: the one place that decides. A device has a run() for each answer (device.h),
// and "every i with every j" is wired nowhere else.
#pragma once
#include <variant>

namespace nbcc {

// Every j of the set acts on every chosen i. Pairs that a text guards against are among them: its kernel leaves them
// out.
struct AllPairs {};

using Pairs = std::variant<AllPairs>;

inline Pairs dispatch() { return AllPairs{}; }

}  // namespace nbcc
