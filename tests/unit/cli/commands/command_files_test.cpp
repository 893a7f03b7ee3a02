// `nbcc run` and `verify` with files of other programs, names of types, headers to skip and several files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <hdf5.h>

#include "particles/files/particle_files.h"
#include "tests/support/command.h"

namespace nbcc::test {
namespace {

using testing::HasSubstr;
using Doubles = std::vector<double>;

// Of each charge the energy in the field of the others, and the mass of those that are of another type.
constexpr const char* kPipeline =
    "input_i vec3 xi; input_i real qi; input_i int typei;\n"
    "input_j vec3 xj; input_j real qj; input_j int typej; input_j real mj;\n"
    "output(sum) real e; output(sum) real other;\n"
    "vec3 dx = xj - xi;\n"
    "real r2 = dot(dx, dx);\n"
    "if (r2 > 0.0) e += qi * qj / sqrt(r2);\n"
    "if (typei != typej) other += mj;\n";

class CommandFiles : public testing::Test, public Shell {
 protected:
  CommandFiles() { write("charges.pipe", kPipeline); }

  // Three particles at 0, 1 and 2 of a line, so that all is exact.
  void expect_sums(const std::string& words, const Doubles& energies, const Doubles& others) {
    const Outcome outcome = nbcc("run charges.pipe --precision double --math precise --force -o out.npz " + words);
    ASSERT_EQ(outcome.code, 0) << words << outcome.err;
    const ParticleTable table = read_particles(path("out.npz"));
    EXPECT_EQ(std::get<Doubles>(table.find("e")->data), energies) << words;
    EXPECT_EQ(std::get<Doubles>(table.find("other")->data), others) << words;
    EXPECT_EQ(nbcc("verify charges.pipe " + words).code, 0) << words;
  }
  std::string refused(const std::string& words) {
    const Outcome outcome = nbcc("run charges.pipe -o no.npz " + words);
    EXPECT_EQ(outcome.code, 2) << words << outcome.err;
    EXPECT_EQ(outcome.out, "");
    return outcome.err;
  }
};

// Charges of 2, -1 and 4, masses of 16, 1 and 16.
const Doubles kEnergies = {-2 + 8 / 2.0, -2 - 4, 8 / 2.0 - 4}, kOthers = {1, 32, 1};

TEST_F(CommandFiles, DataFilesOfLammpsNeedNoNames) {
  for (const char* name : {"a.lmp", "a.lammps", "A.DATA"}) {
    write(name,
          "by hand\r\n\r\n3 atoms\r\n2 atom types\r\n0 8 xlo xhi\r\n\r\nMasses\r\n\r\n1 16\r\n2 1\r\n\r\n"
          "Atoms # full\r\n\r\n9 1 1 2 0 0 0 0 0 0\r\n4 1 2 -1 1 0 0 0 0 0\r\n7 1 1 4 2 0 0 0 0 1\r\n");
    expect_sums(std::string("--i ") + name, kEnergies, kOthers);
    expect_sums(std::string("--bind mj=mass --i ") + name, kEnergies, kOthers);
  }
  const ParticleTable table = read_particles(path("out.npz"));
  EXPECT_EQ(std::get<std::vector<std::int64_t>>(table.find("id")->data), (std::vector<std::int64_t>{9, 4, 7}));
}

TEST_F(CommandFiles, OtherTablesMayHaveTheEndingData) {
  write("a.data", "# q type m x[3]\n2 1 16 0 0 0\n-1 2 1 1 0 0\n4 1 16 2 0 0\n");
  expect_sums("--i a.data", kEnergies, kOthers);
}

TEST_F(CommandFiles, ExtendedXyzNeedsNoNames) {
  write("a.extxyz",
        "3\nProperties=species:S:1:charge:R:1:pos:R:3:mass:R:1\nO 2 0 0 0 16\nH -1 1 0 0 1\nO 4 2 0 0 16\n");
  expect_sums("--i a.extxyz --types H,O", kEnergies, kOthers);
  EXPECT_THAT(refused("--i a.extxyz"), HasSubstr("a.extxyz:3:1: 'O' is not a number; if the names in this column are "
                                                 "types (O, H), say --types O,H\n"));
  EXPECT_THAT(refused("--i a.extxyz --types O"), HasSubstr("a.extxyz:4:1: 'H' is not among the types of --types"));
  EXPECT_THAT(refused("--i a.extxyz --types 1,2"), HasSubstr("--types: '1' is a number, not a name"));
  // Who does not ask for types need not say which they are.
  const Outcome outcome = nbcc("run $pipelines/gravity_acc.pipe -o acc.npz --i a.extxyz");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
}

// In files whose types are numbers, or are elsewhere.
TEST_F(CommandFiles, TypesThatNoColumnNeedsAreRefused) {
  write("a.xyz", "2\nProperties=species:S:1:charge:R:1:pos:R:3:mass:R:1\n8 2 0 0 0 16\n1 -1 1 0 0 1\n");
  EXPECT_THAT(
      refused("--i a.xyz --types H,O"),
      HasSubstr("--types: 'species' of a.xyz holds numbers, not names; leave out --types, or choose the column of "
                "the names by --bind FIELD=COLUMN"));
  write("a.dump",
        "ITEM: TIMESTEP\n0\nITEM: NUMBER OF ATOMS\n3\nITEM: BOX BOUNDS ff ff ff\n0 9\n0 9\n0 9\n"
        "ITEM: ATOMS id type element q mass x y z\n1 5 O 2 16 0 0 0\n2 6 H -1 1 1 0 0\n3 5 O 4 16 2 0 0\n");
  EXPECT_THAT(refused("--i a.dump --types H,O"), HasSubstr("'type' of a.dump holds numbers"));
  expect_sums("--i a.dump --types H,O --bind typei=element,typej=element", kEnergies, kOthers);
  expect_sums("--i a.dump", kEnergies, kOthers);
}

TEST_F(CommandFiles, DoubtsAboutAFileAreSaid) {
  write("a.txt", "# type q m x y z\n1 2 16 0 0 0\n2 -1 1 1 0 0\n1 4 16 2 0 0");
  const Outcome outcome = nbcc("run charges.pipe --total --i a.txt");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("nbcc: warning: a.txt: line 4: it ends with '0', without a line end"));
  write("eps.txt", "0.2");
  EXPECT_THAT(nbcc("run $pipelines/gravity_acc.pipe --total --i a.txt --param eps2=@eps.txt").err,
              HasSubstr("nbcc: warning: eps.txt: line 1: it ends with '0.2', without a line end"));
  write("b.txt", "0 0 0 2 1 16\n1 0 0 -1 2 1\n2 0 0 4 1 16\n");
  EXPECT_THAT(nbcc("run charges.pipe --total --i b.txt").err,
              HasSubstr("nbcc: note: b.txt has no column names, so the fields take the numbers of a row in order: "
                        "xi=data[0], qi=data[3], typei=data[4], xj=data[0], qj=data[3], typej=data[4], mj=data[5]\n"));
}

// .npz, HDF5 and structured .npy hold x, y and z as arrays of their own, in any order.
TEST_F(CommandFiles, CoordinatesOfTheirOwnAreOneVector) {
  ParticleTable table;
  table.rows = 3;
  table.columns = {
      {"z", 1, Doubles{0, 0, 0}}, {"q", 1, Doubles{2, -1, 4}},  {"x", 1, std::vector<float>{0, 1, 2}},
      {"y", 1, Doubles{0, 0, 0}}, {"m", 1, Doubles{16, 1, 16}}, {"type", 1, std::vector<std::int32_t>{1, 2, 1}}};
  for (const char* name : {"a.npz", "a.h5", "a.txt", "a.csv", "a.tsv"}) {
    write_particles(path(name), table);
    expect_sums(std::string("--i ") + name, kEnergies, kOthers);
  }
}

TEST_F(CommandFiles, HeadsOfTablesAreSkipped) {
  write("a.txt", "8.0 8.0 8.0\n3\n1 0 0 0 O 2 16\n2 1 0 0 H -1 1\n3 2 0 0 O 4 16\n");
  expect_sums("--i a.txt --skip-lines 2 --columns id,x[3],type,q,m --types H,O", kEnergies, kOthers);
  EXPECT_THAT(refused("--i a.txt --skip-lines 9 --columns id,x[3],type,q,m"), HasSubstr("it has 5 lines only"));
  EXPECT_THAT(refused("--i a.txt --skip-lines two"), HasSubstr("--skip-lines: 'two' is not a whole number"));
  write("b.xyz", "1\n\nH 0 0 0\n");
  EXPECT_THAT(refused("--i b.xyz --skip-lines 2"), HasSubstr("b.xyz: --skip-lines is for text tables"));
}

TEST_F(CommandFiles, ColumnsOfSeveralFilesAreJoined) {
  write("places.txt", "# id type x[3]\n1 1 0 0 0\n2 2 1 0 0\n3 1 2 0 0\n");
  write("charges.csv", "q,id\n4,3\n-1,2\n2,1\n");
  write("masses.csv", "m\n16\n1\n16\n");
  expect_sums("--i places.txt --i charges.csv --i masses.csv", kEnergies, kOthers);
  expect_sums("--i places.txt --i charges.csv --j places.txt --j charges.csv --j masses.csv", kEnergies, kOthers);
  ASSERT_EQ(nbcc("run charges.pipe --i places.txt --i charges.csv --i masses.csv --update -o all.npz").code, 0);
  EXPECT_EQ(read_particles(path("all.npz")).column_names(), "id, type, x[3], q, m, e, other");
  // An archive gives what is asked for, and its ids.
  expect_sums("--i all.npz --i charges.csv", kEnergies, kOthers);
  write("few.csv", "q,id\n4,3\n-1,2\n");
  EXPECT_THAT(refused("--i places.txt --i few.csv --i masses.csv"),
              HasSubstr("few.csv: it has no particle with the id 1, but places.txt has"));
  EXPECT_THAT(refused("--i places.txt --i charges.csv"),
              HasSubstr("finds no column 'mj' or 'm' in places.txt, charges.csv, which has id, type, x[3], q"));
  EXPECT_THAT(refused("--i all.npz --i few.csv"), HasSubstr("few.csv: it has no particle with the id 1"));
}

TEST_F(CommandFiles, WhatJoinedFilesHaveInCommonHasToAgree) {
  write("a.txt", "# type x[3] q m\n1 0 0 0 5 16\n2 1 0 0 -1 1\n1 2 0 0 4 16\n");
  write("q.txt", "# q m\n2 16\n-1 1\n4 16\n");
  EXPECT_THAT(
      refused("--i a.txt --i q.txt"),
      HasSubstr("q.txt: its column 'q' differs in row 0 from that of a.txt; --last-wins takes that of the last"));
  expect_sums("--i a.txt --i q.txt --last-wins", kEnergies, kOthers);
}

TEST_F(CommandFiles, ColumnsAndUpdatesAreOfOneFile) {
  write("a.txt", "# type x[3] m\n1 0 0 0 16\n");
  write("q.txt", "# q\n2\n");
  EXPECT_THAT(refused("--i a.txt --i q.txt --columns x[3],m"), HasSubstr("--columns names the columns of one file"));
  EXPECT_THAT(refused("--j a.txt --j q.txt --columns-j x[3],m"), HasSubstr("but --j is given 2 files"));
  EXPECT_THAT(refused("--i a.txt --i - --i -"), HasSubstr("standard input can be read once only"));
  const auto update = [&](const std::string& words) { return nbcc("run charges.pipe --update " + words); };
  EXPECT_THAT(update("--i a.txt --i q.txt").err, HasSubstr("the particles come from 2 files: say -o FILE"));
  EXPECT_THAT(update("--i a.txt --skip-lines 1").err, HasSubstr("lines that are skipped"));
  EXPECT_THAT(update("--i a.txt --types H,O").err, HasSubstr("names of types would not be kept"));
  EXPECT_EQ(read("a.txt"), "# type x[3] m\n1 0 0 0 16\n");
}

TEST_F(CommandFiles, FilesOfOtherProgramsAreNotWrittenTo) {
  const std::string atoms = "\n1 atoms\n\nMasses\n\n1 2\n\nAtoms # full\n\n1 1 1 2 0 0 0\n";
  for (const char* name : {"a.lmp", "a.data"}) {
    write(name, atoms);
    const Outcome outcome = nbcc(std::string("run charges.pipe --update --i ") + name);
    EXPECT_EQ(outcome.code, 2);
    EXPECT_THAT(outcome.err, HasSubstr("say -o FILE"));
    EXPECT_EQ(read(name), atoms);
  }
  const Outcome outcome = nbcc("run charges.pipe --i a.lmp -o out.xyz");
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.err,
            "nbcc: out.xyz: files of the ending .xyz are read, but not written: say -o FILE.npz, .h5 or .txt\n");
}

// A snapshot as GADGET writes it, of dark matter alone: masses stand in the header.
TEST_F(CommandFiles, SnapshotsOfGadgetNeedNoNames) {
  const std::string file = path("snapshot.hdf5");
  const hid_t snapshot = H5Fcreate(file.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  const auto put = [&](const char* where, hid_t type, std::vector<hsize_t> shape, const void* values) {
    const hid_t space = H5Screate_simple(int(shape.size()), shape.data(), nullptr), links = H5Pcreate(H5P_LINK_CREATE);
    H5Pset_create_intermediate_group(links, 1);
    const hid_t set = H5Dcreate2(snapshot, where, type, space, links, H5P_DEFAULT, H5P_DEFAULT);
    H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
    H5Dclose(set);
    H5Pclose(links);
    H5Sclose(space);
  };
  const float places[] = {0, 0, 0, 1, 0, 0, 2, 0, 0};
  const std::uint64_t ids[] = {5, 6, 7};
  const double masses[] = {0, 4, 0, 0, 0, 0};
  put("/PartType1/Coordinates", H5T_NATIVE_FLOAT, {3, 3}, places);
  put("/PartType1/ParticleIDs", H5T_NATIVE_UINT64, {3}, ids);
  const hsize_t six = 6;
  const hid_t header = H5Gcreate2(snapshot, "Header", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
              space = H5Screate_simple(1, &six, nullptr),
              attribute = H5Acreate2(header, "MassTable", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT);
  H5Awrite(attribute, H5T_NATIVE_DOUBLE, masses);
  H5Aclose(attribute);
  H5Sclose(space);
  H5Gclose(header);
  H5Fclose(snapshot);
  for (const char* words : {"snapshot.hdf5", "snapshot.hdf5:PartType1", "snapshot.hdf5 --bind xj=Coordinates,xi=x"}) {
    const Outcome outcome =
        nbcc(std::string("run $pipelines/potential.pipe --precision double --math precise --force ") +
             "--param eps2=0 -o out.npz --i " + words);
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    const ParticleTable results = read_particles(path("out.npz"));
    EXPECT_EQ(results.column_names(), "id, pot");
    EXPECT_EQ(std::get<Doubles>(results.find("pot")->data), (Doubles{-6, -8, -6})) << words;
    EXPECT_EQ(std::get<std::vector<std::int64_t>>(results.find("id")->data), (std::vector<std::int64_t>{5, 6, 7}));
  }
}

}  // namespace
}  // namespace nbcc::test
