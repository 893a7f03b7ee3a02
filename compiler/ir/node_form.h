// Node -> how an expression of the language says it: "@ + @", of which operands. What pipeline_text.h is made of.
// A form parses back to its node: what lowering puts around an operation (the ends of a table, the modulus of a shift,
// the rounding inside nearest_image) is left out where it stands as lowering makes it.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compiler/ir/ir.h"

namespace nbcc {

// How tightly what has been written holds together, as in C++.
enum class Level { Choice, Or, And, BitOr, BitXor, BitAnd, Equality, Comparison, Shift, Sum, Product, Sign, Operand };

struct Written {
  std::string text;
  Level level = Level::Operand;
  std::string within(Level least) const { return level < least ? "(" + text + ")" : text; }
};

struct Form {
  struct Operand {
    NodeId id;
    Level least;  // what holds together less tightly stands in parentheses
  };
  std::string pattern;  // each '@' stands for the next operand; leaves and constants are in it as they are
  Level level = Level::Operand;
  std::vector<Operand> operands = {};
  bool has_own_line = false, is_never_alone = false;
};

// Whether a number is written as one of its type whatever stands beside it, or may take its type from there: index(5)
// or 5, double(0.5) or 0.5.
enum class Typed : bool { Alone, Beside };
Written literal(double value, Type type, Typed typed = Typed::Alone);

class Forms {
 public:
  // Of one of the pipeline's two graphs.
  Forms(const Pipeline& pipeline, const Graph& graph) : pipeline_(pipeline), graph_(graph) {}

  // Throws std::runtime_error for what the language does not say: a spline's coefficient, an estimate of a root, a
  // function whose name a field has.
  Form of(NodeId id) const;
  // A leaf or a constant; nothing for other nodes.
  std::optional<Written> atom(NodeId id, Typed typed = Typed::Alone) const;
  // "xi" for a vector's components where they are those of one field, "vec3(@, @, @)" for others.
  Form vector(const std::vector<NodeId>& parts) const;

  std::map<NodeId, std::string> renamed;  // leaves that stand under another name

 private:
  void add(Form& form, NodeId id, Level least, Typed typed = Typed::Alone) const;
  Form infix(const Node& node, std::string_view sign, Level level) const;
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
