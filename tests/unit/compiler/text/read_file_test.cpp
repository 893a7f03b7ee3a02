#include "compiler/text/read_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <thread>

#include "tests/support/scratch_folder.h"

namespace nbcc {
namespace {

using namespace std::chrono_literals;

TEST(ReadFile, TellsWhetherItIsWhole) {
  const test::ScratchFolder folder;
  const std::string path = folder.write("file", "four");
  for (const std::size_t most : {4, 5, 1000}) {
    EXPECT_EQ(read_file(path, most).bytes, "four");
    EXPECT_TRUE(read_file(path, most).is_whole);
  }
  EXPECT_EQ(read_file(path, 3).bytes, "fou");
  EXPECT_FALSE(read_file(path, 3).is_whole);
  EXPECT_EQ(read_file(folder.write("none", ""), 3).bytes, "");
}

TEST(ReadFile, LargeFilesComeInPieces) {
  const test::ScratchFolder folder;
  std::string bytes(3'500'000, 'x');
  bytes[1 << 20] = 'y';
  EXPECT_EQ(read_file(folder.write("file", bytes), 1 << 30).bytes, bytes);
}

TEST(ReadFile, AnEndlessDeviceEndsAtTheBound) {
  const FileContent content = read_file("/dev/zero", 3 << 20);
  EXPECT_EQ(content.bytes.size(), std::size_t(3) << 20);
  EXPECT_FALSE(content.is_whole);
}

TEST(ReadFile, SaysWhatTheSystemSays) {
  EXPECT_EQ(read_file("/no/such", 10).problem, "No such file or directory");
  EXPECT_EQ(read_file("/", 10).problem, "Is a directory");
}

TEST(ReadFile, AnEmptyPipeHasEnded) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  ::close(ends[1]);
  const FileContent content = read_descriptor(ends[0], 10);
  ::close(ends[0]);
  EXPECT_EQ(content.problem, "");
  EXPECT_TRUE(content.is_whole);
}

class Fifo : public testing::Test {
 protected:
  Fifo() : path_(folder_.path("fifo")) { EXPECT_EQ(::mkfifo(path_.c_str(), 0600), 0); }
  void write(const std::string& bytes) const {
    const int file = ::open(path_.c_str(), O_WRONLY);
    for (const char byte : bytes) {
      EXPECT_EQ(::write(file, &byte, 1), 1);
      std::this_thread::sleep_for(5ms);
    }
    ::close(file);
  }

  test::ScratchFolder folder_;
  std::string path_;
};

TEST_F(Fifo, WithoutAWriterIsNotWaitedForForEver) {
  EXPECT_EQ(read_file(path_, 100, 30ms).problem, "it is a pipe, and no process opened it for writing in 0.03 seconds");
}

TEST_F(Fifo, AWriterMayComeLateAndTakeHisTime) {
  std::thread writer([&] {
    std::this_thread::sleep_for(40ms);
    write("slowly written");
  });
  const FileContent content = read_file(path_, 100, 5s);
  writer.join();
  EXPECT_EQ(content.bytes, "slowly written");
  EXPECT_TRUE(content.is_whole);
}

}  // namespace
}  // namespace nbcc
