// .xyz and .extxyz: which columns they have, and what is said of files that are none.
#include "particles/files/text/xyz_file.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/particle_tables.h"

namespace nbcc {
namespace {

using test::error_of;
using Doubles = std::vector<double>;
using Ints = std::vector<std::int32_t>;
using Longs = std::vector<std::int64_t>;

TextOptions options(std::vector<std::string> types = {}, std::vector<std::string> asked = {}) {
  TextOptions options;
  options.types = std::move(types);
  if (!asked.empty()) {
    options.choice.all = false;
    options.choice.names = std::move(asked);
  }
  return options;
}

ParticleTable read(std::string_view text, const TextOptions& how = options({"O", "H"})) {
  return decode_xyz(text, "a.xyz", how);
}

std::string fault(std::string_view text, const TextOptions& how = options({"O", "H"})) {
  return error_of([&] { read(text, how); });
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

constexpr std::string_view kWater = "3\nwater\nO 0 0 0\nH 0 0.5 1e0\nH 1.0D0 0 0\n";

TEST(XyzFile, PlainRowsAreSpeciesAndPlace) {
  const ParticleTable table = read(kWater);
  EXPECT_EQ(table.column_names(), "type (species), x[3]");
  EXPECT_EQ(table.rows, 3);
  EXPECT_EQ(column<Ints>(table, "type"), (Ints{0, 1, 1}));
  EXPECT_EQ(column<Ints>(table, "species"), (Ints{0, 1, 1}));
  EXPECT_EQ(column<Doubles>(table, "x"), (Doubles{0, 0, 0, 0, 0.5, 1, 1, 0, 0}));
  EXPECT_EQ(*table.find_attribute("comment"), "water");
  EXPECT_TRUE(table.of_other_format);
}

TEST(XyzFile, SpeciesMayBeNumbersAlready) {
  EXPECT_EQ(column<Ints>(read("2\n\n8 0 0 0\n1 0 0 1\n", options()), "type"), (Ints{8, 1}));
}

TEST(XyzFile, SpeciesThatNobodyAsksForAreLeftOut) {
  EXPECT_EQ(read(kWater, options({}, {"x"})).column_names(), "x[3]");
  // Not even those of which --types knows nothing are looked at.
  EXPECT_EQ(read(kWater, options({"Ar"}, {"x"})).column_names(), "x[3]");
}

TEST(XyzFile, PropertiesNameTheColumns) {
  const ParticleTable table = read(
      "2\r\nLattice=\"4 0 0 0 5 0 1 0 6\" time=0.5 Properties=id:I:1:species:S:1:pos:R:3:velo:R:3:mass:R:1:charge:R:1:"
      "fixed:L:1:forces:R:3 pbc='T T F' name=\"a \\\"b\\\"\"\r\n"
      "7 H 1 2 3 4 5 6 1.008 .4 T 0 0 9\r\n9007199254740993 O 1 2 nan 4 5 6 16 -.8 F 0 0 8\r\n");
  EXPECT_EQ(table.column_names(),
            "id, type (species), x[3] (pos), v[3] (velo), m (mass), q (charge), fixed, forces[3]");
  EXPECT_EQ(column<Longs>(table, "id"), (Longs{7, 9007199254740993}));
  EXPECT_EQ(column<Ints>(table, "type"), (Ints{1, 0}));
  EXPECT_EQ(column<Doubles>(table, "q"), (Doubles{0.4, -0.8}));
  EXPECT_EQ(column<Ints>(table, "fixed"), (Ints{1, 0}));
  EXPECT_TRUE(std::isnan(column<Doubles>(table, "x")[5]));
  EXPECT_EQ(*table.find_attribute("Lattice"), "4 0 0 0 5 0 1 0 6");
  EXPECT_EQ(*table.find_attribute("pbc"), "T T F");
  EXPECT_EQ(*table.find_attribute("time"), "0.5");
  EXPECT_EQ(*table.find_attribute("name"), "a \"b\"");
  EXPECT_EQ(table.find_attribute("Properties"), nullptr);
}

TEST(XyzFile, UsualNamesThatWouldMeetStayTheirs) {
  EXPECT_EQ(read("1\nProperties=species:S:1:type:I:1:pos:R:3\nO 3 0 0 0\n").column_names(),
            "species, type, x[3] (pos)");
}

TEST(XyzFile, ColumnsOfTheCallerWin) {
  TextOptions how = options({"O"});
  how.columns = parse_columns("type,x[3],_,v[3]");
  EXPECT_EQ(read("1\nProperties=species:S:1:pos:R:3\nO 1 2 3 what 4 5 6\n", how).column_names(), "type, x[3], v[3]");
  EXPECT_EQ(fault("1\n\nO 1 2 3\n", how), "a.xyz:3:7: this row has 4 values, but --columns names 8");
}

TEST(XyzFile, NamesMayHaveAnyLetters) {
  EXPECT_EQ(column<Ints>(read("2\n# \xc3\xa9\nC\xc3\xb6 0 0 0\n\xc3\x84 0 0 1\n", options({"\xc3\x84", "C\xc3\xb6"})),
                         "type"),
            (Ints{1, 0}));
}

TEST(XyzFile, NoAtomsAreFine) {
  EXPECT_EQ(read("0\n\n").rows, 0);
  EXPECT_EQ(read("0\nProperties=pos:R:3").column_names(), "x[3] (pos)");
}

TEST(XyzFile, LinesMayEndByCrAlone) { EXPECT_EQ(read("\xef\xbb\xbf 1\r\rO 1 2 3\r\r").rows, 1); }

TEST(XyzFile, NamesWithoutNumbersAreListed) {
  EXPECT_EQ(fault(kWater, options()),
            "a.xyz:3:1: 'O' is not a number; if the names in this column are types (O, H), say --types O,H");
  EXPECT_EQ(fault(kWater, options({"O", "Ar"})), "a.xyz:4:1: 'H' is not among the types of --types, which are O, Ar");
  std::string many = "30\n\n";
  for (int k = 0; k < 30; ++k) many += "A" + std::to_string(k) + " 0 0 0\n";
  EXPECT_NE(fault(many, options()).find("A18, A19 and more), say --types A0,A1,"), std::string::npos);
  EXPECT_EQ(fault(many, options()).find("A20"), std::string::npos);
}

TEST(XyzFile, ErrorsNamePlaceAndReason) {
  const std::string none =
      " is not the number of atoms, which must be alone in the first line of an .xyz file; tables of "
      "numbers have other endings, as .txt";
  const std::string plain = "; --columns names them otherwise, as type,x[3],v[3]";
  const struct {
    std::string text, expected;
  } cases[] = {
      {"", "a.xyz: the file is empty"},
      {"\n\n", "a.xyz:1:1: ''" + none},
      {"0.1 0.2 0.3\n", "a.xyz:1:1: '0.1 0.2 0.3'" + none},
      {"-1\n\n", "a.xyz:1:1: '-1'" + none},
      {"2.5\n\n", "a.xyz:1:1: '2.5'" + none},
      {"3\n", "a.xyz: it ends after line 1; an .xyz file has a comment in line 2"},
      {"3\n\nO 0 0 0\nH 0 0 1\n", "a.xyz: it ends after 2 rows of the 3 that line 1 says"},
      {"1\n\nO 0 0 0\nH 0 0 1\n",
       "a.xyz:4:1: more lines follow the 1 row that line 1 says; another frame begins with "
       "its number of atoms"},
      {"1\n\nO 0 0\n",
       "a.xyz:3:5: this row has 3 values, but an .xyz file without Properties has the species and three coordinates, "
       "4" +
           plain},
      {"1\nProperties=species:S:1:pos:R:3\nO 0 0 0 1\n",
       "a.xyz:3:9: this row has 5 values, but Properties in line 2 names 4" + plain},
      {"2\n\nO 0 0 0\n\n",
       "a.xyz:4:1: this row has 0 values, but an .xyz file without Properties has the species and "
       "three coordinates, 4" +
           plain},
      {"1\n\nO 0 zero 0\n", "a.xyz:3:5: 'zero' is not a number"},
      {"1\n\nO 0,5 0 0\n", "a.xyz:3:3: '0,5' is not a number"},
      {"1\nProperties=species:S:1:pos:R\nO 0 0 0\n",
       "a.xyz:2:12: Properties 'species:S:1:pos:R' are not of the form name:type:count:name:type:count..."},
      {"1\nProperties=pos:R:0\n\n", "a.xyz:2:12: Properties: 'pos:R:0' does not say how many numbers a column has"},
      {"1\nProperties=pos:X:3\n\n", "a.xyz:2:12: Properties: 'pos' is of type 'X'; there are R, I, S and L"},
      {"1\nProperties=\"pos:R:3\n0 0 0\n", "a.xyz:2:12: the value of Properties has no closing \""},
      {"1\nProperties=id:I:1:pos:R:3\n1.5 0 0 0\n", "a.xyz:3:1: '1.5' is not a whole number, but column 'id' is int64"},
      {"1\nProperties=on:L:1:pos:R:3\nyes 0 0 0\n", "a.xyz:3:1: 'yes' is neither T nor F"},
  };
  for (const auto& [text, expected] : cases) EXPECT_EQ(fault(text), expected) << text;
}

TEST(XyzFile, FramesFollowEachOther) {
  const std::string text =
      "2\r\n3\r\nO 0 0 0\r\nH 0 0 1\r\n1\r\nt=1\r\nO 5 0 0\r\n\r\n0\r\n\r\n1\r\n\r\nO 6 zero 0\r\n";
  const std::vector<ParticleFrame> frames = frames_of_xyz(text, "a.xyz");
  ASSERT_EQ(frames.size(), 4u);
  const auto read_frame = [&](const ParticleFrame& frame) {
    return decode_xyz(std::string_view(text).substr(frame.first, frame.last - frame.first), "a.xyz",
                      options({"O", "H"}), frame.first_line);
  };
  EXPECT_EQ(read_frame(frames[0]).rows, 2);
  EXPECT_EQ(*read_frame(frames[0]).find_attribute("comment"), "3");
  EXPECT_EQ(column<Doubles>(read_frame(frames[1]), "x"), (Doubles{5, 0, 0}));
  EXPECT_EQ(*read_frame(frames[1]).find_attribute("t"), "1");
  EXPECT_EQ(read_frame(frames[2]).rows, 0);
  EXPECT_EQ(error_of([&] { read_frame(frames[3]); }), "a.xyz:13:5: 'zero' is not a number");
  // Lines that are no frame belong to the last one, whose reader reports them.
  EXPECT_EQ(frames_of_xyz(kWater, "a.xyz").size(), 1u);
  EXPECT_EQ(frames_of_xyz("1\n\nO 0 0 0\nO 0 0 1\n2\n", "a.xyz").size(), 1u);
  EXPECT_EQ(frames_of_xyz("what\n2\n", "a.xyz").size(), 1u);
  EXPECT_EQ(frames_of_xyz("", "a.xyz").size(), 0u);
  // A frame that is cut off is a frame.
  EXPECT_EQ(frames_of_xyz("1\n\nO 0 0 0\n1\n", "a.xyz").size(), 2u);
}

TEST(XyzFile, BinaryDataIsCalledSo) {
  EXPECT_EQ(fault(std::string_view("1\n\0", 3)), "a.xyz: it is binary data, not an .xyz file (byte 2 is zero)");
}

// Whatever is cut off or changed, there is a table or an error that names the file.
TEST(XyzFile, DamagedBytesAreToldOrRead) {
  const std::string whole = "2\nLattice=\"1 0\" Properties=species:S:1:pos:R:3 a={b}\nO 0 0 0\nH 0 1 0\n";
  for (std::size_t at = 0; at < whole.size(); ++at) {
    const std::string cut = fault(whole.substr(0, at));
    EXPECT_FALSE(cut.empty()) << at;
    for (const char other : {'\n', '"', ':', '9', '\xff'}) {
      std::string changed = whole;
      changed[at] = other;
      const std::string message = fault(changed);
      EXPECT_TRUE(message.empty() || message.starts_with("a.xyz")) << message;
    }
  }
}

}  // namespace
}  // namespace nbcc
