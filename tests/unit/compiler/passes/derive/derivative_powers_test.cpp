// Derivatives of powers with exponents of run time against those of products.
#include <gtest/gtest.h>

#include <cmath>
#include <initializer_list>
#include <random>
#include <span>
#include <vector>

#include "compiler/passes/derive/derivative.h"
#include "tests/support/graph_values.h"
#include "tests/support/hand_made.h"

namespace nbcc {
namespace {

using test::Values;

// Products and sums of powers of bases that are often 0, whose exponents are inputs that are whole: those of the same
// expression with products in place of pow().
class RandomPowers {
 public:
  static constexpr int kLeaves = 3, kPowers = 3;  // inputs 0 to 2, and the exponents behind them

  explicit RandomPowers(unsigned seed) : seed_(seed) {
    std::mt19937_64 random(seed);
    const auto one_of = [&](std::initializer_list<double> values) {
      return *(values.begin() + random() % values.size());
    };
    for (int k = 0; k < kLeaves; ++k) at.push_back(one_of({-1, 0, 0, 0.5, 1}));
    for (int k = 0; k < kPowers; ++k) at.push_back(one_of({0, 1, 2, 3, 4}));
  }
  NodeId make(Graph& graph, bool by_products) const {
    std::mt19937_64 random(seed_ + 1);
    const auto leaf = [&] { return test::input_i(graph, int(random() % kLeaves)); };
    NodeId y = graph.constant(0.25);
    for (int k = 0; k < kPowers; ++k) {
      NodeId base = leaf();
      if (const auto kind = random() % 3; kind > 0) base = graph.binary(kind == 1 ? Op::Sub : Op::Mul, base, leaf());
      NodeId power = graph.constant(1);
      if (by_products)
        for (int m = 0; m < int(at[std::size_t(kLeaves + k)]); ++m) power = graph.binary(Op::Mul, power, base);
      else
        power = graph.binary(Op::Pow, base, test::input_i(graph, kLeaves + k));
      if (random() % 2 == 0) power = graph.binary(Op::Mul, power, leaf());
      y = graph.binary(random() % 2 == 0 ? Op::Add : Op::Mul, y, power);
    }
    return y;
  }
  std::vector<double> at;

 private:
  unsigned seed_;
};

// [order 1, order 2][leaf, or leaf * kLeaves + leaf], by the gradient and, for order 1, by rates of change.
std::vector<double> derivatives_of(const RandomPowers& powers, bool by_products) {
  Graph g;
  const NodeId y = powers.make(g, by_products);
  std::vector<NodeId> leaves, found;
  for (int k = 0; k < RandomPowers::kLeaves; ++k) leaves.push_back(test::input_i(g, k));
  const std::vector<NodeId> first = gradient(g, y, leaves);
  for (const NodeId leaf : leaves) found.push_back(rates_of_change(g, std::span(&y, 1), {{leaf, g.constant(1)}})[0]);
  found.insert(found.end(), first.begin(), first.end());
  for (const NodeId one : first) {
    const std::vector<NodeId> second =
        one == kNone ? std::vector<NodeId>(leaves.size(), kNone) : gradient(g, one, leaves);
    found.insert(found.end(), second.begin(), second.end());
  }
  const Values<double> values(g, powers.at);
  std::vector<double> numbers;
  for (const NodeId one : found) numbers.push_back(one == kNone ? 0 : values[one]);
  return numbers;
}

TEST(derivative, of_powers_with_whole_exponents_of_run_time_is_that_of_products) {
  for (unsigned seed = 0; seed < 4000; ++seed) {
    const RandomPowers powers(seed);
    const std::vector<double> found = derivatives_of(powers, false), expected = derivatives_of(powers, true);
    for (std::size_t k = 0; k < expected.size(); ++k)
      ASSERT_NEAR(found[k], expected[k], 1e-11 * (1 + std::fabs(expected[k]))) << "seed " << seed << ", number " << k;
  }
}

}  // namespace
}  // namespace nbcc
