// Data files of LAMMPS: what becomes of their sections, and what is said of files that are wrong.
#include "particles/files/text/lammps_file.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "tests/support/particle_tables.h"

namespace nbcc {
namespace {

using test::error_of;
using Doubles = std::vector<double>;
using Ints = std::vector<std::int32_t>;
using Longs = std::vector<std::int64_t>;

ParticleTable read(std::string_view text, std::string_view columns = "") {
  TextOptions options;
  if (!columns.empty()) options.columns = parse_columns(columns);
  return decode_lammps(text, "a.lmp", options);
}

std::string fault(std::string_view text, std::string_view columns = "") {
  return error_of([&] { read(text, columns); });
}

template <class Values>
Values column(const ParticleTable& table, std::string_view name) {
  const ParticleColumn* const found = table.find(name);
  if (!found || !std::holds_alternative<Values>(found->data)) {
    ADD_FAILURE() << "no column " << name << " of that type in " << table.column_names();
    return {};
  }
  return std::get<Values>(found->data);
}

constexpr std::string_view kHead = "500 atoms of a comment\n\n 3 atoms # counted\n2 atom types\n";
const std::string kAtomic = std::string(kHead) + "\nAtoms # atomic\n\n30 2 1 2 3\n10 1 4 5 6\n20 2 7 8 9\n";

TEST(LammpsFile, RowsOfAtomsKeepTheirOrder) {
  const ParticleTable table = read(kAtomic);
  EXPECT_EQ(table.column_names(), "id, type, x[3]");
  EXPECT_EQ(table.rows, 3);
  EXPECT_EQ(column<Longs>(table, "id"), (Longs{30, 10, 20}));
  EXPECT_EQ(column<Ints>(table, "type"), (Ints{2, 1, 2}));
  EXPECT_EQ(column<Doubles>(table, "x"), (Doubles{1, 2, 3, 4, 5, 6, 7, 8, 9}));
  EXPECT_TRUE(table.of_other_format);
}

TEST(LammpsFile, VelocitiesAreJoinedByIdAndMassesByType) {
  const std::string sections = "\nVelocities\n\n10 1 0 0\n20 2 0 0\n30 3 0 0\n\nMasses # pair\n\n2 16 # O\n1 1.5\n";
  for (const std::string& text : {kAtomic + sections, std::string(kHead) + sections + kAtomic.substr(kHead.size())}) {
    const ParticleTable table = read(text);
    EXPECT_EQ(table.column_names(), "id, type, x[3], v[3], m (mass)");
    EXPECT_EQ(column<Doubles>(table, "v"), (Doubles{3, 0, 0, 1, 0, 0, 2, 0, 0}));
    EXPECT_EQ(column<Doubles>(table, "m"), (Doubles{16, 1.5, 16}));
    EXPECT_EQ(column<Doubles>(table, "mass"), (Doubles{16, 1.5, 16}));
  }
}

TEST(LammpsFile, StylesNameTheColumns) {
  const struct {
    const char *style, *row, *columns;
  } cases[] = {{"atomic", "1 1 0 0 0", "id, type, x[3]"},
               {"bond", "1 9 1 0 0 0", "id, mol, type, x[3]"},
               {"angle", "1 9 1 0 0 0", "id, mol, type, x[3]"},
               {"molecular", "1 9 1 0 0 0", "id, mol, type, x[3]"},
               {"charge", "1 1 -.5 0 0 0", "id, type, q, x[3]"},
               {"full", "1 9 1 -.5 0 0 0", "id, mol, type, q, x[3]"},
               {"dipole", "1 1 -.5 0 0 0 1 0 0", "id, type, q, x[3], mu[3]"},
               {"dpd", "1 1 .5 0 0 0", "id, type, theta, x[3]"},
               {"mdpd", "1 1 .5 0 0 0", "id, type, rho, x[3]"},
               {"sph", "1 1 .5 1 1 0 0 0", "id, type, rho, esph, cv, x[3]"},
               {"ellipsoid", "1 1 1 .5 0 0 0", "id, type, ellipsoid, density, x[3]"},
               {"sphere", "1 1 2 .5 0 0 0", "id, type, diameter, density, x[3]"}};
  for (const auto& [style, row, columns] : cases) {
    const std::string text = fmt::format("\n1 atoms\n\nAtoms  #{}\n\n{}", style, row);
    EXPECT_EQ(read(text + "\n").column_names(), columns) << style;
    const ParticleTable moved = read(text + " 0 -1 2\r\n");
    EXPECT_EQ(moved.column_names(), std::string(columns) + ", image[3]") << style;
    EXPECT_EQ(column<Ints>(moved, "image"), (Ints{0, -1, 2}));
  }
}

TEST(LammpsFile, TheBoxBecomesAttributes) {
  const ParticleTable table = read(
      "\r\n0 atoms\r\n-1.5 10 xlo xhi\r\n0 10 ylo yhi\r\n0 1e1 zlo zhi # periodic\r\n1.5 0 -2 xy xz yz\r\n4 bonds\r\n");
  EXPECT_EQ(table.rows, 0);
  EXPECT_EQ(*table.find_attribute("xlo xhi"), "-1.5 10");
  EXPECT_EQ(*table.find_attribute("zlo zhi"), "0 1e1");
  EXPECT_EQ(*table.find_attribute("xy xz yz"), "1.5 0 -2");
  EXPECT_EQ(table.attributes.size(), 4u);
  EXPECT_EQ(*read("\n0 atoms\n1 0 0 avec\n0 1 0 bvec\n0 0 1 cvec\n0 0 0 abc origin\n").find_attribute("abc origin"),
            "0 0 0");
}

TEST(LammpsFile, OtherSectionsArePassedOver) {
  const std::string text =
      kAtomic +
      "\nPair Coeffs # lj/cut\n\n1 0.1 3\n\nBond Coeffs\n\n1 harmonic 450 1\n\nBonds\n\n1 1 10 20\n"
      "\nBond Type Labels\n\n1 a-b\n\nPairIJ Coeffs\n\n1 1 0 0\n";
  test::expect_same_columns(read(text), read(kAtomic));
}

TEST(LammpsFile, LabelsOfTypesAreTheirNumbers) {
  const ParticleTable table = read(
      "\n2 atoms\n\nAtom Type Labels\n\n2 O\n1 H\n\nMasses\n\nO 16\nH 1\n\nAtoms # charge\n\n1 O 0 0 0 0\n2 H 0 0 0 "
      "1\n");
  EXPECT_EQ(column<Ints>(table, "type"), (Ints{2, 1}));
  EXPECT_EQ(column<Doubles>(table, "m"), (Doubles{16, 1}));
  EXPECT_EQ(fault("\n1 atoms\n\nAtom Type Labels\n\n1 H\n\nAtoms # atomic\n\n1 O 0 0 0\n"),
            "a.lmp:10:3: 'O' is not among the types of the section Atom Type Labels, which are H");
  EXPECT_EQ(fault("\n1 atoms\n\nAtom Type Labels\n\n2 H\n"),
            "a.lmp:6:1: '2 H' is not a type from 1 to 1 and its label");
}

TEST(LammpsFile, ColumnsOfTheCallerWin) {
  EXPECT_EQ(read("\n1 atoms\n\nAtoms # hybrid\n\n1 2 0 1 2 .5 what\n", "id,type,x[3],q,_").column_names(),
            "id, type, x[3], q");
  EXPECT_EQ(read("\n1 atoms\n\nAtoms\n\n1 2 0 1 2 0 0 0\n", "id,type,x[3],_[3]").column_names(), "id, type, x[3]");
}

TEST(LammpsFile, ErrorsNamePlaceAndReason) {
  const std::string head = "\n2 atoms\n\n", rows = "1 1 0 0 0\n2 1 0 0 1\n", atoms = head + "Atoms # atomic\n\n" + rows;
  const std::string columns = ": name its columns by --columns, as id,mol,type,q,x[3]";
  const struct {
    std::string text, expected;
  } cases[] = {
      {"", "a.lmp: the file is empty"},
      {" \n\n", "a.lmp: the file is empty"},
      {"2 atoms\n", "a.lmp: its header does not say how many atoms there are, as '1000 atoms'"},
      {head, "a.lmp: there is no section Atoms, but 2 atoms"},
      {"\n-2 atoms\n", "a.lmp:2:1: '-2' is not a number of atoms"},
      {"\n1.5 atoms\n", "a.lmp:2:1: '1.5' is not a number of atoms"},
      {"\n0 atoms\n0 xlo xhi\n", "a.lmp:3:1: xlo xhi has 1 number, not 2"},
      {head + "Atoms\n\n" + rows,
       "a.lmp:4:1: the section Atoms does not say its style in a comment, as 'Atoms # full'" + columns},
      {head + "Atoms # smd\n\n" + rows,
       "a.lmp:4:1: the section Atoms is of style 'smd', whose columns nbcc does not know" + columns},
      {head + "Atoms # atomic\n\n1 1 0 0 0\n", "a.lmp: the section Atoms has 1 row, but the header says 2 atoms"},
      {atoms + "3 1 0 0 0\n", "a.lmp: the section Atoms has 3 rows, but the header says 2 atoms"},
      {head + "Atoms # full\n\n" + rows, "a.lmp:6:9: this row has 5 values, but style full has 7"},
      {head + "Atoms # atomic\n\n1 1 0 0 0 0 0 0\n2 1 0 0 0\n",
       "a.lmp:7:9: this row has no image flags after its 5 values, but the first row has some"},
      {head + "Atoms # atomic\n\n1 1 0 0 0\n2 1 0 0 0 0 0 0\n",
       "a.lmp:7:11: this row has three image flags after its 5 values, but the first row has none"},
      {head + "Atoms # atomic\n\n1 1 0 0 0 0 0 0\n2 1 0 0 0 0\n",
       "a.lmp:7:11: this row has 6 values, but style atomic has 5, here with three image flags"},
      {head + "Atoms # atomic\n\n1 1 0 0 0\n2 1.5 0 0 0\n",
       "a.lmp:7:3: '1.5' is not a whole number, but column 'type' is int32"},
      {head + "Atoms # atomic\n\n1 H 0 0 0\n2 1 0 0 0\n", "a.lmp:6:3: 'H' is not a number"},
      {head + "Atoms # atomic\n\n1 1 0 0 0\n1 1 0 0 0\n", "a.lmp:7:1: a second atom has the id 1"},
      {atoms + "\nAtoms # full\n", "a.lmp:9:1: a second section Atoms begins here"},
      {atoms + "\nVelocities\n\n1 0 0\n", "a.lmp:11:1: this row has 3 values, but an id and a velocity are 4"},
      {atoms + "\nVelocities\n\n3 0 0 0\n", "a.lmp:11:1: there is no atom with the id 3"},
      {atoms + "\nVelocities\n\n1 0 0 0\n1 0 0 0\n", "a.lmp:12:1: a second velocity of the atom with the id 1"},
      {atoms + "\nVelocities\n\n1 0 0 0\n", "a.lmp:9:1: the section Velocities has none of the atom with the id 2"},
      {atoms + "\nVelocities\n\n1 0 zero 0\n", "a.lmp:11:5: 'zero' is not a number"},
      {atoms + "\nVelocities\n\n1.5 0 0 0\n", "a.lmp:11:1: '1.5' is not a whole number"},
      {atoms + "\nMasses\n\n2 1\n", "a.lmp:9:1: the section Masses has none of type 1"},
      {atoms + "\nMasses\n\n1 1\n2 1\n1 2\n", "a.lmp:13:1: a second mass of type 1"},
      {atoms + "\nAtom Type Labels\n\n1 H\n1 O\n", "a.lmp:12:1: a second label of type 1"},
      {atoms + "\nAtom Type Labels\n\n1 H\n2 H\n", "a.lmp:12:3: a second type with the label 'H'"},
      {atoms + "\nMasses\n\n1\n", "a.lmp:11:1: this row has 1 value, but a type and its mass are 2"},
  };
  for (const auto& [text, expected] : cases) EXPECT_EQ(fault(text), expected) << text;
}

TEST(LammpsFile, BinaryDataIsCalledSo) {
  EXPECT_EQ(fault(std::string_view("a\n\0", 3)), "a.lmp: it is binary data, not a LAMMPS data file (byte 2 is zero)");
}

TEST(LammpsFile, ItsHeaderTellsItFromATable) {
  EXPECT_TRUE(looks_like_lammps(kAtomic));
  EXPECT_TRUE(looks_like_lammps("LAMMPS\r\n\r\n0 1 xlo xhi\r\n  12 atoms\r\n"));
  EXPECT_FALSE(looks_like_lammps("3 atoms\n1 2 3\n"));  // its first line is a comment
  EXPECT_FALSE(looks_like_lammps("# x[3] m\n# 3 atoms\n1 2 3 4\n"));
  EXPECT_FALSE(looks_like_lammps(""));
  EXPECT_FALSE(looks_like_lammps(std::string_view("\n3 atoms\n\0", 10)));
}

TEST(LammpsFile, DamagedBytesAreToldOrRead) {
  const std::string whole = kAtomic + "\nMasses\n\n1 1\n2 2\n\nVelocities\n\n10 1 0 0\n20 2 0 0\n30 3 0 0\n";
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (const char other : {'\n', '#', 'x', '9', '\xff'}) {
      std::string changed = whole;
      changed[at] = other;
      for (const std::string& text : {changed, changed.substr(0, at)}) {
        const std::string message = fault(text);
        EXPECT_TRUE(message.empty() || message.starts_with("a.lmp")) << message;
      }
    }
  }
}

}  // namespace
}  // namespace nbcc
