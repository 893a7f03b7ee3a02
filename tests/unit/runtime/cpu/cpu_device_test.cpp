#include "runtime/cpu/cpu_device.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>
#include <vector>

#include "runtime/error.h"
#include "tests/support/fake_toolchain.h"

namespace nbcc {
namespace {

namespace fs = std::filesystem;
using test::fake_source;

class CpuDeviceTest : public testing::Test {
 protected:
  CpuDeviceTest() {
    std::string pattern = (fs::temp_directory_path() / "nbcc-device-XXXXXX").string();
    root_ = ::mkdtemp(pattern.data());
  }
  ~CpuDeviceTest() override { fs::remove_all(root_); }
  CpuDevice open(const std::string& dump = "") { return {1, detect_isa(), toolchain_, root_ / "cache", dump}; }

  fs::path root_;
  std::shared_ptr<test::FakeToolchain> toolchain_ = std::make_shared<test::FakeToolchain>();
};

TEST_F(CpuDeviceTest, CompilesOnceThenComesFromMemoryThenFromDisk) {
  CpuDevice first = open();
  first.load(fake_source());
  first.load(fake_source());
  EXPECT_EQ(toolchain_->compiled, 1);
  fs::remove_all(root_ / "cache");
  first.load(fake_source());
  EXPECT_EQ(toolchain_->compiled, 1);
  open().load(fake_source());
  EXPECT_EQ(toolchain_->compiled, 2);
  open().load(fake_source());
  EXPECT_EQ(toolchain_->compiled, 2);
}

TEST_F(CpuDeviceTest, TextTargetAndToolchainAreTheKey) {
  CpuDevice device = open();
  device.load(fake_source(32));
  device.load(fake_source(64));
  KernelSource other = fake_source(32);
  other.target = "cpu-other";
  device.load(other);
  EXPECT_EQ(toolchain_->compiled, 3);
  toolchain_->identity_text = "fake 2";
  open().load(fake_source(32));
  EXPECT_EQ(toolchain_->compiled, 4);
}

TEST_F(CpuDeviceTest, TheKernelHasTheFieldsOfItsOwnSource) {
  CpuDevice device = open();
  device.load(fake_source());
  KernelSource renamed = fake_source();
  renamed.fields[0].comment = "position";
  EXPECT_EQ(device.load(renamed)->source.fields[0].comment, "position");
  EXPECT_EQ(toolchain_->compiled, 1);
}

TEST_F(CpuDeviceTest, ThreadsThatLoadOneKernelCompileOnce) {
  CpuDevice device(1, detect_isa(), toolchain_, "", "");
  std::vector<std::thread> threads;
  for (int k = 0; k < 4; ++k) threads.emplace_back([&] { device.load(fake_source()); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(toolchain_->compiled, 1);
}

TEST_F(CpuDeviceTest, ACachedObjectThatDoesNotLoadIsCompiledAgain) {
  open().load(fake_source());
  const DiskCache cache((root_ / "cache").string());
  // The key is the toolchain's and the kernel's text below a line for people.
  const std::string key = "fake, cpu-fake\nfake 1\n" + fake_source().first().source;
  ASSERT_TRUE(cache.lookup(key));
  cache.store(key, "not an object");
  open().load(fake_source());
  EXPECT_EQ(toolchain_->compiled, 2);
  EXPECT_EQ(cache.lookup(key), "object of " + fake_source().first().source);
}

TEST_F(CpuDeviceTest, ASharedEntryThatCannotBeLoadedIsReplacedByAnOwnOne) {
  const std::string shared = (root_ / "shared").string();
  open().load(fake_source());
  fs::copy(root_ / "cache", shared, fs::copy_options::recursive);
  const std::string key = "fake, cpu-fake\nfake 1\n" + fake_source().first().source;
  ASSERT_TRUE(DiskCache(shared).lookup(key));
  DiskCache(shared).store(key, "not an object");
  fs::remove_all(root_ / "cache");
  ::setenv("NBCC_SHARED_CACHE_DIR", shared.c_str(), 1);
  toolchain_->compiled = 0;
  EXPECT_NO_THROW(open().load(fake_source()));
  EXPECT_EQ(toolchain_->compiled, 1);
  open().load(fake_source());
  EXPECT_EQ(toolchain_->compiled, 1) << "the user's own kernel precedes the shared one";
  ::unsetenv("NBCC_SHARED_CACHE_DIR");
}

TEST_F(CpuDeviceTest, AnObjectThatNeverLoadsIsADeviceError) {
  KernelSource source = fake_source();
  source.first().source = "something else";
  CpuDevice device = open();
  EXPECT_THROW(device.load(source), DeviceError);
  EXPECT_THROW(device.load(source), DeviceError);
}

TEST_F(CpuDeviceTest, DumpsTextAndObject) {
  open((root_ / "dump").string()).load(fake_source());
  std::vector<std::string> contents;
  for (const auto& entry : fs::directory_iterator(root_ / "dump")) {
    EXPECT_TRUE(entry.path().filename().string().starts_with("fake-cpu-fake-"));
    std::ifstream file(entry.path());
    contents.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  std::sort(contents.begin(), contents.end());
  EXPECT_EQ(contents, (std::vector<std::string>{"gravity, tile 32", "object of gravity, tile 32"}));
}

TEST_F(CpuDeviceTest, ADumpFolderThatCannotBeWrittenIsSaid) {
  std::ofstream(root_ / "file") << "in the way";
  EXPECT_THROW(open((root_ / "file").string()).load(fake_source()), DeviceError);
}

TEST_F(CpuDeviceTest, NameTellsIsaAndThreads) {
  const std::string best = CpuDevice(1, detect_isa(), toolchain_, "", "").name();
  EXPECT_TRUE(best.starts_with("cpu, ") && best.ends_with(", 1 thread")) << best;
  EXPECT_TRUE(CpuDevice(3, detect_isa(), toolchain_, "", "").name().ends_with(", 3 threads"));
}

TEST_F(CpuDeviceTest, RefusesWhatTheMachineDoesNotHave) {
#if defined(__x86_64__)
  EXPECT_THROW(CpuDevice(1, Isa::Neon, toolchain_, "", ""), DeviceError);
#else
  EXPECT_THROW(CpuDevice(1, Isa::Avx2, toolchain_, "", ""), DeviceError);
#endif
  EXPECT_THROW(CpuDevice(-1, detect_isa(), toolchain_, "", ""), UsageError);
  EXPECT_THROW(isa_from_name("avx9"), UsageError);
  EXPECT_EQ(isa_from_name("avx512"), Isa::Avx512);
}

}  // namespace
}  // namespace nbcc
