#include "runtime/cache/disk_cache.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <stdexcept>
#include <thread>

#include "tests/support/child_process.h"

namespace nbcc {
namespace {

namespace fs = std::filesystem;
using test::finish;
using test::start;

class DiskCacheTest : public testing::Test {
 protected:
  DiskCacheTest() {
    std::string pattern = (fs::temp_directory_path() / "nbcc-cache-XXXXXX").string();
    root_ = ::mkdtemp(pattern.data());
  }
  ~DiskCacheTest() override {
    std::error_code ignored;
    fs::remove_all(root_, ignored);
  }

  std::string folder() const { return (root_ / "a" / "cache").string(); }
  std::string kernels() const { return folder() + "/kernels"; }
  std::vector<fs::path> files(const std::string& ending) const {
    std::vector<fs::path> found;
    if (!fs::exists(kernels())) return found;
    for (const auto& entry : fs::directory_iterator(kernels())) {
      if (entry.path().string().ends_with(ending)) found.push_back(entry.path());
    }
    return found;
  }
  fs::path only_entry() const {
    EXPECT_EQ(files(".kernel").size(), 1u);
    return files(".kernel").at(0);
  }

  fs::path root_;
};

TEST_F(DiskCacheTest, KeepsValues) {
  const DiskCache cache(folder());
  const std::string value("object\0code", 11);
  EXPECT_FALSE(cache.lookup("key"));
  cache.store("key", value);
  EXPECT_EQ(cache.lookup("key"), value);
  EXPECT_FALSE(cache.lookup("other"));
  cache.store("key", "");
  EXPECT_EQ(cache.lookup("key"), "");
  cache.remove("key");
  EXPECT_FALSE(cache.lookup("key"));
}

TEST_F(DiskCacheTest, FolderIsTheUsersAlone) {
  DiskCache(folder()).store("key", "value");
  for (const std::string& made : {folder(), kernels()}) {
    struct stat status;
    ASSERT_EQ(::stat(made.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0700u);
  }
}

TEST_F(DiskCacheTest, MakesOnceAndLeavesNoLock) {
  const DiskCache cache(folder());
  int made = 0;
  const auto make = [&] { return "value " + std::to_string(++made); };
  EXPECT_EQ(cache.get_or_make("key", make), "value 1");
  EXPECT_EQ(cache.get_or_make("key", make), "value 1");
  EXPECT_EQ(files("").size(), 1u);
}

TEST_F(DiskCacheTest, WhatMakeThrowsIsThrownAndNothingIsKept) {
  const DiskCache cache(folder());
  EXPECT_THROW(cache.get_or_make("key", []() -> std::string { throw std::runtime_error("no"); }), std::runtime_error);
  EXPECT_TRUE(files("").empty());
}

TEST_F(DiskCacheTest, ProcessesThatStartAtOnceMakeOnce) {
  const std::string log = (root_ / "log").string();
  std::vector<pid_t> children;
  for (int k = 0; k < 8; ++k) {
    children.push_back(start([&] {
      const std::string value = DiskCache(folder()).get_or_make("key", [&] {
        std::ofstream(log, std::ios::app) << "made\n" << std::flush;
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        return std::string("value");
      });
      return value == "value" ? 0 : 1;
    }));
  }
  for (const pid_t child : children) EXPECT_EQ(finish(child), 0);
  EXPECT_EQ(fs::file_size(log), 5u);
  EXPECT_EQ(files("").size(), 1u);
}

TEST_F(DiskCacheTest, ThreadsMakeOnceToo) {
  const DiskCache cache(folder());
  std::atomic<int> made{0};
  std::vector<std::thread> threads;
  for (int k = 0; k < 4; ++k) {
    threads.emplace_back([&] {
      cache.get_or_make("key", [&] {
        ++made;
        std::this_thread::sleep_for(std::chrono::milliseconds(30));
        return std::string("value");
      });
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(made, 1);
}

TEST_F(DiskCacheTest, AKilledMakerHoldsNobodyUp) {
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = start([&] {
    DiskCache(folder()).get_or_make("key", [&] {
      if (::write(ready[1], "x", 1) != 1) return std::string();
      std::this_thread::sleep_for(std::chrono::minutes(1));
      return std::string();
    });
    return 0;
  });
  char byte;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  ::kill(child, SIGKILL);
  finish(child);
  EXPECT_EQ(DiskCache(folder()).get_or_make("key", [] { return std::string("mine"); }), "mine");
  EXPECT_EQ(DiskCache(folder()).lookup("key"), "mine");
}

TEST_F(DiskCacheTest, AKilledWriterLeavesWholeEntries) {
  const std::string a(3'000'000, 'a'), b(3'000'000, 'b');
  for (int round = 0; round < 10; ++round) {
    const pid_t child = start([&] {
      for (;;) {
        DiskCache(folder()).store("key", a);
        DiskCache(folder()).store("key", b);
      }
      return 0;
    });
    while (files(".kernel").empty()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    std::this_thread::sleep_for(std::chrono::milliseconds(3 + 2 * round));
    ::kill(child, SIGKILL);
    finish(child);
    const std::optional<std::string> value = DiskCache(folder()).lookup("key");
    ASSERT_TRUE(value);
    EXPECT_TRUE(*value == a || *value == b);
  }
}

TEST_F(DiskCacheTest, AbandonedTemporaryFilesGo) {
  const DiskCache cache(folder());
  cache.store("key", "value");
  const std::string left = only_entry().string() + ".77-0.tmp", fresh = only_entry().string() + ".78-0.tmp";
  std::ofstream(left) << "half";
  std::ofstream(fresh) << "half";
  fs::last_write_time(left, fs::file_time_type::clock::now() - std::chrono::hours(2));
  cache.store("other", "value");
  EXPECT_FALSE(fs::exists(left));
  EXPECT_TRUE(fs::exists(fresh));
}

TEST_F(DiskCacheTest, WaitingHasALimit) {
  DiskCache cache(folder());
  cache.set_wait_limit(std::chrono::milliseconds(60));
  int made = 0;
  // While the key is being made, ask for it once more: the inner call can only give up waiting.
  const std::string outer = cache.get_or_make("key", [&] {
    EXPECT_EQ(cache.get_or_make("key", [&] { return ++made, std::string("without the cache"); }), "without the cache");
    return std::string("value");
  });
  EXPECT_EQ(outer, "value");
  EXPECT_EQ(made, 1);
  EXPECT_EQ(cache.lookup("key"), "value");
}

// Each damage: lookup misses, the entry is gone, and the value is made again.
class DamagedEntry : public DiskCacheTest, public testing::WithParamInterface<std::size_t> {};

TEST_P(DamagedEntry, FlippedByteIsAMiss) {
  const DiskCache cache(folder());
  cache.store("the key", "the value");
  const fs::path entry = only_entry();
  ASSERT_LT(GetParam(), fs::file_size(entry));
  std::fstream file(entry, std::ios::in | std::ios::out | std::ios::binary);
  file.seekg(std::streamoff(GetParam()));
  const char flipped = char(file.get() ^ 0x10);
  file.seekp(std::streamoff(GetParam()));
  file.put(flipped);
  file.close();
  EXPECT_FALSE(cache.lookup("the key"));
  EXPECT_FALSE(fs::exists(entry));
  EXPECT_EQ(cache.get_or_make("the key", [] { return std::string("again"); }), "again");
}

// In the magic, version, reserved, sizes, checksum, key and value.
INSTANTIATE_TEST_SUITE_P(Bytes, DamagedEntry, testing::Values(0, 8, 12, 16, 23, 24, 31, 32, 40, 46, 47, 55));

TEST_F(DiskCacheTest, TruncatedOrLengthenedEntryIsAMiss) {
  const DiskCache cache(folder());
  for (const std::uintmax_t size : {0, 1, 39, 40, 50, 55, 57, 100}) {
    cache.store("the key", "the value");
    const fs::path entry = only_entry();
    ASSERT_EQ(fs::file_size(entry), 56u);
    fs::resize_file(entry, size);
    EXPECT_FALSE(cache.lookup("the key")) << size;
    EXPECT_FALSE(fs::exists(entry));
  }
}

TEST_F(DiskCacheTest, EntryOfAnotherKeyIsAMiss) {
  const DiskCache cache(folder());
  cache.store("one", "value of one");
  const fs::path one = only_entry();
  cache.store("two", "value of two");
  const fs::path two = files(".kernel")[0] == one ? files(".kernel")[1] : files(".kernel")[0];
  fs::copy_file(one, two, fs::copy_options::overwrite_existing);
  EXPECT_FALSE(cache.lookup("two"));
  EXPECT_FALSE(fs::exists(two));
  EXPECT_EQ(cache.lookup("one"), "value of one");
}

TEST_F(DiskCacheTest, WhatIsNoFileIsLeftAlone) {
  const DiskCache cache(folder());
  cache.store("key", "value");
  const fs::path entry = only_entry();
  fs::remove(entry);
  fs::create_directory(entry);
  EXPECT_EQ(cache.get_or_make("key", [] { return std::string("made"); }), "made");
  EXPECT_TRUE(fs::is_directory(entry));
  fs::remove(entry);
  ASSERT_EQ(::mkfifo(entry.c_str(), 0600), 0);
  EXPECT_FALSE(cache.lookup("key"));
  EXPECT_TRUE(fs::exists(entry));
}

TEST_F(DiskCacheTest, AFolderThatCannotBeMadeMeansNoCaching) {
  std::ofstream(root_ / "file") << "in the way";
  for (const std::string& impossible : {(root_ / "file").string(), (root_ / "file" / "cache").string(),
                                        std::string("/proc/nbcc/cache"), std::string("")}) {
    const DiskCache cache(impossible);
    int made = 0;
    const auto make = [&] { return ++made, std::string("value"); };
    EXPECT_EQ(cache.get_or_make("key", make), "value");
    EXPECT_EQ(cache.get_or_make("key", make), "value");
    EXPECT_EQ(made, 2) << impossible;
    cache.store("key", "value");
    EXPECT_FALSE(cache.lookup("key"));
    EXPECT_TRUE(cache.list().empty());
    EXPECT_EQ(cache.clear(), 0);
  }
}

TEST_F(DiskCacheTest, AReadOnlyFolderIsReadAndNotWritten) {
  constexpr uid_t nobody = 65534;
  // Permissions do not bind root, so that root becomes someone else first.
  if (::geteuid() == 0) {
    ASSERT_EQ(::chown(root_.c_str(), nobody, nobody), 0);
  }
  const pid_t child = start([&] {
    if (::geteuid() == 0 && ::setuid(nobody) != 0) return 1;
    const DiskCache cache(folder());
    cache.store("key", "value");
    fs::permissions(kernels(), fs::perms::owner_read | fs::perms::owner_exec);
    if (cache.lookup("key") != "value") return 2;
    if (cache.get_or_make("other", [] { return std::string("made"); }) != "made") return 3;
    if (cache.lookup("other")) return 4;
    fs::permissions(kernels(), fs::perms::owner_all);
    return 0;
  });
  EXPECT_EQ(finish(child), 0);
}

TEST_F(DiskCacheTest, AFullDiskMeansNoCaching) {
  // A limit on the size of files stops a write in its middle, as a full disk does. Its signal, which the program has
  // said nothing of, would end it.
  const pid_t child = start([&] {
    const rlimit limit{1000, 1000};
    ::signal(SIGXFSZ, SIG_DFL);
    if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) return 2;
    const std::string value = DiskCache(folder()).get_or_make("key", [] { return std::string(5000, 'v'); });
    return value.size() == 5000 ? 0 : 1;
  });
  EXPECT_EQ(finish(child), 0);
  EXPECT_TRUE(files("").empty());
}

TEST_F(DiskCacheTest, HowTheProgramTakesTheSignalOfLargeFilesStays) {
  const pid_t child = start([&] {
    const rlimit limit{1000, 1000};
    ::signal(SIGXFSZ, SIG_DFL);
    if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) return 2;
    DiskCache(folder()).store("key", std::string(5000, 'v'));
    sigset_t blocked, pending;
    ::pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
    ::sigpending(&pending);
    if (::sigismember(&blocked, SIGXFSZ) || ::sigismember(&pending, SIGXFSZ)) return 3;
    struct sigaction action;
    ::sigaction(SIGXFSZ, nullptr, &action);
    return action.sa_handler == SIG_DFL ? 0 : 4;
  });
  EXPECT_EQ(finish(child), 0);
}

TEST_F(DiskCacheTest, EntriesAndFoldersOfOthersAreIgnored) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  constexpr uid_t nobody = 65534;
  const DiskCache cache(folder());
  cache.store("key", "planted");
  ASSERT_EQ(::chown(only_entry().c_str(), nobody, nobody), 0);
  EXPECT_FALSE(cache.lookup("key"));
  EXPECT_TRUE(cache.list().empty());
  EXPECT_EQ(cache.clear(), 0);
  EXPECT_TRUE(fs::exists(only_entry()));
  cache.store("key", "own");
  EXPECT_EQ(cache.lookup("key"), "own");
  ASSERT_EQ(::chown(kernels().c_str(), nobody, nobody), 0);
  EXPECT_FALSE(cache.lookup("key"));
}

// Loading an entry is executing it.
TEST_F(DiskCacheTest, AnEntryThatOthersMayWriteIsPassedOver) {
  const DiskCache cache(folder());
  for (const unsigned mode : {0602u, 0620u}) {
    cache.store("key", "planted");
    ASSERT_EQ(::chmod(only_entry().c_str(), mode), 0);
    EXPECT_FALSE(cache.lookup("key"));
    EXPECT_TRUE(cache.list().empty());
    EXPECT_EQ(cache.get_or_make("key", [] { return std::string("made"); }), "made");
    EXPECT_EQ(cache.lookup("key"), "made") << "it is replaced";
  }
}

TEST_F(DiskCacheTest, AFolderThatOthersMayWriteIsPassedOver) {
  const DiskCache cache(folder());
  cache.store("key", "planted");
  for (const unsigned mode : {0702u, 0720u}) {
    ASSERT_EQ(::chmod(kernels().c_str(), mode), 0);
    EXPECT_FALSE(cache.lookup("key"));
    EXPECT_EQ(cache.clear(), 0);
  }
}

// Who may write a folder above may put another one in the place of ours.
TEST_F(DiskCacheTest, TheFoldersAboveAreLookedAt) {
  const DiskCache cache(folder());
  cache.store("key", "value");
  for (const fs::path& above : {fs::path(folder()), root_ / "a"}) {
    ASSERT_EQ(::chmod(above.c_str(), 0777), 0);
    EXPECT_FALSE(cache.lookup("key")) << above;
    ASSERT_EQ(::chmod(above.c_str(), 01777), 0);
    EXPECT_TRUE(cache.lookup("key")) << "as /tmp is";
    // A folder that one shares with a group is not made useless.
    ASSERT_EQ(::chmod(above.c_str(), 0775), 0);
    EXPECT_TRUE(cache.lookup("key"));
  }
}

// NBCC_CACHE_DIR may name a folder that holds more.
TEST_F(DiskCacheTest, FilesOfTheUsersStay) {
  const DiskCache cache(folder());
  cache.store("key", "value");
  std::vector<std::string> theirs;
  for (const std::string& in : {folder(), kernels()}) {
    for (const char* name : {"thesis.tmp", "index.lock", "linux.kernel", "0123.77-0.tmp", ".kernel",
                             "0123456789abcdef.tmp", "0123456789abcdef.lock", "0123456789abcdef.kernel.old.tmp"})
      theirs.push_back(in + "/" + name);
  }
  for (const std::string& path : theirs) {
    std::ofstream(path) << "the user's";
    fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::hours(2));
  }
  cache.store("other", "value");
  EXPECT_EQ(cache.clear(), 2);
  for (const std::string& path : theirs) EXPECT_TRUE(fs::exists(path)) << path;
}

TEST_F(DiskCacheTest, ASymbolicLinkIsNoEntry) {
  const DiskCache cache(folder());
  cache.store("key", "value");
  const fs::path entry = only_entry(), moved = root_ / "moved";
  fs::rename(entry, moved);
  fs::create_symlink(moved, entry);
  EXPECT_FALSE(cache.lookup("key"));
  EXPECT_TRUE(fs::exists(moved));
}

TEST_F(DiskCacheTest, ListsAndClears) {
  const DiskCache cache(folder());
  cache.store("gravity, cpu-avx2\ntext", "value");
  cache.store("one line", "value");
  const std::vector<DiskCache::Entry> entries = cache.list();
  ASSERT_EQ(entries.size(), 2u);
  std::vector<std::string> lines{entries[0].first_line, entries[1].first_line};
  std::sort(lines.begin(), lines.end());
  EXPECT_EQ(lines, (std::vector<std::string>{"gravity, cpu-avx2", "one line"}));
  EXPECT_GT(entries[0].bytes, 40);
  EXPECT_NEAR(double(entries[0].modified), double(std::time(nullptr)), 60.0);
  EXPECT_EQ(cache.clear(), 2);
  EXPECT_TRUE(cache.list().empty());
  EXPECT_TRUE(files("").empty());
}

TEST(DiskCacheFolder, ComesFromTheEnvironment) {
  const auto with = [](const char* own, const char* xdg, const char* home) {
    const auto set = [](const char* name, const char* value) { value ? ::setenv(name, value, 1) : ::unsetenv(name); };
    const std::string before = std::getenv("HOME") ? std::getenv("HOME") : "";
    set("NBCC_CACHE_DIR", own);
    set("XDG_CACHE_HOME", xdg);
    set("HOME", home);
    const std::string folder = DiskCache::default_folder();
    set("NBCC_CACHE_DIR", nullptr);
    set("XDG_CACHE_HOME", nullptr);
    set("HOME", before.c_str());
    return folder;
  };
  EXPECT_EQ(with("/own", "/xdg", "/home/u"), "/own");
  EXPECT_EQ(with(nullptr, "/xdg", "/home/u"), "/xdg/nbcc");
  EXPECT_EQ(with(nullptr, "relative", "/home/u"), "/home/u/.cache/nbcc");
  EXPECT_EQ(with("", nullptr, "/home/u"), "/home/u/.cache/nbcc");
  EXPECT_EQ(with(nullptr, nullptr, nullptr), "");
}

}  // namespace
}  // namespace nbcc
