// Node -> the expression of the language for it: a pattern such as "@ + @", and its operands. A step of
// pipeline_text.h. A form parses back to its node. Nodes that lowering adds around an operation (the clamp of a table
// index, the modulus of a shift, the rounding inside nearest_image) are recognised and not written.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compiler/ir/ir.h"

namespace nbcc {

// Operator precedence as in C++, weakest first.
enum class Precedence {
  Choice,
  Or,
  And,
  BitOr,
  BitXor,
  BitAnd,
  Equality,
  Comparison,
  Shift,
  Sum,
  Product,
  Sign,
  Operand
};

// An expression as text, with the precedence of its outermost operator.
struct Written {
  std::string text;
  Precedence precedence = Precedence::Operand;
  std::string parenthesized(Precedence least) const { return precedence < least ? "(" + text + ")" : text; }
};

struct Form {
  struct Operand {
    NodeId id;
    Precedence least;  // an operand of lower precedence is put in parentheses
  };
  std::string pattern;  // each '@' is replaced by the next operand; leaves and constants are already text
  Precedence precedence = Precedence::Operand;
  std::vector<Operand> operands = {};
  bool has_own_line = false;    // its value is always assigned to a variable
  bool is_never_alone = false;  // its value is never assigned to a variable
};

// How a literal gets its type: explicitly, index(5) or double(0.5), or from the other operand, 5 or 0.5.
enum class Typed : bool { Explicit, FromContext };
Written literal(double value, Type type, Typed typed = Typed::Explicit);

class Forms {
 public:
  // `graph` is Pipeline::pair or Pipeline::finish.
  Forms(const Pipeline& pipeline, const Graph& graph) : pipeline_(pipeline), graph_(graph) {}

  // Throws std::runtime_error for nodes that the language cannot express: a spline coefficient, an rsqrt_estimate, a
  // function that is hidden by a field of the same name.
  Form of(NodeId id) const;
  // The text of a leaf or a constant; std::nullopt for other nodes.
  std::optional<Written> atom(NodeId id, Typed typed = Typed::Explicit) const;
  // "xi" if the components are those of one vector field, else "vec3(@, @, @)".
  Form vector(const std::vector<NodeId>& parts) const;

  std::map<NodeId, std::string> renamed;  // leaves that were assigned to variables: their names

 private:
  void add(Form& form, NodeId id, Precedence least, Typed typed = Typed::Explicit) const;
  Form infix(const Node& node, std::string_view sign, Precedence precedence) const;
  Form comparison(const Node& node, std::string_view sign, std::string_view turned) const;
  Form call(std::string_view function, const std::vector<NodeId>& arguments) const;
  Form negation(const Node& node) const;
  Form shift(const Node& node) const;
  Form rounded(const Node& node) const;
  Form image(const Node& node) const;
  std::optional<Form> nearest_image(const Node& node) const;

  // node_form_table.cpp
  std::optional<Form> truth_in_table(const Node& node, bool negated) const;
  std::optional<Form> interpolated(const Node& node) const;
  Form lookup(const Node& node) const;
  Form coefficient(const Node& node, const Table& table) const;
  void add_row(Form& form, const Node& node, const Table& table) const;
  void add_index(Form& form, NodeId index, int count) const;
  NodeId within_table(NodeId index, int count) const;
  const Field& field_of(const Table& table) const;
  bool is(NodeId id, Op op) const { return graph_[id].op == op; }
  NodeId argument(NodeId id, int k) const { return graph_[id].args[std::size_t(k)]; }
  void require_free(std::string_view function) const;

  const Pipeline& pipeline_;
  const Graph& graph_;
};

}  // namespace nbcc
