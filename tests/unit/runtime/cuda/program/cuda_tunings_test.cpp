#include "runtime/cuda/program/cuda_tunings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "runtime/cache/own_folder.h"
#include "tests/support/scratch_folder.h"

namespace nbcc {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::SizeIs;

const CudaTuningSubject kGravity{"gravity", "// gravity, single precision, fast math\nkernel text\n", "NVIDIA H200",
                                 132};
const CudaTuned kFew{{128, 1, 128, 16, 2, 8}, 5.11e11, 4.29e11};
const CudaTuned kMany{{128, 4, 128, 32, 1, 24}, 2.112e12, 2.05e12};

class CudaTuningsTest : public testing::Test {
 protected:
  fs::path only_file() const {
    std::vector<fs::path> found;
    for (const auto& entry : fs::directory_iterator(tunings_.folder())) found.push_back(entry.path());
    EXPECT_EQ(found.size(), 1u);
    return found.at(0);
  }
  std::string content() const { return scratch_.read("cache/tunings/" + only_file().filename().string()); }
  void rewrite(const std::string& text) const { std::ofstream(only_file(), std::ios::binary) << text; }

  test::ScratchFolder scratch_;
  CudaTunings tunings_{scratch_.path("cache")};
};

TEST(CudaSizeClass, IsTheLogarithm) {
  EXPECT_EQ(size_class(1, 2), (CudaSizeClass{0, 1}));
  EXPECT_EQ(size_class(2047, 2048), (CudaSizeClass{10, 11}));
  EXPECT_EQ(size_class(4095, std::int64_t(1) << 40), (CudaSizeClass{11, 40}));
}

TEST(CudaTunings, DescribeAConfiguration) {
  EXPECT_EQ(describe(kFew.config), "128 threads, 1 i, tile 128, unroll 16, j_slices 2, j_splits 8");
  EXPECT_EQ(describe(LaunchConfig{.j_tile = 64}), "tile 64");
  EXPECT_EQ(describe(LaunchConfig{}), "");
}

TEST_F(CudaTuningsTest, KeepsChoicesBySizeClass) {
  EXPECT_TRUE(tunings_.read(kGravity).all().empty());
  ASSERT_TRUE(tunings_.store(kGravity, size_class(2048, 2048), kFew));
  ASSERT_TRUE(tunings_.store(kGravity, size_class(131072, 131072), kMany));
  const CudaTuningTable table = tunings_.read(kGravity);
  EXPECT_EQ(table.find(2048, 4095), kFew.config);
  EXPECT_EQ(table.find(200000, 140000), kMany.config);
  EXPECT_EQ(table.measured({11, 11})->rate, kFew.rate);
  EXPECT_EQ(table.measured({11, 11})->model_rate, kFew.model_rate);
  ASSERT_TRUE(tunings_.store(kGravity, size_class(3000, 3000), kMany));
  EXPECT_EQ(tunings_.read(kGravity).find(2048, 2048), kMany.config);
  EXPECT_THAT(tunings_.read(kGravity).all(), SizeIs(2));
}

TEST_F(CudaTuningsTest, ANeighbouringClassLendsItsKernelAndNoOther) {
  tunings_.store(kGravity, {11, 11}, kFew);
  const CudaTuningTable table = tunings_.read(kGravity);
  const LaunchConfig kernel_only = kFew.config.compiled();
  for (const auto& [ni, nj] : {std::pair{1024, 2048}, {4096, 2048}, {2048, 8191}, {1500, 1500}, {8191, 1024}}) {
    EXPECT_EQ(table.find(ni, nj), kernel_only) << ni << ' ' << nj;
  }
  for (const auto& [ni, nj] : {std::pair{1023, 2048}, {2048, 8192}, {8192, 8192}, {1, 1}, {1 << 20, 1 << 20}}) {
    EXPECT_FALSE(table.find(ni, nj)) << ni << ' ' << nj;
  }
}

TEST_F(CudaTuningsTest, OfTwoNeighboursTheNearerLends) {
  tunings_.store(kGravity, {10, 10}, kMany);
  tunings_.store(kGravity, {11, 12}, kFew);
  EXPECT_EQ(tunings_.read(kGravity).find(2048, 2048)->compiled(), kFew.config.compiled());
}

TEST_F(CudaTuningsTest, OtherTextPipelineOrGpuHasChoicesOfItsOwn) {
  tunings_.store(kGravity, {11, 11}, kFew);
  CudaTuningSubject text = kGravity, pipeline = kGravity, model = kGravity, smaller = kGravity;
  text.text += " ";
  pipeline.pipeline = "gravity2";
  model.model = "NVIDIA H100";
  smaller.multiprocessors = 114;
  for (const CudaTuningSubject& other : {text, pipeline, model, smaller}) {
    EXPECT_TRUE(tunings_.read(other).all().empty());
    EXPECT_TRUE(tunings_.store(other, {11, 11}, kMany));
  }
  EXPECT_EQ(tunings_.read(kGravity).find(2048, 2048), kFew.config);
  EXPECT_THAT(tunings_.list(), SizeIs(5));
}

TEST_F(CudaTuningsTest, TheFileCanBeRead) {
  tunings_.store(kGravity, {11, 11}, kFew);
  EXPECT_THAT(only_file().filename().string(), testing::StartsWith("gravity-NVIDIA_H200-"));
  EXPECT_THAT(content(), HasSubstr("gpu NVIDIA H200, 132 multiprocessors\n"));
  EXPECT_THAT(content(),
              HasSubstr("ni 11 nj 11 threads 128 i_per_thread 1 j_tile 128 unroll 16 j_slices 2 j_splits 8 "));
}

TEST_F(CudaTuningsTest, ALineThatIsBrokenIsPassedOver) {
  tunings_.store(kGravity, {11, 11}, kFew);
  const std::string whole = content(), line = "ni 11 nj 11 threads 128 i_per_thread 1 j_tile 128";
  for (const std::string broken :
       {"ni 11 nj 11 threads 12x i_per_thread 1 j_tile 128", "ni 11 nj 11 threads -1 i_per_thread 1 j_tile 128",
        "ni 11 nj 11 threads 2048 i_per_thread 1 j_tile 128", "ni 11 nj 99 threads 128 i_per_thread 1 j_tile 128",
        "ni 11 nj threads 128 i_per_thread 1 j_tile 128", "ni 11 nj 11 threads 128 j_tile 128"}) {
    std::string text = whole;
    text.replace(text.find(line), line.size(), broken);
    rewrite(text + "\n\xff\n" +
            "ni 14 nj 14 threads 256 i_per_thread 2 j_tile 64 unroll 8 j_slices 1 j_splits 0 rate 1 model 1\n");
    const CudaTuningTable table = tunings_.read(kGravity);
    EXPECT_THAT(table.all(), SizeIs(1)) << broken;
    EXPECT_EQ(table.find(16384, 16384)->threads, 256) << broken;
  }
}

TEST_F(CudaTuningsTest, AFileThatIsNoneIsIgnoredAndReplaced) {
  tunings_.store(kGravity, {11, 11}, kFew);
  const std::string whole = content();
  std::string newer = whole, other = whole;
  newer.replace(newer.find("tunings 1"), 9, "tunings 2");
  other.replace(other.find("H200"), 4, "H100");
  for (const std::string& text : {std::string(), std::string("nbcc tunings 1"), std::string(5000, 'x'), newer, other,
                                  std::string(2 << 20, '\n'), whole.substr(whole.find('\n') + 1)}) {
    rewrite(text);
    EXPECT_TRUE(tunings_.read(kGravity).all().empty());
  }
  EXPECT_TRUE(tunings_.store(kGravity, {11, 11}, kFew));
  EXPECT_EQ(content(), whole);
}

TEST_F(CudaTuningsTest, ACutOffFileGivesWhatIsWhole) {
  tunings_.store(kGravity, {11, 11}, kFew);
  tunings_.store(kGravity, {17, 17}, kMany);
  const std::string whole = content();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    rewrite(whole.substr(0, size));
    const CudaTuningTable table = tunings_.read(kGravity);
    for (const auto& [each, tuned] : table.all()) {
      EXPECT_EQ(tuned.config, each.i == 11 ? kFew.config : kMany.config) << size;
    }
  }
}

TEST_F(CudaTuningsTest, WritersAtOnceLoseNothing) {
  std::vector<pid_t> children;
  for (int writer = 0; writer < 4; ++writer) {
    const pid_t child = ::fork();
    if (child == 0) {
      bool stored = true;
      for (int k = 0; k < 10; ++k) stored = tunings_.store(kGravity, {writer, k}, kFew) && stored;
      ::_exit(stored ? 0 : 1);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = -1;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_THAT(tunings_.read(kGravity).all(), SizeIs(40));
  only_file();  // neither lock nor temporary file is left
}

TEST_F(CudaTuningsTest, AWriterThatHangsHoldsNobodyUpForLong) {
  tunings_.store(kGravity, {11, 11}, kFew);
  const OwnFolder folder = OwnFolder::open(tunings_.folder(), ".tuning");
  OwnLock lock(folder, only_file().filename().string());
  ASSERT_EQ(lock.try_take(), OwnLock::State::Held);
  EXPECT_TRUE(tunings_.store(kGravity, {12, 12}, kFew));
  EXPECT_THAT(tunings_.read(kGravity).all(), SizeIs(2));
}

TEST_F(CudaTuningsTest, WhereNothingCanBeKeptNothingIsFound) {
  scratch_.write("file", "in the way");
  for (const std::string& folder : {std::string(), scratch_.path("file"), std::string("/proc/nbcc")}) {
    const CudaTunings none(folder);
    EXPECT_FALSE(none.store(kGravity, {11, 11}, kFew)) << folder;
    EXPECT_TRUE(none.read(kGravity).all().empty());
    EXPECT_TRUE(none.list().empty());
    EXPECT_EQ(none.clear(), 0);
  }
}

TEST_F(CudaTuningsTest, ListsAndClears) {
  CudaTuningSubject odd = kGravity;
  odd.pipeline = "a/b\nc";
  tunings_.store(kGravity, {11, 11}, kFew);
  tunings_.store(kGravity, {12, 12}, kFew);
  tunings_.store(odd, {11, 11}, kFew);
  scratch_.write("cache/tunings/notes", "mine");
  const std::vector<CudaTunings::Entry> entries = tunings_.list();
  ASSERT_THAT(entries, SizeIs(2));
  const CudaTunings::Entry& entry = entries[0].pipeline == "gravity" ? entries[0] : entries[1];
  EXPECT_EQ(entry.gpu, "NVIDIA H200, 132 multiprocessors");
  EXPECT_EQ(entry.kernel, "gravity, single precision, fast math");
  EXPECT_THAT(entry.table.all(), SizeIs(2));
  EXPECT_EQ(tunings_.clear(), 2);
  EXPECT_TRUE(tunings_.list().empty());
  EXPECT_EQ(scratch_.read("cache/tunings/notes"), "mine");
}

}  // namespace
}  // namespace nbcc
