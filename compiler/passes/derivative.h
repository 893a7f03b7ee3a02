// A value and variables -> its derivatives, as nodes of the same graph. Both ways of accumulation are here: backwards,
// which gives the derivatives of one value by many variables for the price of a few evaluations, and forwards, which
// gives the rates of many values when variables change at given rates.
//
// Any node may be a variable: what is made of it is followed, what it is made of is not. Rounding, comparisons and
// whole numbers are constant. Of a choice (Select, Min, Max) the branch that is taken counts; the other is dropped by a
// selection, never multiplied by 0, so that its NaN or infinity is not met. Of two equal numbers Min and Max take the
// second; |x| has the derivative 1 at 0.
//
// Products, quotients and powers are differentiated as one: by a factor x^p with p < 0 the product M has the derivative
// p M / x, as one would write it by hand. The tests are tests/unit/derivative_test.cpp.
#pragma once
#include <map>
#include <span>
#include <vector>

#include "compiler/ir/ir.h"
#include "compiler/passes/not_differentiable.h"

namespace nbcc {

// dy/dx for each x of `by`, of x's type; kNone where y does not depend on it.
std::vector<NodeId> gradient(Graph& graph, NodeId y, std::span<const NodeId> by);

// A value that counts `weight` times (kNone: once), where `guard` holds (kNone: always). Weights are not
// differentiated.
struct Weighted {
  NodeId y = kNone, weight = kNone, guard = kNone;
};
// The same of the sum of some values.
std::vector<NodeId> gradient(Graph& graph, std::span<const Weighted> sum, std::span<const NodeId> by);

// dy/dt for each y of `of` when the keys of `rates` change at their values per unit of time; kNone where y does not
// change.
std::vector<NodeId> rates_of_change(Graph& graph, std::span<const NodeId> of, const std::map<NodeId, NodeId>& rates);

}  // namespace nbcc
