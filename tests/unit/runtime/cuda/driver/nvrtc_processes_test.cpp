// Texts compiled by other processes: the same code and exceptions as in this process, at the same time; processes that
// do not start or die.
#include "runtime/cuda/driver/nvrtc_processes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "runtime/error.h"
#include "runtime/thread_pool.h"
#include "tests/support/installed_nvrtc.h"

namespace nbcc {
namespace {

using testing::HasSubstr;

std::string text_of(int number) {
  return "extern \"C\" __global__ void nbcc_interact(float* y) { y[threadIdx.x] *= " + std::to_string(number) +
         ".0f; }\n";
}

class NvrtcProcessesTest : public testing::Test {
 protected:
  void SetUp() override {
    NBCC_NEEDS_NVRTC();
    if (available_cores() < 2) GTEST_SKIP() << "one core: no text is compiled by another process";
    nvrtc_ = test::installed_nvrtc();
    ASSERT_NE(own_command(), "");
  }
  std::optional<CudaCode> compiled_by(NvrtcProcesses& others, const std::string& text,
                                      CudaCompiler::Form form = CudaCompiler::Form::Cubin) {
    return others.compile(text, "sm_90", {}, form);
  }

  const CudaCompiler* nvrtc_ = nullptr;
};

TEST_F(NvrtcProcessesTest, GiveTheCodeOfThisProcess) {
  NvrtcProcesses others(own_command(), nvrtc_->path(), nvrtc_->identity());
  for (const CudaCompiler::Form form : {CudaCompiler::Form::Cubin, CudaCompiler::Form::Ptx}) {
    const CudaCode here = nvrtc_->compile(text_of(2), "sm_90", {}, form);
    const std::optional<CudaCode> there = compiled_by(others, text_of(2), form);
    ASSERT_TRUE(there);
    EXPECT_EQ(there->image, here.image);
    EXPECT_EQ(there->ptx, here.ptx);
    EXPECT_EQ(there->registers, here.registers);
    EXPECT_EQ(there->spilled_bytes, here.spilled_bytes);
    EXPECT_EQ(there->log.empty(), here.log.empty());
  }
}

TEST_F(NvrtcProcessesTest, PassExceptionsOn) {
  NvrtcProcesses others(own_command(), nvrtc_->path(), nvrtc_->identity());
  try {
    compiled_by(others, "no text");
    ADD_FAILURE();
  } catch (const SourceRejected& e) {
    EXPECT_THAT(e.what(), HasSubstr("kernel.cu(1)"));
  }
  EXPECT_THROW(others.compile(text_of(2), "sm_1", {}, CudaCompiler::Form::Cubin), DeviceError);
  EXPECT_TRUE(compiled_by(others, text_of(2))) << "the process goes on";
}

double seconds_of_children() {
  rusage used{};
  ::getrusage(RUSAGE_CHILDREN, &used);
  return double(used.ru_utime.tv_sec) + 1e-6 * double(used.ru_utime.tv_usec);
}

// More threads than cores, as a first run of a far field or `nbcc compile` have them. The processes end with the last
// text.
TEST_F(NvrtcProcessesTest, CompileWhatWouldWait) {
  const double before = seconds_of_children();
  std::vector<std::string> images(12);
  ThreadPool(6).parallel_for(std::int64_t(images.size()), [&](std::int64_t k) {
    images[std::size_t(k)] = nvrtc_->compile(text_of(int(k)), "sm_90", {}).image;
  });
  EXPECT_GT(seconds_of_children(), before);
  for (int k = 0; k < int(images.size()); ++k)
    EXPECT_EQ(images[std::size_t(k)], nvrtc_->compile(text_of(k), "sm_90", {}).image) << k;
}

TEST_F(NvrtcProcessesTest, MayBeKilled) {
  NvrtcProcesses others(own_command(), nvrtc_->path(), nvrtc_->identity());
  ASSERT_TRUE(compiled_by(others, text_of(2)));
  std::ifstream children("/proc/thread-self/children");
  int killed = 0;
  for (int id = 0; children >> id; ++killed) ::kill(id, SIGKILL);
  if (killed == 0) GTEST_SKIP() << "this system does not list the children of a process";
  EXPECT_FALSE(compiled_by(others, text_of(2)));
}

TEST_F(NvrtcProcessesTest, AreNotUsedIfTheyAreOfAnotherNvrtcOrDoNotStart) {
  for (const auto& [command, identity] : {std::array<std::string, 2>{own_command(), "another"},
                                          {"/no/such/file", nvrtc_->identity()},
                                          {"/bin/true", nvrtc_->identity()},
                                          {"", nvrtc_->identity()}}) {
    NvrtcProcesses others(command, nvrtc_->path(), identity);
    EXPECT_FALSE(compiled_by(others, text_of(3))) << command << ", " << identity;
    EXPECT_FALSE(compiled_by(others, text_of(3))) << command << ", " << identity;
  }
}

TEST_F(NvrtcProcessesTest, EndWhenTheSocketIsClosed) {
  std::array<int, 2> sockets{};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, sockets.data()), 0);
  int code = -1;
  std::thread other([&] { code = serve_nvrtc(*nvrtc_, nvrtc_->identity(), sockets[1]); });
  ::close(sockets[0]);
  other.join();
  EXPECT_EQ(code, 0);
  ::close(sockets[1]);
}

}  // namespace
}  // namespace nbcc
