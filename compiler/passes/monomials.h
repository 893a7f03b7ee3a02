// Products -> monomials: 1/(r*r*r), pow(r2, -1.5) and 1/sqrt(r2)/r2 are one product, whose powers stand as Pow nodes
// with a constant exponent. Factors are regrouped, so that what several products share and what belongs to one particle
// is multiplied once, but only where every value that this forms keeps the range of the text (magnitudes.h); else a
// product stays as it is written. A whole power that the text makes of roots, as sqrt(x)*sqrt(x), is NaN where x < 0:
// where x may be negative it becomes the power of a Pow node, pow(pow(x, 0.5), 2). Part of `rsqrt`, which makes the
// powers. Tested by tests/unit/rsqrt_test.cpp and tests/numeric/range_test.cpp.
#pragma once
#include <vector>

#include "compiler/ir/ir.h"

namespace nbcc {

struct Monomials {
  Graph graph;
  // By node: a power x^p with |p| up to this may be a value of its own. Larger ones must be multiplied on to a product
  // piece by piece.
  std::vector<double> widest_power;
};

// Of the pair graph; the contributions name nodes of the new one.
Monomials form_monomials(Pipeline& pipeline);

}  // namespace nbcc
