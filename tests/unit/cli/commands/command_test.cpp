// The command from outside: exit codes, what goes to which stream, help, and the subcommands that read no particles.
// Those that do are in command_run_test.cpp and command_verify_test.cpp.
#include "tests/support/command.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gnu/libc-version.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>

#include "cli/commands/commands.h"
#include "cli/machine/find_gpus.h"
#include "cli/options/option_choices.h"
#include "compiler/isa.h"
#include "runtime/api/nbcc.h"
#include "runtime/cuda/program/cuda_tunings.h"
#include "tests/support/folders.h"

namespace nbcc::test {
namespace {

using nlohmann::json;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::MatchesRegex;
using testing::Not;
using testing::StartsWith;

constexpr const char* kSound =
    "input_i real xi;\ninput_j real xj;  // where\noutput(sum) real s;\ns += (xj - xi) * 2.0;\n";
constexpr const char* kBroken = "input_i real xi;\ninput_j real xj;\noutput(sum) real s;\ns += xk - xi;\n";

std::vector<std::string> subcommand_names() {
  CLI::App app("", "nbcc");
  Invocation invocation;
  add_commands(app, invocation);
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands(nullptr)) names.push_back(command->get_name());
  return names;
}

TEST(Command, HelpAndVersionGoToStandardOutput) {
  const Shell shell;
  const Outcome help = shell.nbcc("--help"), version = shell.nbcc("--version");
  EXPECT_EQ(help.code, 0);
  EXPECT_THAT(help.out, HasSubstr("make-ic"));
  EXPECT_THAT(help.err, IsEmpty());
  EXPECT_EQ(version.code, 0);
  EXPECT_EQ(version.out, std::string("nbcc ") + nbcc_version() + "\n");
}

TEST(Command, VersionAsJsonListsWhatIsInside) {
  const Outcome outcome = Shell().nbcc("--version --json");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.err, IsEmpty());
  const json inside = json::parse(outcome.out), info = json::parse(Shell().nbcc("info --json").out);
  EXPECT_EQ(inside["version"], nbcc_version());
  EXPECT_THAT(info["toolchain"].get<std::string>(), StartsWith("clang " + inside["llvm"].get<std::string>() + " "));
  EXPECT_EQ(inside["instruction_sets"].size(), kIsas.size());
  EXPECT_EQ(inside["instruction_sets"].back(), kIsas.back().name);
  EXPECT_EQ(inside["nvrtc"].is_null(), find_nvrtc().version == 0);
  EXPECT_EQ(inside["glibc"]["running"], gnu_get_libc_version());
  EXPECT_EQ(inside["glibc"]["linked"], fmt::format("{}.{}", __GLIBC__, __GLIBC_MINOR__));
  const std::set<std::string> libraries = {"fmt", "hdf5", "zlib", "zstd", "xxhash", "cli11", "nlohmann_json"};
  std::set<std::string> listed;
  for (const auto& [name, version] : inside["libraries"].items()) {
    listed.insert(name);
    EXPECT_THAT(version.get<std::string>(), MatchesRegex("[0-9]+\\.[0-9]+(\\.[0-9]+)*")) << name;
  }
  EXPECT_EQ(listed, libraries);
  EXPECT_EQ(inside["libraries"]["zlib"], ZLIB_VERSION);
}

TEST(Command, JsonAloneIsWrongUse) {
  const Outcome outcome = Shell().nbcc("--json");
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("--version"));
}

TEST(Command, EachSubcommandsHelpEndsWithExamplesOfIt) {
  const Shell shell;
  for (const std::string& name : subcommand_names()) {
    const Outcome help = shell.nbcc(name + " --help");
    EXPECT_EQ(help.code, 0) << name;
    const std::size_t examples = help.out.find("Examples:");
    ASSERT_NE(examples, std::string::npos) << name;
    EXPECT_THAT(help.out.substr(examples), HasSubstr("nbcc " + name)) << name;
  }
}

TEST(Command, NothingToDoIsWrongUse) {
  const Outcome outcome = Shell().nbcc("");
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.out, IsEmpty());
  EXPECT_THAT(outcome.err, HasSubstr("Usage"));
}

class WrongUse : public testing::TestWithParam<const char*> {};

TEST_P(WrongUse, ExitsWithTwoAndSaysSoOnStandardError) {
  const Shell shell;
  shell.write("sound.pipe", kSound);
  shell.write("old.txt", "kept\n");
  const Outcome outcome = shell.nbcc(GetParam());
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.out, IsEmpty());
  EXPECT_THAT(outcome.err, Not(IsEmpty()));
  EXPECT_EQ(shell.read("old.txt"), "kept\n");
}

INSTANTIATE_TEST_SUITE_P(
    Command, WrongUse,
    testing::Values("frobnicate", "check", "check missing.pipe", "check .", "emit sound.pipe",
                    "emit sound.pipe --stage wasm", "emit sound.pipe --stage ir -o old.txt",
                    "emit sound.pipe --stage ir -o no/such/folder.txt", "emit missing.pipe --stage ir",
                    "emit sound.pipe --stage cpu --arch sm_90", "emit sound.pipe --stage ptx --j-tile 0",
                    "emit sound.pipe --stage cuda --unroll 4", "emit sound.pipe --stage cubin -o old.txt",
                    "run sound.pipe -o new.txt", "run sound.pipe --i missing.npz -o new.txt",
                    "run sound.pipe --i sound.pipe", "run sound.pipe --i old.txt -o old.txt",
                    "run sound.pipe --i old.txt -o - --param nothing", "run sound.pipe --precision half --i a -o b",
                    "run sound.pipe --threads 0 --i a -o b", "verify sound.pipe --random many",
                    "verify sound.pipe --random 10 --i old.txt", "verify sound.pipe --param eps=1",
                    "bench sound.pipe --n 0", "bench sound.pipe --n 8..4", "bench sound.pipe --repeat 1",
                    "make-ic plummer -o new.npz", "make-ic blob -o new.npz", "make-ic two-body --n 3 -o new.npz",
                    "make-ic two-body -o old.txt", "cache", "cache burn", "cache list --only socks", "tune",
                    "tune sound.pipe --device cpu", "tune sound.pipe --device cuda:0,1",
                    "bench sound.pipe --device cuda:all --sweep", "tune sound.pipe --n 0", "tune sound.pipe --budget 0",
                    "tune sound.pipe --param eps", "bench sound.pipe --sweep",
                    "bench sound.pipe --device cuda --sweep --host-arrays",
                    "bench sound.pipe --device cuda --sweep --plot new.svg", "bench sound.pipe --n 16 --plot new.png",
                    "completion", "completion tcsh", "completion bash --fields gravity"));

TEST(Command, AnErrorInTheTextExitsWithOne) {
  const Shell shell;
  shell.write("broken.pipe", kBroken);
  shell.write("x.txt", "# xi xj\n1 2\n");
  for (const char* words : {"check broken.pipe", "emit broken.pipe --stage cpu", "run broken.pipe --i x.txt -o new.txt",
                            "verify broken.pipe", "bench broken.pipe"}) {
    const Outcome outcome = shell.nbcc(words);
    EXPECT_EQ(outcome.code, 1) << words;
    EXPECT_THAT(outcome.out, IsEmpty()) << words;
    EXPECT_THAT(outcome.err, StartsWith("broken.pipe:4:6: error:")) << words;
  }
  EXPECT_EQ(shell.count(), 2);
}

TEST(Command, AWordThatIsNoDeviceIsRefused) {
  const Shell shell;
  shell.write("sound.pipe", kSound);
  for (const std::string word : {"abacus", "cuda:", "cuda:x", "gpu"}) {
    const Outcome outcome = shell.nbcc("bench sound.pipe --n 16 --device " + word);
    EXPECT_EQ(outcome.code, 2);
    EXPECT_THAT(outcome.err, testing::AllOf(HasSubstr("'" + word + "'"), HasSubstr("cuda:0")));
  }
}

TEST(Command, AMissingDeviceExitsWithThree) {
  const Shell shell;
  shell.write("sound.pipe", kSound);
  shell.write("x.txt", "# xi xj\n1 2\n");
  const Outcome device = shell.nbcc("run sound.pipe --i x.txt --device cuda:99 -o new.txt");
  EXPECT_EQ(device.code, 3);
  EXPECT_THAT(device.err, testing::AnyOf(HasSubstr("cuda:99"), HasSubstr("NVIDIA driver"), HasSubstr("NVRTC")));
  EXPECT_EQ(shell.count(), 2);
}

TEST(Command, AFullDiskIsNoticed) {
  const Shell shell;
  EXPECT_EQ(shell.nbcc("--help > /dev/full").code, 2);
  EXPECT_EQ(shell.nbcc("info > /dev/full").code, 2);
}

TEST(Command, AReaderThatLeavesIsNoTrouble) {
  const Shell shell;
  const Outcome outcome = shell.line("\"$nbcc\" emit $pipelines/gravity.pipe --stage asm | head -n 1");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.err, IsEmpty());
}

TEST(Command, CheckSaysWhatAPipelineIs) {
  const Shell shell;
  shell.write("sound.pipe", kSound);
  const Outcome text = shell.nbcc("check sound.pipe");
  EXPECT_EQ(text.code, 0);
  EXPECT_THAT(text.out, HasSubstr("input_j        real  xj  where"));
  EXPECT_THAT(text.out, HasSubstr("output(sum)    real  s"));
  EXPECT_THAT(text.out, HasSubstr("operations per interaction: 3 as written"));
}

TEST(Command, CheckSaysWhichPairsAreNeighbours) {
  const std::string fields =
      "input_i real xi;\ninput_i real hi;\ninput_j real xj;\noutput(sum) real s;\nreal r = abs(xj - xi);\n";
  const Shell shell;
  shell.write("proved.pipe", fields + "if (r < 2.0 * hi) s += 1.0;\n");
  shell.write("divided.pipe", fields + "if (r / hi < 2.0) s += 1.0;\n");
  const Outcome proved = shell.nbcc("check proved.pipe"), divided = shell.nbcc("check divided.pipe");
  EXPECT_THAT(proved.out, HasSubstr("  neighbours: |xj - xi| < 2 * hi: cost O(N)\n"));
  EXPECT_THAT(proved.err, IsEmpty());
  EXPECT_EQ(divided.code, 0);
  EXPECT_THAT(divided.out, Not(HasSubstr("neighbours")));
  EXPECT_THAT(divided.err, HasSubstr("divided.pipe:6:12: note: no neighbours are proved: the sign of `hi`"));
  const json reports = json::parse(shell.nbcc("check proved.pipe divided.pipe --json").out);
  EXPECT_EQ(reports[0]["neighbours"], "|xj - xi| < 2 * hi");
  EXPECT_EQ(reports[1]["neighbours"], nullptr);
  EXPECT_EQ(reports[1]["diagnostics"][0]["severity"], "note");
}

TEST(Command, CheckGoesOnAfterAnError) {
  const Shell shell;
  shell.write("sound.pipe", kSound);
  shell.write("broken.pipe", kBroken);
  const Outcome outcome = shell.nbcc("check broken.pipe missing.pipe sound.pipe --json");
  EXPECT_EQ(outcome.code, 2);
  const json reports = json::parse(outcome.out);
  ASSERT_EQ(reports.size(), 3u);
  EXPECT_EQ(reports[0]["ok"], false);
  EXPECT_EQ(reports[0]["diagnostics"][0]["line"], 4);
  EXPECT_EQ(reports[1]["ok"], false);
  EXPECT_EQ(reports[2]["ok"], true);
  EXPECT_EQ(reports[2]["fields"][1]["comment"], "where");
}

TEST(Command, CheckCountsOperationsByHowOftenTheyAreDone) {
  const json report = json::parse(Shell().nbcc("check $pipelines/gravity.pipe --json").out)[0];
  EXPECT_EQ(report["operations"]["raw"], 21);  // 3 -, 3 *, 3 +, rsqrt, 4 * for the prefactors, 3 *, and 4 sums
  EXPECT_EQ(report["operations"]["stated"], 38);
  EXPECT_GT(report["operations"]["per_pair"], 10);
  EXPECT_EQ(report["operations"]["finish"], 0);
}

TEST(Command, EveryPipelineOfTheLibraryIsSound) {
  const Outcome outcome = Shell().nbcc("check $pipelines/*.pipe");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.err, IsEmpty());
}

TEST(Command, EmitShowsEachStage) {
  const Shell shell;
  const auto stage = [&](const std::string& words) {
    const Outcome outcome = shell.nbcc("emit $pipelines/gravity.pipe --stage " + words);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return outcome.out;
  };
  EXPECT_THAT(stage("ir"), HasSubstr("rsqrt.real"));
  EXPECT_THAT(stage("optimized --isa avx512"), HasSubstr("rsqrt_estimate"));
  EXPECT_THAT(stage("optimized --math precise"), Not(HasSubstr("estimate")));
  EXPECT_THAT(stage("cpu --isa sse2"), HasSubstr("nbcc_interact"));
  EXPECT_THAT(stage("asm --isa neon"), HasSubstr("fmla"));
  EXPECT_THAT(stage("cuda"), HasSubstr("__global__"));
}

bool has_nvrtc() { return json::parse(Shell().nbcc("info --json").out)["cuda"]["nvrtc"].is_string(); }

TEST(Command, EmitCompilesForAnyGpu) {
  if (!has_nvrtc()) GTEST_SKIP() << "no NVRTC";
  const Shell shell;
  const Outcome ptx = shell.nbcc("emit $pipelines/gravity.pipe --stage ptx --arch sm_80");
  EXPECT_EQ(ptx.code, 0) << ptx.err;
  EXPECT_THAT(ptx.out, HasSubstr(".target sm_80"));
  EXPECT_THAT(ptx.out, HasSubstr(".entry nbcc_interact"));
  const Outcome narrow = shell.nbcc("emit $pipelines/gravity.pipe --stage ptx --arch sm_80 --threads-per-block 64");
  EXPECT_EQ(narrow.code, 0) << narrow.err;
  EXPECT_NE(narrow.out, ptx.out);
  const Outcome sliced = shell.nbcc("emit $pipelines/gravity.pipe --stage ptx --arch sm_80 --j-slices 4");
  EXPECT_EQ(sliced.code, 0) << sliced.err;
  EXPECT_NE(sliced.out, ptx.out);
  EXPECT_EQ(shell.nbcc("emit $pipelines/gravity.pipe --stage ptx --arch sm_80 --lanes 4").code, 2);
  const Outcome cubin = shell.nbcc("emit $pipelines/gravity.pipe --stage cubin -o gravity.cubin");
  EXPECT_EQ(cubin.code, 0) << cubin.err;
  EXPECT_THAT(shell.read("gravity.cubin"), StartsWith("\177ELF"));
  const Outcome unknown = shell.nbcc("emit $pipelines/gravity.pipe --stage cubin --arch sm_12 -o none.cubin");
  EXPECT_EQ(unknown.code, 3);
  EXPECT_THAT(unknown.err, HasSubstr("sm_80"));
  EXPECT_EQ(shell.count(), 1);
}

TEST(Command, EmitKeepsACubinFromATerminal) {
  const Shell shell;
  const Outcome outcome =
      shell.line("script --quiet --return --command '\"$nbcc\" emit $pipelines/gravity.pipe --stage cubin' /dev/null");
  if (outcome.code == 127) GTEST_SKIP() << "no program to make a terminal with";
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.out, HasSubstr("a cubin is binary"));
}

// A stand-in for the toolkit's program: what is given to it and what it says, not what it knows of machine code.
TEST(Command, EmitShowsSassThroughTheToolkit) {
  if (!has_nvrtc()) GTEST_SKIP() << "no NVRTC";
  const Shell shell;
  shell.write("nvdisasm", "#!/bin/sh\necho \"read $(head -c 4 \"$2\" | tail -c 3) with $1\"\n");
  const std::string sass = "\"$nbcc\" emit $pipelines/gravity.pipe --stage sass --arch sm_80";
  const Outcome shown = shell.line("chmod +x nvdisasm; PATH=$PWD:$PATH; " + sass);
  EXPECT_EQ(shown.code, 0) << shown.err;
  EXPECT_EQ(shown.out, "read ELF with -c\n");
  shell.write("nvdisasm", "#!/bin/sh\necho 'sm_80 is beyond me' >&2\nexit 1\n");
  const Outcome failed = shell.line("chmod +x nvdisasm; PATH=$PWD:$PATH; " + sass);
  EXPECT_EQ(failed.code, 3);
  EXPECT_THAT(failed.err, HasSubstr("sm_80 is beyond me"));
}

TEST(Command, EmitSaysWhereADisassemblerWasLookedFor) {
  for (const char* tool : {"/usr/local/cuda/bin/nvdisasm", "/usr/local/cuda/bin/cuobjdump", "/opt/cuda/bin/nvdisasm"}) {
    if (std::filesystem::exists(tool)) GTEST_SKIP() << tool << " is there";
  }
  if (!has_nvrtc()) GTEST_SKIP() << "no NVRTC";
  const Outcome outcome = Shell().line(
      "PATH=/nowhere; CUDA_PATH=/no/toolkit; export CUDA_PATH; "
      "\"$nbcc\" emit $pipelines/gravity.pipe --stage sass");
  EXPECT_EQ(outcome.code, 3);
  EXPECT_THAT(outcome.err, HasSubstr("nvdisasm"));
  EXPECT_THAT(outcome.err, HasSubstr("/no/toolkit/bin"));
  EXPECT_THAT(outcome.err, HasSubstr("/usr/local/cuda/bin"));
}

TEST(Command, EmitWritesAFile) {
  const Shell shell;
  const Outcome outcome = shell.nbcc("emit $pipelines/gravity.pipe --stage ir -o ir.txt");
  EXPECT_THAT(outcome.out, IsEmpty());
  EXPECT_EQ(shell.read("ir.txt"), shell.nbcc("emit $pipelines/gravity.pipe --stage ir").out);
}

TEST(Command, BenchReportsAListOfObjects) {
  const Outcome outcome = Shell().nbcc("bench $pipelines/gravity.pipe --n 64..128,300 --threads 1 --json");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const json rows = json::parse(outcome.out);
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0]["nj"], 64);
  EXPECT_EQ(rows[2]["ni"], 300);
  EXPECT_EQ(rows[1]["threads"], 1);
  for (const char* key : {"seconds", "interactions_per_s", "gflops", "compile_seconds", "compile_seconds_cached"}) {
    EXPECT_GT(rows[1][key].get<double>(), 0.0) << key;
  }
}

TEST(Command, BenchTellsOfTheSearchBehindACutoff) {
  const std::string words = "bench $pipelines/lennard_jones.pipe --n 2000 --param rc=0.05 --threads 1 --pairs ";
  const Shell shell;
  EXPECT_THAT(shell.nbcc(words + "cutoff").out, HasSubstr("tested"));
  EXPECT_THAT(shell.nbcc(words + "all").out, HasSubstr("all pairs"));
  const json row = json::parse(shell.nbcc(words + "cutoff --json").out)[0]["neighbours"];
  EXPECT_GE(row["runs"], 7);
  EXPECT_EQ(row["searches"], row["runs"]);
  EXPECT_GE(row["pairs_tested"], row["runs"].get<std::int64_t>() * row["pairs_within"].get<std::int64_t>());
  EXPECT_GT(row["seconds_sums"], 0.0);
  EXPECT_EQ(json::parse(shell.nbcc(words + "all --json").out)[0]["neighbours"]["runs"], 0);
}

TEST(Command, BenchWarnsOfImagesThatAreNotCountedOnce) {
  const std::string words = "bench $pipelines/lennard_jones.pipe --n 64,128 --threads 1 --param box=8,8,8 --param rc=";
  EXPECT_THAT(Shell().nbcc(words + "3").err, IsEmpty());
  const Outcome far = Shell().nbcc(words + "5 --json");
  EXPECT_THAT(far.err, StartsWith("nbcc: warning: pipeline 'lennard_jones': the cutoff of 5 is more than half of"));
  EXPECT_EQ(std::ranges::count(far.err, '\n'), 1);
  EXPECT_EQ(json::parse(far.out).size(), 2u);
}

TEST(Command, InfoAndCacheReportAsJson) {
  const Shell shell;
  const json info = json::parse(shell.nbcc("info --json").out);
  EXPECT_GE(info["cores"].get<int>(), 1);
  EXPECT_THAT(info["toolchain"].get<std::string>(), ContainsRegex("^clang [0-9]+[.][0-9]+[.][0-9]+ "));
  const json& cuda = info["cuda"];
  EXPECT_NE(cuda["gpus"].empty(), cuda["gpus_problem"].is_null());
  EXPECT_NE(cuda["nvrtc"].is_null(), cuda["nvrtc_problem"].is_null());
  EXPECT_EQ(cuda["nvrtc"].is_null(), cuda["architectures"].empty());
  for (const json& gpu : cuda["gpus"]) EXPECT_THAT(gpu["architecture"].get<std::string>(), StartsWith("sm_"));
  const Outcome cache = shell.line(
      "export NBCC_CACHE_DIR=$PWD/cache; \"$nbcc\" make-ic two-body -o two.npz && "
      "\"$nbcc\" run $pipelines/gravity.pipe --i two.npz -o out.npz && \"$nbcc\" cache list --json");
  const json listing = json::parse(cache.out);
  ASSERT_EQ(listing["entries"].size(), 1u);
  EXPECT_THAT(listing["entries"][0]["kernel"].get<std::string>(), StartsWith("gravity, cpu-"));
  EXPECT_EQ(shell.line("export NBCC_CACHE_DIR=$PWD/cache; \"$nbcc\" cache clear; \"$nbcc\" cache list").out, "");
}

TEST(Command, CacheKnowsTunings) {
  const Shell shell;
  const CudaTuningSubject subject{"gravity", "// gravity: cuda, single precision, fast math\n", "NVIDIA H200", 132};
  const CudaTunings tunings(shell.path("cache"));
  tunings.store(subject, {11, 17}, {{128, 1, 128, 16, 2, 8}, 5e11, 4e11});
  tunings.store(subject, {12, 17}, {{}, 5e11, 5e11});
  const std::string cache = "export NBCC_CACHE_DIR=$PWD/cache; \"$nbcc\" cache ";
  const Outcome text = shell.line(cache + "list");
  EXPECT_THAT(text.out, HasSubstr("tuning  gravity: cuda, single precision, fast math, NVIDIA H200, 132 multiproc"));
  EXPECT_THAT(text.out,
              HasSubstr("ni 2048..4095, nj 131072..262143: 128 threads, 1 i, tile 128, unroll 16, j_slices 2, "
                        "j_splits 8, 500 G/s, +25.0%\n"));
  EXPECT_THAT(text.out, HasSubstr("ni 4096..8191, nj 131072..262143: the model's choice, 500 G/s"));
  const json listing = json::parse(shell.line(cache + "list --json").out);
  EXPECT_EQ(listing["tunings"][0]["choices"][0]["ni_from"], 2048);
  EXPECT_EQ(listing["tunings"][0]["choices"][0]["j_slices"], 2);
  EXPECT_THAT(shell.line(cache + "list --only kernels").out, IsEmpty());
  shell.line(cache + "clear --only kernels");
  EXPECT_EQ(tunings.list().size(), 1u);
  EXPECT_THAT(shell.line(cache + "clear").err, HasSubstr("removed 0 kernels and 1 tuning from"));
  EXPECT_TRUE(tunings.list().empty());
}

TEST(Command, TuningIsForGpus) {
  const Shell shell;
  shell.write("sound.pipe", kSound);
  for (const char* words : {"tune sound.pipe --device cpu", "tune sound.pipe --device cuda:0,1",
                            "bench sound.pipe --device cuda:all --sweep", "bench sound.pipe --sweep --n 16"}) {
    const Outcome outcome = shell.nbcc(words);
    EXPECT_EQ(outcome.code, 2) << words;
    EXPECT_THAT(outcome.err, testing::AllOf(HasSubstr("GPU"), HasSubstr("--device"))) << words;
  }
  EXPECT_EQ(shell.nbcc("tune sound.pipe --n 16 --device cuda:99").code, 3);
}

TEST(Command, CompletionKnowsSubcommandsOptionsAndChoices) {
  const Shell shell;
  const auto by_bash = [&](const std::string& words, int at) {
    shell.write("complete.bash", "source <(\"$nbcc\" completion bash)\nCOMP_WORDS=(" + words +
                                     ")\nCOMP_CWORD=" + std::to_string(at) + "\n_nbcc\necho ${COMPREPLY[*]}\n");
    return shell.line("bash complete.bash").out;
  };
  EXPECT_EQ(by_bash("nbcc ver", 1), "verify\n");
  EXPECT_EQ(by_bash("nbcc run --single", 2), "--single-output\n");
  EXPECT_EQ(by_bash("nbcc run a.pipe --precision d", 4), "double\n");
  EXPECT_EQ(by_bash("nbcc make-ic plum", 2), "plummer\n");
  EXPECT_EQ(by_bash("nbcc check complete.b", 2), "complete.bash\n");
  EXPECT_EQ(by_bash("nbcc check grav", 2), "gravity gravity_acc gravity_jerk gravity_snap\n");
  EXPECT_EQ(by_bash("nbcc show k_n", 2), "k_nearest\n");
  EXPECT_EQ(by_bash("\"$nbcc\" run gravity --param e", 4), "eps2\n");
  EXPECT_EQ(by_bash("\"$nbcc\" run --total lennard_jones --param s", 5), "sigma shift\n");
  EXPECT_EQ(by_bash("\"$nbcc\" emit gravity --of ''", 4), "acc pot\n");
  EXPECT_EQ(shell.nbcc("completion --fields gravity").out,
            "input_i xi\ninput_j xj\ninput_j mj\nparam eps2\noutput acc\noutput pot\n");
  EXPECT_EQ(by_bash("nbcc --vers", 1), "--version\n");
  EXPECT_EQ(by_bash("nbcc --version --j", 2), "--json\n");
  // What comes before the name of an option of `nbcc` alone.
  const std::map<std::string, std::string> others = {{"zsh", "'--"}, {"fish", "__fish_use_subcommand -l "}};
  for (const auto& [other, before] : others) {
    const Outcome script = shell.nbcc("completion " + other);
    for (const std::string& name : subcommand_names()) EXPECT_THAT(script.out, HasSubstr(name)) << other;
    EXPECT_THAT(script.out, HasSubstr(before + "version")) << other;
    EXPECT_THAT(script.out, HasSubstr(before + "json")) << other;
  }
}

TEST(Command, TheManualAndTheReferenceNameEverySubcommandOptionAndChoice) {
  const auto text_of = [](const std::string& path) {
    std::ifstream file(test::source_folder() + path);
    return std::string((std::istreambuf_iterator<char>(file)), {});
  };
  std::string manual = text_of("/docs/nbcc.1");
  const std::string reference = text_of("/docs/reference/command.md");
  manual = std::regex_replace(manual, std::regex(R"(\\f[A-Z])"), "");  // fonts
  std::erase(manual, '\\');                                            // "\-\-stage" is "--stage"
  CLI::App app("", "nbcc");
  Invocation invocation;
  add_commands(app, invocation);
  for (const CLI::App* command : app.get_subcommands(nullptr)) {
    const std::size_t begin = manual.find(".SS nbcc " + command->get_name());
    ASSERT_NE(begin, std::string::npos) << command->get_name();
    const std::string section = manual.substr(begin, manual.find("\n.S", begin + 1) - begin);
    for (const CLI::Option* option : command->get_options()) {
      for (const std::string& name : option->get_lnames()) {
        if (name == "help") continue;
        EXPECT_THAT(section, HasSubstr("--" + name)) << command->get_name();
        EXPECT_THAT(reference, HasSubstr("--" + name)) << command->get_name();
      }
      // Options of several commands are explained in the section of one command.
      for (const std::string& word : choices_of(*option)) {
        EXPECT_THAT(manual, ContainsRegex("[^-a-z]" + word + "[^-a-z]")) << command->get_name();
        EXPECT_THAT(reference, ContainsRegex("[^-a-z]" + word + "[^-a-z]")) << command->get_name();
      }
    }
  }
}

TEST(Command, SpellsItsWordsForAShell) {
  const char* const words[] = {"/usr/bin/nbcc", "run", "a b.pipe", "--param", "x=1,2", "it's", ""};
  EXPECT_EQ(spell_command_line(7, words), "nbcc run 'a b.pipe' --param x=1,2 'it'\\''s' ''");
}

}  // namespace
}  // namespace nbcc::test
