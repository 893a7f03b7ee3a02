// Reads of tables -> Forms: name[index], name[row][column], table(name, s), spline(name, s). Part of Forms
// (node_form.h). Lowering clamps indices to the table and makes the arithmetic of interpolations: both are recognised
// and not written. An index that is clamped in another way is written in full.
#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "compiler/ir/text/node_form.h"

namespace nbcc {

const Field& Forms::field_of(const Table& table) const { return pipeline_.field_of(Role::Param, table.first); }

// x if `index` is min(max(x, 0), count - 1), with a cast to int if x is an Index; otherwise `index`.
NodeId Forms::within_table(NodeId index, int count) const {
  const NodeId low = is(index, Op::Cast) ? argument(index, 0) : index;
  if (!is(low, Op::Min) || !is(argument(low, 0), Op::Max)) return index;
  const NodeId high = argument(low, 0);
  const bool ends = graph_.is_constant(argument(low, 1), count - 1) && graph_.is_constant(argument(high, 1), 0);
  return ends && is_integral(graph_[low].type) ? argument(high, 0) : index;
}

void Forms::add_index(Form& form, NodeId index, int count) const {
  form.pattern += '[';
  add(form, within_table(index, count), Precedence::Choice, Typed::FromContext);
  form.pattern += ']';
}

// Writes the row's index of an array of arrays; the node has the index of the row's first element.
void Forms::add_row(Form& form, const Node& node, const Table& table) const {
  const NodeId row = node.args[0];
  const int rows = table.count / table.columns;
  if (graph_.is_constant(row))
    form.pattern += fmt::format("[{}]", int(graph_.constant_value(row)) / table.columns);
  else
    add_index(form, table.columns > 1 ? argument(row, 0) : row, rows);
}

Form Forms::lookup(const Node& node) const {
  const Table& table = pipeline_.tables.at(std::size_t(node.payload));
  const Field& field = field_of(table);
  const auto [row, column, none] = node.args;
  if (table.power >= 0) return coefficient(node, table);
  Form form{field.name};
  const bool is_product = is(row, Op::Mul) && graph_.is_constant(argument(row, 1), table.columns);
  const bool is_begin = graph_.is_constant(row) && int(graph_.constant_value(row)) % std::max(table.columns, 1) == 0;
  if (graph_.is_constant(row) && graph_.is_constant(column)) {
    const int k = int(graph_.constant_value(row) + graph_.constant_value(column));
    form.pattern +=
        table.columns > 0 ? fmt::format("[{}][{}]", k / table.columns, k % table.columns) : fmt::format("[{}]", k);
  } else if (table.columns == 0 && graph_.is_constant(row, 0)) {
    add_index(form, column, table.count);
  } else if (table.columns > 0 && (is_product || is_begin || table.columns == 1)) {
    add_row(form, node, table);
    add_index(form, column, table.columns);
  } else {
    // The element's index, counted through all rows.
    const auto number = [&](std::string_view sign) {
      form.pattern += table.columns > 0 ? "[(" : "[";
      add(form, row, Precedence::Sum);
      form.pattern += " + ";
      add(form, column, Precedence::Product);
      form.pattern += table.columns > 0 ? fmt::format(") {} {}]", sign, table.columns) : "]";
    };
    number("/");
    if (table.columns > 0) number("%");
  }
  if (field.width > 1) form.pattern += fmt::format(".{}", "xyzw"[table.first - field.first]);
  return form;
}

// Writes a coefficient of a spline as spline_coefficient(name, k, p).
Form Forms::coefficient(const Node& node, const Table& table) const {
  const Field& field = field_of(table);
  require_free("spline_coefficient");
  Form form{fmt::format("spline_coefficient({}", field.name)};
  if (table.columns > 0) add_row(form, node, table);
  form.pattern += ", ";
  add(form, within_table(node.args[1], table.columns > 0 ? table.columns : table.count), Precedence::Choice);
  form.pattern += fmt::format(", {})", table.power);
  if (field.width > 1) form.pattern += fmt::format(".{}", "xyzw"[table.first - field.first]);
  return form;
}

// Tables keep bools as integers and lowering reads them as `!(element == 0)`; `node` is the comparison in it.
std::optional<Form> Forms::truth_in_table(const Node& node, bool negated) const {
  const Node& element = graph_[node.args[0]];
  if (element.op != Op::Lookup || !graph_.is_constant(node.args[1], 0) ||
      field_of(pipeline_.tables.at(std::size_t(element.payload))).type != Type::Bool)
    return std::nullopt;
  Form form = lookup(element);
  if (!negated) form.pattern.insert(0, "!"), form.precedence = Precedence::Sign;
  return form;
}

// Recognises table(), low + u (high - low), and spline(), c0 + u (c1 + u (c2 + u c3)). Here k = min(int(s), count - 2),
// u = s - k, s is clamped to the table, low and the c are those of element k, high that of k + 1. Casts may be in
// between.
std::optional<Form> Forms::interpolated(const Node& node) const {
  const auto plain = [&](NodeId id) { return is(id, Op::Cast) ? argument(id, 0) : id; };
  const NodeId first = plain(node.args[0]);
  if (!is(first, Op::Lookup) || !is(node.args[1], Op::Mul)) return std::nullopt;
  const Node& low = graph_[first];
  const Table& table = pipeline_.tables.at(std::size_t(low.payload));
  const auto is_element = [&](NodeId id, int power, bool next_row) {
    const Node& n = graph_[plain(id)];
    if (n.op != Op::Lookup || n.args[1] != low.args[1]) return false;
    Table same = table;
    same.power = power;
    if (!(pipeline_.tables.at(std::size_t(n.payload)) == same)) return false;
    if (!next_row) return n.args[0] == low.args[0];
    if (graph_.is_constant(low.args[0])) return graph_.is_constant(n.args[0], graph_.constant_value(low.args[0]) + 1);
    return is(n.args[0], Op::Add) && argument(n.args[0], 0) == low.args[0] &&
           graph_.is_constant(argument(n.args[0], 1), 1);
  };
  const NodeId factor = argument(node.args[1], 0), difference = plain(factor);
  NodeId rest = argument(node.args[1], 1);
  if (table.power < 0) {
    rest = plain(rest);
    if (!is(rest, Op::Sub) || !is_element(argument(rest, 0), -1, true) || plain(argument(rest, 1)) != first)
      return std::nullopt;
  } else {
    for (const int power : {1, 2}) {
      if (!is(rest, Op::Add) || !is_element(argument(rest, 0), power, false) || !is(argument(rest, 1), Op::Mul) ||
          argument(argument(rest, 1), 0) != factor)
        return std::nullopt;
      rest = argument(argument(rest, 1), 1);
    }
    if (table.power != 0 || !is_element(rest, 3, false)) return std::nullopt;
  }
  const int count = table.columns > 0 ? table.columns : table.count;
  if (!is(difference, Op::Sub) || plain(argument(difference, 1)) != low.args[1]) return std::nullopt;
  const NodeId s = argument(difference, 0), k = low.args[1];
  const bool is_clamped = is(s, Op::Min) && graph_.is_constant(argument(s, 1), count - 1) &&
                          is(argument(s, 0), Op::Max) && graph_.is_constant(argument(argument(s, 0), 1), 0);
  const bool is_element_index = is(k, Op::Min) && graph_.is_constant(argument(k, 1), count - 2) &&
                                is(argument(k, 0), Op::Cast) && argument(argument(k, 0), 0) == s;
  const bool has_row = table.columns == 0 || graph_.is_constant(low.args[0]) || is(low.args[0], Op::Mul);
  if (!is_clamped || !is_element_index || !has_row) return std::nullopt;

  const Field& field = field_of(table);
  const std::string_view function = table.power < 0 ? "table" : "spline";
  require_free(function);
  Form form{fmt::format("{}({}", function, field.name)};
  if (table.columns > 0) add_row(form, low, table);
  form.pattern += ", ";
  add(form, argument(argument(s, 0), 0), Precedence::Choice);
  form.pattern += ")";
  if (field.width > 1) form.pattern += fmt::format(".{}", "xyzw"[table.first - field.first]);
  return form;
}

}  // namespace nbcc
