#include "cli/npz.h"

#include <gtest/gtest.h>

#include "cli/npy.h"
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

TEST(Npz, ReadsWhatSavezCompressedWrites) {
  const ParticleTable table = decode_npz(kDeflated, "a.npz");
  EXPECT_EQ(table.rows, 40);
  EXPECT_EQ(table.column_names(), "m, x[3]");
  EXPECT_EQ(std::get<std::vector<double>>(table.columns[0].data), std::vector<double>(40, 0.5));
}

TEST(Npz, OnlyWantedArraysAreRead) {
  EXPECT_EQ(decode_npz(kDeflated, "a.npz", parse_columns("x[3]")).column_names(), "x[3]");
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
            "a.npz: a column cannot be called 'provenance' in .npz: that is where the file's origin stands");
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
