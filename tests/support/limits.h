// Processes of a test's own in which the system gives less than is asked for.
#pragma once
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>
#include <functional>

#include "tests/support/child_process.h"

namespace nbcc::test {

// Runs `body` in a process that may map no more than `bytes` beyond what it has mapped already. Its return value.
inline int with_address_space(std::size_t bytes, const std::function<int()>& body) {
  return finish(start([&] {
    std::size_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    const rlim_t most = pages * std::size_t(::sysconf(_SC_PAGESIZE)) + bytes;
    const rlimit limit{most, most};
    return pages > 0 && ::setrlimit(RLIMIT_AS, &limit) == 0 ? body() : 99;
  }));
}

// Runs `body` in a process that gets no further thread. Limits of threads do not bind root, so that root becomes
// someone else first.
inline int without_threads(const std::function<int()>& body) {
  constexpr uid_t nobody = 65534;
  return finish(start([&] {
    const rlimit none{0, 0};
    if (::setrlimit(RLIMIT_NPROC, &none) != 0) return 99;
    return ::geteuid() != 0 || ::setuid(nobody) == 0 ? body() : 99;
  }));
}

}  // namespace nbcc::test
