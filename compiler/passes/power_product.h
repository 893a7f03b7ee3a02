// The algebra of exponents that the passes share. A product of powers c x^a y^b is a coefficient and a vector of
// exponents: a product adds the vectors, a power multiplies them by a number. What may be read as one product is the
// decision of each pass. Tested by tests/unit/power_product_test.cpp.
#pragma once
#include <cmath>
#include <map>
#include <optional>
#include <vector>

#include "compiler/ir/ir.h"

namespace nbcc {

inline bool is_whole(double exponent) { return exponent == std::floor(exponent); }
inline bool is_even(double exponent) { return std::fmod(exponent, 2) == 0; }
// Multiples of 1/2 up to this exponent are made by products and square roots, other powers by pow().
inline constexpr double kMaxProductExponent = 24;
inline bool is_made_by_products(double exponent) {
  return is_whole(2 * exponent) && std::fabs(exponent) <= kMaxProductExponent;
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

// One operation: coefficient * args[0]^exponents[0] * args[1]^exponents[1], of `count` arguments.
struct Factors {
  double coefficient = 1;
  int count = 0;
  std::array<double, 2> exponents{};
};
// Reads constants, -a, a*b, a/b, sqrt(a), rsqrt(a), and pow(a, b) with a constant b; nothing of whole numbers.
std::optional<Factors> read_factors(const Graph& graph, NodeId id);

// All that products, quotients, powers and conversions between floating types multiply, in exact arithmetic. A base
// under a root is assumed not to be negative: else the value is NaN. The result has no exponent 0.
PowerProduct read_product(const Graph& graph, NodeId id);
NodeId make_product(Graph& graph, const PowerProduct& product, Type type);

// The node without conversions from one floating type to another.
NodeId look_through_casts(const Graph& graph, NodeId id);

}  // namespace nbcc
