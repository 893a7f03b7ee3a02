// For writes under a limit of the file size (ulimit -f). A write beyond the limit fails with EFBIG, but the kernel also
// sends SIGXFSZ, whose default action terminates the program. While a FileSizeSignalHeld exists, SIGXFSZ is blocked in
// this thread, so that writes only fail. The program's handler of the signal does not change.
// Tested by tests/unit/runtime/cache/disk_cache_test.cpp.
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
    const int kept = errno;  // of the failed write
    // SIGXFSZ is sent to the thread that wrote, so this thread removes it. A signal that was pending before stays.
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
