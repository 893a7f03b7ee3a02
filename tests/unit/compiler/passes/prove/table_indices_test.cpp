// Which indices of tables are checked, of what numbers they are the sums, and under which conditions.
#include "compiler/passes/prove/table_indices.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "compiler/ir/text/expression_text.h"
#include "compiler/source/parse.h"

namespace nbcc {
namespace {

// A line for each check: "table[count]: index, i: value if condition, j: ..."; then those that are not checked.
std::string checks_of(const std::string& text) {
  const Pipeline pipeline =
      parse({"p.pipe",
             "input_i real xi; input_i int ti; input_i int ki; input_j real xj; input_j int tj; param int n = 1;\n"
             "param real t[4] = {1, 2, 3, 4}; param real u[5] = {1, 2, 3, 4, 5}; param real e[2][3] = {{1, 2, 3}, {4, "
             "5, 6}};\n"
             "param real g[3][3] = {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}};\n"
             "output(sum) real s; s += xi * xj * real(ti + tj + ki + n) * (t[0] + u[0] + e[0][0]);\n" +
                 text});
  const TableIndices found = find_table_indices(pipeline);
  std::string all;
  const auto write = [&](NodeId id) { return expression_text(pipeline.fields, found.graph, id); };
  for (const IndexCheck& check : found.checks) {
    all += fmt::format("{}[{}]: {}", check.table, check.count, check.index);
    for (std::size_t side = 0; side < kIndexSides; ++side) {
      if (check.parts[side].range < 0) continue;
      const TableIndices::Range& range = found.of_side[side][std::size_t(check.parts[side].range)];
      all += fmt::format(", {}: {}", std::array{"i", "j", "pair"}[side], write(range.value));
      const std::string condition = write(range.condition);
      if (condition != "1") all += " if " + condition;
    }
    all += "\n";
  }
  for (const UncheckedIndex& one : found.unchecked)
    all += fmt::format("{}: {} not: {}\n", one.table, one.index, one.reason);
  return all;
}

TEST(table_indices, of_one_particle_are_checked_for_all_particles) {
  EXPECT_EQ(checks_of("s += t[ti];"), "t[4]: ti, i: ti\n");
  EXPECT_EQ(checks_of("s += t[tj - 1];"), "t[4]: tj - 1, j: tj - 1\n");
  EXPECT_EQ(checks_of("s += e[ti][tj];"), "e[2]: ti, i: ti\ne[3]: tj, j: tj\n");
  EXPECT_EQ(checks_of("if (abs(xj - xi) < 1) s += t[ti];"), "t[4]: ti, i: ti\n");
}

TEST(table_indices, of_constants_and_params_are_checked_once) {
  EXPECT_EQ(checks_of("s += xj * t[n];"), "t[4]: n, i: n\n");
  EXPECT_EQ(checks_of("s += xj * t[3];"), "");
}

TEST(table_indices, guards_of_the_particle_hold) {
  EXPECT_EQ(checks_of("if (ti >= 0) s += t[ti];"), "t[4]: ti, i: ti if 0 <= ti\n");
  EXPECT_EQ(checks_of("skip_if(ti < 0); s += t[ti];"), "t[4]: ti, i: ti if not(ti < 0)\n");
  EXPECT_EQ(checks_of("if (ti >= 0 && tj >= 0) s += e[ti][tj];"),
            "e[2]: ti, i: ti if 0 <= ti\ne[3]: tj, j: tj if 0 <= tj\n");
  EXPECT_EQ(checks_of("skip_if(ti < 0 || tj < 0); s += e[ti][tj];"),
            "e[2]: ti, i: ti if not(ti < 0)\ne[3]: tj, j: tj if not(tj < 0)\n");
  EXPECT_EQ(checks_of("if (ti >= 0) { if (xj > 0) s += t[ti]; }"), "t[4]: ti, i: ti if 0 <= ti\n");
  EXPECT_EQ(checks_of("if (ti >= 0 || xj > xi) s += t[ti];"), "t[4]: ti, i: ti\n") << "another pair may need it";
}

TEST(table_indices, a_value_counts_where_it_is_used) {
  EXPECT_EQ(checks_of("real x = t[ti]; if (ti > 0) s += x;"), "t[4]: ti, i: ti if 0 < ti\n");
  EXPECT_EQ(checks_of("s += ti < 0 ? 0.0 : t[ti];"), "t[4]: ti, i: ti if not(ti < 0)\n");
  EXPECT_EQ(checks_of("real x = 0; if (ti >= 0) x = t[ti]; else x = u[ki]; s += x;"),
            "t[4]: ti, i: ti if 0 <= ti\nu[5]: ki, i: ki if not(0 <= ti)\n");
  EXPECT_EQ(checks_of("if (ti >= 0) s += t[ti]; if (ti > 2) s += 2 * t[ti];"),
            "t[4]: ti, i: ti if or(0 <= ti, 2 < ti)\n");
  EXPECT_EQ(checks_of("if (ti >= 0 && t[ti] > 1) s += 1;"), "t[4]: ti, i: ti if 0 <= ti\n") << "as C evaluates them";
  EXPECT_EQ(checks_of("real x = t[ti];"), "") << "nobody reads it";
}

TEST(table_indices, of_pairs_are_sums_of_numbers_of_both) {
  EXPECT_EQ(checks_of("s += t[ti * 2 + tj];"), "t[4]: ti * 2 + tj, i: ti * 2, j: tj\n");
  EXPECT_EQ(checks_of("s += t[n * (ti - tj) + 1];"), "t[4]: n * (ti - tj) + 1, i: ti * n + 1, j: -tj * n\n");
  EXPECT_EQ(checks_of("if (i_index != j_index) s += t[ti + tj];"), "t[4]: ti + tj, i: ti, j: tj\n");
}

TEST(table_indices, that_cannot_be_told_apart_are_named) {
  EXPECT_EQ(checks_of("s += t[ti * tj];"),
            "t: ti * tj not: it depends on both particles of a pair, and is not a sum of one number of each\n");
  EXPECT_EQ(checks_of("if (ti + tj < 4) s += t[ti + tj];"),
            "t: ti + tj not: it depends on both particles of a pair, and so does a condition of its lookup\n");
  EXPECT_EQ(checks_of("void finish() { s = t[int(s)]; }"), "t: s not: it depends on results\n");
}

TEST(table_indices, that_are_sorted_are_checked_as_the_two_values) {
  const std::string both = "g[3]: ti, i: ti\ng[3]: tj, j: tj\n";
  EXPECT_EQ(checks_of("s += g[min(ti, tj)][max(ti, tj)];"), both);
  EXPECT_EQ(checks_of("s += g[max(ti, tj)][min(tj, ti)];"), both);
  EXPECT_EQ(checks_of("if (ti >= 0) s += g[min(ti, tj)][max(ti, tj)];"),
            "g[3]: ti, i: ti if 0 <= ti\ng[3]: tj, j: tj\n");
  const std::string not_a_sum =
      " not: it depends on both particles of a pair, and is not a sum of one number of each\n";
  EXPECT_EQ(checks_of("s += g[min(ti, tj)][max(ti, ki)];"),
            "g[3]: max(ti, ki), i: max(ti, ki)\ng: min(ti, tj)" + not_a_sum);
  EXPECT_EQ(checks_of("s += e[min(ti, tj)][max(ti, tj)];"), "e: min(ti, tj)" + not_a_sum + "e: max(ti, tj)" + not_a_sum)
      << "its rows are not as many as its columns";
  EXPECT_EQ(checks_of("s += t[min(ti, tj)];"), "t: min(ti, tj)" + not_a_sum);
}

TEST(table_indices, of_finish_and_of_interpolated_rows_are_checked) {
  EXPECT_EQ(checks_of("void finish() { s = s + t[ki]; }"), "t[4]: ki, i: ki\n");
  EXPECT_EQ(checks_of("s += table(e[ti], xj);"), "e[2]: ti, i: ti\n") << "places between elements hold the ends";
}

}  // namespace
}  // namespace nbcc
