#include "particles/files/numpy/npz.h"

#include <gtest/gtest.h>

#include "particles/files/numpy/npy.h"
#include "tests/support/particle_tables.h"

namespace nbcc {
namespace {

using test::error_of;

// numpy.savez_compressed(m=numpy.full(40, 0.5), x=numpy.zeros((40, 3)))
const std::string kDeflated(
    "PK\003\004-\000\000\000\010\000\000\000!\000\372\013l\340\377\377\377\377\377\377\377\377\005\000\024"
    "\000m.npy\001\000\020\000\300\001\000\000\000\000\000\000N\000\000\000\000\000\000\000\233\354\027\352"
    "\033\020\311\310P\306P\255\236\222Z\234\134\244n\245\240n\223f\241\256\243\240\236\226_TR\224\230\027"
    "\237_\224\222\012\022wK\314)N\005\212\027g$\026\244\002\371\032&\006:\232:\012\265\012\344\003.\0060"
    "x`\077J\223G\003\000PK\003\004-\000\000\000\010\000\000\000!\000\237\372J+\377\377\377\377\377\377\377"
    "\377\005\000\024\000x.npy\001\000\020\000@\004\000\000\000\000\000\000O\000\000\000\000\000\000\000\233"
    "\354\027\352\033\020\311\310P\306P\255\236\222Z\234\134\244n\245\240n\223f\241\256\243\240\236\226_T"
    "R\224\230\027\237_\224\222\012\022wK\314)N\005\212\027g$\026\244\002\371\032&\006:\012\306\232:\012\265"
    "\012\344\002.\206Q0\012F\301\220\005\000PK\001\002-\003-\000\000\000\010\000\000\000!\000\372\013l\340"
    "N\000\000\000\300\001\000\000\005\000\000\000\000\000\000\000\000\000\000\000\200\001\000\000\000\000"
    "m.npyPK\001\002-\003-\000\000\000\010\000\000\000!\000\237\372J+O\000\000\000@\004\000\000\005\000\000"
    "\000\000\000\000\000\000\000\000\000\200\001\205\000\000\000x.npyPK\005\006\000\000\000\000\002\000\002"
    "\000f\000\000\000\013\001\000\000\000\000",
    391);

// m and x of three numbers each, among arrays that cannot be columns beside them: float16, Python objects, complex
// numbers, five rows of two, five ids; and records of v and w[2].
const std::string kMotley(
    "PK\003\004\024\000\000\000\010\000\000\000!\00059\266\343F\000\000\000V\000\000\000\010\000\000\000half."
    "npy\233\354\027\352\033\020\311\310\340\306P\255\236\222Z\234\134\244n\245\240n\223f\244\256\243\240\236"
    "\226_TR\224\230\027\237_\224\222\012\022wK\314)N\005\212\027g$\026\244\002\371\032\306:\232:\012\265\012"
    "H\200\213\001\014\000PK\003\004\024\000\000\000\010\000\000\000!\000\362\310{\260P\000\000\000h\000\000"
    "\000\005\000\000\000m.npy\233\354\027\352\033\020\311\310\340\306P\255\236\222Z\234\134\244n\245\240n"
    "\223f\241\256\243\240\236\226_TR\224\230\027\237_\224\222\012\022wK\314)N\005\212\027g$\026\244\002\371"
    "\032\306:\232:\012\265\012H\200\213\001\014>\330Ch\006\007\010\305\341\000\000PK\003\004\024\000\000\000"
    "\010\000\000\000!\000<g\033\274I\000\000\000V\000\000\000\007\000\000\000tag.npy\233\354\027\352\033\020"
    "\311\310\340\306P\255\236\222Z\234\134\244n\245\240^\343\257\256\243\240\236\226_TR\224\230\027\237_\224"
    "\222\012\022vK\314)N\005\212\027g$\026\244\002\371\032\306:\232:\012\265\012\310\200\253\2019\266\220A"
    "\017\000PK\003\004\024\000\000\000\010\000\000\000!\000\357\275v\330H\000\000\000\200\000\000\000\010"
    "\000\000\000wave.npy\233\354\027\352\033\020\311\310\340\306P\255\236\222Z\234\134\244n\245\240n\223lh"
    "\246\256\243\240\236\226_TR\224\230\027\237_\224\222\012\222pK\314)N\005\212\027g$\026\244\002\371\032"
    "\306:\232:\012\265\012\010\300\305@\042\000\000PK\003\004\024\000\000\000\010\000\000\000!\000\367\025"
    "\304\022I\000\000\000\240\000\000\000\012\000\000\000longer.npy\233\354\027\352\033\020\311\310\340\306P"
    "\255\236\222Z\234\134\244n\245\240n\223f\241\256\243\240\236\226_TR\224\230\027\237_\224\222\012\022wK"
    "\314)N\005\212\027g$\026\244\002\371\032\246:\012F\232:\012\265\012p\300\305@e\000\000PK\003\004\024\000"
    "\000\000\010\000\000\000!\000\025\301\342\200G\000\000\000x\000\000\000\006\000\000\000id.npy\233\354"
    "\027\352\033\020\311\310\340\306P\255\236\222Z\234\134\244n\245\240n\223i\241\256\243\240\236\226_TR\224"
    "\230\027\237_\224\222\012\022wK\314)N\005\212\027g$\026\244\002\371\032\246:\232:\012\265\012H\200\213"
    "\201H\000\000PK\003\004\024\000\000\000\010\000\000\000!\000F(j\077O\000\000\000h\000\000\000\005\000"
    "\000\000x.npy\233\354\027\352\033\020\311\310\340\306P\255\236\222Z\234\134\244n\245\240n\223f\241\256"
    "\243\240\236\226_TR\224\230\027\237_\224\222\012\022wK\314)N\005\212\027g$\026\244\002\371\032\306:\232:"
    "\012\265\012H\200\213\001\014\004\034 \264\010\224\226p\000\000PK\003\004\024\000\000\000\010\000\000"
    "\000!\000\355\303\031*\134\000\000\000\240\000\000\000\011\000\000\000pairs.npy\233\354\027\352\033\020"
    "\311\310\220\306P\255\236\222Z\234\134\244n\245\020\255\241^\246\256\243\240n\223f\241\256\251\243\240"
    "\241^\016\341\231\000)\015#\035M\315X 7-\277\250\244(1/>\277(%\025\244\311-1\2478\025(^\234\221X\220\012"
    "\344k\030\353\000\365\326*\240\002.\006\022\001\000PK\001\002\024\003\024\000\000\000\010\000\000\000!"
    "\00059\266\343F\000\000\000V\000\000\000\010\000\000\000\000\000\000\000\000\000\000\000\200\001\000\000"
    "\000\000half.npyPK\001\002\024\003\024\000\000\000\010\000\000\000!\000\362\310{\260P\000\000\000h\000"
    "\000\000\005\000\000\000\000\000\000\000\000\000\000\000\200\001l\000\000\000m.npyPK\001\002\024\003\024"
    "\000\000\000\010\000\000\000!\000<g\033\274I\000\000\000V\000\000\000\007\000\000\000\000\000\000\000"
    "\000\000\000\000\200\001\337\000\000\000tag.npyPK\001\002\024\003\024\000\000\000\010\000\000\000!\000"
    "\357\275v\330H\000\000\000\200\000\000\000\010\000\000\000\000\000\000\000\000\000\000\000\200\001M\001"
    "\000\000wave.npyPK\001\002\024\003\024\000\000\000\010\000\000\000!\000\367\025\304\022I\000\000\000\240"
    "\000\000\000\012\000\000\000\000\000\000\000\000\000\000\000\200\001\273\001\000\000longer.npyPK\001\002"
    "\024\003\024\000\000\000\010\000\000\000!\000\025\301\342\200G\000\000\000x\000\000\000\006\000\000\000"
    "\000\000\000\000\000\000\000\000\200\001,\002\000\000id.npyPK\001\002\024\003\024\000\000\000\010\000"
    "\000\000!\000F(j\077O\000\000\000h\000\000\000\005\000\000\000\000\000\000\000\000\000\000\000\200\001"
    "\227\002\000\000x.npyPK\001\002\024\003\024\000\000\000\010\000\000\000!\000\355\303\031*\134\000\000"
    "\000\240\000\000\000\011\000\000\000\000\000\000\000\000\000\000\000\200\001\011\003\000\000pairs.npyPK"
    "\005\006\000\000\000\000\010\000\010\000\252\001\000\000\214\003\000\000\000\000",
    1356);

ColumnChoice only(const std::vector<std::string>& names, const std::string& optional_name = "") {
  ColumnChoice choice;
  choice.all = false;
  choice.names = names;
  choice.optional_name = optional_name;
  return choice;
}

TEST(Npz, ReadsWhatSavezCompressedWrites) {
  const ParticleTable table = decode_npz(kDeflated, "a.npz");
  EXPECT_EQ(table.rows, 40);
  EXPECT_EQ(table.column_names(), "m, x[3]");
  EXPECT_EQ(std::get<std::vector<double>>(table.columns[0].data), std::vector<double>(40, 0.5));
}

TEST(Npz, OnlyWantedArraysAreRead) {
  const ParticleTable table = decode_npz(kDeflated, "a.npz", parse_columns("x[3]"));
  ASSERT_EQ(table.columns.size(), 1u);
  EXPECT_EQ(table.columns[0].name, "x");
}

TEST(Npz, ArraysThatNobodyAsksForMayBeWhatTheyLike) {
  const ParticleTable table = decode_npz(kMotley, "a.npz", only({"x", "m"}, "id"));
  EXPECT_EQ(table.rows, 3);
  EXPECT_EQ(std::get<std::vector<double>>(table.find("x")->data), (std::vector<double>{4, 5, 6}));
  EXPECT_EQ(table_fault(table), "");
  EXPECT_EQ(table.column_names(), "half, m, tag, wave, longer[2], id, x, v, w[2]") << "as messages list them";
}

TEST(Npz, OnesThatAreAskedForMustBeColumns) {
  EXPECT_EQ(error_of([] { decode_npz(kMotley, "a.npz", only({"m", "tag"})); }),
            "a.npz (member tag.npy): it holds Python objects (a pickle), which are not read");
  EXPECT_EQ(table_fault(decode_npz(kMotley, "a.npz", only({"m", "longer"}))),
            "column 'longer' has 5 rows, but 'm' has 3");
}

TEST(Npz, WhatIsWelcomeIsTakenWhereItFits) {
  EXPECT_EQ(decode_npz(kMotley, "a.npz", only({"x"}, "m")).columns.size(), 2u);
  EXPECT_EQ(decode_npz(kMotley, "a.npz", only({"x"}, "wave")).columns.size(), 1u);
  EXPECT_EQ(decode_npz(kMotley, "a.npz", only({"longer"}, "id")).columns.size(), 2u);
}

TEST(Npz, FieldsOfRecordsAreChosenToo) {
  const ParticleTable table = decode_npz(kMotley, "a.npz", only({"w"}));
  ASSERT_EQ(table.columns.size(), 1u);
  EXPECT_EQ(table.columns[0].name, "w");
}

TEST(Npz, WithoutAColumnTheRowsAreThoseOfAll) {
  EXPECT_EQ(decode_npz(kDeflated, "a.npz", only({})).rows, 40);
  EXPECT_EQ(table_fault(decode_npz(kDeflated, "a.npz", only({}))), "");
  EXPECT_EQ(table_fault(decode_npz(kMotley, "a.npz", only({}))),
            "the number of particles is ambiguous: column 'longer' has 5 rows, but 'half' has 3");
}

// ... which is seen by a fault in its numbers.
TEST(Npz, WhatNobodyAsksForIsNotUnpacked) {
  ParticleTable table;
  table.rows = 100000;
  table.columns = {{"m", 1, std::vector<double>(100000, 1)}, {"ballast", 1, std::vector<double>(100000, 2)}};
  std::string bytes = encode_npz(table, "a.npz");
  const std::size_t number = bytes.rfind(std::string("\0\0@\0", 4));
  ASSERT_NE(number, std::string::npos);
  bytes[number] = '\1';
  EXPECT_NE(error_of([&] { decode_npz(bytes, "a.npz"); }), "");
  EXPECT_EQ(decode_npz(bytes, "a.npz", only({"m"})).column_names(), "m, ballast");
}

TEST(Npz, WrittenTableComesBack) {
  const ParticleTable table = decode_npz(encode_npz(test::mixed_table(), "a.npz"), "a.npz");
  test::expect_same_columns(table, test::mixed_table());
  EXPECT_EQ(table.attributes, test::mixed_table().attributes);
}

TEST(Npz, UnnamedTableComesBack) {
  test::expect_same_columns(decode_npz(encode_npz(test::unnamed_table(), "a.npz"), "a.npz"), test::unnamed_table());
}

TEST(Npz, TheNameThatNumpyInventsIsNone) {
  ParticleTable table = test::unnamed_table();
  table.columns[0].name = "arr_0";
  test::expect_same_columns(decode_npz(encode_npz(table, "a.npz"), "a.npz"), test::unnamed_table());
}

TEST(Npz, SameTableGivesSameBytes) {
  EXPECT_EQ(encode_npz(test::mixed_table(), "a.npz"), encode_npz(test::mixed_table(), "b.npz"));
}

TEST(Npz, ColumnCannotTakeTheNameOfTheProvenance) {
  ParticleTable table = test::mixed_table();
  table.columns[0].name = "provenance";
  EXPECT_EQ(error_of([&] { encode_npz(table, "a.npz"); }),
            "a.npz: a column cannot be called 'provenance' in .npz: that array holds the file's attributes");
}

TEST(Npz, WrongChecksumIsAnError) {
  std::string bytes = encode_npz(test::unnamed_table(), "a.npz");
  const std::size_t number = bytes.find("\xf0?");  // the 1.0 of the table
  ASSERT_NE(number, std::string::npos);
  bytes[number] = '\xf1';
  EXPECT_EQ(error_of([&] { decode_npz(bytes, "a.npz"); }), "a.npz (member data.npy): it cannot be unpacked: CRC error");
}

TEST(Npz, EveryTruncationIsAnError) {
  EXPECT_EQ(error_of([] { decode_npz("", "a.npz"); }), "a.npz: the file is empty");
  for (std::size_t length = 1; length < kDeflated.size(); ++length)
    EXPECT_TRUE(
        error_of([&] { decode_npz(kDeflated.substr(0, length), "a.npz"); }).starts_with("a.npz: it is not an .npz"))
        << length;
}

TEST(Npz, SizeBeyondWhatDeflateCanDoIsRefusedBeforeAllocation) {
  std::string bytes = kDeflated;
  // The directory's uncompressed size of m.npy: 24 bytes into its record.
  const std::size_t record = bytes.find("PK\x01\x02");
  bytes.replace(record + 24, 4, "\xff\xff\xff\x7f");
  EXPECT_EQ(error_of([&] { decode_npz(bytes, "a.npz"); }),
            "a.npz (member m.npy): its size in the archive's directory cannot be true");
}

TEST(Npz, DamagedBytesNeverCrash) {
  for (std::size_t at = 0; at < kDeflated.size(); ++at)
    for (const int change : {1, 0x80, 0xff}) {
      std::string bytes = kDeflated;
      bytes[at] = static_cast<char>(bytes[at] ^ change);
      try {
        decode_npz(bytes, "a.npz");
      } catch (const FileError& error) {
        EXPECT_TRUE(std::string_view(error.what()).starts_with("a.npz"));
      }
    }
}

}  // namespace
}  // namespace nbcc
