// nbcc lammps-plugin without a LAMMPS: what it says is missing, and what is a wrong use. That it builds a plugin which
// LAMMPS loads is tested by tests/lammps/test_plugin_command.py.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "tests/support/command.h"
#include "tests/support/folders.h"

namespace nbcc::test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

// An installation with the sources of the plugin, an interpreter that says where LAMMPS is, and folders of headers.
class PluginShell : public Shell {
 public:
  PluginShell() {
    namespace fs = std::filesystem;
    for (const char* const folder :
         {"prefix/share/nbcc/bindings/lammps", "package/include/lammps", "md/include", "bin"})
      fs::create_directories(path(folder));
    fs::copy(source_folder() + "/bindings/lammps/plugin", path("prefix/share/nbcc/bindings/lammps/plugin"));
    write_program("python", "printf '20250722\\n" + path("package") + "\\n" + path("md") + "\\n'");
    write_program("other-python", "echo Traceback >&2; echo No module named lammps >&2; exit 1");
    write_program("silent", "exit 0");
  }
  void write_program(const std::string& name, const std::string& line) const {
    write(name, "#!/bin/sh\n" + line + "\n");
    std::filesystem::permissions(path(name), std::filesystem::perms::owner_all);
  }
  Outcome plugin(const std::string& words, const std::string& before = "") const {
    return line("export NBCC_CACHE_DIR='" + path("cache") + "'\n" + before +
                " \"$nbcc\" lammps-plugin --prefix prefix " + words);
  }
};

void expect_failure(const Outcome& outcome, int code, const std::string& said) {
  EXPECT_EQ(outcome.code, code) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr(said));
  EXPECT_THAT(outcome.out, IsEmpty());
}

TEST(CommandLammpsPlugin, NamesWhatIsMissing) {
  const PluginShell shell;
  expect_failure(shell.plugin("--python no-such-python"), 3,
                 "there is no no-such-python in $PATH; --python names another");
  expect_failure(shell.plugin("--python ./no-such-python"), 3, "there is no ./no-such-python; --python names another");
  expect_failure(shell.plugin("--python ./other-python"), 3, "./other-python has no package lammps (No module named");
  expect_failure(shell.plugin("--python ./silent"), 3,
                 "silent has no package lammps (expected version and folders, got");
  expect_failure(shell.plugin("--python ./python"), 3, "/package/include/lammps/pair.h): name the folder");
  shell.write("package/include/lammps/pair.h", "");
  expect_failure(shell.plugin("--python ./python"), 3, "/md/include/mpi.h: install the MPI of this LAMMPS");
  shell.write("md/include/mpi.h", "");
  expect_failure(shell.plugin("--python ./python", "PATH=" + shell.path("bin")), 3, "there is no cmake in $PATH");
  shell.write_program("bin/cmake", "exit 0");
  expect_failure(shell.plugin("--python ./python", "PATH=" + shell.path("bin")), 3, "neither make nor ninja");
  shell.write_program("bin/make", "exit 0");
  expect_failure(shell.plugin("--python ./python", "PATH=" + shell.path("bin")), 3,
                 "there is no C++ compiler in $PATH");
  expect_failure(shell.plugin("--python ./python", "CXX=none PATH=" + shell.path("bin")), 3, "$CXX is none");
  shell.write_program("bin/c++", "exit 0");
  shell.write_program("bin/cmake", "echo this is the log of cmake; exit 1");
  expect_failure(shell.plugin("--python ./python", "PATH=" + shell.path("bin") + ":/usr/bin:/bin"), 3,
                 "lammps-plugin: cmake failed:\nthis is the log of cmake");
  expect_failure(shell.nbcc("lammps-plugin --prefix elsewhere"), 3, "the sources of the plugin are not in");
}

TEST(CommandLammpsPlugin, RefusesHalfOfTheFolders) {
  const PluginShell shell;
  shell.write("package/include/lammps/pair.h", "");
  const std::string said = "--lammps-include and --mpi-include are given together";
  expect_failure(shell.plugin("--lammps-include package/include/lammps"), 2, said);
  expect_failure(shell.plugin("--mpi-include md/include"), 2, said);
  expect_failure(shell.plugin("--lammps-include package --mpi-include md/include"), 2,
                 "--lammps-include is the folder of pair.h, but package has none");
  expect_failure(shell.plugin("--lammps-include package/include/lammps --mpi-include md"), 2,
                 "--mpi-include is the folder of mpi.h, but md has none");
}

TEST(CommandLammpsPlugin, AsksTheProgramForTheVersionAndTheMpi) {
  const PluginShell shell;
  const std::string folders = "--lammps-include package/include/lammps --mpi-include md/include ";
  const std::string before = "PATH=" + shell.path("bin") + ":/usr/bin:/bin";
  const std::string title = "Large-scale Atomic/Molecular Massively Parallel Simulator - ";
  const auto program = [&](const std::string& name, const std::string& mpi) {
    shell.write_program(
        name, "[ \"$1\" = -h ] && printf '\\n" + title + "22 Jul 2025 - Update 4\\n\\nMPI v4.1: " + mpi + "\\n'");
  };
  shell.write("package/include/lammps/pair.h", "");
  shell.write("md/include/mpi.h", "#define MPICH_VERSION \"4.3\"\n");
  // The build is the line of the arguments.
  shell.write_program("bin/cmake",
                      "if [ \"$1\" = --build ]; then cp \"$2/arguments\" \"$2/nbccplugin.so\"; else mkdir \"$4\"; echo "
                      "\"$@\" >\"$4/arguments\"; fi");
  for (const char* const tool : {"make", "c++"}) shell.write_program(std::string("bin/") + tool, "exit 0");

  expect_failure(shell.plugin(folders, before), 2,
                 "package/include/lammps has no version.h, and a plugin for another version");
  expect_failure(shell.plugin(folders + "--lmp ./none", before), 3, "there is no program ./none (--lmp)");
  expect_failure(shell.plugin(folders + "--lmp ./silent", before), 3,
                 "./silent -h does not print the version of LAMMPS");
  expect_failure(shell.plugin("--lmp ./lmp", before), 2, "--lmp is given with --lammps-include and --mpi-include");
  program("lmp", "MPICH Version:      5.0.2");
  const Outcome made = shell.plugin(folders + "--lmp ./lmp", before);
  EXPECT_EQ(made.code, 0) << made.err;
  EXPECT_THAT(made.err, HasSubstr("building the plugin for LAMMPS 22 Jul 2025"));
  EXPECT_THAT(shell.line("cat " + made.out.substr(0, made.out.find('\n'))).out,
              HasSubstr("-DLAMMPS_VERSION=22 Jul 2025"));
  for (const char* const kin :
       {"Intel(R) MPI Library 2021.9", "MVAPICH2 Version: 2.3", "CRAY MPICH version 8.1", "another MPI"}) {
    program("lmp", kin);
    EXPECT_EQ(shell.plugin(folders + "--lmp ./lmp", before).code, 0) << kin;
  }
  program("lmp", "Open MPI v4.1.4, package: Debian OpenMPI");
  expect_failure(shell.plugin(folders + "--lmp ./lmp", before), 2,
                 "md/include/mpi.h is of MPICH or one of its kin, but ./lmp is linked with Open MPI");
  shell.write("md/include/mpi.h", "#define OMPI_MAJOR_VERSION 4\n");
  EXPECT_EQ(shell.plugin(folders + "--lmp ./lmp", before).code, 0);
  program("lmp", "LAMMPS MPI STUBS for LAMMPS version 22 Jul 2025");
  expect_failure(shell.plugin(folders + "--lmp ./lmp", before), 2,
                 "mpi.h is of Open MPI, but ./lmp is linked with LAMMPS's STUBS");
  shell.write("package/include/lammps/version.h", "#define LAMMPS_VERSION \"29 Aug 2024\"\n");
  EXPECT_EQ(shell.plugin(folders, before).code, 0) << "the headers have a version, and no program is near them";
  expect_failure(shell.plugin(folders + "--lmp ./lmp", before), 2,
                 "of version 29 Aug 2024, but ./lmp is of version 22 Jul 2025");
  program("package/lmp", "MPICH Version: 5.0.2");
  expect_failure(shell.plugin(folders, before), 2, "package/lmp is of version 22 Jul 2025; --lmp names another");
}

// A build that is only a file shows what is kept, and under which name.
TEST(CommandLammpsPlugin, BuildsOnceForEachSetOfHeaders) {
  const PluginShell shell;
  shell.write("package/include/lammps/pair.h", "");
  shell.write("package/include/lammps/version.h", "#define LAMMPS_VERSION \"29 Aug 2024\"\n");
  shell.write("md/include/mpi.h", "");
  shell.write_program("bin/cmake",
                      "if [ \"$1\" = --build ]; then echo plugin >\"$2/nbccplugin.so\"; else mkdir \"$4\"; fi");
  for (const char* const tool : {"make", "c++"}) shell.write_program(std::string("bin/") + tool, "exit 0");
  const std::string folders = "--lammps-include package/include/lammps --mpi-include md/include ";
  const std::string before = "PATH=" + shell.path("bin") + ":/usr/bin:/bin";
  const Outcome first = shell.plugin(folders, before), second = shell.plugin(folders, before);
  EXPECT_EQ(first.code, 0) << first.err;
  EXPECT_THAT(first.err, HasSubstr("building the plugin for LAMMPS 29 Aug 2024"));
  EXPECT_THAT(first.out, testing::MatchesRegex(".*/cache/lammps-plugin/nbcc-.*-lammps-29-Aug-2024-.*/nbccplugin.so\n"));
  EXPECT_EQ(second.out, first.out);
  EXPECT_THAT(second.err, IsEmpty());
  EXPECT_THAT(shell.plugin(folders + "--rebuild", before).err, HasSubstr("building the plugin"));
  shell.write("package/include/lammps/pair.h", "// changed\n");
  EXPECT_NE(shell.plugin(folders, before).out, first.out);
}

}  // namespace
}  // namespace nbcc::test
