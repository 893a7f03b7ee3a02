// Products -> monomials: 1/(r*r*r), pow(r2, -1.5) and 1/sqrt(r2)/r2 become one product, whose powers are Pow nodes with
// a constant exponent. Factors are regrouped so that common factors and per-particle factors are multiplied once, but
// only if every value that this forms keeps the range of the source (magnitudes.h); otherwise the product keeps the
// form of the source. An integer power that the source forms from roots, as sqrt(x)*sqrt(x), is NaN where x < 0: if x
// may be negative, it becomes the power of a Pow node, pow(pow(x, 0.5), 2). Part of `rsqrt`, which expands the powers.
// Tested by tests/unit/compiler/passes/optimize/rsqrt_test.cpp and tests/numeric/range_test.cpp.
#pragma once
#include <vector>

#include "compiler/ir/ir.h"

namespace nbcc {

struct Monomials {
  Graph graph;
  // For each node x: powers x^p with |p| up to this may be values of their own. The factors of a larger power must be
  // multiplied to a product one by one.
  std::vector<double> widest_power;
};

// Rewrites the pair graph; the contributions then name nodes of the new graph.
Monomials form_monomials(Pipeline& pipeline);

}  // namespace nbcc
