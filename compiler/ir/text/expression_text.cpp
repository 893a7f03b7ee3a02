// Node -> an expression of the language with the fewest parentheses. Entry points: expression_text().
#include "compiler/ir/text/expression_text.h"

#include <fmt/core.h>

#include <algorithm>

namespace nbcc {
namespace {

// Deeper subexpressions are written as "...".
constexpr int kMaxDepth = 12;

// Operator precedence, weakest first.
enum ExpressionPrecedence { kComparison, kSum, kProduct, kOperand };

struct Text {
  std::string text;
  ExpressionPrecedence precedence = kOperand;
};

class ExpressionWriter {
 public:
  ExpressionWriter(const std::vector<Field>& fields, const Graph& graph, Sizes sizes, std::span<const Table> tables)
      : fields_(fields), graph_(graph), sizes_(sizes), tables_(tables) {}

  Text write(NodeId id, int depth) const {
    const Node& n = graph_[id];
    if (arity(n.op) == 0) return {leaf(id)};
    if (depth > kMaxDepth) return {"..."};
    if (n.op == Op::Max)
      if (std::string largest = largest_element(id, depth); !largest.empty()) return {std::move(largest)};
    const auto part = [&](int k, ExpressionPrecedence least) {
      return within(n.args[std::size_t(k)], least, depth + 1);
    };
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
        return {element(n, index(n, 0, depth), index(n, 1, depth))};
      case Op::Cast:
        return write(n.args[0], depth);
      default:
        return {call(n, depth)};
    }
  }

 private:
  // The index of a row or column as the source writes it: without the clamp to the table, and not multiplied by the
  // number of columns.
  std::string index(const Node& lookup, int which, int depth) const {
    if (std::size_t(lookup.payload) >= tables_.size()) return "";
    const Table& table = tables_[std::size_t(lookup.payload)];
    const int columns = table.columns > 0 ? table.columns : table.count, rows = table.count / columns;
    NodeId id = lookup.args[std::size_t(which)];
    const auto strip = [&](Op op, double constant) {
      const Node& n = graph_[id];
      if (n.op == op && graph_.is_constant(n.args[1], constant)) id = n.args[0];
    };
    if (which == 0) strip(Op::Mul, columns);
    strip(Op::Min, (which == 0 ? rows : columns) - 1);
    strip(Op::Max, 0);
    return write(id, depth + 1).text;
  }

  std::string element(const Node& lookup, const std::string& row, const std::string& column) const {
    if (std::size_t(lookup.payload) >= tables_.size()) return "an element of a param";
    const Table& table = tables_[std::size_t(lookup.payload)];
    const auto has_table = [&](const Field& field) {
      return field.role == Role::Param && table.first >= field.first && table.first < field.first + field.components();
    };
    const auto field = std::find_if(fields_.begin(), fields_.end(), has_table);
    if (field == fields_.end()) return "an element of a param";
    return table.columns == 0 ? fmt::format("{}[{}]", field->name, column)
                              : fmt::format("{}[{}][{}]", field->name, row, column);
  }

  // Empty: the node is not the maximum of a row, of a column or of all elements of a param.
  std::string largest_element(NodeId id, int depth) const {
    std::vector<NodeId> open{id}, elements;
    while (!open.empty()) {
      const NodeId next = open.back();
      const Node& n = graph_[next];
      open.pop_back();
      if (n.op == Op::Max)
        open.insert(open.end(), {n.args[0], n.args[1]});
      else if (n.op == Op::Abs && sizes_ == Sizes::Bare)
        open.push_back(n.args[0]);
      else if (n.op == Op::Lookup && (elements.empty() || n.payload == graph_[elements[0]].payload))
        elements.push_back(next);
      else
        return {};
    }
    const Node& first = graph_[elements[0]];
    const auto is_one = [&](std::size_t k) {
      return std::all_of(elements.begin(), elements.end(),
                         [&](NodeId one) { return graph_[one].args[k] == first.args[k]; });
    };
    if (std::size_t(first.payload) >= tables_.size()) return {};
    const Table& table = tables_[std::size_t(first.payload)];
    const int columns = table.columns > 0 ? table.columns : table.count, rows = table.count / columns;
    const bool has_row = rows > 1 && is_one(0), has_column = is_one(1);
    if (int(elements.size()) != (has_row ? 1 : rows) * (has_column ? 1 : columns)) return {};
    std::string name = element(first, has_row ? index(first, 0, depth) : "", has_column ? index(first, 1, depth) : "");
    while (name.ends_with("[]")) name.resize(name.size() - 2);
    return "the largest of " + name;
  }

  std::string within(NodeId id, ExpressionPrecedence least, int depth) const {
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
  std::span<const Table> tables_;
};

}  // namespace

std::string expression_text(const std::vector<Field>& fields, const Graph& graph, NodeId id, Sizes sizes,
                            std::span<const Table> tables) {
  constexpr std::size_t kMaxLength = 80;
  const std::string text = ExpressionWriter(fields, graph, sizes, tables).write(id, 0).text;
  return text.size() > kMaxLength ? text.substr(0, kMaxLength - 3) + "..." : text;
}

}  // namespace nbcc
