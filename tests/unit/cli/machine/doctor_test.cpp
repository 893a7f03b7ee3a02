// What nbcc doctor says of machines made up here, and of this one with things taken away.
#include "cli/machine/doctor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tests/support/command.h"

namespace nbcc {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

// Where everything works.
MachineFacts complete() {
  MachineFacts facts;
  facts.version = "1.2.3";
  facts.toolchain = "Clang 19";
  facts.isa = Isa::Avx512;
  facts.threads = 16;
  facts.glibc = "2.36";
  facts.cache = "/home/a/.cache/nbcc";
  facts.kernels = 1;
  facts.kernel_bytes = 2'500'000;
  facts.gpus = {{{"NVIDIA H100", 9, 0, 80'000'000'000}, {"NVIDIA T4", 7, 5, 16'000'000'000}}, 13000, ""};
  facts.gpu_sums = {"", ""};
  facts.nvrtc = {13000, "/cuda/libnvrtc.so.13", {"sm_75", "sm_90"}, ""};
  facts.mpi_library = "/lib/libnbcc_mpi.so.0";
  facts.mpi_version = "Open MPI v4.1.4";
  facts.interfaces = {{"C and C++ headers", "/usr/include/nbcc/nbcc.h", ""},
                      {"Python package", "/p/nbcc/__init__.py", ""}};
  return facts;
}

Finding of(const MachineFacts& facts, std::string_view subject) {
  const std::vector<Finding> findings = diagnose(facts);
  const auto found = std::ranges::find(findings, subject, &Finding::subject);
  EXPECT_NE(found, findings.end()) << subject;
  return found == findings.end() ? Finding{} : *found;
}

// A remedy wherever something is wrong, and only there.
void expect_remedies(const MachineFacts& facts) {
  for (const Finding& one : diagnose(facts)) {
    EXPECT_EQ(one.remedy.empty(), one.health == Health::Works) << one.subject;
    EXPECT_FALSE(one.finding.empty()) << one.subject;
  }
}

TEST(Doctor, FindsNothingWrongWhereNothingIs) {
  const MachineFacts facts = complete();
  for (const Finding& one : diagnose(facts)) EXPECT_EQ(one.health, Health::Works) << one.subject;
  expect_remedies(facts);
  EXPECT_TRUE(can_sum(facts));
  EXPECT_EQ(of(facts, "processor").finding, "avx512, 16 threads");
  EXPECT_EQ(of(facts, "cache").finding, "/home/a/.cache/nbcc, 1 kernel, 2.5 MB; only you may write it");
  EXPECT_EQ(of(facts, "GPU cuda:1").finding, "NVIDIA T4, compute capability 7.5, 16.0 GB");
  EXPECT_EQ(of(facts, "NVRTC").finding, "13.0 in /cuda/libnvrtc.so.13, for sm_75 sm_90");
  EXPECT_EQ(of(facts, "MPI").finding, "Open MPI v4.1.4, by /lib/libnbcc_mpi.so.0");
}

TEST(Doctor, HasARemedyForEverythingThatIsMissing) {
  MachineFacts facts = complete();
  facts.cache_trouble = {"/x is another user's", "name another folder"};
  facts.gpus = {{}, 0, "no NVIDIA driver"};
  facts.gpu_sums = {};
  facts.nvrtc = {0, "", {}, "no NVRTC"};
  facts.mpi_library = "";
  facts.mpi_problem = "libnbcc_mpi.so.0: cannot open";
  for (Interface& one : facts.interfaces) one.path = "";
  expect_remedies(facts);
  EXPECT_TRUE(can_sum(facts));
  EXPECT_EQ(of(facts, "GPU driver").health, Health::Absent);
  EXPECT_THAT(of(facts, "cache").finding, HasSubstr("every program compiles its kernels again"));
  EXPECT_EQ(of(facts, "cache").remedy, "name another folder; NBCC_CACHE_DIR names one");
  EXPECT_THAT(of(facts, "NVRTC").remedy, HasSubstr("pip install nvidia-cuda-nvrtc"));
  for (const Finding& one : diagnose(facts)) EXPECT_THAT(one.subject, Not(HasSubstr("cuda:")));
}

// A GPU's sum fails: the reason is the first that explains it.
TEST(Doctor, TellsWhyAGpuCannotSum) {
  MachineFacts facts = complete();
  facts.gpu_sums[0] = "it failed";
  const auto remedy = [&] {
    expect_remedies(facts);
    EXPECT_EQ(of(facts, "GPU cuda:0").health, Health::Broken);
    EXPECT_THAT(of(facts, "GPU cuda:0").finding, HasSubstr(": it failed"));
    return of(facts, "GPU cuda:0").remedy;
  };
  EXPECT_THAT(remedy(), HasSubstr("nvidia-smi"));
  facts.gpus.list[0].major = 12;
  EXPECT_EQ(remedy(), "NVRTC 13.0 does not know sm_120; install a newer one");
  facts.gpus.list[0].major = 6;
  EXPECT_EQ(remedy(), "NVRTC 13.0 compiles for sm_75 and later; install an older one");
  facts.gpus.driver_version = 12040;
  EXPECT_EQ(remedy(),
            "the driver is for CUDA 12.4, NVRTC of CUDA 13.0: install a driver for CUDA 13.0, or NVRTC of CUDA 12");
  facts.nvrtc = {0, "", {}, "no NVRTC"};
  EXPECT_THAT(remedy(), HasSubstr("pip install nvidia-cuda-nvrtc"));
}

TEST(Doctor, SumsRunWhereAnyDeviceCan) {
  MachineFacts facts = complete();
  facts.cpu_sum = "no compiler";
  expect_remedies(facts);
  EXPECT_TRUE(can_sum(facts));
  facts.gpu_sums = {"a", "b"};
  EXPECT_FALSE(can_sum(facts));
  facts.cpu_sum = "";
  EXPECT_TRUE(can_sum(facts));
}

TEST(Doctor, TriesASum) {
  EXPECT_EQ(try_sum("cpu"), "");
  EXPECT_NE(try_sum("cuda:7777"), "");
}

// ---- folders of the cache, by what the file system says ----

TEST(Doctor, KnowsWhoMayWriteTheCache) {
  const test::ScratchFolder scratch;
  const auto trouble = [](const std::string& path) { return OwnFolder::trouble(path); };
  EXPECT_EQ(trouble(scratch.path("new/below/it")).problem, "");
  EXPECT_FALSE(OwnFolder::open(scratch.path("new"), ".x")) << "looking makes nothing";
  ::mkdir(scratch.path("mine").c_str(), 0700);
  EXPECT_EQ(trouble(scratch.path("mine")).problem, "");
  ::mkdir(scratch.path("open").c_str(), 0700);
  ::chmod(scratch.path("open").c_str(), 0777);
  EXPECT_THAT(trouble(scratch.path("open")).problem, HasSubstr("may be written by others"));
  EXPECT_THAT(trouble(scratch.path("open")).remedy, HasSubstr("chmod go-w"));
  ::mkdir(scratch.path("open/kernels").c_str(), 0700);
  EXPECT_THAT(trouble(scratch.path("open/kernels")).problem, HasSubstr("may be written by all"));
  scratch.write("file", "");
  EXPECT_THAT(trouble(scratch.path("file")).problem, HasSubstr("is no folder"));
  EXPECT_THAT(trouble(scratch.path("file/kernels")).problem, HasSubstr("Not a directory"));
  if (::geteuid() != 0) {
    EXPECT_THAT(trouble("/usr").problem, HasSubstr("another user's"));
  }
}

// ---- the command ----

json health_of(const json& page) {
  json all;
  for (const json& one : page["findings"]) all[one["subject"].get<std::string>()] = one["health"];
  return all;
}

TEST(Doctor, IsAPage) {
  const test::Shell shell;
  const test::Outcome text = shell.nbcc("doctor");
  EXPECT_EQ(text.code, 0) << text.err;
  EXPECT_THAT(text.out, HasSubstr("ok processor"));
  EXPECT_THAT(text.out, HasSubstr("Sums can run here.\n"));
  const test::Outcome as_json = shell.nbcc("doctor --json");
  const json page = json::parse(as_json.out);
  EXPECT_EQ(page["can_sum"], true);
  for (const char* subject : {"processor", "sums on the CPU", "glibc", "cache", "GPU driver", "NVRTC", "MPI",
                              "C and C++ headers", "Fortran module", "Python package", "LAMMPS plugin"})
    EXPECT_TRUE(health_of(page).contains(subject)) << subject;
  for (const json& one : page["findings"]) EXPECT_EQ(one["remedy"].is_null(), one["health"] == "works") << one;
}

TEST(Doctor, SeesACacheThatCannotBeUsed) {
  const test::Shell shell;
  const std::string doctor = "\"$nbcc\" doctor --json";
  EXPECT_EQ(health_of(json::parse(shell.line("export NBCC_CACHE_DIR=$PWD/new; " + doctor).out))["cache"], "works");
  EXPECT_NE(shell.line("test -e new").code, 0) << "the doctor changes nothing";
  const test::Outcome broken = shell.line("touch file; export NBCC_CACHE_DIR=$PWD/file; " + doctor);
  EXPECT_EQ(broken.code, 0);
  EXPECT_EQ(health_of(json::parse(broken.out))["cache"], "broken");
  const test::Outcome none = shell.line("unset NBCC_CACHE_DIR XDG_CACHE_HOME HOME; " + doctor);
  EXPECT_EQ(health_of(json::parse(none.out))["cache"], "broken");
  EXPECT_THAT(none.out, HasSubstr("set NBCC_CACHE_DIR, XDG_CACHE_HOME or HOME"));
}

TEST(Doctor, SeesTheSharedCache) {
  const test::Shell shell;
  const std::string doctor = "\"$nbcc\" doctor";
  EXPECT_THAT(shell.line(doctor).out, Not(HasSubstr("shared cache")));
  const std::string named = "export NBCC_CACHE_DIR=$PWD/mine NBCC_SHARED_CACHE_DIR=$PWD/shared; ";
  EXPECT_THAT(shell.line(named + doctor).out, HasSubstr("!! shared cache"));
  EXPECT_THAT(shell.line(named + doctor).out, HasSubstr("fill it first"));
  EXPECT_THAT(shell.line(named + "mkdir -p shared/kernels; " + doctor).out, HasSubstr("shared, 0 kernels; only read"));
  EXPECT_THAT(shell.line(named + "chmod o+w shared; " + doctor).out, HasSubstr("chmod o-w the one above"));
  EXPECT_THAT(shell.line(named + "chmod o-w shared; chmod g+w shared/kernels; " + doctor).out, HasSubstr("chmod go-w"));
}

TEST(Doctor, TakesNoPackageOfTheCurrentFolderAndNoFolderWithoutOne) {
  const test::Shell shell;
  const test::Outcome here = shell.line("mkdir nbcc; touch nbcc/__init__.py; unset PYTHONPATH; \"$nbcc\" doctor");
  EXPECT_THAT(here.out, Not(HasSubstr(shell.path("nbcc"))));
  const test::Outcome empty = shell.line("rm -r nbcc; mkdir nbcc; PYTHONPATH=$PWD \"$nbcc\" doctor");
  EXPECT_THAT(empty.out, HasSubstr("Python package"));
  EXPECT_THAT(empty.out, Not(HasSubstr("None")));
}

}  // namespace
}  // namespace nbcc
