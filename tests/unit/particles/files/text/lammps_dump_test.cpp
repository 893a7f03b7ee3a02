// Dump files of LAMMPS: frames, columns, scaled and unwrapped positions, boxes, and what is said of files that are
// wrong.
#include "particles/files/text/lammps_dump.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/support/particle_tables.h"

namespace nbcc {
namespace {

class LammpsDump : public testing::Test {
 protected:
  using Doubles = std::vector<double>;

  static ParticleTable decoded(std::string_view text, std::string_view columns = "",
                               std::vector<std::string> types = {}) {
    TextOptions options;
    if (!columns.empty()) options.columns = parse_columns(columns);
    options.types = std::move(types);
    return decode_dump(text, "a.dump", options);
  }
  static std::string refused(std::string_view text, std::string_view columns = "") {
    return test::error_of([&] { decoded(text, columns); });
  }
  template <class Values>
  static Values values_of(const ParticleTable& table, std::string_view name) {
    const ParticleColumn* const found = table.find(name);
    if (!found || !std::holds_alternative<Values>(found->data)) {
      ADD_FAILURE() << "no column " << name << " of that type in " << table.column_names();
      return {};
    }
    return std::get<Values>(found->data);
  }
  // A frame of two atoms: a box from (-1, 0, 2) with sides of 4, 8 and 16.
  static std::string frame(const std::string& columns, const std::string& rows,
                           const std::string& box = "pp pp pp\n-1 3\n0 8\n2 18\n") {
    return "ITEM: TIMESTEP\n50\nITEM: NUMBER OF ATOMS\n2\nITEM: BOX BOUNDS " + box + "ITEM: ATOMS " + columns + "\n" +
           rows;
  }
};

TEST_F(LammpsDump, WordsBecomeColumns) {
  const ParticleTable table =
      decoded(frame("id type mol mass q x y z vx vy vz fx fy fz ix iy iz c_pe c_st[1] c_st[2] f_a[3] mux muy muz ",
                    "7 2 5 1.5 -1 1 2 3 4 5 6 7 8 9 0 -1 2 .5 10 20 30 1 0 0 \r\n3 1 5 2 1 1 2 3 4 5 6 7 8 9 0 0 0 .25 "
                    "11 21 31 0 1 0\r\n"));
  EXPECT_EQ(table.column_names(),
            "id, type, mol, m (mass), q, x[3], v[3], f[3], image[3] (ix), c_pe, c_st[2], f_a_3 (f_a[3]), mu[3]");
  EXPECT_EQ(values_of<std::vector<std::int64_t>>(table, "id"), (std::vector<std::int64_t>{7, 3}));
  EXPECT_EQ(values_of<std::vector<std::int32_t>>(table, "type"), (std::vector<std::int32_t>{2, 1}));
  EXPECT_EQ(values_of<std::vector<std::int32_t>>(table, "image"), (std::vector<std::int32_t>{0, -1, 2, 0, 0, 0}));
  EXPECT_EQ(values_of<Doubles>(table, "c_st"), (Doubles{10, 20, 11, 21}));
  EXPECT_EQ(values_of<Doubles>(table, "m"), (Doubles{1.5, 2}));
  EXPECT_EQ(table.rows, 2);
  EXPECT_TRUE(table.of_other_format);
}

TEST_F(LammpsDump, TheHeaderBecomesAttributes) {
  const ParticleTable table = decoded("ITEM: UNITS\nlj\nITEM: TIME\n0.25\n" + frame("id x y z", "1 0 0 0\n2 0 0 1\n"));
  EXPECT_EQ(*table.find_attribute("TIMESTEP"), "50");
  EXPECT_EQ(*table.find_attribute("units"), "lj");
  EXPECT_EQ(*table.find_attribute("time"), "0.25");
  EXPECT_EQ(*table.find_attribute("xlo xhi"), "-1 3");
  EXPECT_EQ(*table.find_attribute("zlo zhi"), "2 18");
  EXPECT_EQ(*table.find_attribute("boundary"), "pp pp pp");
  EXPECT_EQ(table.find_attribute("xy xz yz"), nullptr);
}

TEST_F(LammpsDump, ScaledPositionsAreScaledBack) {
  const Doubles expected = {-1, 4, 18, 1, 0, 6};
  EXPECT_EQ(values_of<Doubles>(decoded(frame("id xs ys zs", "1 0 .5 1\n2 .5 0 .25\n")), "x"), expected);
  EXPECT_EQ(values_of<Doubles>(decoded(frame("id xsu ysu zsu", "1 0 .5 1\n2 1.5 0 .25\n")), "x"),
            (Doubles{-1, 4, 18, 5, 0, 6}));
  EXPECT_EQ(values_of<Doubles>(decoded(frame("id xu yu zu", "1 -1 4 18\n2 1 0 6\n")), "x"), expected);
  // Positions in the box are preferred to unwrapped ones.
  const ParticleTable both = decoded(frame("xu yu zu xs ys zs", "9 9 9 0 .5 1\n8 8 8 .5 0 .25\n"));
  EXPECT_EQ(both.column_names(), "xu[3], x[3]");
  EXPECT_EQ(values_of<Doubles>(both, "x"), expected);
  // The file's name of scaled positions names no column, because the numbers are others.
  EXPECT_EQ(decoded(frame("xs ys zs", "0 0 0\n0 0 0\n")).find("xs"), nullptr);
  // With names of the caller nothing is scaled.
  EXPECT_EQ(values_of<Doubles>(decoded(frame("id xs ys zs", "1 0 .5 1\n2 .5 0 .25\n"), "_,s[3]"), "s"),
            (Doubles{0, 0.5, 1, 0.5, 0, 0.25}));
}

// The bounds of a tilted box are those of its bounding box: here from (0, 0, 0), sides of 4, 8 and 16, tilts 1, -2,
// 0.5.
TEST_F(LammpsDump, TiltedBoxesAreTakenFromTheirBoundingBox) {
  const std::string box = "xy xz yz pp pp ff\n-2 5 1\n0 8.5 -2\n0 16 0.5\n";
  const ParticleTable table = decoded(frame("id xs ys zs", "1 1 0 0\n2 .5 1 1\n", box));
  EXPECT_EQ(*table.find_attribute("xlo xhi"), "0 4");
  EXPECT_EQ(*table.find_attribute("ylo yhi"), "0 8");
  EXPECT_EQ(*table.find_attribute("xy xz yz"), "1 -2 0.5");
  EXPECT_EQ(*table.find_attribute("boundary"), "pp pp ff");
  EXPECT_EQ(values_of<Doubles>(table, "x"), (Doubles{4, 0, 0, 2 + 1 - 2, 8.5, 16}));
}

TEST_F(LammpsDump, GeneralBoxesHaveVectorsAndAnOrigin) {
  const std::string box = "abc origin pp pp pp\n0 4 0 1\n-8 0 0 2\n0 0 16 3\n";
  const ParticleTable table = decoded(frame("xs ys zs", "1 0 0\n0 .5 1\n", box));
  EXPECT_EQ(*table.find_attribute("avec"), "0 4 0");
  EXPECT_EQ(*table.find_attribute("bvec"), "-8 0 0");
  EXPECT_EQ(*table.find_attribute("abc origin"), "1 2 3");
  EXPECT_EQ(values_of<Doubles>(table, "x"), (Doubles{1, 6, 3, -3, 2, 19}));
}

TEST_F(LammpsDump, ElementsAreTypesIfThereAreNoOthers) {
  const ParticleTable table = decoded(frame("element x y z", "O 0 0 0\nH 0 0 1\n"), "", {"H", "O"});
  EXPECT_EQ(table.column_names(), "type (element), x[3]");
  EXPECT_EQ(values_of<std::vector<std::int32_t>>(table, "type"), (std::vector<std::int32_t>{1, 0}));
}

TEST_F(LammpsDump, FramesBeginWithTheirFirstItem) {
  const std::string first = "ITEM: UNITS\nlj\nITEM: TIME\n0\n" + frame("id x y z", "1 0 0 0\n2 0 0 1\n"),
                    second = "ITEM: TIME\n1\n" + frame("id x y z", "1 5 0 0\n2 0 0 1\n");
  const std::string whole = first + second + frame("id x y z", "1 6 0 0\n");  // the last one is cut off
  const std::vector<ParticleFrame> frames = frames_of_dump(whole, "a.dump");
  ASSERT_EQ(frames.size(), 3u);
  EXPECT_EQ(frames[1].first, first.size());
  EXPECT_EQ(frames[1].last, first.size() + second.size());
  EXPECT_EQ(frames[1].first_line, 16);
  EXPECT_EQ(frames[1].timestep, "50");
  const auto read = [&](const ParticleFrame& part) {
    return decode_dump(std::string_view(whole).substr(part.first, part.last - part.first), "a.dump", {},
                       part.first_line);
  };
  EXPECT_EQ(values_of<Doubles>(read(frames[1]), "x")[0], 5);
  EXPECT_EQ(*read(frames[1]).find_attribute("time"), "1");
  EXPECT_EQ(test::error_of([&] { read(frames[2]); }),
            "a.dump: it ends after 1 row of the 2 of the frame whose rows begin at line 38");
}

TEST_F(LammpsDump, ItsFirstLineTellsItFromOtherTexts) {
  EXPECT_TRUE(looks_like_dump("ITEM: TIMESTEP\r\n0\r\n"));
  EXPECT_TRUE(looks_like_dump("ITEM: UNITS\nlj\n"));
  EXPECT_FALSE(looks_like_dump("ITEM: 7\n"));
  EXPECT_FALSE(looks_like_dump("# ITEM: TIMESTEP\n"));
  EXPECT_FALSE(looks_like_dump(""));
}

TEST_F(LammpsDump, ErrorsNamePlaceAndReason) {
  const struct {
    std::string text, expected;
  } cases[] = {
      {"1 2 3\n", "a.dump:1:1: '1 2 3' is not an item of a dump file, as 'ITEM: TIMESTEP'"},
      {"ITEM: TIMESTEP\n", "a.dump: it ends after ITEM: TIMESTEP"},
      {"ITEM: TIMESTEP\n0\n", "a.dump: the frame that ends at line 2 has no ITEM: ATOMS"},
      {"ITEM: NUMBER OF ATOMS\nmany\n", "a.dump:2:1: 'many' is not a number of atoms"},
      {"ITEM: TIMESTEP\n0\nITEM: NUMBER OF ENTRIES\n3\n",
       "a.dump:3:1: nbcc reads dumps of atoms; it does not know ITEM: NUMBER OF ENTRIES"},
      {"ITEM: ATOMS id\n", "a.dump:1:1: ITEM: NUMBER OF ATOMS does not come before ITEM: ATOMS"},
      {frame("", ""), "a.dump:9:1: ITEM: ATOMS names no columns; name them by --columns, as id,type,x[3]"},
      {frame("id x y z", "1 0 0\n"), "a.dump:10:5: this row has 3 values, but line 9 names 4"},
      {frame("id x y z", "1 0 0 0 0\n"), "a.dump:10:9: this row has 5 values, but line 9 names 4"},
      {frame("id x y z", "1 0 0 a\n2 0 0 0\n"), "a.dump:10:7: 'a' is not a number"},
      {frame("id x y z", "1 0 0 0\n2 0 0 0\n3 0 0 0\n"),
       "a.dump:12:1: more lines follow the 2 rows that ITEM: NUMBER OF ATOMS says"},
      {frame("id", "1\n2\n", "pp pp pp\n0\n0 1\n0 1\n"), "a.dump:6:1: a line of this box has 1 number, not 2"},
      {frame("id", "1\n2\n", "xy xz yz pp pp pp\n0 1 0\n0 one 0\n0 1 0\n"), "a.dump:7:3: 'one' is not a number"},
      {frame("id", "1\n2\n", "xy pp pp pp\n0 1 0\n"), "a.dump:5:1: nbcc does not know a box of the kind 'xy'"},
      {"ITEM: NUMBER OF ATOMS\n1\nITEM: ATOMS xs ys zs\n0 0 0\n",
       "a.dump:3:1: the positions are scaled by a box, but there is no ITEM: BOX BOUNDS"},
  };
  for (const auto& [text, expected] : cases) EXPECT_EQ(refused(text), expected) << text;
  EXPECT_EQ(refused(frame("id x y z", "1 0 0 0\n2 0 0 0\n"), "x[3]"),
            "a.dump:10:7: this row has 4 values, but --columns names 3");
}

TEST_F(LammpsDump, DamagedBytesAreToldOrRead) {
  const std::string whole =
      "ITEM: TIME\n1\n" + frame("id xs ys zs", "1 0 0 0\n2 0 1 0\n", "xy xz yz pp pp pp\n0 1 0\n0 1 0\n0 1 0\n");
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (const char other : {'\n', ':', 'x', '9', '\xff'}) {
      std::string changed = whole;
      changed[at] = other;
      for (const std::string& text : {changed, changed.substr(0, at)}) {
        const std::string message = refused(text);
        EXPECT_TRUE(message.empty() || message.starts_with("a.dump")) << message;
        frames_of_dump(text, "a.dump");
      }
    }
  }
}

TEST_F(LammpsDump, TwoAtomsOfOneIdAreRefused) {
  EXPECT_EQ(refused(frame("id x", "7 0\n7 1\n")),
            "a.dump: two atoms of the frame whose rows begin at line 10 have the id 7");
  EXPECT_EQ(refused(frame("id x", "0 0\n0 1\n")), "");  // atoms without ids
}

TEST_F(LammpsDump, AFileThatEndsInARowIsRefused) {
  EXPECT_EQ(
      refused(frame("id x", "1 0\n2 1.1")),
      "a.dump:11:1: it ends with '1.1', without a line end, so that its last row may be cut off; add a line end if "
      "it is not");
}

// What an interrupted run leaves: a frame without its rows, and then a whole one.
TEST_F(LammpsDump, AFrameThatIsCutOffIsNotJoinedWithTheNext) {
  const std::string whole = frame("id type x y z", "1 1 0 0 0\n2 1 1 0 0\n");
  const std::string cut = whole.substr(0, whole.find("ITEM: ATOMS"));
  EXPECT_EQ(refused(cut + whole),
            "a.dump:9:1: ITEM: TIMESTEP comes twice before ITEM: ATOMS; the frame that begins at line 1 is cut off");
  const std::string box = "ITEM: BOX BOUNDS pp pp pp\n0 9\n0 9\n0 9\n";
  EXPECT_EQ(refused(box + whole.substr(whole.find("ITEM: NUMBER"))),
            "a.dump:7:1: ITEM: BOX BOUNDS comes twice before ITEM: ATOMS; the frame that begins at line 1 is cut off");
}

TEST_F(LammpsDump, LinesBeforeTheFirstFrameBelongToIt) {
  const std::string text = "3 1 5 5 5\n" + frame("id type x y z", "1 1 0 0 0\n2 1 1 0 0\n");
  const std::vector<ParticleFrame> frames = frames_of_dump(text, "a.dump");
  ASSERT_EQ(frames.size(), 1U);
  EXPECT_EQ(frames[0].first, 0U);
  EXPECT_EQ(refused(text), "a.dump:1:1: '3 1 5 5 5' is not an item of a dump file, as 'ITEM: TIMESTEP'");
}

TEST_F(LammpsDump, ScaledPositionsAreNotCalledXByColumns) {
  const std::string text = frame("id type xs ys zs", "1 1 0 0 0\n2 1 .5 0 0\n");
  EXPECT_EQ(refused(text, "id,type,x[3]"),
            "a.dump:9:21: --columns calls xs ys zs x, but these positions are scaled by the box: leave out --columns, "
            "or choose another name");
  EXPECT_EQ(values_of<Doubles>(decoded(text, "id,type,xs[3]"), "xs"), (Doubles{0, 0, 0, .5, 0, 0}));
}

TEST_F(LammpsDump, BoxesThatBoundNothingAreRefused) {
  const auto of = [](const std::string& box) { return refused(frame("id type x y z", "1 1 0 0 0\n2 1 1 0 0\n", box)); };
  EXPECT_EQ(of("pp pp pp\n10 0\n0 8\n0 8\n"), "a.dump:8:1: the box has the length -10 in x, which is not positive");
  EXPECT_EQ(of("pp pp pp\n0 10\n0 nan\n0 8\n"), "a.dump:8:1: 'nan' bounds no box");
  EXPECT_EQ(of("pp pp\n0 10\n0 8\n0 8\n"), "a.dump:8:1: 'pp pp' says the boundaries of 2 directions, not of 3");
}

}  // namespace
}  // namespace nbcc
