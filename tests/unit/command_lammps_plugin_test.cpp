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
