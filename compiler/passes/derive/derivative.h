// A value and variables -> derivatives, as nodes of the same graph. gradient() accumulates in reverse mode: the
// derivatives of one value by many variables cost a few evaluations of the value. rates_of_change() accumulates in
// forward mode: the rates of many values when variables change at given rates.
//
// Any node may be a variable: nodes that depend on the variable are differentiated, its own arguments are not visited.
// Rounding, comparisons and integers have derivative 0. A choice (Select, Min, Max) has the derivative of the branch
// that is taken; a selection drops the other branch, which is never multiplied by 0, so that its NaN or infinity does
// not enter. If both arguments are equal, Min and Max take the second; |x| has the derivative 1 at 0.
//
// Products, quotients and powers are differentiated as one product M of powers: for a factor x^p with p < 0 the
// derivative is p M / x, as one would write it by hand. Tested by
// tests/unit/compiler/passes/derive/derivative_test.cpp.
#pragma once
#include <map>
#include <span>
#include <vector>

#include "compiler/ir/ir.h"
#include "compiler/passes/derive/not_differentiable.h"

namespace nbcc {

// dy/dx for each x of `by`, of x's type; kNone where y does not depend on it.
std::vector<NodeId> gradient(Graph& graph, NodeId y, std::span<const NodeId> by);

// A term weight * y (weight kNone: 1) that counts where `guard` holds (kNone: always). Weights are not differentiated.
struct Weighted {
  NodeId y = kNone, weight = kNone, guard = kNone;
};
// The derivatives of a sum of terms.
std::vector<NodeId> gradient(Graph& graph, std::span<const Weighted> sum, std::span<const NodeId> by);

// dy/dt for each y of `of`; kNone where y does not change. `rates` maps each variable x to dx/dt.
std::vector<NodeId> rates_of_change(Graph& graph, std::span<const NodeId> of, const std::map<NodeId, NodeId>& rates);

}  // namespace nbcc
