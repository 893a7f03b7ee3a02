// Work -> child processes. Interface: run_in_processes(). Children and parent have two things in common: an anonymous
// shared page with the next index, and for each child an anonymous file, to which the child appends its results and
// which the parent reads when the child has ended.
#include "jit/child_processes.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <map>
#include <new>

#include "runtime/error.h"

namespace nbcc {
namespace {

using Work = std::function<std::string(std::size_t)>;

// The result of one index, or the exception's message.
enum class Outcome : char { Result, Rejected, Device, Memory, Other };
struct Record {
  std::size_t index = 0, bytes = 0;
  Outcome outcome = Outcome::Result;
};

// Initialised to 0. Lock-free, so that several processes may use it.
class SharedCounter {
 public:
  using Counter = std::atomic<std::size_t>;
  static_assert(Counter::is_always_lock_free);
  SharedCounter() {
    void* const page = ::mmap(nullptr, sizeof(Counter), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) throw std::bad_alloc();
    counter_ = new (page) Counter(0);
  }
  ~SharedCounter() { ::munmap(counter_, sizeof(Counter)); }
  SharedCounter(const SharedCounter&) = delete;
  SharedCounter& operator=(const SharedCounter&) = delete;
  Counter& operator*() { return *counter_; }

 private:
  Counter* counter_ = nullptr;
};

struct Child {
  pid_t process = -1;
  int file = -1;
};

// Children that have not been waited for are killed, and all files closed.
struct Children : std::vector<Child> {
  Children() = default;
  Children(const Children&) = delete;
  Children& operator=(const Children&) = delete;
  ~Children() {
    for (const Child& child : *this) {
      if (child.process > 0) {
        ::kill(child.process, SIGKILL);
        while (::waitpid(child.process, nullptr, 0) < 0 && errno == EINTR) {
        }
      }
      ::close(child.file);
    }
  }
};

bool write_all(int file, const void* data, std::size_t bytes) {
  for (const char* at = static_cast<const char*>(data); bytes > 0;) {
    const ssize_t written = ::write(file, at, bytes);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    at += written;
    bytes -= std::size_t(written);
  }
  return true;
}

// The whole life of a child. Returns its exit status.
int run_child(std::size_t count, std::atomic<std::size_t>& next, int file, const Work& work) {
  for (std::size_t index = next++; index < count; index = next++) {
    std::string text;
    Outcome outcome = Outcome::Result;
    try {
      text = work(index);
    } catch (const SourceRejected& e) {
      outcome = Outcome::Rejected, text = e.what();
    } catch (const DeviceError& e) {
      outcome = Outcome::Device, text = e.what();
    } catch (const std::bad_alloc&) {
      outcome = Outcome::Memory;
    } catch (const std::exception& e) {
      outcome = Outcome::Other, text = e.what();
    } catch (...) {
      outcome = Outcome::Other, text = "an exception of unknown type";
    }
    const Record record{index, text.size(), outcome};
    if (!write_all(file, &record, sizeof record) || !write_all(file, text.data(), text.size())) return 1;
    if (outcome != Outcome::Result) next = count;
  }
  return 0;
}

Child start_child(std::size_t count, std::atomic<std::size_t>& next, const Work& work) {
  Child child;
  child.file = ::memfd_create("nbcc_results", MFD_CLOEXEC);
  if (child.file < 0) throw DeviceError(fmt::format("no file in memory for results: {}", std::strerror(errno)));
  const pid_t parent = ::getpid();
  child.process = ::fork();
  if (child.process == 0) {
    // A child does not outlive this process.
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::_exit(::getppid() == parent ? run_child(count, next, child.file, work) : 1);
  }
  if (child.process < 0) {
    const int error = errno;
    ::close(child.file);
    throw DeviceError(fmt::format("a child process cannot be started: {}", std::strerror(error)));
  }
  return child;
}

// Where SIGCHLD is ignored the system keeps no status: then the missing results tell that a child has failed.
void wait_for(Child& child) {
  int status = 0;
  while (::waitpid(child.process, &status, 0) < 0 && errno == EINTR) {
  }
  child.process = -1;
  if (WIFSIGNALED(status))
    throw DeviceError(
        fmt::format("a child process was killed by signal {} ({})", WTERMSIG(status), ::strsignal(WTERMSIG(status))));
  if (WEXITSTATUS(status) != 0)
    throw DeviceError(
        fmt::format("a child process ended with status {} before its results were written", WEXITSTATUS(status)));
}

bool read_all(int file, void* data, std::size_t bytes) {
  for (char* at = static_cast<char*>(data); bytes > 0;) {
    const ssize_t got = ::read(file, at, bytes);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    at += got;
    bytes -= std::size_t(got);
  }
  return true;
}

[[noreturn]] void fail(Outcome outcome, const std::string& text) {
  if (outcome == Outcome::Rejected) throw SourceRejected(text);
  if (outcome == Outcome::Device) throw DeviceError(text);
  if (outcome == Outcome::Memory) throw std::bad_alloc();
  throw std::runtime_error(text);
}

}  // namespace

std::vector<std::string> run_in_processes(std::size_t count, unsigned processes, const Work& work) {
  std::vector<std::string> results(count);
  if (processes <= 1 || count <= 1) {
    for (std::size_t index = 0; index < count; ++index) results[index] = work(index);
    return results;
  }
  SharedCounter next;
  Children children;
  for (std::size_t k = 0; k < std::min<std::size_t>(processes, count); ++k)
    children.push_back(start_child(count, *next, work));
  std::vector<bool> has_result(count);
  std::map<std::size_t, std::pair<Outcome, std::string>> failures;
  for (Child& child : children) {
    wait_for(child);
    ::lseek(child.file, 0, SEEK_SET);
    for (Record record; read_all(child.file, &record, sizeof record);) {
      std::string text(record.bytes, '\0');
      if (!read_all(child.file, text.data(), text.size())) throw DeviceError("a child process left part of a result");
      if (record.outcome == Outcome::Result) {
        results[record.index] = std::move(text);
        has_result[record.index] = true;
      } else {
        failures[record.index] = {record.outcome, std::move(text)};
      }
    }
  }
  if (!failures.empty()) fail(failures.begin()->second.first, failures.begin()->second.second);
  const auto results_found = std::ranges::count(has_result, true);
  if (std::size_t(results_found) < count)
    throw DeviceError(fmt::format("child processes ended with {} of {} results", results_found, count));
  return results;
}

}  // namespace nbcc
