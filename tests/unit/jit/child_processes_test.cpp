// Work in child processes: results in order, in parallel, exceptions and deaths of children.
#include "jit/child_processes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <set>
#include <thread>

#include "runtime/error.h"

namespace nbcc {
namespace {

using testing::HasSubstr;

TEST(ChildProcesses, ReturnEveryResultInOrder) {
  for (const unsigned processes : {1U, 3U, 64U}) {
    const std::vector<std::string> results = run_in_processes(
        20, processes, [](std::size_t k) { return std::string(k * 5000, char('a' + k)) + std::string("\0", 1); });
    ASSERT_EQ(results.size(), 20U);
    for (std::size_t k = 0; k < 20; ++k)
      EXPECT_EQ(results[k], std::string(k * 5000, char('a' + k)) + std::string("\0", 1)) << k;
  }
  EXPECT_TRUE(run_in_processes(0, 4, [](std::size_t) { return ""; }).empty());
}

// Each child waits for the other to begin, which one process alone could not.
TEST(ChildProcesses, RunAtTheSameTime) {
  int to_second[2], to_first[2];
  ASSERT_EQ(pipe(to_second), 0);
  ASSERT_EQ(pipe(to_first), 0);
  const std::vector<std::string> ids = run_in_processes(2, 2, [&](std::size_t k) {
    char byte = 'x';
    alarm(20);
    const bool has_sent = write(k == 0 ? to_second[1] : to_first[1], &byte, 1) == 1;
    const bool has_received = read(k == 0 ? to_first[0] : to_second[0], &byte, 1) == 1;
    return has_sent && has_received ? std::to_string(getpid()) : "";
  });
  EXPECT_NE(ids[0], ids[1]);
  EXPECT_NE(ids[0], std::to_string(getpid()));
  for (const int end : {to_second[0], to_second[1], to_first[0], to_first[1]}) close(end);
}

template <typename Error>
std::string message_of(const std::function<std::string(std::size_t)>& work) {
  try {
    run_in_processes(8, 3, work);
  } catch (const Error& e) {
    return e.what();
  }
  return "no exception";
}

TEST(ChildProcesses, PropagateTheFirstException) {
  const auto thrown = [](auto error) {
    return [=](std::size_t k) -> std::string {
      if (k >= 2) throw error;
      return "";
    };
  };
  EXPECT_EQ(message_of<SourceRejected>(thrown(SourceRejected("line 7"))), "line 7");
  EXPECT_EQ(message_of<DeviceError>(thrown(DeviceError("no library"))), "no library");
  EXPECT_EQ(message_of<std::runtime_error>(thrown(std::invalid_argument("other"))), "other");
  EXPECT_THROW(run_in_processes(8, 3, thrown(std::bad_alloc())), std::bad_alloc);
}

TEST(ChildProcesses, AKilledChildIsAnError) {
  EXPECT_THAT(message_of<DeviceError>([](std::size_t k) -> std::string {
                if (k == 1) raise(SIGKILL);
                return "";
              }),
              HasSubstr("signal 9"));
}

// The system keeps no status of children where SIGCHLD is ignored, as below some daemons.
TEST(ChildProcesses, AKilledChildIsAnErrorWhereSigchldIsIgnored) {
  const auto previous = signal(SIGCHLD, SIG_IGN);
  const std::string message = message_of<DeviceError>([](std::size_t k) -> std::string {
    if (k == 1) raise(SIGKILL);
    return "";
  });
  signal(SIGCHLD, previous);
  EXPECT_THAT(message, HasSubstr("child processes ended with"));
}

}  // namespace
}  // namespace nbcc
