// The intermediate representation (IR): a pipeline as a graph of operations.
//
// A Graph is a list of hash-consed nodes in topological order (arguments before their users), so that equal
// expressions are one node by construction. There is no control flow: `if` has become Select, and a guard on each
// contribution. Vectors and arrays have become their components: values are single numbers. The exceptions are the
// arguments and the result of Image, because a minimum image in a triclinic cell mixes components.
//
// Semantics of all nodes:
//  - Real is the working precision; it is abstract here and fixed by the emitter (single and mixed precision: float;
//    double precision: double). Float and Double are always these types. Int has 32 bits, Index 64; both wrap.
//  - A node's type is the largest of its arguments' types (Bool < Int < Index < Float < Real < Double) unless the op
//    says otherwise; a conversion is an explicit Cast. Comparisons and logic give Bool; no conversion to Bool is
//    implicit.
//  - NaN and infinity occur: comparisons with NaN are false, Min and Max give NaN if either argument is NaN,
//    Select ignores a NaN or infinity in the argument that it did not choose.
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

std::string_view name(Binding binding);

struct Node {
  Op op = Op::Const;
  Type type = Type::Real;
  Binding binding = Binding::Constant;
  std::array<NodeId, 3> args{kNone, kNone, kNone};
  std::int64_t payload = 0;
  Location where;  // the first location in the user's text that made this node; not part of its identity
};

class Graph {
 public:
  // Each of these adds a node or returns the existing equal one. Argument types must be right (verify() checks them).
  // The caller of make() gives the type; the binding is computed.
  NodeId constant(double value, Type type = Type::Real, Location where = {});
  NodeId leaf(Op op, std::int64_t payload, Type type, Location where = {});
  NodeId make(Op op, Type type, std::array<NodeId, 3> args, Location where = {}, std::int64_t payload = 0);
  // As make(), with the largest of the argument types (Bool for comparisons and logic).
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
  std::vector<NodeId> slots_;  // open-addressing hash table, its size a power of two; kNone: free
};

// True for each node from which one of `roots` can be reached (the others are dead). kNone roots are ignored.
std::vector<bool> reachable(const Graph& graph, const std::vector<NodeId>& roots);
// For each node the number of its direct uses, by reachable nodes and by roots.
std::vector<int> count_uses(const Graph& graph, const std::vector<NodeId>& roots);

std::string_view name(Role role);                       // "input_i", ...
std::string_view name(Reduction reduction);             // "sum", ...
std::string reduction_text(const FieldLayout& output);  // as declared: "sum", "total", "total, min"

struct Field : FieldLayout {
  Location where;
};
// "xi[1].y": the name of a component, whose number counts all components of the field's role.
std::string component_name(const FieldLayout& field, int component);

// The contribution of each pair to one output component: if guard (kNone: always) then reduce(output, value).
// ArgMin and ArgMax compare `value` and keep the j_index; if the output is an array of several indices, all its
// components have the same value and guard. At keeps the `value` of the pair chosen by the output that it follows,
// under the same guard. Softmax also has a weight, exp(logit). A Histogram adds `value` to the element that `logit`
// names, an Int; -1 is no element, and the pair is counted as outside. The value of an integer Min, Max, ArgMin or
// ArgMax is of type Index; the value of an integer Sum or Product is a Double.
struct Contribution {
  NodeId value = kNone;
  NodeId guard = kNone;
  NodeId scale =
      kNone;  // param- or i-bound factor (or constant) applied once after the sum; kNone: 1. Made by `hoist`.
  NodeId logit = kNone;
};

// The type of an output in finish(): integer results have 64 bits, because a sum of ints may need more than 32.
constexpr Type result_type(const Field& output) { return output.type == Type::Int ? Type::Index : output.type; }

enum class Dialect : std::uint8_t { Cunbody, Named };

struct Pipeline {
  std::string name;
  Dialect dialect = Dialect::Named;
  std::vector<Field> fields;                // in order of declaration
  std::vector<Table> tables;                // indexed by the payload of Lookup; their params come after all others
  Graph pair;                               // of params, i, j and pair inputs
  std::vector<Contribution> contributions;  // one per output component
  int first_reaction = 0;                   // the terms of output components from here on are added to j; 0: none
  Graph finish;                             // finish(): of outputs, i-inputs and params
  std::vector<NodeId> finished;             // one per output component, or empty without finish()
  Graph position_graph;                     // nodes of the position of i: of i-inputs and params
  std::vector<NodeId> positions;            // coordinates of i; if one is non-finite, sums, min and max are NaN
  NodeId within = kNone;                    // in `pair`, Bool: Neighbourhood::within; set only while a kernel is built
  std::optional<int> flops;                 // #pragma flops
  int raw_operations = 0;                   // arithmetic operations per interaction as written, after cse

  int components(Role role) const;
  int params_by_value() const;  // number of param components outside tables; these come first
  const Field* find(std::string_view field) const;
  const Field& field_of(Role role, int component) const;  // the field that holds this component of its role
  std::vector<const Field*> fields_of(Role role) const;   // field_of() for every component, for loops
  std::vector<NodeId> roots() const;                      // of `pair`: values, guards, scales, logits and `within`
  // True if this output component is NaN for an i with a non-finite position. Otherwise it is as without any pair: an
  // index is -1, an integer minimum or maximum the identity.
  bool becomes_nan(int output) const;
  bool has_pair_values() const;  // true if an output has a result per pair, output(pair)
};

// The operation that combines two results of a reduction; Max for those that keep an index or exponentials.
constexpr Op combining_operation(Reduction r) {
  return is_sum(r) ? Op::Add : r == Reduction::Product ? Op::Mul : is_minimum(r) ? Op::Min : Op::Max;
}

// The pipeline with outputs of each i in place of its totals, histograms excepted.
Pipeline without_totals(Pipeline pipeline);

// The number of arithmetic operations and functions per pair as the user wrote them, equal expressions once (costs: see
// OpFacts::cost). Fma counts as two, each component's reduction as one; negations, comparisons, selections and
// conversions count as none. Expressions that depend on i, j or params alone are not counted.
int count_operations(const Pipeline& pipeline);

}  // namespace nbcc
