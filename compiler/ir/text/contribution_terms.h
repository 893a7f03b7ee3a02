// Contribution -> terms, one for each statement that may have made it. A step of pipeline_text.h.
#pragma once
#include <string>
#include <vector>

#include "compiler/ir/ir.h"

namespace nbcc {

// A condition; kNone: always.
struct Guard {
  NodeId id = kNone;
  bool negated = false;
  bool operator==(const Guard&) const = default;
};

// One term of an output: `out += value`, or the statement of another reduction, under a guard.
struct OutputTerm {
  Guard guard;
  NodeId value = kNone;
  bool negative = false;  // true: `out -= value`
};

// Splits a contribution's value into the terms of its statements. `guard` is the contribution's guard less the guard
// that all outputs share. Lowering merges several statements into one value: `out += a; if (g) out += b;` becomes a +
// (g ? b : 0). Integer sums and products are split wherever possible: they are of type double, and the language has no
// integer expressions of that type.
std::vector<OutputTerm> terms_of(const Graph& graph, const Field& output, NodeId value, NodeId guard);

// The conditions c of the statements `out += c` that make a count, in order; a condition may occur several times.
// Throws std::runtime_error if no such statements make the value.
std::vector<Guard> count_conditions(const Graph& graph, const Field& output, NodeId value, NodeId guard);

// The right side of a statement: "@", "int(@)" or a number. Lowering converts it to the reduction's type, so the casts
// of that conversion are not written.
struct RightSide {
  std::string pattern;
  NodeId value = kNone;  // the node that replaces '@'
};
RightSide right_side(const Graph& graph, const Field& output, NodeId value);

// True if this is the contribution that lowering makes for an output without statements.
bool is_unwritten(const Graph& graph, const Field& output, const Contribution& contribution);

}  // namespace nbcc
