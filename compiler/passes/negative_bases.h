// Powers of a base x that may be negative -> which of them may take any value where x < 0. In fast math an even power
// of y = 1/sqrt(x) stands for 1/x only if x is never negative, or if no result can tell: because x is not negative
// where the value is used, as in `if (x > 0) s += sqrt(x) + 1/x`, or because every result that takes the value is NaN
// anyway where x < 0, as m/sqrt(x) + m/x is. Tested by tests/unit/negative_bases_test.cpp.
#pragma once
#include <vector>

#include "compiler/ir/ir.h"

namespace nbcc {

struct NegativeBase {
  NodeId power = kNone, base = kNone;  // the power is an even one of the base
};

// By index in `powers`: whether the power may take any value, NaN included, where its base is negative. A root or a
// power of x with a fractional exponent is relied on to be NaN where x < 0; the `powers` themselves are not.
std::vector<bool> free_where_negative(const Graph& graph, const std::vector<Contribution>& contributions,
                                      const std::vector<NegativeBase>& powers);

}  // namespace nbcc
