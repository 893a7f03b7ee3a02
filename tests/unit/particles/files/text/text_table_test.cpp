#include "particles/files/text/text_table.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/support/particle_tables.h"

namespace nbcc {
namespace {

using test::error_of;
using Doubles = std::vector<double>;
using Longs = std::vector<std::int64_t>;

ParticleTable read(std::string_view text, std::string_view columns = "") {
  TextOptions options;
  if (!columns.empty()) options.columns = parse_columns(columns);
  return decode_text(text, "t.txt", options);
}

std::string fault(std::string_view text, std::string_view columns = "") {
  return error_of([&] { read(text, columns); });
}

TEST(TextTable, WithoutNamesIsOneUnnamedColumn) {
  const ParticleTable table = read("1 2 3\n4 5 6\n");
  EXPECT_TRUE(table.unnamed);
  EXPECT_EQ(table.column_names(), "data[3]");
  EXPECT_EQ(std::get<Doubles>(table.columns[0].data), (Doubles{1, 2, 3, 4, 5, 6}));
}

TEST(TextTable, CommentAboveTheFirstRowNamesTheColumns) {
  const ParticleTable table = read("# free words, more than the row has\n# id m x[3]\n7 0.5 1 2 3\n");
  EXPECT_EQ(table.column_names(), "id, m, x[3]");
  EXPECT_EQ(std::get<Longs>(table.find("id")->data), Longs{7});
  EXPECT_EQ(std::get<Doubles>(table.find("x")->data), (Doubles{1, 2, 3}));
}

TEST(TextTable, CommentThatDoesNotFitTheRowIsJustAComment) {
  EXPECT_TRUE(read("# positions and so on\n1 2 3\n").unnamed);
}

TEST(TextTable, FirstRowOfNamesIsACsvHeader) {
  EXPECT_EQ(read("id,m,x,y,z,vx,vy,vz\n1,2,3,4,5,6,7,8\n").column_names(), "id, m, x[3], v[3]");
  EXPECT_EQ(read("\"m\",\"x[0]\",\"x[1]\"\r\n1,2,3\r\n").column_names(), "m, x[2]");
}

TEST(TextTable, LinesMayEndByCrAlone) {
  const ParticleTable table = read("# m x[2]\r1 2 3\r4 5 6\r");
  EXPECT_EQ(table.column_names(), "m, x[2]");
  EXPECT_EQ(table.rows, 2);
  EXPECT_EQ(fault("1 2\r3 a\r"), "t.txt:2:3: 'a' is not a number");
}

TEST(TextTable, ColumnsOfTheCallerWin) {
  const ParticleTable table = read("a b c d\n1 2 3 4\n", "m:float, _, x[2]");
  EXPECT_EQ(table.column_names(), "m, x[2]");
  EXPECT_EQ(std::get<std::vector<float>>(table.columns[0].data), std::vector<float>{1});
  EXPECT_EQ(std::get<Doubles>(table.columns[1].data), (Doubles{3, 4}));
}

TEST(TextTable, ReadsNbabelRows) {
  const ParticleTable table =
      read("-1 0.0625 0.214835865608654947  -0.12 -0.26 0.75 0.15 -0.07\n", "id m x y z vx vy vz");
  EXPECT_EQ(table.column_names(), "id, m, x[3], v[3]");
  EXPECT_EQ(std::get<Doubles>(table.find("x")->data)[0], 0.214835865608654947);
}

TEST(TextTable, ReadsEverySpellingOfANumber) {
  const ParticleTable table = read("+1.5 1.0D+02 2d-1 -inf nan 1e-999 .5 5.\n");
  const auto& values = std::get<Doubles>(table.columns[0].data);
  EXPECT_EQ((Doubles{values[0], values[1], values[2], values[3], values[5], values[6], values[7]}),
            (Doubles{1.5, 100, 0.2, -std::numeric_limits<double>::infinity(), 0, 0.5, 5}));
  EXPECT_TRUE(std::isnan(values[4]));
}

TEST(TextTable, WholeNumbersMayBeSpelledAsReals) {
  EXPECT_EQ(std::get<Longs>(read("# id\n1.0\n2E+00\n9007199254740993\n").columns[0].data),
            (Longs{1, 2, 9007199254740993}));
}

TEST(TextTable, SeparatorsBlankLinesAndCommentsMix) {
  const ParticleTable table = read("\xef\xbb\xbf\n1, 2,\t3 # first\r\n\n  4 5 6  \r\n# end\n");
  EXPECT_EQ(std::get<Doubles>(table.columns[0].data), (Doubles{1, 2, 3, 4, 5, 6}));
}

TEST(TextTable, KeysAndValuesAreAttributes) {
  const ParticleTable table = read("# made by: nbcc make-ic\n# m\n1\n");
  ASSERT_NE(table.find_attribute("made by"), nullptr);
  EXPECT_EQ(*table.find_attribute("made by"), "nbcc make-ic");
  EXPECT_EQ(table.column_names(), "m");
}

TEST(TextTable, HeaderWithoutRowsIsZeroParticles) {
  const ParticleTable table = read("# id m x[3]\n");
  EXPECT_EQ(table.rows, 0);
  EXPECT_EQ(table.column_names(), "id, m, x[3]");
  EXPECT_EQ(read("m,x\n").rows, 0);
}

TEST(TextTable, ErrorsNamePlaceAndReason) {
  const struct {
    std::string_view text, columns, expected;
  } cases[] = {
      {"", "", "t.txt: the file is empty"},
      {"\n#\n", "", "t.txt: there are no numbers and no header line in it"},
      {"1 2\n3 abc\n", "", "t.txt:2:3: 'abc' is not a number"},
      {"1 2\n3 4x\n", "", "t.txt:2:3: '4x' is not a number"},
      {"1 2\n3 +-4\n", "", "t.txt:2:3: '+-4' is not a number"},
      {"I.A-1 0.5 0.25\n", "",
       "t.txt:1:1: 'I.A-1' is not a number; if the names in this column are types (I.A-1), say --types I.A-1"},
      {"1 2 3\n\n4 5\n", "", "t.txt:3:3: this row has 2 values, but line 1 has 3"},
      {"# x[3]\n1 2 3 4\n", "", "t.txt:2:7: this row has 4 values, but the header in line 1 names 3"},
      {"m,x\n1\n", "", "t.txt:2:1: this row has 1 value, but the header in line 1 names 2"},
      {"1 2\n", "x[3]", "t.txt:1:3: this row has 2 values, but --columns names 3"},
      {"1,,2\n", "", "t.txt:1:3: a value is missing before this comma"},
      {"1,2,\n", "", "t.txt:1:4: a value is missing after the last comma"},
      {",1\n", "", "t.txt:1:1: a value is missing before this comma"},
      {"1 1e999\n", "", "t.txt:1:3: '1e999' is beyond the range of double"},
      {"# id\n1.5\n", "", "t.txt:2:1: '1.5' is not a whole number, but column 'id' is int64"},
      {"# n:int32\n3000000000\n", "", "t.txt:2:1: '3000000000' is beyond the range of int32"},
      {"m,\"a b\"\n1,2\n", "", "t.txt:1:3: '\"a' is neither a number nor the name of a column"},
      {"m m\n1 2\n", "", "t.txt: two columns are called 'm'"},
  };
  for (const auto& [text, columns, expected] : cases) EXPECT_EQ(fault(text, columns), expected);
}

TEST(TextTable, BinaryDataIsCalledSo) {
  EXPECT_EQ(fault(std::string_view("1 2\n3 \0 4\n", 10)),
            "t.txt: it is binary data, not a text table (byte 6 is zero)");
}

TEST(TextTable, MalformedColumnsAreNamed) {
  EXPECT_EQ(fault("1\n", "m,x[0x3]"),
            "columns: 'x[0x3]' is not the name of a column; write name, name[3], name:int64 or _");
  EXPECT_EQ(fault("1\n", "m,m"), "columns: 'm' is named twice");
  EXPECT_EQ(fault("1\n", ","), "columns: ',' names no columns");
}

TEST(TextTable, AnyStyleComesBackAsItWas) {
  for (const TextStyle style : {TextStyle::Plain, TextStyle::Csv, TextStyle::Tsv}) {
    const ParticleTable table = read(encode_text(test::mixed_table(), style));
    const bool has_types = style == TextStyle::Plain;
    test::expect_same_columns(table, has_types ? test::mixed_table() : test::as_of_csv(test::mixed_table()));
    EXPECT_EQ(table.attributes, has_types ? test::mixed_table().attributes : decltype(table.attributes)());
    test::expect_same_columns(read(encode_text(test::unnamed_table(), style)), test::unnamed_table());
  }
}

// 0 / 0 has a sign on x86, which says nothing.
TEST(TextTable, NoNanHasASign) {
  ParticleTable table;
  table.rows = 2;
  table.columns = {{"w", 1, std::vector<double>{-std::nan(""), std::nan("")}}};
  const std::string text = encode_text(table, TextStyle::Csv);
  EXPECT_TRUE(text.ends_with("\nnan\nnan\n")) << text;
}

TEST(TextTable, WrittenHeaderNamesTypesOnlyWhereNeeded) {
  EXPECT_EQ(encode_text(test::mixed_table()).substr(0, 77),
            "# made by: a test: with a colon\n# seed: 42\n# id m x[3] h:float type:int32[2]\n");
}

// RFC 4180: a row of names and rows of numbers, which pandas reads.
TEST(TextTable, CsvHasNeitherCommentsNorTypes) {
  const std::string text = encode_text(test::mixed_table(), TextStyle::Csv);
  EXPECT_EQ(text.substr(0, text.find('\n')), "id,m,x[0],x[1],x[2],h,type[0],type[1]");
}

// Comments of every other kind between the names and the rows.
TEST(TextTable, TheLastCommentWithANameForEachNumberNamesTheColumns) {
  for (const char* between : {"", "#\n", "# code units, G = 1\n", "# Time: 0.5\n", "# of a run\n#\n# see [1]\n"})
    EXPECT_EQ(read(std::string("# m x y z\n") + between + "1 0 0 0\n1 1 0 0\n").column_names(), "m, x[3]") << between;
  EXPECT_EQ(read("# a b\n# c d\n1 2\n").column_names(), "c, d");
  EXPECT_EQ(read("#ID Mvir X Y Z\n#a = 0.537760\n#Om = 0.3; Ol = 0.6\n11 2.0 0 0 0\n").column_names(),
            "ID, Mvir, X, Y, Z");
  EXPECT_EQ(fault("# id x[3]\n# as it was\n1 2 3 4 5\n"),
            "t.txt:3:9: this row has 5 values, but the header in line 1 names 4");
}

TEST(TextTable, AFileThatEndsInARowIsDoubtful) {
  EXPECT_EQ(read("# m\n1\n2.5\n").warnings, std::vector<std::string>());
  EXPECT_EQ(
      read("# m\n1\n2.5").warnings,
      std::vector<std::string>{"line 3: it ends with '2.5', without a line end, so that its last row may be cut off"});
  EXPECT_EQ(read("m,q\r\n1,2\r\n").warnings, std::vector<std::string>());
  EXPECT_EQ(read("m,q\r\n1,2\r").warnings, std::vector<std::string>());
  EXPECT_EQ(read("# m\n1\n# the end").warnings, std::vector<std::string>());
}

TEST(TextTable, AnIdThatTwoRowsHaveIsDoubtful) {
  EXPECT_EQ(read("# id m\n7 1\n3 2\n7 1\n").warnings, std::vector<std::string>{"two rows have the id 7"});
  EXPECT_EQ(read("# id m\n7 1\n3 2\n8 1\n").warnings, std::vector<std::string>());
}

TEST(TextTable, IdsBeyondInt64ThatNoFieldReadsAreLeftOut) {
  const std::string text = "# id m\n18446744073709551615 1\n3 2\n";
  EXPECT_EQ(fault(text), "t.txt:2:1: '18446744073709551615' is beyond the range of int64");
  TextOptions options;
  options.choice.all = false;
  options.choice.names = {"m"};
  EXPECT_EQ(decode_text(text, "t.txt", options).column_names(), "m");
}

TEST(TextTable, AttributeOfSeveralLinesStaysOneComment) {
  ParticleTable table = test::unnamed_table();
  table.attributes = {{"made by", "one\n2 3"}};
  EXPECT_EQ(encode_text(table), "# made by: one 2 3\n1 2 3\n4 5 6\n");
}

TextOptions with_types(std::vector<std::string> types, std::string_view columns = "") {
  TextOptions options;
  options.types = std::move(types);
  if (!columns.empty()) options.columns = parse_columns(columns);
  return options;
}

TEST(TextTable, NamesOfTypesStandForNumbers) {
  const TextOptions types = with_types({"H", "O"});
  const ParticleTable csv = decode_text("type,m\n\"O\",1\nH,2\nO,3\n", "t.csv", types);
  EXPECT_EQ(csv.column_names(), "type, m");
  EXPECT_EQ(std::get<std::vector<std::int32_t>>(csv.find("type")->data), (std::vector<std::int32_t>{1, 0, 1}));
  const ParticleTable plain = decode_text("H 1\nO 2\n", "t.txt", types);
  EXPECT_EQ(std::get<Doubles>(plain.columns[0].data), (Doubles{0, 1, 1, 2}));
  // A row of nothing but types is no header.
  EXPECT_EQ(decode_text("O\nH\n", "t.txt", with_types({"H", "O"}, "type")).rows, 2);
  EXPECT_EQ(decode_text("O 1\nH 1\n", "t.txt", with_types({"H", "O"}, "type:float,m")).columns[0].type(),
            ElementType::Float);
}

TEST(TextTable, NamesThatNobodyAsksForAreLeftOut) {
  TextOptions options;
  options.choice.all = false;
  options.choice.names = {"m"};
  EXPECT_EQ(decode_text("name,m,n\nO,1,2\nH,2,3\n", "t.csv", options).column_names(), "m, n");
  options.choice.names = {"name"};
  EXPECT_EQ(error_of([&] { decode_text("name,m\nO,1\nH,2\nO,1\n", "t.csv", options); }),
            "t.csv:2:1: 'O' is not a number; if the names in this column are types (O, H), say --types O,H");
}

TEST(TextTable, NamesThatAreNoTypesAreToldApart) {
  EXPECT_EQ(error_of([] { decode_text("H 1\nHe 2\n", "t.txt", with_types({"H", "O"})); }),
            "t.txt:2:1: 'He' is not among the types of --types, which are H, O");
  // A column that begins with a number is one of numbers.
  EXPECT_EQ(error_of([] { decode_text("1 1\nH 2\n", "t.txt", with_types({"H", "O"})); }),
            "t.txt:2:1: 'H' is not a number");
}

TEST(TextTable, TypesAreNames) {
  EXPECT_EQ(parse_types("H, O,C\xc3\xb6"), (std::vector<std::string>{"H", "O", "C\xc3\xb6"}));
  EXPECT_EQ(error_of([] { parse_types(""); }), "--types: no name is given; write them as H,O");
  EXPECT_EQ(error_of([] { parse_types("H,,O"); }), "--types: a name is missing in 'H,,O'; write them as H,O");
  EXPECT_EQ(error_of([] { parse_types("H,1"); }), "--types: '1' is a number, not a name");
  EXPECT_EQ(error_of([] { parse_types("H,O,H"); }), "--types: 'H' is named twice");
}

TEST(TextTable, LinesAtTheBeginningMayBeSkipped) {
  TextOptions options;
  options.skip_lines = 2;
  const ParticleTable table = decode_text("10 10 10,,\r\n# two\r\n# m x[3]\r\n1 2 3 4\r\n", "t.txt", options);
  EXPECT_EQ(table.column_names(), "m, x[3]");
  EXPECT_EQ(table.rows, 1);
  EXPECT_EQ(error_of([&] { decode_text("10\n800\n1 2\n1 x\n", "t.txt", options); }), "t.txt:4:3: 'x' is not a number");
  EXPECT_EQ(error_of([&] { decode_text("10\n800\n", "t.txt", options); }),
            "t.txt: there are no numbers and no header line in it");
  EXPECT_EQ(error_of([&] { decode_text("10\n", "t.txt", options); }),
            "t.txt: it has 1 line only, but --skip-lines is 2");
}

}  // namespace
}  // namespace nbcc
