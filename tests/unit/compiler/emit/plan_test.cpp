#include "compiler/emit/plan.h"

#include <gtest/gtest.h>

#include <string>

#include "compiler/emit/cpu/emit_cpu.h"
#include "compiler/passes/optimize/optimize.h"
#include "compiler/source/parse.h"

namespace nbcc {
namespace {

struct Planned {
  Pipeline pipeline;
  Plan plan;
};

Planned planned(const std::string& text, const Options& options = {}) {
  Planned p{optimize(parse({"case.pipe", text}), options, facts(Isa::Avx2).target), {}};
  p.plan = make_plan(p.pipeline, options);
  return p;
}

// "x0 l0 x2 *": whole (or high) and low parts by component, derived columns as stars.
std::string columns(const SidePlan& side) {
  std::string text;
  for (const Column& c : side.columns) {
    const bool derived = c.part == Column::Part::Derived;
    text += (text.empty() ? "" : " ") + (derived ? "*"
                                                 : (c.part == Column::Part::Low    ? "l"
                                                    : c.part == Column::Part::High ? "h"
                                                                                   : "x") +
                                                       std::to_string(c.component));
  }
  return text;
}

struct PlanCase {
  const char* name;
  Precision precision;
  const char* text;
  const char* i;
  const char* j;
};

#define FIELDS                                                                                                   \
  "input_i real xi; input_i real hi; input_j real xj; input_j real mj; param real p = 2.0; output(sum) real s; " \
  "output(max) real m;\n"
constexpr Precision kSingle = Precision::Single, kMixed = Precision::Mixed, kDouble = Precision::Double;

const PlanCase kPlanCases[] = {
    {"what_is_needed", kSingle, FIELDS "s += (xi - xj) * (xi - xj); m = max(m, p);", "x0", "x0"},
    {"nothing_of_i", kSingle, FIELDS "s += xj; m = max(m, xj);", "", "x0"},
    {"nothing_at_all", kSingle, FIELDS "s += 1.0; m = max(m, p);", "", ""},
    {"made_once_per_j", kSingle, FIELDS "s += exp(mj) * (xi - xj); m = max(m, 0.0);", "x0", "x0 x1 *"},
    {"made_once_per_i", kSingle, FIELDS "m = max(m, exp(hi) + xj); s += 1.0;", "x1 *", "x0"},
    {"i_factor_of_a_sum_is_read_after_it", kSingle, FIELDS "s += hi * (xi - xj); m = max(m, 0.0);", "x0 x1", "x0"},
    {"finish_reads_i", kSingle, FIELDS "s += xj; m = max(m, 0.0);\nvoid finish() { s = s * hi; }", "x1", "x0"},
    {"finish_column_stands_before_derived_ones", kSingle,
     FIELDS "m = max(m, exp(xi) + xj); s += 1.0;\nvoid finish() { s = s * hi; }", "x0 x1 *", "x0"},
    {"mixed_difference", kMixed, FIELDS "s += (xi - xj) * mj; m = max(m, 0.0);", "h0 l0", "h0 l0 x1"},
    {"mixed_only_differences", kMixed, FIELDS "s += xi * xj; m = max(m, hi - mj);", "x0 h1 l1", "x0 h1 l1"},
    {"double_has_no_parts", kDouble, FIELDS "s += (xi - xj) * mj; m = max(m, 0.0);", "x0", "x0 x1"},
    {"conditions_are_made_again", kSingle, FIELDS "if (mj < 1.0) s += xi - xj; m = max(m, 0.0);", "x0", "x0 x1"},
};

TEST(plan, columns) {
  for (const PlanCase& c : kPlanCases) {
    const Planned p = planned(c.text, {.precision = c.precision});
    EXPECT_EQ(columns(p.plan.i), c.i) << c.name;
    EXPECT_EQ(columns(p.plan.j), c.j) << c.name;
    for (const SidePlan* side : {&p.plan.i, &p.plan.j}) {
      for (const auto& [node, column] : side->derived) {
        EXPECT_EQ(side->columns[std::size_t(column)].part, Column::Part::Derived) << c.name;
      }
    }
  }
}

TEST(plan, elements_follow_the_precision) {
  EXPECT_EQ(element_of(Type::Real, kSingle), Element::Float);
  EXPECT_EQ(element_of(Type::Real, kMixed), Element::Float);
  EXPECT_EQ(element_of(Type::Real, kDouble), Element::Double);
  EXPECT_EQ(element_of(Type::Float, kDouble), Element::Float);
  EXPECT_EQ(element_of(Type::Double, kSingle), Element::Double);
  EXPECT_EQ(element_of(Type::Bool, kSingle), Element::Int32);
  EXPECT_EQ(element_of(Type::Index, kSingle), Element::Int64);
}

#define PAIR                                                                                                        \
  "input_i vec3 xi; input_j vec3 xj; param real rc2 = 1.0; output(sum) real s; output(sum) real t;\nvec3 d = xj - " \
  "xi; real r2 = dot(d, d);\n"

bool branches(const char* statements) { return planned(std::string(PAIR) + statements).plan.any_guard != kNone; }

TEST(plan, branches_where_a_whole_vector_may_miss_the_cutoff) {
  EXPECT_TRUE(branches("if (r2 < rc2) { s += exp(-r2) * (r2 + 1.0) * (r2 + 2.0); t += r2 * r2 + r2; }"));
  EXPECT_TRUE(branches(
      "skip_if(i_index == j_index); skip_if(r2 >= rc2); s += exp(-r2) * (r2 + 1.0) * (r2 + 2.0); t += r2 * r2 + r2;"));
}

TEST(plan, does_not_branch_where_it_would_not_pay) {
  EXPECT_FALSE(branches("skip_if(i_index == j_index); s += exp(-r2) * (r2 + 1.0) * (r2 + 2.0); t += r2 * r2 + r2;"));
  EXPECT_FALSE(branches("if (r2 > 0.0) { s += exp(-r2) * (r2 + 1.0) * (r2 + 2.0); t += r2 * r2 + r2; }"));
  EXPECT_FALSE(branches("if (r2 < rc2) s += exp(-r2) * (r2 + 1.0) * (r2 + 2.0); t += r2;"));
  EXPECT_FALSE(branches("if (r2 < rc2) { s += r2; t += 1.0; }"));
}

// Whether the guard of a text's sum is one that fails for single pairs only.
bool sets_apart(const std::string& condition) {
  const Pipeline p = parse({"case.pipe",
                            "input_i real xi; input_j real xj; param real rc = 1.0; output(sum) real s;\n"
                            "real d = xj - xi; skip_if(" +
                                condition + "); s += 1.0 / d;"});
  return excludes_single_pairs(p.pair)[std::size_t(p.contributions[0].guard)];
}

TEST(plan, equalities_set_pairs_apart) {
  for (const char* condition : {"d == 0.0", "i_index == j_index", "i_index == j_index || d == 0.0"})
    EXPECT_TRUE(sets_apart(condition)) << condition;
}

TEST(plan, cutoffs_and_opposite_conditions_do_not) {
  for (const char* condition : {"d > rc", "d != 0.0", "d == 0.0 || d > rc", "d == 0.0 && i_index == j_index"})
    EXPECT_FALSE(sets_apart(condition)) << condition;
}

// Written out, this condition has 2^40 comparisons.
TEST(plan, a_condition_of_shared_parts_is_followed_once) {
  std::string text = "bool c = r2 < rc2;\n";
  for (int k = 0; k < 40; ++k) text += "c = (c || d.x < 0.5) && (c || d.y < " + std::to_string(k) + ".5);\n";
  EXPECT_TRUE(branches((text + "if (c) { s += exp(-r2) * (r2 + 1.0) * (r2 + 2.0); t += r2 * r2 + r2; }").c_str()));
}

Plan plan_of_whole(const std::string& text) {
  return planned("input_j int k;\ninput_j index n;\ninput_j real x;\n" + text).plan;
}

TEST(plan, extremes_of_whole_numbers_are_held_in_64_bits) {
  for (const char* text :
       {"output(min) int o;\no = min(o, k);", "output(max) index o;\no = max(o, n);",
        "output(argmin) index o;\no = argmin(o, k);", "output(argmax) index o;\no = argmax(o, n);",
        "output(min) int o;", "output(argmin) index o;\nif (x > 0) o = argmin(o, k);\nif (x < 1) o = argmin(o, n);"})
    EXPECT_TRUE(plan_of_whole(text).outputs[0].is_whole()) << text;
}

TEST(plan, other_results_are_doubles) {
  for (const char* text : {"output(sum) index o;\no += n;", "output(min) real o;\no = min(o, k);",
                           "output(argmin) index o;\no = argmin(o, x);",
                           "output(argmin) index o;\nif (x > 0) o = argmin(o, k);\nif (x < 1) o = argmin(o, x);"})
    EXPECT_FALSE(plan_of_whole(text).outputs[0].is_whole()) << text;
}

}  // namespace
}  // namespace nbcc
