// Columns of the same particles from several files.
#include "particles/join_tables.h"

#include <gtest/gtest.h>

#include <limits>

#include "runtime/error.h"
#include "tests/support/particle_tables.h"

namespace nbcc {
namespace {

using test::error_of;
using Doubles = std::vector<double>;
using Floats = std::vector<float>;
using Longs = std::vector<std::int64_t>;

TableOfFile file(const std::string& path, std::vector<ParticleColumn> columns) {
  ParticleTable table;
  table.columns = std::move(columns);
  table.rows = table.columns[0].rows();
  table.attributes = {{"from", path}, {"only " + path, "1"}};
  return {std::move(table), path};
}

const TableOfFile kPlaces = file("a", {{"id", 1, Longs{7, 8, 9}}, {"x", 2, Doubles{1, 2, 3, 4, 5, 6}}});

std::string fault(const TableOfFile& other, const TableOfFile& first = kPlaces) {
  return error_of([&] { join_tables({first, other}); });
}

TEST(JoinTables, ByIdInAnyOrder) {
  const ParticleTable table =
      join_tables({kPlaces, file("b", {{"id", 1, Doubles{9, 7, 8}}, {"v", 2, Doubles{91, 92, 71, 72, 81, 82}}}),
                   file("c", {{"m", 1, Floats{.25f, .5f, 1}}, {"id", 1, std::vector<std::int32_t>{8, 9, 7}}})});
  EXPECT_EQ(table.column_names(), "id, x[2], v[2], m");
  EXPECT_EQ(std::get<Longs>(table.find("id")->data), (Longs{7, 8, 9}));
  EXPECT_EQ(std::get<Doubles>(table.find("v")->data), (Doubles{71, 72, 81, 82, 91, 92}));
  EXPECT_EQ(std::get<Floats>(table.find("m")->data), (Floats{1, .25f, .5f}));
  EXPECT_EQ(table_fault(table), "");
}

TEST(JoinTables, RowByRowWhereOneHasNoIds) {
  EXPECT_EQ(join_tables({kPlaces, file("b", {{"m", 1, Doubles{3, 2, 1}}})}).column_names(), "id, x[2], m");
  const ParticleTable table = join_tables({file("b", {{"m", 1, Doubles{3, 2, 1}}}), kPlaces});
  EXPECT_EQ(table.column_names(), "m, id, x[2]");
  EXPECT_EQ(std::get<Longs>(table.find("id")->data), (Longs{7, 8, 9}));
  EXPECT_EQ(fault(file("b", {{"m", 1, Doubles{3, 2}}})), "b: it has 2 particles, but a has 3, and not both have ids");
}

TEST(JoinTables, MissingAndDoubleIdsAreNamed) {
  const auto ids = [](Longs ids) { return file("b", {{"id", 1, std::move(ids)}}); };
  EXPECT_EQ(fault(ids({7, 9})), "b: it has no particle with the id 8, but a has");
  EXPECT_EQ(fault(ids({7, 10, 8, 9})), "a: it has no particle with the id 10, but b has");
  EXPECT_EQ(fault(ids({7, 8, 8, 9})), "b: two particles have the id 8, so that its columns cannot be joined to others");
  EXPECT_EQ(fault(kPlaces, ids({7, 7, 8})),
            "b: two particles have the id 7, so that its columns cannot be joined to others");
  EXPECT_EQ(fault(file("b", {{"id", 1, Doubles{7, 8.5, 9}}})),
            "b: column 'id' holds 8.5 in row 1, which is not an int64");
}

TEST(JoinTables, CommonColumnsHaveToAgree) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const TableOfFile first = file("a", {{"m", 1, Doubles{0.5, nan, 3}}});
  const auto other = [](ColumnData m) { return file("b", {{"m", 1, std::move(m)}}); };
  const std::string remedy = "; --last-wins takes that of the last file";
  EXPECT_EQ(fault(other(Floats{.5f, float(nan), 3}), first), "");
  EXPECT_EQ(fault(other(Doubles{0.5, 2, 3}), first), "b: its column 'm' differs in row 1 from that of a" + remedy);
  EXPECT_EQ(fault(file("b", {{"m", 2, Doubles{1, 2, 3, 4, 5, 6}}}), first),
            "b: its column 'm' has 2 numbers per particle, but 1 in a" + remedy);
  EXPECT_EQ(fault(file("b", {{"id", 1, Longs{9, 8, 7}}, {"x", 2, Doubles{5, 6, 3, 4.5, 1, 2}}})),
            "b: its column 'x' differs at the particle with the id 8 from that of a" + remedy);
  // 2^53 and 2^53 + 1 are one double.
  EXPECT_EQ(fault(file("b", {{"n", 1, Doubles{9007199254740992}}}), file("a", {{"n", 1, Longs{9007199254740993}}})),
            "b: its column 'n' differs in row 0 from that of a" + remedy);
}

TEST(JoinTables, TheLastMayWin) {
  const ParticleTable table =
      join_tables({kPlaces, file("b", {{"id", 1, Longs{9, 8, 7}}, {"x", 1, Doubles{3, 2, 1}}})}, true);
  EXPECT_EQ(table.column_names(), "id, x");
  EXPECT_EQ(std::get<Doubles>(table.find("x")->data), (Doubles{1, 2, 3}));
}

TEST(JoinTables, AttributesOfTheFirstStay) {
  const ParticleTable table = join_tables({kPlaces, file("b", {{"m", 1, Doubles{3, 2, 1}}})});
  EXPECT_EQ(*table.find_attribute("from"), "a");
  EXPECT_NE(table.find_attribute("only b"), nullptr);
}

TEST(JoinTables, UnnamedTablesAreRefused) {
  EXPECT_EQ(fault({test::unnamed_table(), "b"}),
            "b: its columns have no names, so that it cannot be joined to other files");
  test::expect_same_columns(join_tables({{test::unnamed_table(), "b"}}), test::unnamed_table());
}

// Of files that name their arrays messages list all, also those that were not read.
TEST(JoinTables, ListsTheColumnsOfAllFiles) {
  TableOfFile npz = file("b", {{"m", 1, Doubles{3, 2, 1}}});
  npz.table.in_file = {{"m", 1, 3}, {"extra", 4, 3}};
  EXPECT_EQ(join_tables({kPlaces, npz}).column_names(), "id, x[2], m, extra[4]");
}

}  // namespace
}  // namespace nbcc
