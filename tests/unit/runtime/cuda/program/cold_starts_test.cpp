// Processes that meet a cache that is empty, killed by their neighbours, or not to be written: the command itself, and
// the loader of GPU kernels on the shim. What is tested is what a batch of jobs that begin together sees: all succeed,
// with the same bytes, and each kernel is compiled once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/inotify.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "runtime/cache/disk_cache.h"
#include "runtime/cuda/program/cuda_device.h"
#include "tests/support/child_process.h"
#include "tests/support/cuda_experiment.h"
#include "tests/support/cuda_shim.h"
#include "tests/support/folders.h"
#include "tests/support/scratch_folder.h"

namespace nbcc::test {
namespace {

namespace fs = std::filesystem;
using std::chrono::microseconds;
using testing::IsEmpty;
using testing::SizeIs;

constexpr int kAtOnce = 8;
constexpr int kCannotBeTried = 77;

// The names of files that come to be in a folder: made there, or renamed to what they are now. A file that replaces
// another counts again, which a listing would not show.
class Arrivals {
 public:
  explicit Arrivals(const std::string& folder) : events_(::inotify_init1(IN_NONBLOCK)) {
    EXPECT_GE(::inotify_add_watch(events_, folder.c_str(), IN_CREATE | IN_MOVED_TO), 0);
  }
  Arrivals(const Arrivals&) = delete;
  Arrivals& operator=(const Arrivals&) = delete;
  ~Arrivals() { ::close(events_); }

  // Those since the last call.
  std::vector<std::string> take() {
    std::vector<std::string> names;
    alignas(inotify_event) char buffer[1 << 16];
    for (;;) {
      const ssize_t bytes = ::read(events_, buffer, sizeof buffer);
      if (bytes <= 0) return names;
      for (ssize_t at = 0; at < bytes;) {
        const auto* const event = reinterpret_cast<const inotify_event*>(buffer + at);
        if (event->len) names.emplace_back(event->name);
        at += ssize_t(sizeof *event + event->len);
      }
    }
  }
  int count(const std::string& ending) {
    const std::vector<std::string> names = take();
    return int(std::count_if(names.begin(), names.end(), [&](const auto& name) { return name.ends_with(ending); }));
  }
  // Waits, at most ten seconds, for a name of this ending.
  bool meets(const std::string& ending) {
    for (int k = 0; k < 1000; ++k) {
      if (count(ending) > 0) return true;
      pollfd ready{events_, POLLIN, 0};
      ::poll(&ready, 1, 10);
    }
    return false;
  }

 private:
  int events_;
};

std::string kernels_in(const std::string& cache) { return cache + "/kernels"; }

// Each entry of a cache by name, with the file that it is: whoever replaces an entry makes a new file.
std::map<std::string, ino_t> entries_of(const std::string& cache) {
  std::map<std::string, ino_t> entries;
  std::error_code missing;
  for (const auto& entry : fs::directory_iterator(kernels_in(cache), missing)) {
    struct stat status;
    if (entry.path().extension() == ".kernel" && ::stat(entry.path().c_str(), &status) == 0) {
      entries[entry.path().filename().string()] = status.st_ino;
    }
  }
  return entries;
}

class ColdStarts : public testing::Test {
 protected:
  ColdStarts() {
    const std::string made =
        "'" + test::nbcc_command() + "' make-ic plummer --n 200 --seed 3 -o '" + path("plummer.npz") + "'";
    EXPECT_EQ(std::system(made.c_str()), 0);
    warm_ = result_of(start_run("reference", fresh_cache()));
    EXPECT_FALSE(warm_.empty());
  }

  std::string path(const std::string& name) const { return scratch_.path(name); }
  // A folder that is there and empty, or one that is not there yet.
  std::string fresh_cache() { return scratch_.path("cache" + std::to_string(++caches_)); }
  std::string empty_cache() {
    const std::string cache = fresh_cache();
    fs::create_directories(kernels_in(cache));
    return cache;
  }

  struct Run {
    std::string folder;
    pid_t process = -1;
  };

  // `nbcc run` in a folder of its own, so that the command lines, which results tell, are the same word for word.
  // `before` is done in the new process.
  Run start_run(const std::string& name, const std::string& cache, const std::function<int()>& before = {}) const {
    const std::string folder = path(name), command = test::nbcc_command(),
                      pipeline = test::source_folder() + "/pipelines/gravity.pipe";
    fs::create_directory(folder);
    return {folder, start([&] {
              if (before) {
                if (const int refused = before()) return refused;
              } else {
                ::setenv("NBCC_CACHE_DIR", cache.c_str(), 1);
              }
              if (::chdir(folder.c_str()) != 0) return 1;
              if (!std::freopen("out", "w", stdout) || !std::freopen("err", "w", stderr)) return 1;
              ::execl(command.c_str(), "nbcc", "run", pipeline.c_str(), "--i", "../plummer.npz", "--force", "-o",
                      "out.npz", nullptr);
              return 127;
            })};
  }

  // The bytes that it wrote; "" after a failure. Nothing is said on the way.
  std::string result_of(const Run& run) const {
    const std::string err = run.folder + "/err";
    EXPECT_EQ(finish(run.process), 0) << contents(err);
    EXPECT_THAT(contents(err), IsEmpty());
    return contents(run.folder + "/out.npz");
  }

  static std::string contents(const std::string& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  // After somebody was killed over this cache: what stands in it is whole, and the next start is none the slower.
  void expect_sound(const std::string& cache, int round) {
    const std::map<std::string, ino_t> left = entries_of(cache);
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_EQ(result_of(start_run("next", cache)), warm_) << round;
    // A lock whose holder is gone holds nobody up: waiting for one takes a minute.
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30)) << round;
    const std::map<std::string, ino_t> now = entries_of(cache);
    EXPECT_THAT(now, SizeIs(1)) << round;
    // A broken entry would have been replaced.
    if (left.empty()) return;
    EXPECT_EQ(now, left) << round;
    ++whole_entries_;
  }

  ScratchFolder scratch_;
  std::string warm_;  // what every run must write
  int caches_ = 0;
  int whole_entries_ = 0;  // of those that were killed
};

TEST_F(ColdStarts, AtOnceOnAnEmptyCacheCompileOnce) {
  for (int round = 0; round < 3; ++round) {
    const std::string cache = empty_cache();
    Arrivals arrivals(kernels_in(cache));
    std::vector<Run> runs;
    for (int k = 0; k < kAtOnce; ++k) runs.push_back(start_run("run" + std::to_string(k), cache));
    for (const Run& run : runs) EXPECT_EQ(result_of(run), warm_);
    EXPECT_EQ(arrivals.count(".kernel"), 1);
    EXPECT_THAT(entries_of(cache), SizeIs(1));
    EXPECT_EQ(std::distance(fs::directory_iterator(kernels_in(cache)), {}), 1) << "locks or temporary files were left";
  }
}

// They make the folder at once, too.
TEST_F(ColdStarts, AtOnceWithoutACacheFolder) {
  const std::string cache = fresh_cache() + "/below";
  std::vector<Run> runs;
  for (int k = 0; k < kAtOnce; ++k) runs.push_back(start_run("run" + std::to_string(k), cache));
  for (const Run& run : runs) EXPECT_EQ(result_of(run), warm_);
  EXPECT_EQ(std::distance(fs::directory_iterator(kernels_in(cache)), {}), 1);
}

TEST_F(ColdStarts, KilledAtAnyMomentLeaveNoBrokenEntry) {
  const auto begin = std::chrono::steady_clock::now();
  result_of(start_run("measured", fresh_cache()));
  const auto whole = std::chrono::duration_cast<microseconds>(std::chrono::steady_clock::now() - begin);
  std::mt19937 random(5);
  for (int round = 0; round < 16; ++round) {
    const std::string cache = fresh_cache();
    const Run run = start_run("killed", cache);
    std::this_thread::sleep_for(microseconds(random() % (1 + unsigned(whole.count()))));
    ::kill(run.process, SIGKILL);
    finish(run.process);
    expect_sound(cache, round);
  }
}

// Most of a start is over before the moments that matter; these are killed there: while the entry is written beside
// its place, and as soon as it is in it.
TEST_F(ColdStarts, KilledWhileTheyStoreLeaveNoBrokenEntry) {
  std::mt19937 random(6);
  int renamed = 0;
  for (int round = 0; round < 16; ++round) {
    const std::string cache = empty_cache();
    Arrivals arrivals(kernels_in(cache));
    const Run run = start_run("killed", cache);
    if (round % 2 == 0) {
      EXPECT_TRUE(arrivals.meets(".tmp"));
      std::this_thread::sleep_for(microseconds(random() % 2000));
    } else {
      EXPECT_TRUE(arrivals.meets(".kernel"));
      ++renamed;
    }
    ::kill(run.process, SIGKILL);
    finish(run.process);
    expect_sound(cache, round);
  }
  EXPECT_GE(whole_entries_, renamed);
}

// One of those that wait is not held up by the death of the one that they wait for.
TEST_F(ColdStarts, TheOthersGoOnWhenTheCompilingOneIsKilled) {
  for (int round = 0; round < 5; ++round) {
    const std::string cache = empty_cache();
    Arrivals arrivals(kernels_in(cache));
    const Run first = start_run("killed", cache);
    EXPECT_TRUE(arrivals.meets(".lock"));
    std::vector<Run> runs;
    for (int k = 1; k < kAtOnce; ++k) runs.push_back(start_run("run" + std::to_string(k), cache));
    ::kill(first.process, SIGKILL);
    finish(first.process);
    for (const Run& run : runs) EXPECT_EQ(result_of(run), warm_);
    EXPECT_LE(arrivals.count(".kernel"), 2);  // the killed one may have come as far as that
    EXPECT_THAT(entries_of(cache), SizeIs(1));
  }
}

class WithoutACache : public ColdStarts {
 protected:
  int use_home(const std::string& home) const {
    ::unsetenv("NBCC_CACHE_DIR");
    ::unsetenv("XDG_CACHE_HOME");
    return ::setenv("HOME", home.c_str(), 1);
  }
};

TEST_F(WithoutACache, AHomeThatCannotBeWrittenWorks) {
  scratch_.write("file", "in the way");
  for (const std::string& home : {path("file"), path("file") + "/below", std::string("/proc/nbcc"), std::string()}) {
    std::vector<Run> runs;
    for (int k = 0; k < 2; ++k)
      runs.push_back(start_run("home" + std::to_string(k), "", [&] { return use_home(home); }));
    for (const Run& run : runs) EXPECT_EQ(result_of(run), warm_) << home;
  }
  EXPECT_EQ(scratch_.read("file"), "in the way");
}

// A file system that is read-only binds root as well.
TEST_F(WithoutACache, AReadOnlyFileSystemWorks) {
  fs::create_directory(path("home"));
  const auto read_only = [&] {
    if (::unshare(CLONE_NEWNS) != 0 || ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount("none", path("home").c_str(), "tmpfs", MS_RDONLY, nullptr) != 0) {
      return kCannotBeTried;
    }
    if (::mkdir(path("home/.cache").c_str(), 0700) == 0) return 1;
    return use_home(path("home"));
  };
  if (finish(start(read_only)) == kCannotBeTried) GTEST_SKIP() << "no file system can be mounted here";
  EXPECT_EQ(result_of(start_run("run", "", read_only)), warm_);
}

// The shim's compiler, which tells of every text that it is given. It takes its time, so that others come meanwhile.
struct TellingCompiler final : CudaCompiler {
  TellingCompiler(std::shared_ptr<const CudaCompiler> compiler, std::string log)
      : inner(std::move(compiler)), log_file(std::move(log)) {}
  std::string identity() const override { return inner->identity(); }
  int version() const override { return inner->version(); }
  std::vector<std::string> architectures() const override { return inner->architectures(); }
  CudaCode compile(const std::string& text, const std::string& architecture, const LaunchConfig& config,
                   Form form) const override {
    const std::size_t what = std::hash<std::string>()(text + describe(config));
    std::ofstream(log_file, std::ios::app) << std::to_string(what) + "\n" << std::flush;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    return inner->compile(text, architecture, config, form);
  }

  std::shared_ptr<const CudaCompiler> inner;
  std::string log_file;
};

class ColdStartsOnTheShim : public testing::Test {
 protected:
  // What was compiled in this process is not compiled again in those that it starts: they are the more at once.
  ColdStartsOnTheShim() {
    EXPECT_EQ(sum_on("first"), 0);
    kernels_ = compiled_for("first");
    EXPECT_FALSE(kernels_.empty());
  }

  // Loads a kernel through the cache of that name, sums, and compares with double precision.
  int sum_on(const std::string& cache) const {
    CudaShim shim;
    {
      const auto compiler = std::make_shared<TellingCompiler>(shim.compiler(), scratch_.path(cache + ".log"));
      CudaDevice device(shim.driver(), compiler, 0, scratch_.path(cache), "");
      const Numbers inputs = random_experiment(20, 30);
      CudaExperiment experiment(device.gpu(), load_experiment(device), inputs);
      experiment.sum.run();
      experiment.sum.wait();
      const Numbers expected = expected_sums(inputs);
      if (experiment.get("near") != expected.at("near")) return 1;
      const std::vector<double> pot = experiment.get("pot");
      for (std::size_t k = 0; k < pot.size(); ++k) {
        if (!(std::abs(pot[k] / expected.at("pot")[k] - 1) < 1e-4)) return 2;
      }
    }
    return shim.take_failures().empty() ? 0 : 3;
  }
  // What was compiled, in any process, that used the cache of that name.
  std::multiset<std::string> compiled_for(const std::string& cache) const {
    std::multiset<std::string> lines;
    std::ifstream log(scratch_.path(cache + ".log"));
    for (std::string line; std::getline(log, line);) lines.insert(line);
    return lines;
  }

  ScratchFolder scratch_;
  std::multiset<std::string> kernels_;  // that the sum needs
};

TEST_F(ColdStartsOnTheShim, AtOnceOnAnEmptyCacheCompileOnce) {
  std::vector<pid_t> children;
  for (int k = 0; k < kAtOnce; ++k) children.push_back(start([&] { return sum_on("cache"); }));
  for (const pid_t child : children) EXPECT_EQ(finish(child), 0);
  EXPECT_EQ(compiled_for("cache"), kernels_);
  EXPECT_THAT(DiskCache(scratch_.path("cache")).list(), SizeIs(kernels_.size()));
}

TEST_F(ColdStartsOnTheShim, KilledLeaveNoBrokenEntry) {
  std::mt19937 random(7);
  for (int round = 0; round < 8; ++round) {
    const std::string name = "cache" + std::to_string(round), cache = scratch_.path(name);
    fs::create_directories(kernels_in(cache));
    Arrivals arrivals(kernels_in(cache));
    const pid_t child = start([&] { return sum_on(name); });
    EXPECT_TRUE(arrivals.meets(round % 2 == 0 ? ".lock" : ".tmp"));
    std::this_thread::sleep_for(microseconds(random() % 500));
    ::kill(child, SIGKILL);
    finish(child);
    const std::map<std::string, ino_t> left = entries_of(cache);
    const std::size_t before = compiled_for(name).size();
    EXPECT_EQ(finish(start([&] { return sum_on(name); })), 0);
    // What was there was used, and is the file that it was; the rest was made.
    EXPECT_EQ(compiled_for(name).size() - before, kernels_.size() - left.size()) << round;
    std::map<std::string, ino_t> now = entries_of(cache);
    EXPECT_THAT(now, SizeIs(kernels_.size()));
    for (const auto& [entry, file] : left) EXPECT_EQ(now[entry], file) << round;
  }
}

TEST_F(ColdStartsOnTheShim, AFolderThatCannotBeMadeWorks) {
  scratch_.write("file", "in the way");
  for (int k = 0; k < 2; ++k) EXPECT_EQ(finish(start([&] { return sum_on("file/cache"); })), 0);
  EXPECT_EQ(scratch_.read("file"), "in the way");
}

}  // namespace
}  // namespace nbcc::test
