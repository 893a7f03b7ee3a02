#include "particles/files/particle_files.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "runtime/error.h"
#include "tests/support/particle_tables.h"
#include "tests/support/scratch_folder.h"

namespace nbcc {
namespace {

using test::error_of;
using test::ScratchFolder;

const char* const kNamedFormats[] = {"a.npz", "a.h5", "a.hdf5", "a.txt", "a.dat", "a.csv", "a.tsv", "a", "A.NPZ"};

// Runs `call` with the file in place of standard input.
template <class Call>
auto with_input(const std::string& path, Call call) {
  const int saved = dup(STDIN_FILENO), file = open(path.c_str(), O_RDONLY);
  dup2(file, STDIN_FILENO);
  close(file);
  clearerr(stdin);
  const auto result = call();
  dup2(saved, STDIN_FILENO);
  close(saved);
  return result;
}

TEST(ParticleFiles, EveryFormatGivesTheTableBack) {
  for (const char* name : kNamedFormats) {
    const ScratchFolder folder;
    write_particles(folder.path(name), test::mixed_table());
    const ParticleTable table = read_particles(folder.path(name));
    const bool has_types = std::string_view(name) != "a.csv" && std::string_view(name) != "a.tsv";
    test::expect_same_columns(table, has_types ? test::mixed_table() : test::as_of_csv(test::mixed_table()));
    EXPECT_EQ(table.attributes, has_types ? test::mixed_table().attributes : decltype(table.attributes)()) << name;
  }
}

// A process that SIGKILL ends leaves its temporary file.
TEST(ParticleFiles, TemporaryFilesOfKilledProcessesGo) {
  const ScratchFolder folder;
  const pid_t killed = fork();
  if (killed == 0) _exit(0);
  waitpid(killed, nullptr, 0);
  const auto draft = [&](const char* name, pid_t process) {
    return folder.write(fmt::format(".{}.{}.tmp", name, process), "half");
  };
  const std::string old = draft("a.npz", killed), running = draft("a.npz", getppid()), other = draft("b.npz", killed),
                    own = folder.write(".a.npz.old.tmp", "mine");
  write_particles(folder.path("a.npz"), test::mixed_table());
  EXPECT_FALSE(std::filesystem::exists(old));
  for (const std::string& kept : {running, other, own}) EXPECT_TRUE(std::filesystem::exists(kept)) << kept;
}

TEST(ParticleFiles, EveryFormatGivesAnUnnamedTableBack) {
  for (const char* name : {"a.npy", "a.npz", "a.h5", "a.txt", "a.csv"}) {
    const ScratchFolder folder;
    write_particles(folder.path(name), test::unnamed_table());
    test::expect_same_columns(read_particles(folder.path(name)), test::unnamed_table());
  }
}

TEST(ParticleFiles, StandardInputIsKnownByItsFirstBytes) {
  for (const char* name : {"a.npy", "a.npz", "a.h5", "a.txt"}) {
    const ScratchFolder folder;
    write_particles(folder.path(name), test::unnamed_table());
    const ParticleTable table = with_input(folder.path(name), [] { return read_particles("-"); });
    test::expect_same_columns(table, test::unnamed_table());
  }
}

TEST(ParticleFiles, FaultsOfStandardInputNameIt) {
  const ScratchFolder folder;
  EXPECT_EQ(with_input(folder.write("a", "1 x\n"), [] { return error_of([] { read_particles("-"); }); }),
            "standard input:1:3: 'x' is not a number; if the names in this column are types (x), say --types x");
}

TEST(ParticleFiles, StandardOutputIsTextUnlessToldOtherwise) {
  testing::internal::CaptureStdout();
  write_particles("-", test::unnamed_table());
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "1 2 3\n4 5 6\n");
  testing::internal::CaptureStdout();
  write_particles("-", test::unnamed_table(), {false, "npy"});
  EXPECT_TRUE(testing::internal::GetCapturedStdout().starts_with("\x93NUMPY"));
}

TEST(ParticleFiles, ColumnsNameAPlainArray) {
  const ScratchFolder folder;
  for (const char* name : {"a.npy", "a.npz", "a.h5", "a.txt"}) {
    write_particles(folder.path(name), test::unnamed_table());
    const ParticleTable table = read_particles(folder.path(name), {"id,_,m:float", ""});
    EXPECT_EQ(table.column_names(), "id, m");
    EXPECT_FALSE(table.unnamed);
    EXPECT_EQ(std::get<std::vector<std::int64_t>>(table.columns[0].data), (std::vector<std::int64_t>{1, 4})) << name;
    EXPECT_EQ(std::get<std::vector<float>>(table.columns[1].data), (std::vector<float>{3, 6})) << name;
  }
}

TEST(ParticleFiles, ColumnsPickFromANamedFile) {
  const ScratchFolder folder;
  for (const char* name : {"a.npz", "a.h5"}) {
    write_particles(folder.path(name), test::mixed_table());
    EXPECT_EQ(read_particles(folder.path(name), {"x[3],m", ""}).column_names(), "x[3], m");
    EXPECT_EQ(error_of([&] { read_particles(folder.path(name), {"y", ""}); }),
              folder.path(name) + ": there is no column 'y' in it");
    EXPECT_EQ(error_of([&] { read_particles(folder.path(name), {"x", ""}); }),
              folder.path(name) + ": column 'x' has 3 numbers per row, but --columns says 1");
  }
}

TEST(ParticleFiles, ColumnsThatDoNotFitAreAnError) {
  const ScratchFolder folder;
  write_particles(folder.path("a.npy"), test::unnamed_table());
  EXPECT_EQ(error_of([&] { read_particles(folder.path("a.npy"), {"m,x[3]", ""}); }),
            folder.path("a.npy") + ": its rows have 3 numbers, but --columns names 4");
  EXPECT_THROW(read_particles(folder.path("a.npy"), {"m,x[", ""}), UsageError);
}

TEST(ParticleFiles, ConversionThatLosesIsAnError) {
  const ScratchFolder folder;
  ParticleTable table = test::unnamed_table();
  std::get<std::vector<double>>(table.columns[0].data)[3] = 0.5;
  write_particles(folder.path("a.npy"), table);
  EXPECT_EQ(error_of([&] { read_particles(folder.path("a.npy"), {"id,x[2]", ""}); }),
            folder.path("a.npy") + ": column 'id' holds 0.5 in row 1, which is not an int64");
}

TEST(ParticleFiles, GroupStandsBehindTheFile) {
  const ScratchFolder folder;
  write_particles(folder.path("a.h5"), test::mixed_table());
  EXPECT_EQ(read_particles(folder.path("a.h5:/")).rows, 2);
  EXPECT_EQ(error_of([&] { read_particles(folder.path("a.h5:stars")); }),
            folder.path("a.h5") + ": there is no group 'stars' in it");
}

TEST(ParticleFiles, UnreadablePathsAreErrors) {
  const ScratchFolder folder;
  for (const char* name : {"a.npy", "a.npz", "a.h5", "a.txt"})
    EXPECT_EQ(error_of([&] { read_particles(folder.path(name)); }),
              folder.path(name) + ": cannot be read: No such file or directory");
  std::filesystem::create_directory(folder.path("d.h5"));
  EXPECT_EQ(error_of([&] { read_particles(folder.path("d.h5")); }),
            folder.path("d.h5") + ": is a folder, not a particle file");
}

TEST(ParticleFiles, DevicesAreNoParticleFiles) {
  EXPECT_EQ(error_of([] { read_particles("/dev/zero"); }), "/dev/zero: is a device, not a particle file");
  EXPECT_EQ(with_input("/dev/zero", [] { return error_of([] { read_particles("-"); }); }),
            "standard input: is a device, not a particle file");
}

TEST(ParticleFiles, WhatIsReadInPlaceIsNoPipe) {
  const ScratchFolder folder;
  ASSERT_EQ(mkfifo(folder.path("a.h5").c_str(), 0600), 0);
  EXPECT_EQ(error_of([&] { read_particles(folder.path("a.h5")); }),
            folder.path("a.h5") + ": is a pipe; a particle file of this format has to be stored in a file");
}

// In HDF5 and in records as in .npz, of which npz_test.cpp has more.
TEST(ParticleFiles, ColumnsThatNobodyAsksForAreLeftOut) {
  const ScratchFolder folder;
  write_particles(folder.path("a.h5"), test::mixed_table());
  ReadOptions options;
  options.choice.all = false;
  options.choice.names = {"m"};
  options.choice.optional_name = "id";
  const ParticleTable table = read_particles(folder.path("a.h5"), options);
  ASSERT_EQ(table.columns.size(), 2u);
  EXPECT_EQ(table.columns[0].name + table.columns[1].name, "mid");
  EXPECT_EQ(table.column_names(), "id, m, x[3], h, type[2]") << "as messages list them";
}

TEST(ParticleFiles, WrongEndingsAreNamed) {
  const ScratchFolder folder;
  write_particles(folder.path("a.npy"), test::unnamed_table());
  std::filesystem::rename(folder.path("a.npy"), folder.path("a.txt"));
  EXPECT_EQ(error_of([&] { read_particles(folder.path("a.txt")); }),
            folder.path("a.txt") + ": it is an .npy array, but its name does not end in .npy");
}

TEST(ParticleFiles, SeveralColumnsAreNoNpy) {
  const ScratchFolder folder;
  EXPECT_EQ(error_of([&] { write_particles(folder.path("a.npy"), test::mixed_table()); }),
            folder.path("a.npy") +
                ": an .npy file holds one array, but there are 5 columns (id, m, x[3], h, type[2]); "
                "use .npz, .h5 or text");
  EXPECT_EQ(folder.count(), 0);
}

TEST(ParticleFiles, ExistingFileIsKeptWithoutForce) {
  const ScratchFolder folder;
  const std::string path = folder.write("a.npz", "mine");
  EXPECT_EQ(error_of([&] { write_particles(path, test::mixed_table()); }),
            path + ": exists already; --force overwrites it");
  EXPECT_EQ(error_of([&] { check_writable(path); }), path + ": exists already; --force overwrites it");
  EXPECT_EQ(folder.read("a.npz"), "mine");
  EXPECT_EQ(folder.count(), 1);
}

TEST(ParticleFiles, ForceReplacesAndKeepsThePermissions) {
  const ScratchFolder folder;
  const std::string path = folder.write("a.txt", "mine");
  chmod(path.c_str(), 0600);
  write_particles(path, test::unnamed_table(), {true, ""});
  EXPECT_EQ(folder.read("a.txt"), "1 2 3\n4 5 6\n");
  struct stat status;
  ASSERT_EQ(stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  EXPECT_EQ(folder.count(), 1);
}

TEST(ParticleFiles, ForceWritesThroughALink) {
  const ScratchFolder folder;
  folder.write("real.txt", "mine");
  std::filesystem::create_symlink("real.txt", folder.path("link.txt"));
  write_particles(folder.path("link.txt"), test::unnamed_table(), {true, ""});
  EXPECT_TRUE(std::filesystem::is_symlink(folder.path("link.txt")));
  EXPECT_EQ(folder.read("real.txt"), "1 2 3\n4 5 6\n");
}

TEST(ParticleFiles, FailureLeavesNothingBehind) {
  const ScratchFolder folder;
  std::filesystem::create_directory(folder.path("target"));
  EXPECT_EQ(error_of([&] { write_particles(folder.path("target"), test::unnamed_table(), {true, ""}); }),
            folder.path("target") + ": is a folder");
  EXPECT_EQ(error_of([&] { write_particles(folder.path("no/a.txt"), test::unnamed_table()); }),
            folder.path("no/a.txt") + ": cannot be written: its folder: No such file or directory");
  EXPECT_EQ(folder.count(), 1);
}

TEST(ParticleFiles, DevicesAreWrittenToAndStayDevices) {
  write_particles("/dev/null", test::unnamed_table());
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
  EXPECT_EQ(error_of([] { write_particles("/dev/full", test::unnamed_table()); }),
            "/dev/full: cannot be written: No space left on device");
}

TEST(ParticleFiles, TablesThatAreNoneAreRefused) {
  ParticleTable table = test::mixed_table();
  table.columns[1].name = "id";
  EXPECT_EQ(error_of([&] { write_particles("-", table); }), "standard output: two columns are called 'id'");
  table.columns[1] = {"m", 1, std::vector<double>(3)};
  EXPECT_EQ(error_of([&] { write_particles("-", table); }), "standard output: column 'm' has 3 rows, but 'id' has 2");
}

TEST(ParticleFiles, UnknownFormatIsNamed) {
  EXPECT_EQ(error_of([] { write_particles("-", test::unnamed_table(), {false, "xml"}); }),
            "standard output: 'xml' is not a format; there are npy, npz, h5, text, csv and tsv");
}

}  // namespace
}  // namespace nbcc
