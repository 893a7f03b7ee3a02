#include "compiler/emit/cuda/pair/cuda_cutoff.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

namespace nbcc {
namespace {

constexpr CudaScalars kFloat{.wide = false, .exact = false}, kDouble{.wide = true, .exact = false};

// x = xj - xi and y likewise, and a limit that is the same for all.
struct Pair {
  Graph graph;
  NodeId x = difference(0), y = difference(1), limit = graph.leaf(Op::Param, 0, Type::Real);
  NodeId squares = graph.make(Op::Fma, Type::Real, {x, x, graph.binary(Op::Mul, y, y)});

  NodeId difference(int component) {
    return graph.binary(Op::Sub, graph.leaf(Op::InputJ, component, Type::Real),
                        graph.leaf(Op::InputI, component, Type::Real));
  }
  std::string word(NodeId cutoff, const CudaScalars& scalars = kFloat) {
    return find_reject_bit(graph, {}, cutoff, scalars).text;
  }
};

// The sign of limit - (x x + y y), which costs no more than the distance alone.
TEST(cuda_cutoff, the_limit_begins_the_sum_of_products) {
  Pair p;
  const std::string sign = fmt::format("sign(fmaf(-t{0}, t{0}, fmaf(-t{1}, t{1}, t{2})))", p.x, p.y, p.limit);
  // skip_if(r2 >= limit): a hit unless limit <= r2.
  EXPECT_EQ(p.word(p.graph.unary(Op::Not, p.graph.binary(Op::Le, p.limit, p.squares))), sign);
  // if (r2 <= limit): a miss where limit < r2.
  EXPECT_EQ(p.word(p.graph.binary(Op::Le, p.squares, p.limit)), sign);
  // if (r2 < limit): what is equal is tested once more.
  EXPECT_EQ(p.word(p.graph.binary(Op::Lt, p.squares, p.limit)), sign);
}

TEST(cuda_cutoff, a_difference_is_left_open_at_equality) {
  Pair p;
  EXPECT_EQ(p.word(p.graph.binary(Op::Le, p.x, p.limit)), fmt::format("sign(t{} - t{})", p.limit, p.x));
}

// A pair misses both where it misses one, and misses either where it misses both.
TEST(cuda_cutoff, conditions_join) {
  Pair p;
  const NodeId a = p.graph.binary(Op::Le, p.x, p.limit), b = p.graph.binary(Op::Le, p.y, p.limit);
  const std::string first = p.word(a), second = p.word(b);
  EXPECT_EQ(p.word(p.graph.binary(Op::And, a, b)), fmt::format("({} | {})", first, second));
  EXPECT_EQ(p.word(p.graph.binary(Op::Or, a, b)), fmt::format("({} & {})", first, second));
}

// The text of a condition repeats the parts that it shares: doubled 40 times it would never end.
TEST(cuda_cutoff, a_long_condition_is_computed_as_any_other) {
  Pair p;
  NodeId any = p.graph.binary(Op::Le, p.x, p.limit);
  for (int k = 0; k < 40; ++k) {
    const NodeId a = p.graph.binary(Op::Lt, p.y, p.graph.constant(k)),
                 b = p.graph.binary(Op::Lt, p.x, p.graph.constant(k));
    any = p.graph.binary(Op::Or, p.graph.binary(Op::And, any, a), p.graph.binary(Op::And, any, b));
  }
  EXPECT_EQ(p.word(any), fmt::format("(t{} ? 0u : 0x80000000u)", any));
}

TEST(cuda_cutoff, a_long_sum_is_not_one_expression) {
  Pair p;
  NodeId sum = p.squares;
  for (int k = 0; k < 1000; ++k) sum = p.graph.make(Op::Fma, Type::Real, {p.x, p.y, sum});
  EXPECT_LT(p.word(p.graph.binary(Op::Lt, sum, p.limit)).size(), 2000u);
}

// The sign of a double's NaN is not known.
TEST(cuda_cutoff, doubles_are_compared) {
  Pair p;
  const NodeId cutoff = p.graph.binary(Op::Lt, p.squares, p.limit);
  const RejectBit bit = find_reject_bit(p.graph, {}, cutoff, kDouble);
  EXPECT_EQ(bit.text, fmt::format("(t{} ? 0u : 0x80000000u)", cutoff));
  EXPECT_EQ(bit.reads, std::set<NodeId>{cutoff});
}

TEST(cuda_cutoff, what_is_read_is_told) {
  Pair p;
  const RejectBit bit = find_reject_bit(p.graph, {}, p.graph.binary(Op::Lt, p.squares, p.limit), kFloat);
  EXPECT_EQ(bit.reads, (std::set<NodeId>{p.x, p.y, p.limit}));
}

}  // namespace
}  // namespace nbcc
