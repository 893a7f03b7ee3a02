// Powers of a base x that may be negative -> which of them may have any value where x < 0. In fast math an even power
// of y = 1/sqrt(x) replaces 1/x only if x is never negative, or if no result depends on the difference: x is not
// negative where the value is used, as in `if (x > 0) s += sqrt(x) + 1/x`, or every result that uses the value is NaN
// anyway where x < 0, as m/sqrt(x) + m/x is. Tested by tests/unit/compiler/passes/optimize/negative_bases_test.cpp.
#pragma once
#include <vector>

#include "compiler/ir/ir.h"

namespace nbcc {

struct NegativeBase {
  NodeId power = kNone, base = kNone;  // `power` is an even power of `base`
};

// By index in `powers`: true if the power may have any value, NaN included, where its base is negative. The analysis
// relies on roots and fractional powers of x being NaN where x < 0, but not on `powers` themselves.
std::vector<bool> free_where_negative(const Graph& graph, const std::vector<Contribution>& contributions,
                                      const std::vector<NegativeBase>& powers);

}  // namespace nbcc
