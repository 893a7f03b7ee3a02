// Files of formats that nbcc does not read: the message names the format, and what reads it.
#include "particles/files/seeming_format.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "particles/files/particle_files.h"
#include "tests/support/particle_tables.h"
#include "tests/support/scratch_folder.h"

namespace nbcc {
namespace {

using namespace std::string_view_literals;
using testing::HasSubstr;

const std::string kPage = ": see the page 'Arrays from MDAnalysis, ASE, h5py, astropy'";

TEST(SeemingFormat, NamesTheFormatAndWhatReadsIt) {
  const std::string atom = "ATOM      1  N   ALA A   1      11.104   6.134  -6.504  1.00  0.00           N\n";
  const struct {
    std::string_view bytes, format, readers;
  } cases[] = {
      {"\x1f\x8b\x08\0"sv, "gzip data", "unpack it first"},
      {"\x54\0\0\0CORD"sv, "DCD", "MDAnalysis reads it"},
      {"\0\0\x07\xcb\0\0\0\x03"sv, "XTC of GROMACS", "MDAnalysis reads it"},
      {"\xdf\x65\xdf\x65\xdf\x65\xdf\x65\0"sv, "GSD of HOOMD-blue", "MDAnalysis reads it"},
      {"CDF\x02\0\0"sv, "NetCDF, as of AMBER", "MDAnalysis or ASE reads it"},
      {"SIMPLE  =                    T"sv, "FITS", "astropy reads it"},
      {"\0\x01\0\0\x01\0\0\0"sv, "GADGET's binary format", "SnapFormat=3"},
      {"LammpS RestartT"sv, "a restart file of LAMMPS", "write_data"},
      {"\xf8\xff\xff\xff\xff\xff\xff\xff"
       "DUMPATOM"sv,
       "a binary dump of LAMMPS", "binary2txt"},
      {atom, "PDB", "MDAnalysis or ASE reads it"},
      {"REMARK made by hand\nHETATM    1  O   HOH A   1       0.000   0.000   0.000\n", "PDB", "MDAnalysis or ASE"},
      {"# made by hand\n\ndata_1ABC\nloop_\n_atom_site.id\n", "mmCIF", "gemmi reads it"},
      {"data_NaCl\n_cell_length_a 5.6\n", "CIF", "ASE reads it"},
      {"water\n    1\n    1WATER  OW1    1   0.126   1.624   1.679\n   1.8 1.8 1.8\n", "GRO of GROMACS", "MDAnalysis"},
      {"a\nb\nc\n  3  2  0  0  0  0            999 V2000\n", "SDF", "ASE reads it"},
      {"{\"atoms\": []}", "JSON", "Python reads it"},
  };
  for (const auto& [bytes, format, readers] : cases) {
    const std::string said = foreign_format(bytes, "a.txt");
    EXPECT_THAT(said, HasSubstr("it looks like " + std::string(format) + ", which nbcc does not read; ")) << format;
    EXPECT_THAT(said, HasSubstr(std::string(readers)));
    EXPECT_EQ(said.ends_with(kPage), readers != "unpack it first") << said;
  }
  EXPECT_THAT(foreign_format("silicon\n1.0\n", "run/POSCAR"), HasSubstr("POSCAR of VASP"));
}

// The first item of a snapshot that mkplummer writes is its history: characters, with a dimension.
TEST(SeemingFormat, SnapshotsOfNemoOfBothByteOrders) {
  for (const std::string_view bytes : {"\x92\x0b"
                                       "c\0History\0\x20\0\0\0"sv,
                                       "\x0b\x92"
                                       "c\0History\0\0\0\0\x20"sv,
                                       "\x92\x09(\0SnapShot\0"sv, "\x09\x92(\0SnapShot\0"sv})
    EXPECT_THAT(foreign_format(bytes, "a.snap"),
                testing::AllOf(HasSubstr("it looks like a snapshot of NEMO, which nbcc does not read; s2a of NEMO"),
                               HasSubstr("s2a in=FILE out=bodies.txt write=mxv")));
  EXPECT_EQ(foreign_format("\x92\x09z\0"sv, "a.snap"), "");
  EXPECT_EQ(foreign_format("\x92\x0b"sv, "a.snap"), "");
}

TEST(SeemingFormat, TablesAreNotTakenForOthers) {
  for (const std::string_view text :
       {"# x[3] m\n1 2 3 4\n"sv, "3\nwater\nO 0 0 0\n"sv, "ATOM 1 2 3\n"sv, "data 1 2\n"sv, "\n2 atoms\n"sv, ""sv,
        "id,x,y\n1,2,3\n"sv, "1\n2\n3 4 5\n"sv, "ITEM: TIMESTEP\n0\n"sv, "title\n3\n1 2 3\n"sv})
    EXPECT_EQ(foreign_format(text, "a.txt"), "") << text;
}

TEST(SeemingFormat, XyzFilesAreKnownByTheirFirstLines) {
  EXPECT_TRUE(looks_like_xyz("3\r\nwater\r\nO 0 0 0\r\n"));
  EXPECT_TRUE(looks_like_xyz(" 1 \nProperties=species:S:1:pos:R:3:q:R:1\nO 0 0 0 1\n"));
  EXPECT_FALSE(looks_like_xyz("3\n4\n5 0 0 0\n"));
  EXPECT_FALSE(looks_like_xyz("3 4\n\nO 0 0 0\n"));
  EXPECT_FALSE(looks_like_xyz("3\n\nO 0 0\n"));
}

// Whatever the ending is.
TEST(SeemingFormat, ReadersSayWhatAFileSeemsToBe) {
  const test::ScratchFolder folder;
  const auto fault = [&](std::string_view name, std::string_view bytes) {
    folder.write(name, bytes);
    const std::string message = test::error_of([&] { read_particles(folder.path(name)); });
    EXPECT_TRUE(message.starts_with(folder.path(name) + ": ")) << message;
    return message.substr(std::min(message.size(), folder.path(name).size() + 2));
  };
  const std::string_view pdb =
      "CRYST1\nATOM      1  N   ALA A   1      11.104   6.134  -6.504  1.00  0.00           N\n";
  const std::string expected = "it looks like PDB, which nbcc does not read; MDAnalysis or ASE reads it" + kPage;
  for (const char* name : {"a.pdb", "a.txt", "a.xyz", "a.lmp", "a.lammpstrj", "a.npz", "a.npy", "a.h5", "a.csv"})
    EXPECT_EQ(fault(name, pdb), expected) << name;
  for (const char* name : {"b.npz", "b.h5", "b.txt", "b.xyz"})
    EXPECT_EQ(fault(name, "\x93NUMPY\x01\0"sv), "it is an .npy array, but its name does not end in .npy") << name;
  EXPECT_EQ(fault("c.npz", "\x89HDF\r\n\x1a\n"), "it is an HDF5 file, but its name does not end in .h5 or .hdf5");
  EXPECT_EQ(fault("c.h5", "PK\x03\x04"), "it is a zip archive, but its name does not end in .npz");
  EXPECT_EQ(fault("d.txt", "1\n\nO 0 0 0\n"),
            "it looks like an .xyz file, but its name ends in neither .xyz nor .extxyz");
}

// Formats that nbcc reads are recognised in any text file.
TEST(SeemingFormat, FilesOfLammpsMayHaveAnyEnding) {
  const test::ScratchFolder folder;
  const std::string dump = "ITEM: TIMESTEP\n0\nITEM: NUMBER OF ATOMS\n1\nITEM: ATOMS id x y z\n1 0 0 0\n";
  for (const char* name : {"dump.100", "a.dump", "a.lammpstrj", "a.txt", "a.xyz", "a.lmp"})
    EXPECT_EQ(read_particles(folder.write(name, dump)).column_names(), "id, x[3]") << name;
  const std::string data = "by hand\n\n1 atoms\n\nAtoms # atomic\n\n1 1 0 0 0\n";
  for (const char* name : {"data.water", "a.lmp", "a.txt"})
    EXPECT_EQ(read_particles(folder.write(name, data)).column_names(), "id, type, x[3]") << name;
}

}  // namespace
}  // namespace nbcc
