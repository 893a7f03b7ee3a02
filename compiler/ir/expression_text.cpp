// Node -> an expression of the language with the fewest parentheses. Entry points: expression_text().
#include "compiler/ir/expression_text.h"

#include <fmt/core.h>

namespace nbcc {
namespace {

// Deeper subexpressions are written as "...".
constexpr int kMaxDepth = 12;

// Operator precedence, weakest first.
enum Precedence { kComparison, kSum, kProduct, kOperand };

struct Text {
  std::string text;
  Precedence precedence = kOperand;
};

class Writer {
 public:
  Writer(const std::vector<Field>& fields, const Graph& graph, Sizes sizes)
      : fields_(fields), graph_(graph), sizes_(sizes) {}

  Text write(NodeId id, int depth) const {
    const Node& n = graph_[id];
    if (arity(n.op) == 0) return {leaf(id)};
    if (depth > kMaxDepth) return {"..."};
    const auto part = [&](int k, Precedence least) { return within(n.args[std::size_t(k)], least, depth + 1); };
    switch (n.op) {
      case Op::Add:
        return {part(0, kSum) + " + " + part(1, kSum), kSum};
      case Op::Sub:
        return {part(0, kSum) + " - " + part(1, kProduct), kSum};
      case Op::Mul:
        return {part(0, kProduct) + " * " + part(1, kProduct), kProduct};
      case Op::Div:
        return {part(0, kProduct) + " / " + part(1, kOperand), kProduct};
      case Op::Lt:
        return {part(0, kSum) + " < " + part(1, kSum), kComparison};
      case Op::Le:
        return {part(0, kSum) + " <= " + part(1, kSum), kComparison};
      case Op::Neg:
        return {"-" + part(0, kOperand), kProduct};
      case Op::Abs:
        if (sizes_ == Sizes::Bare) return write(n.args[0], depth);
        return {call(n, depth)};
      case Op::Lookup:
        return {"an element of a param"};
      case Op::Cast:
        return write(n.args[0], depth);
      default:
        return {call(n, depth)};
    }
  }

 private:
  std::string within(NodeId id, Precedence least, int depth) const {
    const Text text = write(id, depth);
    return text.precedence < least ? "(" + text.text + ")" : text.text;
  }

  std::string call(const Node& n, int depth) const {
    std::string arguments;
    for (int k = 0; k < arity(n.op); ++k)
      arguments += (k ? ", " : "") + within(n.args[std::size_t(k)], kComparison, depth + 1);
    return fmt::format("{}({})", name(n.op), arguments);
  }

  std::string leaf(NodeId id) const {
    const Node& n = graph_[id];
    if (n.op == Op::Const) return fmt::format("{:.6g}", graph_.constant_value(id));
    if (n.op == Op::IIndex) return "i_index";
    if (n.op == Op::JIndex) return "j_index";
    for (const Field& field : fields_) {
      const int k = int(n.payload) - field.first;
      if (facts(n.op).role == field.role && k >= 0 && k < field.components())
        return component_name(field, int(n.payload));
    }
    return std::string(name(n.op));
  }

  const std::vector<Field>& fields_;
  const Graph& graph_;
  Sizes sizes_;
};

}  // namespace

std::string expression_text(const std::vector<Field>& fields, const Graph& graph, NodeId id, Sizes sizes) {
  constexpr std::size_t kMaxLength = 80;
  const std::string text = Writer(fields, graph, sizes).write(id, 0).text;
  return text.size() > kMaxLength ? text.substr(0, kMaxLength - 3) + "..." : text;
}

}  // namespace nbcc
