// A product with a number before it, and sums of such. Part of derivative.cpp.
#pragma once
#include <vector>

#include "compiler/ir/ir.h"

namespace nbcc {

// coefficient * factors[0] * factors[1] * ...; what many terms share comes first.
struct Term {
  double coefficient = 1;
  std::vector<NodeId> factors;
  bool operator==(const Term&) const = default;
};
using Sum = std::vector<Term>;

}  // namespace nbcc
