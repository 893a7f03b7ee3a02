// Folders of kernels that another user may own -> which of their kernels are used. Tests DiskCache with a shared
// folder.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "runtime/cache/disk_cache.h"

namespace nbcc {
namespace {

namespace fs = std::filesystem;

class SharedCache : public testing::Test {
 protected:
  SharedCache() {
    std::string pattern = (fs::temp_directory_path() / "nbcc-shared-XXXXXX").string();
    root_ = ::mkdtemp(pattern.data());
  }
  ~SharedCache() override {
    std::error_code ignored;
    fs::remove_all(root_, ignored);
  }
  std::string folder() const { return (root_ / "own").string(); }

  fs::path root_;
};

// Fills root_/shared with "key" and gives it to another user if this user is root.
std::string shared_by_other_user(const fs::path& root) {
  constexpr uid_t nobody = 65534;
  const std::string shared = (root / "shared").string();
  DiskCache(shared).store("key", "shared value");
  for (const auto& entry : fs::recursive_directory_iterator(shared)) {
    fs::permissions(entry, entry.is_directory() ? fs::perms(0755) : fs::perms(0644));
    if (::geteuid() == 0) {
      EXPECT_EQ(::chown(entry.path().c_str(), nobody, nobody), 0);
    }
  }
  return shared;
}

TEST_F(SharedCache, ASharedFolderIsReadAndNeverWritten) {
  const std::string shared = shared_by_other_user(root_);
  const DiskCache cache(folder(), shared);
  const auto make = [] { return std::string("made"); };
  EXPECT_EQ(cache.trouble_of_shared().problem, "");
  EXPECT_EQ(cache.list_shared().size(), 1u);
  EXPECT_EQ(cache.get_or_make("key", make), "shared value");
  EXPECT_TRUE(cache.list().empty()) << "found, so that nothing is stored";
  EXPECT_EQ(cache.get_or_make("other", make), "made");
  EXPECT_EQ(cache.list().size(), 1u);
  EXPECT_EQ(cache.list_shared().size(), 1u);
  cache.store("key", "own value");
  EXPECT_EQ(cache.lookup("key"), "own value") << "the user's own kernel precedes the shared one";
  cache.remove("key");
  EXPECT_EQ(cache.lookup("key"), "shared value");
  EXPECT_EQ(cache.clear(), 1);
  EXPECT_EQ(cache.list_shared().size(), 1u);
  EXPECT_FALSE(DiskCache("", shared).lookup("key"));
  EXPECT_EQ(DiskCache("/proc/nbcc/cache", shared).get_or_make("key", make), "shared value");
}

TEST_F(SharedCache, ADamagedSharedEntryIsAMissAndStays) {
  const std::string shared = (root_ / "shared").string();
  DiskCache(shared).store("key", "shared value");
  const fs::path entry = fs::directory_iterator(shared + "/kernels")->path();
  std::ofstream(entry, std::ios::app) << "x";
  const DiskCache cache(folder(), shared);
  EXPECT_EQ(cache.get_or_make("key", [] { return std::string("made"); }), "made");
  EXPECT_TRUE(fs::exists(entry));
  EXPECT_EQ(cache.lookup("key"), "made");
}

TEST_F(SharedCache, ASharedFolderThatSeveralUsersMayWriteIsNotUsed) {
  const std::string shared = shared_by_other_user(root_), in_it = shared + "/kernels";
  const fs::path entry = fs::directory_iterator(in_it)->path();
  const DiskCache cache(folder(), shared);
  const auto expect_unused = [&](const fs::path& path, unsigned open, unsigned closed) {
    ASSERT_EQ(::chmod(path.c_str(), open), 0);
    EXPECT_FALSE(cache.lookup("key")) << path << " with mode " << open;
    ASSERT_EQ(::chmod(path.c_str(), closed), 0);
    EXPECT_TRUE(cache.lookup("key")) << path;
  };
  expect_unused(in_it, 0775, 0755);
  expect_unused(in_it, 0757, 0755);
  expect_unused(shared, 0757, 01777);
  expect_unused(entry, 0664, 0644);
  expect_unused(entry, 0646, 0644);
  if (::geteuid() != 0) return;
  // A third user owns the entry, and the variable does not name that user's folder.
  ASSERT_EQ(::chown(entry.c_str(), 1234, 1234), 0);
  EXPECT_FALSE(cache.lookup("key"));
  // The folder above belongs to a third user: its mode counts, too.
  ASSERT_EQ(::chown(entry.c_str(), 65534, 65534), 0);
  ASSERT_EQ(::chown(shared.c_str(), 1234, 1234), 0);
  expect_unused(shared, 0777, 0755);
}

TEST(SharedCacheFolder, ComesFromTheEnvironment) {
  const char* const before = std::getenv("NBCC_SHARED_CACHE_DIR");
  const std::string kept = before ? before : "";
  ::setenv("NBCC_SHARED_CACHE_DIR", "/project/kernels", 1);
  EXPECT_EQ(DiskCache("/own").shared_folder(), "/project/kernels");
  ::unsetenv("NBCC_SHARED_CACHE_DIR");
  EXPECT_EQ(DiskCache("/own").shared_folder(), "");
  if (before) ::setenv("NBCC_SHARED_CACHE_DIR", kept.c_str(), 1);
}

}  // namespace
}  // namespace nbcc
