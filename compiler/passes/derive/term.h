// Products with a coefficient, and sums of products. Part of derivative.cpp.
#pragma once
#include <vector>

#include "compiler/ir/ir.h"

namespace nbcc {

// coefficient * factors[0] * factors[1] * ...; factors that many terms have come first.
struct Term {
  double coefficient = 1;
  std::vector<NodeId> factors;
  bool operator==(const Term&) const = default;
};
using Sum = std::vector<Term>;

}  // namespace nbcc
