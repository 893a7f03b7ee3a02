// Products of powers, for several passes. A product c x^a y^b is a coefficient and a vector of exponents: a product
// adds the vectors, a power multiplies a vector by a number. Each pass decides which operations it reads as one
// product. Tested by tests/unit/compiler/passes/facts/power_product_test.cpp.
#pragma once
#include <cmath>
#include <map>
#include <optional>
#include <vector>

#include "compiler/ir/ir.h"

namespace nbcc {

inline bool is_integer(double exponent) { return exponent == std::floor(exponent); }
inline bool is_even(double exponent) { return std::fmod(exponent, 2) == 0; }
// Multiples of 1/2 up to this exponent are computed by products and square roots, other powers by pow().
inline constexpr double kMaxProductExponent = 24;
inline bool is_made_by_products(double exponent) {
  return is_integer(2 * exponent) && std::fabs(exponent) <= kMaxProductExponent;
}

// base -> exponent
using Exponents = std::map<NodeId, double>;
// Multiplies the product `a` by b^power. Exponents that become 0 are kept: x/x is NaN where x is 0.
void multiply(Exponents& a, const Exponents& b, double power);
void drop_zeros(Exponents& exponents);

struct PowerProduct {
  double coefficient = 1;
  Exponents exponents;

  void multiply(const PowerProduct& other, double power);
};

// One operation, coefficient * args[0]^exponents[0] * args[1]^exponents[1], with `count` arguments.
struct Factors {
  double coefficient = 1;
  int count = 0;
  std::array<double, 2> exponents{};
};
// Reads constants, -a, a*b, a/b, sqrt(a), rsqrt(a), and pow(a, b) with a constant b, if they have a floating type.
std::optional<Factors> read_factors(const Graph& graph, NodeId id);

// The product that a node computes by products, quotients, powers and conversions between floating types, in exact
// arithmetic. A base under a root is assumed to be non-negative, since the value is NaN otherwise. No exponent of the
// result is 0.
PowerProduct read_product(const Graph& graph, NodeId id);
NodeId make_product(Graph& graph, const PowerProduct& product, Type type);

// The node without conversions between floating types.
NodeId look_through_casts(const Graph& graph, NodeId id);

}  // namespace nbcc
