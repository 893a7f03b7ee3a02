// A function -> the text that it returns, computed in a child process: a crash or an endless loop of the
// function ends the child alone. Entry point: run_in_child().
#pragma once
#include <chrono>
#include <functional>
#include <string>

namespace nbcc {

enum class ChildEnd { Done, Crashed, TooSlow, Interrupted };

struct ChildResult {
  ChildEnd end = ChildEnd::Done;
  std::string text;  // what `work` has returned, if it is Done
  int signal = 0;    // that ended the process, if it has Crashed; 0: it exited by itself
};

// Forks: call it from a process with one thread. The child has no standard input and output. It is killed after
// `limit`, or when `interrupt` (a descriptor; -1: none) can be read.
ChildResult run_in_child(const std::function<std::string()>& work, std::chrono::milliseconds limit, int interrupt = -1);

}  // namespace nbcc
