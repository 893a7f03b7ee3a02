// nbcc compile and nbcc inspect from outside: files, exit codes, what is left behind when something is wrong.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/support/command.h"

namespace nbcc::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(CommandCompile, WritesALibraryAndWhatItIsUsedBy) {
  const Shell shell;
  const Outcome made =
      shell.nbcc("compile \"$pipelines\"/gravity.pipe \"$pipelines\"/nearest_neighbour.pipe -o libnear.so --fortran");
  ASSERT_EQ(made.code, 0) << made.err;
  EXPECT_THAT(made.out + made.err, IsEmpty());
  EXPECT_EQ(shell.count(), 4);
  EXPECT_THAT(shell.read("near.h"), HasSubstr("int gravity(int64_t ni, const double (*xi)[3], int64_t nj"));
  EXPECT_THAT(shell.read("near.h"), HasSubstr("int32_t self, int64_t* near"));
  EXPECT_THAT(shell.read("near.hpp"), HasSubstr("namespace near {"));
  EXPECT_THAT(shell.read("near.f90"), HasSubstr("module near\n"));
}

TEST(CommandCompile, InspectListsWhatIsInside) {
  const Shell shell;
  ASSERT_EQ(shell.nbcc("compile \"$pipelines\"/gravity.pipe -o libg.a --static --precision mixed --isa sse2,avx2").code,
            0);
  const Outcome text = shell.nbcc("inspect libg.a"), object = shell.nbcc("inspect --json libg.a");
  EXPECT_EQ(text.code, 0);
  EXPECT_THAT(text.out, HasSubstr("gravity: nbcc 0."));
  EXPECT_THAT(text.out, HasSubstr("CPU: avx2, sse2\n"));
  const json report = json::parse(object.out);
  ASSERT_EQ(report["pipelines"].size(), 1U);
  const json& gravity = report["pipelines"][0];
  EXPECT_EQ(gravity["precision"], "mixed");
  EXPECT_EQ(gravity["cpu"], (json{"avx2", "sse2"}));
  EXPECT_EQ(gravity["fields"][0]["name"], "xi");
  EXPECT_EQ(gravity["cuda"], json::array());
  EXPECT_GT(gravity["cuda_text_bytes"], 1000);
}

TEST(CommandCompile, InspectReadsNoDevicesAndNoDamagedArchives) {
  const Shell shell;
  EXPECT_THAT(shell.nbcc("inspect /dev/zero").err, HasSubstr("/dev/zero: is a device, not a library"));
  const Outcome cut = shell.line(
      "\"$nbcc\" compile \"$pipelines\"/gravity.pipe -o libg.a --static && head -c 20000 libg.a > cut.a && "
      "\"$nbcc\" inspect cut.a");
  EXPECT_EQ(cut.code, 2);
  EXPECT_THAT(cut.err, HasSubstr("cut.a: is no library: the archive is damaged or cut off"));
}

// A list takes one word, not those behind it as well.
TEST(CommandCompile, FilesMayStandBehindTheOptions) {
  const Shell shell;
  const Outcome made =
      shell.nbcc("compile -o libg.so --rpath /opt/a:/opt/b --isa $isa --force \"$pipelines\"/gravity.pipe");
  ASSERT_EQ(made.code, 0) << made.err;
  EXPECT_THAT(shell.read("libg.so"), HasSubstr("/opt/a:/opt/b"));
  EXPECT_EQ(json::parse(shell.nbcc("inspect --json libg.so").out)["pipelines"][0]["cpu"], json{name(baseline_isa())});
}

TEST(CommandCompile, TwoRunsWriteTheSameBytes) {
  const Shell shell;
  const std::string words = "compile \"$pipelines\"/lennard_jones.pipe -o libf.so --fortran --force";
  ASSERT_EQ(shell.nbcc(words).code, 0);
  const std::string library = shell.read("libf.so"), header = shell.read("f.h");
  ASSERT_EQ(shell.nbcc(words).code, 0);
  EXPECT_EQ(shell.read("libf.so"), library);
  EXPECT_EQ(shell.read("f.h"), header);
}

TEST(CommandCompile, ExistingFilesAreKeptWithoutForce) {
  const Shell shell;
  shell.write("f.h", "mine\n");
  const Outcome outcome = shell.nbcc("compile \"$pipelines\"/gravity.pipe -o libf.so");
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("f.h: exists already"));
  EXPECT_EQ(shell.read("f.h"), "mine\n");
  EXPECT_EQ(shell.count(), 1);
}

TEST(CommandCompile, ALinkThatLeadsToItselfExists) {
  const Shell shell;
  const Outcome outcome = shell.line("ln -s libf.so libf.so; \"$nbcc\" compile \"$pipelines\"/gravity.pipe -o libf.so");
  EXPECT_EQ(outcome.code, 2) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("libf.so: exists already"));
  EXPECT_EQ(shell.line("test -L libf.so").code, 0);
  EXPECT_EQ(shell.count(), 1);
}

struct Mistake {
  const char *words, *said;
  int code;
};

class CommandCompileMistake : public testing::TestWithParam<Mistake> {};

TEST_P(CommandCompileMistake, LeavesNothingBehind) {
  const Shell shell;
  shell.write("good.pipe", "input_i real xi;\ninput_j real xj;\noutput(sum) real s;\ns += xj - xi;\n");
  shell.write("bad.pipe", "input_i real xi;\ninput_j real xj;\noutput(sum) real s;\ns += xk - xi;\n");
  shell.write("double.pipe", "input_i real xi;\ninput_j real xj;\noutput(sum) real s;\ns += xj - xi;\n");
  const Outcome outcome = shell.nbcc(GetParam().words);
  EXPECT_EQ(outcome.code, GetParam().code) << outcome.err;
  EXPECT_THAT(outcome.out, IsEmpty());
  EXPECT_THAT(outcome.err, HasSubstr(GetParam().said));
  EXPECT_EQ(shell.count(), 3);
}

INSTANTIATE_TEST_SUITE_P(
    All, CommandCompileMistake,
    testing::Values(Mistake{"compile good.pipe", "--output", 2}, Mistake{"compile -o libx.so", "FILE", 2},
                    Mistake{"compile good.pipe bad.pipe -o libx.so", "bad.pipe:4:6: error", 1},
                    Mistake{"compile missing.pipe -o libx.so", "missing.pipe", 2},
                    Mistake{"compile good.pipe -o no/such/libx.so", "folder", 2},
                    Mistake{"compile good.pipe -o x.txt", "ends in '.so'", 2},
                    Mistake{"compile good.pipe -o libx.so --static", "ends in '.a'", 2},
                    Mistake{"compile double.pipe -o libx.so", "a word of C or C++", 2},
                    Mistake{"compile good.pipe ./good.pipe -o libx.so", "two pipelines 'good'", 2},
                    Mistake{"compile good.pipe -o libx.so --isa sse3", "sse3", 2},
                    Mistake{"compile good.pipe -o libx.so --cxx-namespace 3d", "no C++ namespace", 2},
                    Mistake{"compile good.pipe -o libx.so --cxx-namespace a::", "no C++ namespace", 2},
                    Mistake{"inspect missing.so", "missing.so", 2}, Mistake{"inspect good.pipe", "is no library", 2},
                    Mistake{"inspect /bin/ls", "holds no pipelines", 2}));

// 2 where NVRTC is there and does not know the name, 3 where it is not.
TEST(CommandCompile, ArchitecturesThatAreNone) {
  const Shell shell;
  const bool nvrtc = shell.nbcc("emit \"$pipelines\"/gravity.pipe --stage ptx --arch sm_90 -o /dev/null").code == 0;
  const Outcome outcome = shell.nbcc("compile \"$pipelines\"/gravity.pipe -o libx.so --arch sm_90,sm_3");
  EXPECT_EQ(outcome.code, nvrtc ? 2 : 3) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr(nvrtc ? "'sm_3'" : "NVRTC"));
  EXPECT_EQ(shell.count(), 0);
}

TEST(CommandCompile, CodeForGpusNeedsNoGpu) {
  const Shell shell;
  if (shell.nbcc("emit \"$pipelines\"/gravity.pipe --stage ptx --arch sm_90 -o /dev/null").code != 0) {
    GTEST_SKIP() << "there is no NVRTC";
  }
  const Outcome made = shell.nbcc("compile \"$pipelines\"/gravity.pipe -o libx.so --arch sm_90,sm_80 --isa $isa");
  ASSERT_EQ(made.code, 0) << made.err;
  const json gravity = json::parse(shell.nbcc("inspect --json libx.so").out)["pipelines"][0];
  std::vector<std::string> codes;
  for (const json& code : gravity["cuda"]) {
    const std::string what = std::string(code["form"]) + " " + std::string(code["architecture"]);
    if (codes.empty() || codes.back() != what) codes.push_back(what);
    EXPECT_GT(code["bytes"], 1000);
  }
  EXPECT_THAT(codes, testing::ElementsAre("cubin sm_80", "cubin sm_90", "ptx sm_90"));
}

}  // namespace
}  // namespace nbcc::test
