// What `nbcc run --update` cannot write without a loss is refused, each kind of it: by its words, before the run, with
// the file as it was. And totals of an earlier run do not stay beside new outputs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <hdf5.h>

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "particles/files/numpy/zip_archive.h"
#include "tests/support/random_source.h"
#include "tests/support/update_cases.h"

namespace nbcc::test {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* kUpdate = "run update.pipe --precision double --update --i ";

void expect_refused(const UpdateShell& shell, const std::string& file, const std::string& words) {
  const std::string before = shell.read(file);
  const Outcome outcome = shell.nbcc(kUpdate + file);
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, HasSubstr(words));
  EXPECT_EQ(shell.read(file), before);
}

// A cell that a reader takes for several words, or for a comment: another word than the output's would be replaced.
TEST(UpdateRefusals, OfTextWhoseCellsAreNoWords) {
  const UpdateShell shell;
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomSource random(seed);
    const bool tabs = random.chance(40), is_comment = random.chance(50), is_last = is_comment || random.chance(30);
    const std::string gap = tabs ? "\t" : ",";
    const std::string cell = is_comment ? random.pick<std::string>({"a#b", "#1", "Na#"})
                                        : random.pick<std::string>({"a b", "of two  words"});
    const int rows = random.between(2, 6), bad = random.below(rows);
    std::string text = "x" + gap + "y" + gap + "z" + gap + (is_last ? "rho" + gap + "tag\n" : "tag" + gap + "rho\n");
    for (int row = 0; row < rows; ++row) {
      const std::string tag = row == bad ? cell : "H";
      text += std::to_string(row) + gap + "0" + gap + "1" + gap + (is_last ? "7" + gap + tag : tag + gap + "7") + "\n";
    }
    const std::string name = tabs ? "a.tsv" : "a.csv";
    shell.write(name, text);
    expect_refused(shell, name, name);
  }
}

// As the file, and as the new one.
TEST(UpdateRefusals, OfLinksThatLeadToThemselves) {
  const UpdateShell shell;
  shell.write("a.csv", "x,y,z\n0,0,0\n1,0,0\n");
  for (const std::string name : {"b.csv", "b.h5"}) {
    SCOPED_TRACE(name);
    shell.line("ln -s " + name + " " + name);
    const Outcome of_it = shell.nbcc(kUpdate + name);
    EXPECT_EQ(of_it.code, 2) << of_it.err;
    EXPECT_THAT(of_it.err, HasSubstr(name));
    const Outcome to_it = shell.nbcc(std::string(kUpdate) + "a.csv -o " + name);
    EXPECT_EQ(to_it.code, 2) << to_it.err;
    EXPECT_THAT(to_it.err, HasSubstr(name));
    EXPECT_EQ(shell.line("test -L " + name).code, 0);
  }
}

// Makes rho in a file of nbcc's, of 20 particles, as it is told.
void add_rho(const UpdateShell& shell, const std::function<void(hid_t creation)>& store, hid_t type = H5T_IEEE_F64LE) {
  const hsize_t rows = 20;
  const hid_t file = H5Fopen(shell.path("a.h5").c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  const hid_t creation = H5Pcreate(H5P_DATASET_CREATE), space = H5Screate_simple(1, &rows, nullptr);
  store(creation);
  const hid_t dataset = H5Dcreate2(file, "rho", type, space, H5P_DEFAULT, creation, H5P_DEFAULT);
  EXPECT_GE(dataset, 0);
  H5Dclose(dataset);
  H5Sclose(space);
  H5Pclose(creation);
  H5Fclose(file);
}

TEST(UpdateRefusals, OfHdf5WhoseNumbersAreElsewhereOrLoseDigits) {
  const UpdateShell shell;
  const hsize_t rows = 20, chunk = 10;
  const auto chunked = [&](hid_t creation) { H5Pset_chunk(creation, 1, &chunk); };
  const struct {
    const char* words;
    std::function<void(hid_t)> store;
  } cases[] = {{"has its numbers in other files",
                [&](hid_t creation) { H5Pset_external(creation, shell.path("rho.bin").c_str(), 0, rows * 8); }},
               {"has its numbers in other files",
                [&](hid_t creation) {
                  const hid_t space = H5Screate_simple(1, &rows, nullptr);
                  H5Pset_virtual(creation, space, shell.path("other.h5").c_str(), "rho", space);
                  H5Sclose(space);
                }},
               {"would take digits off",
                [&](hid_t creation) {
                  chunked(creation);
                  H5Pset_scaleoffset(creation, H5Z_SO_FLOAT_DSCALE, 3);
                }},
               {"would take digits off", [&](hid_t creation) {
                  chunked(creation);
                  H5Pset_nbit(creation);
                }}};
  for (const auto& [words, store] : cases) {
    ASSERT_EQ(shell.nbcc("make-ic plummer --n 20 -o a.h5 --force").code, 0);
    add_rho(shell, store);
    expect_refused(shell, "a.h5", words);
  }
}

TEST(UpdateRefusals, OfArchivesWithANameTwice) {
  const UpdateShell shell;
  ASSERT_EQ(shell.nbcc("make-ic plummer --n 5 -o a.npz").code, 0);
  const std::string whole = shell.read("a.npz");
  for (const char* name : {"x.npy", "id.npy", "rho.npy", "acc.npy", "provenance.npy"}) {
    ZipContents members;
    for (const ZipMember& member : zip_directory(whole))
      members.emplace_back(member.name, unpack_zip_member(whole, member));
    const auto same = std::ranges::find(members, std::string(name), &ZipContents::value_type::first);
    const auto copied = same == members.end() ? members.front() : *same;
    for (int k = same == members.end() ? 2 : 1; k > 0; --k) members.emplace_back(name, copied.second);
    shell.write("a.npz", make_zip(members, 0));
    expect_refused(shell, "a.npz", "a.npz");
  }
}

// Whether a file's record of its run has a total of rho. An HDF5 file may still hold the bytes of an attribute that is
// gone; the text of an .npz archive has 32 bits for a character.
bool has_total(const UpdateShell& shell, const std::string& name) {
  if (name.ends_with(".h5")) {
    const hid_t file = H5Fopen(shell.path(name).c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
    const bool has = H5Aexists(file, "total rho") > 0;
    H5Fclose(file);
    return has;
  }
  std::string bytes = shell.read(name);
  std::erase(bytes, '\0');
  return bytes.find("total rho") != std::string::npos;
}

// In every format the record of the new run takes the place of the old one.
TEST(UpdateRefusals, TotalsOfAnEarlierRunGo) {
  const UpdateShell shell;
  for (const char* file : {"a.h5", "a.txt", "a.npz"}) {
    ASSERT_EQ(shell.nbcc(std::string("make-ic plummer --n 5 -o ") + file).code, 0);
    ASSERT_EQ(shell.nbcc(kUpdate + std::string(file) + " --total").code, 0);
    EXPECT_TRUE(has_total(shell, file));
    ASSERT_EQ(shell.nbcc(kUpdate + std::string(file)).code, 0);
    ASSERT_EQ(
        shell.nbcc(std::string("run update.pipe --precision double --update -o b") + (file + 1) + " --i " + file).code,
        0);
    EXPECT_FALSE(has_total(shell, file)) << file;
    EXPECT_FALSE(has_total(shell, std::string("b") + (file + 1))) << file;
  }
}

// A param of an earlier pipeline does not describe the new results.
TEST(UpdateRefusals, ParamsOfAnotherPipelineGo) {
  const UpdateShell shell;
  ASSERT_EQ(shell.nbcc("make-ic plummer --n 5 -o a.h5").code, 0);
  const auto has_param = [&] {
    const hid_t file = H5Fopen(shell.path("a.h5").c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
    const bool has = H5Aexists(file, "param eps2") > 0;
    H5Fclose(file);
    return has;
  };
  ASSERT_EQ(shell.nbcc("run gravity --i a.h5 --update").code, 0);
  EXPECT_TRUE(has_param());
  ASSERT_EQ(shell.nbcc(kUpdate + std::string("a.h5")).code, 0);
  EXPECT_FALSE(has_param());
}

// Someone else's attribute of a total's name is found before a run that fails by itself.
TEST(UpdateRefusals, NamesOfTotalsAreCheckedBeforeTheRun) {
  const UpdateShell shell;
  shell.write(
      "beyond.pipe",
      "input_i index idi; input_j real mj; param real e[2] = {1, 2};\noutput(sum) real rho; rho += mj * e[idi];");
  ASSERT_EQ(shell.nbcc("make-ic plummer --n 20 -o a.h5").code, 0);
  EXPECT_THAT(shell.nbcc("run beyond.pipe --i a.h5 --update --total").err, HasSubstr("table 'e'"));
  const hid_t file = H5Fopen(shell.path("a.h5").c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  const hid_t space = H5Screate(H5S_SCALAR);
  const hid_t attribute = H5Acreate2(file, "total rho", H5T_STD_I32LE, space, H5P_DEFAULT, H5P_DEFAULT);
  const int value = 1;
  H5Awrite(attribute, H5T_NATIVE_INT, &value);
  H5Aclose(attribute);
  H5Sclose(space);
  H5Fclose(file);
  EXPECT_THAT(shell.nbcc("run beyond.pipe --i a.h5 --update --total").err, HasSubstr("attribute 'total rho'"));
}

// Of a file that may only be read the copy may be written.
TEST(UpdateRefusals, ACopyHasPermissionsOfItsOwn) {
  const UpdateShell shell;
  ASSERT_EQ(shell.nbcc("make-ic plummer --n 5 -o a.h5").code, 0);
  std::filesystem::permissions(shell.path("a.h5"), std::filesystem::perms::owner_read);
  ASSERT_EQ(shell.nbcc(kUpdate + std::string("a.h5 -o b.h5")).code, 0);
  const auto mode = std::filesystem::status(shell.path("b.h5")).permissions();
  EXPECT_NE(mode & std::filesystem::perms::owner_write, std::filesystem::perms::none);
}

}  // namespace
}  // namespace nbcc::test
