// Params that are read at indices known only at run time -> Lookups, and interpolation between their elements. Part of
// lowering (lower.h). Entry points: table_element(), read_table(), interpolate(), move_tables_last().
#include <fmt/core.h>

#include <algorithm>

#include "compiler/ir/rewrite.h"
#include "compiler/source/lower.h"

namespace nbcc::lowering {

bool Lowering::is_param(const LValue& lvalue) const {
  const auto field = fields_.find(lvalue.variable);
  return field != fields_.end() && pipeline_.fields[std::size_t(field->second)].role == Role::Param;
}

// Applies one index to an array. At run time an index outside the array is clamped to its range.
LValue Lowering::table_element(const LValue& base, const Value& index, clang::SourceLocation where) {
  const std::string name = base.variable->getName().str();
  const int columns = base.shape.columns;
  if (!index.shape.is_scalar() || (*graph_)[index.parts[0]].type > Type::Index)
    throw Rejected{where, fmt::format("the index of '{}' must be a whole number: write int(...)", name)};
  const int count = columns > 0 ? base.shape.length / columns : base.shape.length;
  const auto whole = [&](int number) { return graph_->constant(number, Type::Int); };
  NodeId at = index.parts[0];
  if (graph_->is_constant(at)) {
    at = whole(int(constant_index(index, count, name, where)));
  } else {
    const NodeId within = binary(Op::Min, binary(Op::Max, at, whole(0), where), whole(count - 1), where);
    at = cast(within, Type::Int, where);
  }
  LValue part{base.variable, 0, base.shape.of_element(), base.row, at};
  part.shape.length = columns;
  if (columns > 0) {
    part.row = binary(Op::Mul, at, whole(columns), where);
    part.column = kNone;
  } else if (part.row == kNone) {
    part.row = whole(base.first / base.shape.width);
  }
  return part;
}

// A Lookup of a component of the element at row + column; adds the table to the pipeline if it is new.
NodeId Lowering::lookup(Field& field, int first, NodeId row, NodeId column, int power, clang::SourceLocation where) {
  field.kind = FieldKind::Table;
  const Table table{field.first + first, field.width, field.length, field.columns, power};
  auto known = std::ranges::find(pipeline_.tables, table);
  if (known == pipeline_.tables.end()) known = pipeline_.tables.insert(known, table);
  const NodeId number = graph_->make(Op::Lookup, field.type == Type::Bool ? Type::Int : field.type,
                                     {row, column, kNone}, location(where), known - pipeline_.tables.begin());
  return cast(number, field.type, where);
}

Value Lowering::read_table(Field& field, const LValue& lvalue, clang::SourceLocation where) {
  if (lvalue.column == kNone)
    throw Rejected{where, fmt::format("a row of '{}' has no value; give the index of its element", field.name)};
  Value value{lvalue.shape, {}};
  for (int c = 0; c < lvalue.shape.components(); ++c)
    value.parts.push_back(lookup(field, lvalue.first + c, lvalue.row, lvalue.column, -1, where));
  return value;
}

// The first argument of a function that interpolates: an array of real numbers, or a row of one.
LValue Lowering::interpolated_param(const clang::CallExpr* expression, const char* function) {
  const LValue array = lvalue_of(expression->getArg(0));
  if (!is_param(array))
    throw Rejected{expression->getArg(0)->getExprLoc(), fmt::format("{} reads a param that is an array", function)};
  const Field& field = pipeline_.fields[std::size_t(fields_.at(array.variable))];
  if (array.shape.length < 2 || array.shape.columns > 0 || field.type < Type::Float)
    throw Rejected{
        expression->getArg(0)->getExprLoc(),
        fmt::format("{} reads an array, or a row of one, of two numbers at least, which are no whole numbers",
                    function)};
  return array;
}

// table(t, s) interpolates linearly between the elements of t, spline(t, s) by a cubic spline. Element k is at s = k; s
// is clamped to the table. The runtime computes the spline's coefficients when the param is set.
Value Lowering::interpolate(const clang::CallExpr* expression, bool cubic) {
  const clang::SourceLocation where = expression->getExprLoc();
  const LValue array = interpolated_param(expression, cubic ? "spline" : "table");
  Field& field = pipeline_.fields[std::size_t(fields_.at(array.variable))];
  const int count = array.shape.length;
  const NodeId position = evaluate_argument(expression->getArg(1)).parts[0];
  const Type type = std::max((*graph_)[position].type, Type::Float);
  const auto number = [&](double x, Type t) { return graph_->constant(x, t); };
  const NodeId s = binary(
      Op::Min,
      binary(Op::Max, cast(position, type == Type::Float ? Type::Real : type, where), number(0, Type::Real), where),
      number(count - 1, Type::Real), where);
  const NodeId k = binary(Op::Min, cast(s, Type::Int, where), number(count - 2, Type::Int), where);
  const NodeId u = binary(Op::Sub, s, cast(k, (*graph_)[s].type, where), where);
  const NodeId row = array.row != kNone ? array.row : number(array.first / field.width, Type::Int);
  Value result{array.shape.of_element(), {}};
  for (int c = 0; c < field.width; ++c) {
    const auto part = [&](NodeId of_row, int power) { return lookup(field, c, of_row, k, power, where); };
    NodeId sum = kNone;
    if (cubic) {
      sum = part(row, 3);
      for (const int power : {2, 1, 0}) sum = binary(Op::Add, part(row, power), binary(Op::Mul, u, sum, where), where);
    } else {
      const NodeId low = part(row, -1), high = part(binary(Op::Add, row, number(1, Type::Int), where), -1);
      sum = binary(Op::Add, low, binary(Op::Mul, u, binary(Op::Sub, high, low, where), where), where);
    }
    result.parts.push_back(sum);
  }
  result.shape.scalar = (*graph_)[result.parts[0]].type;
  return result;
}

// spline_coefficient(t, k, p): the factor of (s - k)^p in spline(t, s), for s from k to k + 1.
Value Lowering::spline_coefficient(const clang::CallExpr* expression) {
  const clang::SourceLocation where = expression->getExprLoc();
  const LValue array = interpolated_param(expression, "spline_coefficient");
  Field& field = pipeline_.fields[std::size_t(fields_.at(array.variable))];
  const Value power = evaluate_argument(expression->getArg(2));
  const bool is_constant = graph_->is_constant(power.parts[0]);
  const double p = is_constant ? graph_->constant_value(power.parts[0]) : -1;
  if (p != 0 && p != 1 && p != 2 && p != 3)
    throw Rejected{expression->getArg(2)->getExprLoc(), "the power of spline_coefficient is a constant from 0 to 3"};
  const LValue element = table_element(array, evaluate_argument(expression->getArg(1)), where);
  Value result{array.shape.of_element(), {}};
  for (int c = 0; c < field.width; ++c)
    result.parts.push_back(lookup(field, c, element.row, element.column, int(p), where));
  return result;
}

// Moves the params of tables after the params that are passed by value. Reads of these at constant indices become
// Lookups as well.
void Lowering::move_tables_last() {
  std::vector<Field>& fields = pipeline_.fields;
  if (std::ranges::none_of(fields, &Field::is_table)) return;
  std::vector<int> moved(std::size_t(pipeline_.components(Role::Param)));
  const std::vector<Field> before = fields;
  int next = 0;
  for (const bool tables : {false, true})
    for (Field& field : fields) {
      if (field.role != Role::Param || field.is_table() != tables) continue;
      for (int c = 0; c < field.components(); ++c) moved[std::size_t(field.first + c)] = next + c;
      field.first = next;
      next += field.components();
    }
  for (Table& table : pipeline_.tables) table.first = moved[std::size_t(table.first)];
  rewrite(pipeline_, [&](Graph& target, const Node& old, std::array<NodeId, 3> args) {
    if (old.op != Op::Param) return copy_node(target, old, args);
    Field& field = fields[std::size_t(std::ranges::find_if(before,
                                                           [&](const Field& f) {
                                                             return f.role == Role::Param && old.payload >= f.first &&
                                                                    old.payload < f.first + f.components();
                                                           }) -
                                      before.begin())];
    const int component = moved[std::size_t(old.payload)];
    if (!field.is_table()) return target.leaf(old.op, component, old.type, old.where);
    graph_ = &target;
    const int k = component - field.first;
    const NodeId row = target.constant(0, Type::Int), column = target.constant(k / field.width, Type::Int);
    return lookup(field, k % field.width, row, column, -1, {});
  });
}

}  // namespace nbcc::lowering
