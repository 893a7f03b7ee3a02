// A pipeline's text parses to a pipeline that computes the same bits, and whose text is the same.
#include "compiler/ir/text/pipeline_text.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <stdexcept>

#include "compiler/passes/passes.h"
#include "compiler/passes/prove/neighbourhood.h"
#include "compiler/source/parse.h"
#include "tests/support/every_pipeline.h"
#include "tests/support/oracle.h"
#include "tests/support/random_particles.h"
#include "tests/support/random_pipeline.h"
#include "tests/support/random_source.h"
#include "tests/support/sampling.h"

namespace nbcc::test {
namespace {

// Params in the order of another pipeline with the same fields: tables come last, and what no output needs is none.
OracleInput rearranged(const Pipeline& from, const Pipeline& to, OracleInput input) {
  const std::vector<double> before = input.params;
  for (const Field& field : from.fields)
    if (field.role == Role::Param)
      std::copy_n(before.begin() + field.first, field.components(), input.params.begin() + to.find(field.name)->first);
  return input;
}

void expect_same_bits(const Pipeline& before, const Pipeline& after, const OracleInput& input) {
  const OracleOutput expected = interpret(before, input), got = interpret(after, rearranged(before, after, input));
  ASSERT_EQ(got.values.size(), expected.values.size());
  for (std::size_t c = 0; c < expected.values.size(); ++c) {
    const bool whole = is_integral(before.field_of(Role::Output, int(c)).type);  // 0 is -0
    for (std::size_t i = 0; i < expected.values[c].size(); ++i) {
      const double want = expected.values[c][i], is = got.values[c][i];
      EXPECT_TRUE(std::bit_cast<std::int64_t>(want) == std::bit_cast<std::int64_t>(is) || (whole && want == is) ||
                  (std::isnan(want) && std::isnan(is)))
          << before.name << ", component " << c << ": " << is << ", not " << want;
    }
  }
}

void expect_same_fields(const Pipeline& before, const Pipeline& after) {
  ASSERT_EQ(after.fields.size(), before.fields.size());
  for (std::size_t k = 0; k < before.fields.size(); ++k) {
    const Field &a = before.fields[k], &b = after.fields[k];
    // A table whose lookups have a constant index may become a param.
    const auto known = [](const Field& f) {
      return std::tuple(f.name, f.role, f.length, f.columns, f.width, f.reduction, f.is_total(), f.follows, f.defaults,
                        f.type);
    };
    EXPECT_EQ(known(b), known(a)) << a.name;
  }
  EXPECT_EQ(after.flops, before.flops);
  EXPECT_EQ(after.dialect, before.dialect);
  EXPECT_EQ(after.finished.empty(), before.finished.empty());
}

// Axes stand in the order of their nodes.
std::string neighbours(const Pipeline& pipeline) {
  const auto proof = prove_neighbourhood(pipeline).neighbourhood;
  if (!proof) return "none";
  const std::string text = neighbourhood_text(pipeline, *proof);
  return std::to_string(proof->axes.size()) + text.substr(text.find_last_of('<'));
}

// The pipeline that its text is.
Pipeline again(const Pipeline& pipeline) {
  const std::string text = pipeline_text(pipeline);
  SCOPED_TRACE(text);
  Pipeline result;
  EXPECT_NO_THROW(result = parse({pipeline.name + ".pipe", text}));
  expect_same_fields(pipeline, result);
  EXPECT_EQ(pipeline_text(result), text);
  EXPECT_EQ(neighbours(result), neighbours(pipeline));
  return result;
}

constexpr const char* kFields =
    "input_i vec3 xi;\ninput_i int ki;\ninput_j vec3 xj;\ninput_j real mj;\ninput_j double dj;\ninput_j int kj;\n"
    "input_j bool on;\nparam real p = 2.0;\nparam vec3 a = vec3(1.0, 0.0, 0.0);\nparam real tab[4];\n"
    "param real rows[2][3];\nparam bool marks[2];\nparam vec3 places[2];\n";

Pipeline parsed(const std::string& rest) { return parse({"case.pipe", kFields + rest}); }

// What stands behind the fields.
std::string written(const std::string& outputs, const std::string& statements) {
  const std::string text = pipeline_text(parsed(outputs + statements));
  return text.substr(text.find("\n\n") + 2);
}

TEST(pipeline_text, of_the_library_computes_the_same_bits) {
  for (const std::string& name : library()) {
    SCOPED_TRACE(name);
    const Oracle oracle(name);
    const Pipeline after = again(oracle.pipeline());
    EXPECT_EQ(after.raw_operations, oracle.pipeline().raw_operations);
    expect_same_bits(oracle.pipeline(), after, oracle.columns_of(random_set(oracle.pipeline(), 20, /*seed=*/3)));
  }
}

TEST(pipeline_text, of_random_pipelines_computes_the_same_bits) {
  for (const std::uint64_t seed : test::sampled_range<std::uint64_t>(0, 300, 4)) {
    SCOPED_TRACE(seed);
    const Pipeline before = parse({"random.pipe", random_pipeline_text(seed)});
    expect_same_bits(before, again(before), random_pipeline_input(before, 5, 9, seed));
  }
}

TEST(pipeline_text, is_what_was_written) {
  for (const char* text :
       {"o += rows[1][2] * mj - rows[0][1];\n", "o += mj / (xj.x * xj.y) - (p - mj) * -xi.y;\n",
        "skip_if(i_index == j_index);\no -= 2.0;\n", "real t0 = mj + 1.0;\no += t0 * t0;\n",
        "if (mj < p && kj != 3) {\n  o -= xj.x;\n}\n", "o += double(mj) * dj;\n",
        "o += tab[kj] + rows[ki][kj] * rows[1][kj] - places[ki].y * tab[2];\n",
        "o += marks[kj] && !marks[ki] ? mj : p;\n",
        "o += spline(tab, mj) + table(rows[ki], mj) - table(places, mj).z;\n", "if (on) {\n  o += mj;\n}\n",
        "o += nearest_image(mj, 4.0) + nearest_image(xj.x, p);\n", "o += on ? pi : -0.0;\n",
        "o += (on ? mj : 0.0) + (on ? p : 0.0);\n", "o += philox(i_index, index(kj), index(5));\n",
        "o += (i_index << kj ^ 3) % 4294967296;\n", "o += kj > 2147483647 ? 1.0 : 5e-324;\n",
        "o += fma(mj, real(kj & ki | 6), min(mj, 0.1));\n",
        "vec3 t0 = nearest_image(vec3(xj.x - xi.x, xj.y, xj.z), a, vec3(0.0, p, 0.0), vec3(0.0, 0.0, 1.0));\no += "
        "t0.y;\n"}) {
    const std::string field =
        std::string(text).find("dj") == std::string::npos ? "output(sum) real o;\n" : "output(sum) double o;\n";
    EXPECT_EQ(written(field, text), text);
  }
}

TEST(pipeline_text, has_the_statements_of_each_reduction) {
  const std::string outputs =
      "output(sum) vec3 f; output(sum) int n; output(product) double q; output(min) real lo; output(max) index hi;\n"
      "output(argmin) index near; output(at) vec3 there; output(logsumexp) real z; output(softmax) vec2 y;\n"
      "output(count) int c; output(argmax) index far[3]; output(at) real high[3];\n";
  const std::string text =
      "f.x += mj;\nf.z -= mj;\nn -= kj;\nq *= mj;\nlo = min(lo, mj);\nhi = max(hi, kj);\nnear = argmin(near, mj);\n"
      "there = at(near, xj);\nz = logsumexp(z, mj);\ny.x = softmax(y.x, mj, p);\ny.y = softmax(y.y, mj, xj.x);\n"
      "c += mj < p;\nc += true;\nfar = argmax(far, kj);\nhigh = at(far, mj);\n";
  EXPECT_EQ(written(outputs, text), text);
}

TEST(pipeline_text, keeps_terms_under_guards_of_their_own) {
  const std::string text =
      "if (on) {\n  s += mj;\n  n += kj;\n  lo = min(lo, mj);\n}\nif (mj > p) {\n  s -= 3.0;\n  n -= ki;\n  lo = "
      "min(lo, p);\n}\n"
      "s += p;\nn += 3;\n";
  EXPECT_EQ(written("output(sum) real s; output(sum) int n; output(min) real lo;\n", text), text);
}

// Else what nothing is written to would not be under it.
TEST(pipeline_text, skips_pairs_of_unwritten_outputs_too) {
  EXPECT_EQ(written("output(sum) real s; output(max) int m;\n", "skip_if(!(mj < p)); s += mj;"),
            "skip_if(!(mj < p));\ns += mj;\n");
}

// Else counts under several guards would be under one more.
TEST(pipeline_text, skips_pairs_of_joined_counts_too) {
  const std::string text = "skip_if(!(mj < p));\nif (on) {\n  s += mj;\n}\nc += on;\nc += kj > 0;\n";
  EXPECT_EQ(written("output(sum) real s; output(count) int c;\n", text), text);
}

// Which is which would be lost, and with it what parsing makes of a && a.
TEST(pipeline_text, keeps_the_order_of_what_is_equal) {
  const std::string text = "skip_if(mj == p);\nif (p != mj) {\n  s += mj;\n}\n";
  EXPECT_EQ(written("output(sum) real s;\n", text), text);
}

TEST(pipeline_text, of_finish_reads_outputs_before_they_change) {
  const Pipeline p = parsed(
      "output(sum) real a1; output(sum) real b1; output(sum) int t0; a1 += mj; b1 += mj; t0 += kj;\n"
      "void finish() { real old = a1; a1 = b1; b1 = old; t0 = t0 + 1; }");
  const std::string text = pipeline_text(p);
  EXPECT_EQ(text.substr(text.find("void")),
            "void finish() {\n  real t1 = a1;\n  a1 = b1;\n  b1 = t1;\n  t0 = t0 + 1;\n}\n");
  expect_same_bits(p, again(p), random_pipeline_input(p, 3, 4, 1));
}

// finish() cannot read a total, so an assignment is no text of it.
TEST(pipeline_text, of_finish_combines_values_with_totals) {
  const std::string finish =
      "void finish() {\n  bool t1 = ki > 2;\n  t0.x += xi.y;\n  if (t1) {\n    t0.x -= xi.x;\n    if (xi.y < p) {\n    "
      "  t0.x += 3.0;\n"
      "    } else {\n      t0.x += p;\n      t0.x += xi.z;\n    }\n  }\n  t0.x += xi.y;\n  t0.z -= xi.y;\n"
      "  least = min(least, xi.x + 1.5);\n  if (!t1) {\n    most = max(most, ki);\n  }\n  n += t1;\n"
      "  n += true;\n  z = logsumexp(z, xi.z);\n  if (t1) {\n    z = logsumexp(z, 2.0);\n  } else {\n"
      "    z = logsumexp(z, xi.y);\n  }\n  q *= 1.0 + xi.x;\n}\n";
  const Pipeline p = parsed(
      "output(total) vec3 t0; output(total, min) real least; output(total, max) int most; output(total, count) int n;\n"
      "output(total, logsumexp) double z; output(total, product) real q;\n"
      "t0 += mj * xj; least = min(least, mj); most = max(most, kj); n += on; z = logsumexp(z, double(mj)); q *= mj;\n" +
      finish);
  const std::string text = pipeline_text(p);
  EXPECT_EQ(text.substr(text.find("void")), finish);
  expect_same_bits(p, again(p), random_pipeline_input(p, 5, 4, 1));
}

TEST(pipeline_text, of_every_kind_of_default) {
  const std::string fields =
      "#pragma flops 7\nparam int least = -2147483648;\nparam float f = 0.1f;\nparam double d = 1e300;\n"
      "param real big = 1e999;\nparam index far = 4503599627370496;\nparam bool yes = true;\n"
      "param real t[2][3] = {{0.1, 0.0, -0.0}, {5.0}};\nparam vec2 v[3] = {vec2(1.0, 2.0), vec2(0.0, 3.0)};\n"
      "output(sum) real o;  // with a comment\n";
  const Pipeline p = parse({"case.pipe", fields + "o += 1.0;"});
  EXPECT_EQ(pipeline_text(p), fields + "\no += 1.0;\n");
  again(p);
}

TEST(pipeline_text, of_whole_numbers_under_several_guards_computes_the_same_bits) {
  const Pipeline p = parsed(
      "output(sum) int n; output(min) int lo; output(max) index hi; output(argmin) index near; output(product) int q;\n"
      "output(count) int c; output(sum) index m;\n"
      "skip_if(kj == 4); n += kj; lo = min(lo, ki); q *= -1; q *= kj;\n"
      "if (on) { n -= ki; lo = min(lo, 2); hi = max(hi, kj); near = argmin(near, kj); q *= 3; c += mj < p; m += kj; }\n"
      "else { n += on; hi = max(hi, ki + j_index); near = argmin(near, mj); c += kj > 0; m += on ? 1 : kj << ki; }\n"
      "c += true;");
  expect_same_bits(p, again(p), random_pipeline_input(p, 5, 9, 2));
}

// Compares nodes of the pair graphs of two pipelines with the same fields and tables.
class PairGraphs {
 public:
  PairGraphs(const Pipeline& a, const Pipeline& b) : a_(a), b_(b) {}

  // True if the guards are equal. A guard that is always true, which parsing makes of `c += true`, equals no guard.
  bool have_equal_guards(NodeId x, NodeId y) {
    const bool is_always = y != kNone && b_.pair.is_constant(y, 1);
    return have_equal(x, is_always ? kNone : y);
  }

  // True if the nodes are equal, apart from the order of commuting arguments.
  bool have_equal(NodeId x, NodeId y) {
    if (x == kNone || y == kNone) return x == y;
    const auto [known, is_new] = equal_.try_emplace({x, y}, false);
    if (!is_new) return known->second;
    const Node &m = a_.pair[x], &n = b_.pair[y];
    const bool is_alike = m.op == n.op && m.type == n.type && m.payload == n.payload;
    const auto in_order = [&](std::size_t first, std::size_t second) {
      return have_equal(m.args[0], n.args[first]) && have_equal(m.args[1], n.args[second]) &&
             have_equal(m.args[2], n.args[2]);
    };
    const bool equal = is_alike && (in_order(0, 1) || (facts(m.op).commutes && in_order(1, 0)));
    return equal_[{x, y}] = equal;
  }

 private:
  const Pipeline &a_, &b_;
  std::map<std::pair<NodeId, NodeId>, bool> equal_;
};

// Replaces the contributions of a parsed pipeline by random conditions and selections of its own conditions and real
// inputs, folded as lowering and the passes fold them.
class ConditionGraph {
 public:
  ConditionGraph(const std::string& text, std::uint64_t seed) : made(parsed(text)), random_(seed) {
    for (NodeId id = 0; id < made.pair.size(); ++id) {
      const Node& n = made.pair[id];
      if (n.type == Type::Bool) conditions_.push_back(id);
      if (n.type == Type::Real && (n.op == Op::InputI || n.op == Op::InputJ)) numbers_.push_back(id);
    }
    const NodeId common = random_.chance(60) ? condition(3) : kNone;
    for (Contribution& c : made.contributions) {
      c.guard = common;
      if (random_.chance(60)) c.guard = common == kNone ? condition(3) : folded(Op::And, common, condition(3));
      if (made.pair[c.value].type == Type::Real) c.value = value();
    }
  }

  Pipeline made;

 private:
  NodeId folded(Op op, NodeId a, NodeId b = kNone, NodeId c = kNone) {
    Node node;
    node.op = op;
    node.type = op == Op::Select ? made.pair[b].type : op == Op::Add ? Type::Real : Type::Bool;
    return fold_node(made.pair, node, {a, b, c});
  }

  NodeId condition(int depth) {
    if (depth == 0) return random_.pick(conditions_);
    const NodeId a = condition(depth - 1), b = condition(random_.below(depth));
    switch (random_.below(7)) {
      case 0:
      case 1:
        return folded(Op::And, a, b);
      case 2:
      case 3:
        return folded(Op::Or, a, b);
      case 4:
        return folded(Op::Select, condition(random_.below(depth)), a, b);
      default:
        return folded(Op::Not, a);
    }
  }

  // A selection, or a sum of a number and a selection of another number or 0.
  NodeId value() {
    const NodeId a = random_.pick(numbers_), b = random_.pick(numbers_), zero = made.pair.constant(0);
    if (random_.chance(50)) return folded(Op::Select, condition(3), a, b);
    return folded(
        Op::Add, a,
        random_.chance(50) ? folded(Op::Select, condition(3), b, zero) : folded(Op::Select, condition(3), zero, b));
  }

  RandomSource random_;
  std::vector<NodeId> conditions_, numbers_;
};

TEST(pipeline_text, of_random_conditions_parses_to_an_equal_graph) {
  const std::string text =
      "output(sum) real s; output(max) real m; output(count) int c; output(count) int d;\n"
      "s += mj; m = max(m, mj * xi.x);\n"
      "c += (on && mj < p) || !(ki == kj) || marks[kj]; d += on == (xi.y <= xj.y) && i_index == j_index && p > 1.0;\n";
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    const Pipeline before = ConditionGraph(text, seed).made;
    const std::string written = pipeline_text(before);
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + written);
    const Pipeline after = parse({"again.pipe", written});
    PairGraphs graphs(before, after);
    for (std::size_t k = 0; k < before.contributions.size(); ++k) {
      const Contribution &a = before.contributions[k], &b = after.contributions[k];
      EXPECT_TRUE(graphs.have_equal_guards(a.guard, b.guard)) << "guard of component " << k;
      EXPECT_TRUE(graphs.have_equal(a.value, b.value)) << "value of component " << k;
    }
    if (testing::Test::HasFailure()) break;  // one text is enough
  }
}

TEST(pipeline_text, of_deep_graphs_has_short_lines) {
  std::string text;
  for (int k = 0; k < 3000; ++k) text += "x = sqrt(x + " + std::to_string(k) + ".0);\n";
  const Pipeline p = parsed("output(sum) real o; real x = mj;\n" + text + "o += x;");
  const std::string again = pipeline_text(p);
  std::size_t longest = 0;
  for (std::size_t at = 0, end = 0; (end = again.find('\n', at)) != std::string::npos; at = end + 1)
    longest = std::max(longest, end - at);
  EXPECT_LE(longest, 120U);
  expect_same_bits(p, parse({"again.pipe", again}), random_pipeline_input(p, 2, 2, 5));
}

TEST(pipeline_text, refuses_what_has_no_words) {
  const auto refusal = [](const Pipeline& pipeline) {
    try {
      return pipeline_text(pipeline);
    } catch (const std::runtime_error& error) {
      return std::string(error.what());
    }
  };
  Pipeline p = parsed("output(sum) real o; o += mj;");
  const NodeId value = p.contributions[0].value;
  p.contributions[0].value = p.pair.unary(Op::RsqrtEstimate, value);
  EXPECT_EQ(refusal(p), "the operation rsqrt_estimate cannot be written");
  p.contributions[0] = {.value = value, .scale = value};
  EXPECT_EQ(refusal(p), "the scale of 'o' cannot be written: it is applied after the sum");
  Pipeline hidden = parsed("param real hypot; output(sum) real o; o += mj * hypot;");
  const NodeId mass = hidden.pair[hidden.contributions[0].value].args[0];
  hidden.contributions[0].value = hidden.pair.binary(Op::Hypot, mass, mass);
  EXPECT_EQ(refusal(hidden), "hypot cannot be written: a field has its name");
  Pipeline spline = parsed("output(sum) real o; o += spline(tab, mj);");
  NodeId coefficient = 0;
  while (spline.pair[coefficient].op != Op::Lookup) ++coefficient;
  spline.contributions[0].value = coefficient;
  EXPECT_NE(pipeline_text(spline).find("spline_coefficient(tab, "), std::string::npos);
}

TEST(pipeline_text, rounds_by_the_nearest_image) {
  Pipeline p = parsed("output(sum) real o; o += mj * 3.0;");
  p.contributions[0].value = p.pair.unary(Op::Rint, p.contributions[0].value);
  expect_same_bits(p, again(p), random_pipeline_input(p, 3, 7, 4));
}

}  // namespace
}  // namespace nbcc::test
