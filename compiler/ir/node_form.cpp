// Node -> Form, by Forms: which operator or function of the language an operation is. Reads of tables are in
// node_form_table.cpp. What is written on one line, and what has a name, is pipeline_text.cpp's to say.
#include "compiler/ir/node_form.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace nbcc {
namespace {

constexpr double kBeyondIndex = 0x1p63;

// The shortest text that is this number, as a real is written.
template <class Number>
std::string decimal(Number value) {
  if (std::isinf(value)) return value < 0 ? "-1e999" : "1e999";
  std::string text = fmt::format("{}", value);
  std::erase(text, '+');
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

Level tighter(Level level) { return Level(int(level) + 1); }

}  // namespace

Written literal(double value, Type type, Typed typed) {
  const auto converted = [&](const std::string& text) {
    return Written{fmt::format("{}({})", name(type), text), Level::Operand};
  };
  if (type == Type::Bool) return {value != 0 ? "true" : "false"};
  const Level level = std::signbit(value) ? Level::Sign : Level::Operand;
  if (is_integral(type)) {
    if (std::fabs(value) >= kBeyondIndex) throw std::runtime_error("no text is the largest or the smallest index");
    const std::string text = fmt::format("{:.0f}", value + 0.0);  // of -0 as of 0
    // 2147483648 is an index to the language, and so is what stands behind its sign.
    const bool too_large = type == Type::Int && value == -0x1p31;
    const bool bare = typed == Typed::Beside || (type == Type::Int && !too_large);
    return bare ? Written{text, value < 0 ? Level::Sign : Level::Operand} : converted(text);
  }
  const bool is_float = type == Type::Float;
  if (std::isnan(value)) {
    const std::string nan = is_float ? "0.0f / 0.0f" : "0.0 / 0.0";
    return type == Type::Double ? converted(nan) : Written{"(" + nan + ")"};
  }
  if (is_float) return {decimal(float(value)) + "f", level};
  return type == Type::Double && typed == Typed::Alone ? converted(decimal(value)) : Written{decimal(value), level};
}

std::optional<Written> Forms::atom(NodeId id, Typed typed) const {
  const Node& n = graph_[id];
  if (n.op == Op::Const) return literal(graph_.constant_value(id), n.type, typed);
  if (arity(n.op) > 0) return std::nullopt;
  if (const auto other = renamed.find(id); other != renamed.end()) return Written{other->second};
  if (const auto role = facts(n.op).role)
    return Written{component_name(pipeline_.field_of(*role, int(n.payload)), int(n.payload))};
  return Written{std::string(name(n.op))};
}

void Forms::add(Form& form, NodeId id, Level least, Typed typed) const {
  if (const auto written = atom(id, typed)) {
    form.pattern += written->within(least);
  } else {
    form.pattern += '@';
    form.operands.push_back({id, least});
  }
}

// Of two operands one at most takes its type from the other. What stands on the right is grouped by itself.
Form Forms::infix(const Node& node, std::string_view sign, Level level) const {
  const auto [a, b, none] = node.args;
  Form form{"", level};
  add(form, a, level, graph_.is_constant(b) ? Typed::Alone : Typed::Beside);
  form.pattern += fmt::format(" {} ", sign);
  add(form, b, tighter(level), graph_.is_constant(a) ? Typed::Alone : Typed::Beside);
  return form;
}

// What depends on more comes first: `r2 < rc * rc`. A comparison within one stands in parentheses.
Form Forms::comparison(const Node& node, std::string_view sign, std::string_view turned) const {
  Node as_read = node;
  const bool turn = graph_[node.args[0]].binding < graph_[node.args[1]].binding;
  if (turn) std::swap(as_read.args[0], as_read.args[1]);
  Form form = infix(as_read, turn ? turned : sign, Level::Shift);
  form.level = node.op == Op::Eq ? Level::Equality : Level::Comparison;
  return form;
}

void Forms::require_free(std::string_view function) const {
  if (pipeline_.find(function))
    throw std::runtime_error(fmt::format("{} cannot be written: a field has its name", function));
}

Form Forms::call(std::string_view function, const std::vector<NodeId>& arguments) const {
  require_free(function);
  Form form{fmt::format("{}(", function)};
  for (std::size_t k = 0; k < arguments.size(); ++k) {
    if (k > 0) form.pattern += ", ";
    add(form, arguments[k], Level::Choice);
  }
  form.pattern += ")";
  return form;
}

Form Forms::negation(const Node& node) const {
  const Node& what = graph_[node.args[0]];
  if (what.op == Op::Eq) {
    if (auto form = truth_in_table(what, /*negated=*/true)) return *form;
    return comparison(what, "!=", "!=");
  }
  Form form{"!", Level::Sign};
  add(form, node.args[0], Level::Operand);
  return form;
}

// The language takes counts modulo the width.
Form Forms::shift(const Node& node) const {
  const NodeId by = node.args[1];
  const int width = node.type == Type::Int ? 32 : 64;
  const bool is_taken = is(by, Op::BitAnd) && graph_.is_constant(argument(by, 1), width - 1);
  Form form{"", Level::Shift};
  add(form, node.args[0], Level::Shift);
  form.pattern += node.op == Op::Shl ? " << " : " >> ";
  add(form, is_taken ? argument(by, 0) : by, tighter(Level::Shift), Typed::Beside);
  return form;
}

// a - b * rint(a / b), which is how lowering makes nearest_image(a, b). It makes products of some quotients, and leaves
// out factors of 1.
std::optional<Form> Forms::nearest_image(const Node& node) const {
  const auto [a, moved, none] = node.args;
  if (is(moved, Op::Rint) && argument(moved, 0) == a) {
    Form form = call("nearest_image", {a});
    form.pattern.insert(form.pattern.size() - 1, ", 1.0");
    return form;
  }
  if (!is(moved, Op::Mul) || !is(argument(moved, 1), Op::Rint)) return std::nullopt;
  const NodeId box = argument(moved, 0), copies = argument(argument(moved, 1), 0);
  const auto is_quotient = [&] {
    if (arity(graph_[copies].op) != 2 || argument(copies, 0) != a) return false;
    if (is(copies, Op::Div)) return argument(copies, 1) == box;
    return is(copies, Op::Mul) && graph_.is_constant(box) &&
           graph_.is_constant(argument(copies, 1), 1 / graph_.constant_value(box));
  };
  if (!is_quotient()) return std::nullopt;
  return call("nearest_image", {a, box});
}

// The language has rint inside nearest_image only: x - nearest_image(x, 1) is that of every finite x.
Form Forms::rounded(const Node& node) const {
  require_free("nearest_image");
  const NodeId x = node.args[0];
  Form form{"", Level::Sum};
  add(form, x, Level::Sum);
  form.pattern += " - nearest_image(";
  add(form, x, Level::Choice);
  form.pattern += ", 1.0)";
  return form;
}

Form Forms::vector(const std::vector<NodeId>& parts) const {
  const Node& first = graph_[parts[0]];
  if (const auto role = facts(first.op).role) {
    const Field& field = pipeline_.field_of(*role, int(first.payload));
    const int k = int(first.payload) - field.first;
    bool together = field.width == int(parts.size()) && k % field.width == 0;
    for (std::size_t c = 0; c < parts.size(); ++c)
      together = together && graph_[parts[c]].op == first.op && graph_[parts[c]].payload == first.payload + int(c);
    if (together) return {field.length > 0 ? fmt::format("{}[{}]", field.name, k / field.width) : field.name};
  }
  return call(fmt::format("vec{}", parts.size()), parts);
}

Form Forms::image(const Node& node) const {
  const auto& cell = graph_[node.args[1]].args;
  Form form = call("nearest_image", {node.args[0], cell[0], cell[1], cell[2]});
  form.has_own_line = true;
  return form;
}

Form Forms::of(NodeId id) const {
  const Node& n = graph_[id];
  Form form;
  switch (n.op) {
    case Op::Neg:
      form = {"-", Level::Sign};
      add(form, n.args[0], Level::Operand);
      return form;
    case Op::Not:
      return negation(n);
    case Op::Cast:
      return call(name(n.type), {n.args[0]});
    case Op::Add:
      if (auto known = interpolated(n)) return *known;
      return infix(n, "+", Level::Sum);
    case Op::Sub:
      if (auto known = nearest_image(n)) return *known;
      return infix(n, "-", Level::Sum);
    case Op::Mul:
      return infix(n, "*", Level::Product);
    case Op::Div:
      return infix(n, "/", Level::Product);
    case Op::Rem:
      return infix(n, "%", Level::Product);
    case Op::BitAnd:
      return infix(n, "&", Level::BitAnd);
    case Op::BitOr:
      return infix(n, "|", Level::BitOr);
    case Op::BitXor:
      return infix(n, "^", Level::BitXor);
    case Op::Shl:
    case Op::Shr:
      return shift(n);
    case Op::And:
      return infix(n, "&&", Level::And);
    case Op::Or:
      return infix(n, "||", Level::Or);
    case Op::Lt:
      return comparison(n, "<", ">");
    case Op::Le:
      return comparison(n, "<=", ">=");
    case Op::Eq:
      if (auto known = truth_in_table(n, /*negated=*/false)) return *known;
      return comparison(n, "==", "==");
    case Op::Lookup:
      return lookup(n);
    case Op::Rint:
      return rounded(n);
    case Op::Select:
      form = {"", Level::Choice};
      add(form, n.args[0], Level::Or);
      form.pattern += " ? ";
      add(form, n.args[1], Level::Or);
      form.pattern += " : ";
      add(form, n.args[2], Level::Choice);
      return form;
    case Op::Vector:
      return vector({n.args.begin(), n.args.end()});
    case Op::Image:
      return image(n);
    case Op::X:
    case Op::Y:
    case Op::Z:
      return {fmt::format("@.{}", "xyz"[int(n.op) - int(Op::X)]),
              Level::Operand,
              {{n.args[0], Level::Operand}},
              /*has_own_line=*/false,
              /*is_never_alone=*/true};
    case Op::Cell:
    case Op::RsqrtEstimate:
      throw std::runtime_error(fmt::format("the operation {} cannot be written", name(n.op)));
    default:
      return call(name(n.op), {n.args.begin(), n.args.begin() + arity(n.op)});
  }
}

}  // namespace nbcc
