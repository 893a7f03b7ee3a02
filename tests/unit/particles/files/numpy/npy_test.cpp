#include "particles/files/numpy/npy.h"

#include <gtest/gtest.h>

#include <bit>

#include "tests/support/particle_tables.h"

namespace nbcc {
namespace {

using namespace std::string_literals;
using test::error_of;
using Doubles = std::vector<double>;
using Ints = std::vector<std::int32_t>;
using Longs = std::vector<std::int64_t>;

// Magic, version, length and the blanks up to a multiple of 64 bytes, as numpy.save writes them.
std::string npy(std::string header, std::string_view numbers, char version = 1) {
  const std::size_t prefix = version == 1 ? 10 : 12;
  header.append(63 - (prefix + header.size()) % 64, ' ');
  header += '\n';
  std::string bytes = "\x93NUMPY"s + version + '\0';
  for (std::size_t k = 0; k < prefix - 8; ++k) bytes += static_cast<char>(header.size() >> (8 * k) & 0xff);
  return bytes + header + std::string(numbers);
}

std::string header(const std::string& descr, const std::string& shape, const std::string& fortran = "False") {
  return "{'descr': " + descr + ", 'fortran_order': " + fortran + ", 'shape': " + shape + ", }";
}

template <class Number>
std::string raw(std::vector<Number> values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(Number)};
}

ParticleTable read(const std::string& bytes) { return decode_npy(bytes, "a.npy"); }

std::string note(const std::string& bytes) { return decode_npy_note(bytes, "a.npy"); }

std::string fault(const std::string& bytes) {
  return error_of([&] { read(bytes); });
}

// numpy.save of [(7, 0.5, (1, 2, 3)), (8, 0.25, (4, 5, 6))] with fields id (i8), m (f4), x (f8, 3).
const std::string kRecords(
    "\223NUMPY\001\000\266\000{'descr': [('id', '<i8'), ('m', '<f4'), ('x', '<f8', (3,))], 'fortran_order"
    "': False, 'shape': (2,), }                                                                          "
    "      \012\007\000\000\000\000\000\000\000\000\000\000\077\000\000\000\000\000\000\360\077\000\000\000"
    "\000\000\000\000@\000\000\000\000\000\000\010@\010\000\000\000\000\000\000\000\000\000\200>\000\000\000"
    "\000\000\000\020@\000\000\000\000\000\000\024@\000\000\000\000\000\000\030@",
    264);

TEST(Npy, ReadsRecordsAsNumpyWritesThem) {
  const ParticleTable array = read(kRecords);
  EXPECT_FALSE(array.unnamed);
  ASSERT_EQ(array.columns.size(), 3u);
  EXPECT_EQ(array.columns[2].name, "x");
  EXPECT_EQ(std::get<Longs>(array.columns[0].data), (Longs{7, 8}));
  EXPECT_EQ(std::get<std::vector<float>>(array.columns[1].data), (std::vector<float>{0.5, 0.25}));
  EXPECT_EQ(std::get<Doubles>(array.columns[2].data), (Doubles{1, 2, 3, 4, 5, 6}));
}

TEST(Npy, PaddingOfAlignedRecordsIsSkipped) {
  const ParticleTable array = read(npy(header("[('id', '<i4'), ('', '|V4'), ('m', '<f8')]", "(1,)"),
                                       raw<std::int32_t>({7, 99}) + raw<double>({0.5})));
  ASSERT_EQ(array.columns.size(), 2u);
  EXPECT_EQ(std::get<Doubles>(array.columns[1].data), Doubles{0.5});
}

TEST(Npy, FortranOrderIsTransposed) {
  const ParticleTable array = read(npy(header("'<i4'", "(2, 3)", "True"), raw<std::int32_t>({1, 4, 2, 5, 3, 6})));
  EXPECT_EQ(array.columns[0].components, 3);
  EXPECT_EQ(std::get<Ints>(array.columns[0].data), (Ints{1, 2, 3, 4, 5, 6}));
}

TEST(Npy, BigEndianNumbersAreSwapped) {
  const ParticleTable array = read(npy(header("'>f8'", "(2,)"), "?\xf8\0\0\0\0\0\0\xc0\0\0\0\0\0\0\0"s));
  EXPECT_EQ(std::get<Doubles>(array.columns[0].data), (Doubles{1.5, -2}));
}

TEST(Npy, AllVersionsAreRead) {
  for (const char version : {1, 2, 3})
    EXPECT_EQ(std::get<Doubles>(read(npy(header("'<f8'", "(1,)"), raw<double>({2.5}), version)).columns[0].data),
              Doubles{2.5});
}

TEST(Npy, FieldNamesOfOldVersionsAreLatin1) {
  EXPECT_EQ(read(npy(header("[('\xe9', '<i8')]", "(1,)"), raw<std::int64_t>({1}))).columns[0].name, "\xc3\xa9");
  EXPECT_EQ(read(npy(header("[('\xc3\xa9', '<i8')]", "(1,)"), raw<std::int64_t>({1}), 3)).columns[0].name, "\xc3\xa9");
}

TEST(Npy, SmallIntegersAreWidened) {
  EXPECT_EQ(std::get<Ints>(read(npy(header("'|i1'", "(2,)"), "\xff\x01")).columns[0].data), (Ints{-1, 1}));
  EXPECT_EQ(std::get<Ints>(read(npy(header("'|u1'", "(2,)"), "\xff\x01")).columns[0].data), (Ints{255, 1}));
  EXPECT_EQ(std::get<Ints>(read(npy(header("'|b1'", "(2,)"), "\x01\0"s)).columns[0].data), (Ints{1, 0}));
  EXPECT_EQ(std::get<Ints>(read(npy(header("'<i2'", "(1,)"), "\xfe\xff")).columns[0].data), Ints{-2});
  EXPECT_EQ(std::get<Ints>(read(npy(header("'<u2'", "(1,)"), "\xfe\xff")).columns[0].data), Ints{65534});
  EXPECT_EQ(std::get<Longs>(read(npy(header("'<u4'", "(1,)"), "\xff\xff\xff\xff")).columns[0].data), Longs{4294967295});
}

TEST(Npy, ANumberAloneIsANote) {
  const std::string bytes = npy(header("'<f8'", "()"), raw<double>({3.5}));
  std::string_view rest = bytes;
  EXPECT_TRUE(is_note(take_npy_header(rest, "a.npy")));
  EXPECT_EQ(decode_npy_note(bytes, "a.npy"), "3.5");
  EXPECT_EQ(read(bytes).rows, 1) << "as a file of its own it is a particle";
}

TEST(Npy, NoParticlesAreFine) { EXPECT_EQ(read(npy(header("'<f8'", "(0, 3)"), "")).columns[0].components, 3); }

TEST(Npy, TextIsReadAsUtf8) {
  EXPECT_EQ(note(npy(header("'<U3'", "()"), "h\0\0\0\xe9\0\0\0\0\0\0\0"s)), "h\xc3\xa9");
  EXPECT_EQ(note(npy(header("'|S2'", "(2,)"), "abc\0"s)), "ab, c");
}

TEST(Npy, ErrorsNameTheReason) {
  const std::string eight = raw<double>({1});
  const std::pair<std::string, std::string> cases[] = {
      {"", "a.npy: the file is empty"},
      {"hello", "a.npy: it is not an .npy array (its first bytes differ)"},
      {"\x93NUMPY\x01", "a.npy: it is truncated within the .npy header"},
      {"\x93NUMPY\x07\0\0\0"s, "a.npy: .npy version 7 is not known"},
      {"\x93NUMPY\x02\0\xff\xff\xff\xff{}"s, "a.npy: it is truncated within the .npy header"},
      {npy(header("'<f8'", "(2,)"), eight),
       "a.npy: it is truncated: the header promises 2 rows of 1 numbers (8 bytes each), but only 8 bytes follow"},
      {npy(header("'<f8'", "(1,)"), eight + eight), "a.npy: 8 bytes follow the array; one array is read from a file"},
      {npy(header("'<f2'", "(4,)"), eight),
       "a.npy: it holds 16-bit floating point numbers; store float32 or float64 (astype)"},
      {npy(header("'<u8'", "(1,)"), eight),
       "a.npy: it holds unsigned 64-bit integers, which do not fit int64; store int64 (astype)"},
      {npy(header("'<c8'", "(1,)"), eight),
       "a.npy: it holds complex numbers; store real and imaginary parts as two columns"},
      {npy(header("'|O'", "(1,)"), "pickle"), "a.npy: it holds Python objects (a pickle), which are not read"},
      {npy(header("[('name', '|S8')]", "(1,)"), eight), "a.npy: field 'name' holds text, not numbers"},
      {npy(header("'<M8[s]'", "(1,)"), eight), "a.npy: it holds '<M8[s]', which is not a number that is read here"},
      {npy(header("'<f8'", "(1, 1, 1)"), eight), "a.npy: it is a 3-dimensional array; particles are (N) or (N, K)"},
      {npy(header("[('x', '<f8')]", "(1, 1)"), eight),
       "a.npy: it is a 2-dimensional array of records; particles are (N)"},
      {npy(header("'<f8'", "(1, 0)"), ""), "a.npy: it has rows of 0 numbers"},
      {npy(header("[]", "(9,)"), ""), "a.npy: its records have no fields"},
  };
  for (const auto& [bytes, expected] : cases) EXPECT_EQ(fault(bytes), expected);
}

TEST(Npy, HostileHeadersAreRefused) {
  const std::string headers[] = {
      "",
      "{",
      "{}",
      "{'descr': '<f8'",
      "{'descr': '<f8', 'descr': '<f8'}",
      "{'descr': 'f', 'fortran_order': Maybe, 'shape': ()}",
      header("'<f99999999999999999999'", "(1,)"),
      header("'<f-8'", "(1,)"),
      header("'<f8", "(1,)"),
      header("'<f8'", "(-1,)"),
      header("'<f8'", "(99999999999999999999,)"),
      header("'<f8'", "(9223372036854775807, 9223372036854775807)"),
      header("'<f8'", "(2305843009213693952,)"),
      header("'<f8'", "(4611686018427387904, 4)"),
      header("'<f8'", "((1,),)"),
      header("'<f8'", "(" + std::string(100000, '(')),
      header("[('x', '<f8', (2147483647,)), ('y', '<f8', (2147483647,))]", "(1,)"),
      header("[('x', '<f8', (3, 3))]", "(0,)"),
      header("[('x', [('y', '<f8')])]", "(1,)"),
      header("[('x', '<f8'", "(1,)"),
      header("'|V0'", "(1000000000000,)"),
      header("'<U0'", "(1000000000000,)"),
      header("'<U536870911'", "(1000000000,)"),
  };
  for (const std::string& text : headers) EXPECT_NE(fault(npy(text, "", 2)), "") << text;
}

TEST(Npy, EveryTruncationIsAnError) {
  for (std::size_t length = 0; length < kRecords.size(); ++length)
    EXPECT_NE(fault(kRecords.substr(0, length)), "") << length;
}

TEST(Npy, DamagedBytesNeverCrash) {
  // Each byte of the header in turn becomes each of a few others; reading may succeed or throw FileError.
  for (std::size_t at = 0; at < 128; ++at)
    for (const char other : {'\0', '9', '(', ')', '\'', ',', '\xff', 'O'}) {
      std::string bytes = kRecords;
      bytes[at] = other;
      try {
        read(bytes);
      } catch (const FileError& error) {
        EXPECT_TRUE(std::string_view(error.what()).starts_with("a.npy: "));
      }
    }
}

TEST(Npy, WrittenArraysComeBack) {
  for (const ParticleColumn& column : test::mixed_table().columns) {
    const ParticleTable array = read(encode_npy(column));
    EXPECT_EQ(array.columns[0].data, column.data) << column.name;
    EXPECT_EQ(array.columns[0].components, column.components) << column.name;
  }
}

TEST(Npy, WrittenBytesAreNumpys) {
  if (std::endian::native == std::endian::little) {
    const ParticleColumn column{"x", 3, Doubles{1.5, 2, 3, 4, 5, -6}};
    EXPECT_EQ(encode_npy(column), npy(header("'<f8'", "(2, 3)"), raw<double>({1.5, 2, 3, 4, 5, -6})));
  }
  EXPECT_EQ(encode_npy({"x", 1, Doubles{1}}).size() % 64, 8u);
}

TEST(Npy, WrittenTextComesBack) {
  for (const std::string text : {"", "abc", "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x8c\x8dz"})
    EXPECT_EQ(note(encode_npy_string(text)), text);
}

TEST(Npy, BytesThatAreNotUtf8AreReplaced) {
  EXPECT_EQ(note(encode_npy_string("a\xff\xc3")), "a\xef\xbf\xbd\xef\xbf\xbd");
}

}  // namespace
}  // namespace nbcc
