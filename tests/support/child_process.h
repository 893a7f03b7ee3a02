// Processes that a test starts by fork(), since what is tested has to do with many of them.
#pragma once
#include <sys/wait.h>
#include <unistd.h>

#include <functional>

namespace nbcc::test {

// Runs `body` in a process of its own; its return value is the exit status.
inline pid_t start(const std::function<int()>& body) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(body());
  return child;
}

// The exit status; -1 if a signal ended it.
inline int finish(pid_t child) {
  int status = -1;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace nbcc::test
