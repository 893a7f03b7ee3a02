// Writing where the system limits the size of files (ulimit -f): beyond the limit a write fails with EFBIG, but before
// that the kernel sends SIGXFSZ, which ends a program that has said nothing of it. While one of these lives, the writes
// of this thread only fail. How the program handles the signal is left as it is.
// Tested by tests/unit/disk_cache_test.cpp.
#pragma once
#include <pthread.h>

#include <cerrno>
#include <csignal>
#include <ctime>

namespace nbcc {

class FileSizeSignalHeld {
 public:
  FileSizeSignalHeld() {
    sigset_t pending;
    sigemptyset(&signal_);
    sigaddset(&signal_, SIGXFSZ);
    was_pending_ = sigpending(&pending) == 0 && sigismember(&pending, SIGXFSZ) == 1;
    pthread_sigmask(SIG_BLOCK, &signal_, &before_);
  }
  FileSizeSignalHeld(const FileSizeSignalHeld&) = delete;
  FileSizeSignalHeld& operator=(const FileSizeSignalHeld&) = delete;
  ~FileSizeSignalHeld() {
    const int kept = errno;  // of the write that failed
    // Sent to the thread that wrote, and so to be taken back by it; one that waited before is not ours.
    const timespec at_once{0, 0};
    while (!was_pending_ && sigtimedwait(&signal_, nullptr, &at_once) < 0 && errno == EINTR) {
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    errno = kept;
  }

 private:
  sigset_t signal_, before_;
  bool was_pending_ = false;
};

}  // namespace nbcc
