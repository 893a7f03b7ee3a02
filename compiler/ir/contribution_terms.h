// Contribution -> the statements that it was, or could have been, written as. What pipeline_text.h is made of.
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

// One term of an output: `out += value` or its like under a guard.
struct Term {
  Guard guard;
  NodeId value = kNone;
  bool negative = false;  // it is subtracted
};

// Those of a contribution to an output of this kind that has no other guard than what holds for all outputs, or its
// own. Lowering makes one value of several statements: a + (g ? b : 0) of `out += a; if (g) out += b;`. Sums and
// products of whole numbers are taken apart wherever they can be, since no expression of whole numbers is in double.
std::vector<Term> terms_of(const Graph& graph, const Field& output, NodeId value, NodeId guard);

// The conditions of `out += condition`, in order; a pair may be counted several times. Throws std::runtime_error for
// what no such statements make.
std::vector<Guard> counted(const Graph& graph, const Field& output, NodeId value, NodeId guard);

// What the statement's right side says of a value: "@", "int(@)" or a number. Lowering converts it to the type that the
// reduction takes.
struct Said {
  std::string pattern;
  NodeId value = kNone;  // that '@' stands for
};
Said said(const Graph& graph, const Field& output, NodeId value);

// Whether this is what lowering makes of an output that nothing is written to.
bool is_unwritten(const Graph& graph, const Field& output, const Contribution& contribution);

}  // namespace nbcc
