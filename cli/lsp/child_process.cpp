// A function -> its text, by fork() and a pipe. Entry point: run_in_child().
#include "cli/lsp/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <stdexcept>

namespace nbcc {
namespace {

[[noreturn]] void be_child(const std::function<std::string()>& work, int out) {
  // The streams of the protocol are the parent's.
  const int nothing = open("/dev/null", O_RDWR);
  if (nothing < 0 || dup2(nothing, STDIN_FILENO) < 0 || dup2(nothing, STDOUT_FILENO) < 0) _exit(1);
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  try {
    const std::string text = work();
    for (std::size_t at = 0; at < text.size();) {
      const ssize_t count = write(out, text.data() + at, text.size() - at);
      if (count < 0 && errno != EINTR) _exit(1);
      at += std::size_t(std::max<ssize_t>(count, 0));
    }
  } catch (...) {
    _exit(1);
  }
  _exit(0);
}

int wait_for(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

}  // namespace

ChildResult run_in_child(const std::function<std::string()>& work, std::chrono::milliseconds limit, int interrupt) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error(std::string("no pipe: ") + std::strerror(errno));
  const pid_t child = fork();
  if (child < 0) {
    close(ends[0]), close(ends[1]);
    throw std::runtime_error(std::string("no process: ") + std::strerror(errno));
  }
  if (child == 0) {
    close(ends[0]);
    be_child(work, ends[1]);
  }
  close(ends[1]);
  ChildResult result;
  const auto until = std::chrono::steady_clock::now() + limit;
  for (;;) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(until - std::chrono::steady_clock::now()).count();
    pollfd waiting[2] = {{ends[0], POLLIN, 0}, {interrupt, POLLIN, 0}};
    const int ready = poll(waiting, interrupt < 0 ? 1 : 2, int(std::max<long long>(left, 0)));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) {
      result.end = ChildEnd::TooSlow;
      break;
    }
    if (waiting[0].revents != 0) {
      char bytes[65536];
      const ssize_t count = read(ends[0], bytes, sizeof bytes);
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) break;
      result.text.append(bytes, std::size_t(count));
    } else {
      result.end = ChildEnd::Interrupted;
      break;
    }
  }
  if (result.end != ChildEnd::Done) kill(child, SIGKILL);
  close(ends[0]);
  const int status = wait_for(child);
  if (result.end == ChildEnd::Done && (!WIFEXITED(status) || WEXITSTATUS(status) != 0)) {
    result.end = ChildEnd::Crashed;
    result.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  }
  return result;
}

}  // namespace nbcc
