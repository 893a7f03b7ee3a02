// The intermediate representation: what a pipeline means, as a graph of operations.
//
// A Graph is a list of hash-consed nodes in topological order (arguments stand before their users), so that
// equal expressions are one node by construction. There is no control flow: `if` has become Select, and a
// guard on each contribution. Vectors and arrays have become their components, so that values are single numbers; but
// for what an Image takes and gives: in a cell of three lattice vectors no component stands alone.
//
// Semantics, before any node:
//  - Real is the working precision; it stays abstract here and is fixed by the emitter (single and mixed:
//    float; double: double). Float and Double are exactly themselves. Int has 32 bits, Index 64, both wrap.
//  - A node's type is the join of its arguments' (Bool < Int < Index < Float < Real < Double) unless the op says
//    otherwise; a conversion is an explicit Cast. Comparisons and logic give Bool; there is no implicit bool.
//  - NaN and infinity occur: comparisons with NaN are false, Min and Max give NaN if either argument is NaN,
//    Select never mixes in the argument it did not choose.
//  - The graph fixes values up to rounding. Which roundings happen (reassociation, fused operations, estimates)
//    is decided by the passes under --math, and is visible as ops (Fma, RsqrtEstimate, ...).
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/field.h"
#include "compiler/ir/ops.h"
#include "compiler/text/source.h"

namespace nbcc {

std::string_view name(Type type);  // "bool", "int", "index", "float", "real", "double"
std::string_view name(Binding binding);

struct Node {
  Op op = Op::Const;
  Type type = Type::Real;
  Binding binding = Binding::Constant;
  std::array<NodeId, 3> args{kNone, kNone, kNone};
  std::int64_t payload = 0;
  Location where;  // the first place in the user's text that made this node; no part of its identity
};

class Graph {
 public:
  // Each adds a node or finds the equal one. Argument types must be right (the verifier checks); the type of
  // make() is given, binding is computed.
  NodeId constant(double value, Type type = Type::Real, Location where = {});
  NodeId leaf(Op op, std::int64_t payload, Type type, Location where = {});
  NodeId make(Op op, Type type, std::array<NodeId, 3> args, Location where = {}, std::int64_t payload = 0);
  // As make() with the joined argument type (Bool for comparisons and logic).
  NodeId unary(Op op, NodeId a, Location where = {});
  NodeId binary(Op op, NodeId a, NodeId b, Location where = {});
  NodeId select(NodeId condition, NodeId yes, NodeId no, Location where = {});
  NodeId cast(NodeId a, Type type, Location where = {});  // a itself if it has that type

  const Node& operator[](NodeId id) const { return nodes_[std::size_t(id)]; }
  NodeId size() const { return NodeId(nodes_.size()); }
  bool is_constant(NodeId id) const { return (*this)[id].op == Op::Const; }
  bool is_constant(NodeId id, double value) const;
  double constant_value(NodeId id) const;  // of a Const node

 private:
  NodeId intern(Node node);
  void grow();
  std::vector<Node> nodes_;
  std::vector<NodeId> slots_;  // by hash, a power of two of them; kNone: free
};

// True for each node from which one of `roots` can be reached (the others are dead). kNone roots are ignored.
std::vector<bool> reachable(const Graph& graph, const std::vector<NodeId>& roots);
// How many of those, and of the roots, take a node as it is.
std::vector<int> count_uses(const Graph& graph, const std::vector<NodeId>& roots);

std::string_view name(Role role);            // "input_i", ...
std::string_view name(Reduction reduction);  // "sum", ...

struct Field : FieldShape {
  Type type = Type::Real;
  Location where;
};
// "xi[1].y": one of the field's components, counted as its first is.
std::string component_name(const FieldShape& field, int component);

// What each pair adds to one output component: if guard (kNone: always) then reduce(output, value).
// ArgMin and ArgMax compare `value` and keep the j_index; where they keep several, in an array, its components have the
// same value and guard. At keeps the `value` of the pair that the output it follows has chosen, under the same guard.
// Extremes of whole numbers are of type Index, sums are not.
// Softmax has weights besides, exp(logit).
struct Contribution {
  NodeId value = kNone;
  NodeId guard = kNone;
  NodeId scale =
      kNone;  // param- or i-bound factor (or constant) applied once after the sum; kNone: 1. Made by `hoist`.
  NodeId logit = kNone;
};

// What finish() reads of an output: a result of whole numbers has 64 bits, since a sum of ints may be beyond 32.
constexpr Type result_type(const Field& output) { return output.type == Type::Int ? Type::Index : output.type; }

enum class Dialect : std::uint8_t { Cunbody, Named };

struct Pipeline {
  std::string name;
  Dialect dialect = Dialect::Named;
  std::vector<Field> fields;                // in order of declaration
  std::vector<Table> tables;                // that Lookups name; the params that they are of come last among the params
  Graph pair;                               // of i- and j-inputs
  std::vector<Contribution> contributions;  // one per output component
  Graph finish;                             // of outputs, i-inputs and params
  std::vector<NodeId> finished;             // one per output component, or empty without finish()
  Graph place;                              // of i-inputs and params
  std::vector<NodeId> places;               // coordinates of i: where one is NaN or infinite, sums and extremes are NaN
  NodeId within = kNone;                    // of `pair`, Bool: Neighbourhood::within; kNone outside of a kernel's build
  std::optional<int> flops;                 // #pragma flops
  int raw_operations = 0;                   // arithmetic operations per interaction as written, after cse

  int components(Role role) const;
  int params_by_value() const;  // components of params that are no tables; these come first
  const Field* find(std::string_view field) const;
  const Field& field_of(Role role, int component) const;  // the field that holds this component of its role
  std::vector<const Field*> fields_of(Role role) const;   // the same of every component: for loops over them
  std::vector<NodeId> roots() const;                      // of `pair`: values, guards, scales, logits and `within`
  // Of an i that is nowhere: an index is -1 instead, and an extreme of whole numbers that of no pair.
  bool becomes_nan(int output) const;
};

// The arithmetic operations and functions that each pair needs as the user wrote them, equal expressions once: a
// function counts as one, Fma as two, each component's reduction as one; negations, comparisons, selections and
// conversions as none. What depends on i, j or params alone is not counted.
int count_operations(const Pipeline& pipeline);

}  // namespace nbcc
