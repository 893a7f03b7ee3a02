#include "compiler/ir/verify.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "compiler/text/diagnostic.h"
#include "tests/support/hand_made.h"

namespace nbcc {
namespace {

using test::input_i;
using test::input_j;

std::string complaint(const Pipeline& pipeline) {
  try {
    verify(pipeline, "fold");
  } catch (const InternalError& e) {
    return e.what();
  }
  return "";
}

Pipeline good() {
  Pipeline p = test::sum_of([](Graph& g) { return g.binary(Op::Sub, input_j(g, 0), input_i(g, 0)); });
  p.contributions[0].guard = p.pair.binary(Op::Lt, input_i(p.pair, 0), input_j(p.pair, 0));
  p.contributions[0].scale = p.pair.leaf(Op::Param, 0, Type::Real);
  p.finished = {p.finish.unary(Op::Sqrt, p.finish.leaf(Op::Output, 0, Type::Real))};
  return p;
}

TEST(verify, accepts_a_good_pipeline) { EXPECT_EQ(complaint(good()), ""); }

TEST(verify, kinds_fit_roles_and_reductions) {
  const auto with = [](auto change) {
    Pipeline p = good();
    change(p.fields.back());
    return complaint(p);
  };
  EXPECT_THAT(with([](Field& f) { f.kind = FieldKind::Param; }), testing::HasSubstr("kind does not fit its role"));
  EXPECT_THAT(with([](Field& f) { f.kind = FieldKind::Histogram, f.terms = 1; }),
              testing::HasSubstr("kind does not fit its reduction"));
  EXPECT_EQ(with([](Field& f) { f.kind = FieldKind::Total; }), "");
}

TEST(verify, names_pass_node_and_reason) {
  Pipeline p = good();
  p.pair.make(Op::Add, Type::Double, {0, 1, kNone});
  EXPECT_EQ(complaint(p), "after fold: pair %5 = add.double %0 %1: its arguments and its type differ");
}

// Each breaks one promise of ir.h.
struct Breakage {
  const char* complaint;
  std::function<void(Pipeline&)> apply;
};

template <std::size_t n>
void expect_complaints(const Breakage (&table)[n]) {
  for (const Breakage& breakage : table) {
    Pipeline p = good();
    breakage.apply(p);
    EXPECT_THAT(complaint(p), testing::HasSubstr(breakage.complaint));
  }
}

NodeId int_constant(Graph& g) { return g.constant(1, Type::Int); }
NodeId condition(Graph& g) { return g.constant(1, Type::Bool); }

const Breakage kNodes[] = {
    {"does not precede its user", [](Pipeline& p) { p.pair.make(Op::Neg, Type::Real, {99, kNone, kNone}); }},
    {"does not precede its user", [](Pipeline& p) { p.pair.make(Op::Add, Type::Real, {0, kNone, kNone}); }},
    {"too many arguments", [](Pipeline& p) { p.pair.make(Op::Neg, Type::Real, {0, 1, kNone}); }},
    {"arguments and its type differ", [](Pipeline& p) { p.pair.binary(Op::Add, 0, int_constant(p.pair)); }},
    {"arguments and its type differ", [](Pipeline& p) { p.pair.make(Op::Exp, Type::Double, {0, kNone, kNone}); }},
    {"arguments and its type differ", [](Pipeline& p) { p.pair.select(condition(p.pair), 0, int_constant(p.pair)); }},
    {"condition is not bool", [](Pipeline& p) { p.pair.select(0, 0, 1); }},
    {"arguments differ in type", [](Pipeline& p) { p.pair.binary(Op::Lt, 0, int_constant(p.pair)); }},
    {"comparison gives bool", [](Pipeline& p) { p.pair.make(Op::Eq, Type::Real, {0, 1, kNone}); }},
    {"logic is of bool", [](Pipeline& p) { p.pair.binary(Op::And, 0, condition(p.pair)); }},
    {"arithmetic on bool", [](Pipeline& p) { p.pair.unary(Op::Neg, condition(p.pair)); }},
    {"of floating point numbers", [](Pipeline& p) { p.pair.unary(Op::Sqrt, int_constant(p.pair)); }},
    {"of int or index", [](Pipeline& p) { p.pair.binary(Op::Rem, 0, 1); }},
    {"bool constant is 0 or 1", [](Pipeline& p) { p.pair.constant(2, Type::Bool); }},
    {"has a fraction", [](Pipeline& p) { p.pair.constant(0.5, Type::Index); }},
    {"exceeds 32 bits", [](Pipeline& p) { p.pair.constant(1e10, Type::Int); }},
    {"component does not exist", [](Pipeline& p) { p.pair.leaf(Op::InputI, 1, Type::Real); }},
    {"component does not exist", [](Pipeline& p) { p.pair.leaf(Op::Param, -1, Type::Real); }},
    {"type is not its field's", [](Pipeline& p) { p.pair.leaf(Op::InputJ, 0, Type::Float); }},
    {"index is of type index", [](Pipeline& p) { p.pair.leaf(Op::IIndex, 0, Type::Int); }},
    {"read before finish()", [](Pipeline& p) { p.pair.leaf(Op::Output, 0, Type::Real); }},
    {"knows no j-particle", [](Pipeline& p) { p.finish.leaf(Op::InputJ, 0, Type::Real); }},
    {"knows no j-particle", [](Pipeline& p) { p.finish.leaf(Op::JIndex, 0, Type::Index); }},
};

const Breakage kPipelines[] = {
    {"one contribution per output", [](Pipeline& p) { p.contributions.emplace_back(); }},
    {"it has no value", [](Pipeline& p) { p.contributions[0].value = kNone; }},
    {"a node that does not exist", [](Pipeline& p) { p.contributions[0].value = 99; }},
    {"value is a bool", [](Pipeline& p) { p.contributions[0].value = condition(p.pair); }},
    {"guard is not bool", [](Pipeline& p) { p.contributions[0].guard = input_i(p.pair, 0); }},
    {"scale depends on j", [](Pipeline& p) { p.contributions[0].scale = input_j(p.pair, 0); }},
    {"scale depends on j", [](Pipeline& p) { p.contributions[0].scale = p.contributions[0].value; }},
    {"scale is a bool", [](Pipeline& p) { p.contributions[0].scale = condition(p.pair); }},
    {"only a sum has a scale", [](Pipeline& p) { p.fields.back().reduction = Reduction::Max; }},
    {"one result per output", [](Pipeline& p) { p.finished.push_back(0); }},
    {"result names a node", [](Pipeline& p) { p.finished[0] = kNone; }},
    {"result is a bool", [](Pipeline& p) { p.finished[0] = condition(p.finish); }},
    {"does not follow", [](Pipeline& p) { p.fields[0].first = 1; }},
    {"its shape is impossible", [](Pipeline& p) { p.fields[0].width = 5; }},
    {"one default per component", [](Pipeline& p) { p.fields[2].defaults = {1, 2}; }},
};

TEST(verify, refuses_broken_nodes) { expect_complaints(kNodes); }

TEST(verify, refuses_broken_pipelines) { expect_complaints(kPipelines); }

}  // namespace
}  // namespace nbcc
