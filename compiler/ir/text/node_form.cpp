// Node -> Form: the operator or function of the language for an operation. Entry point: Forms. Reads of tables are in
// node_form_table.cpp. pipeline_text.cpp decides which values become variables.
#include "compiler/ir/text/node_form.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <stdexcept>

#include "compiler/ir/period.h"

namespace nbcc {
namespace {

constexpr double kBeyondIndex = 0x1p63;

// The shortest decimal text of a floating point number that reads back as this number.
template <class Number>
std::string decimal(Number value) {
  if (std::isinf(value)) return value < 0 ? "-1e999" : "1e999";
  std::string text = fmt::format("{}", value);
  std::erase(text, '+');
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

Precedence tighter(Precedence precedence) { return Precedence(int(precedence) + 1); }

}  // namespace

Written literal(double value, Type type, Typed typed) {
  const auto converted = [&](const std::string& text) {
    return Written{fmt::format("{}({})", name(type), text), Precedence::Operand};
  };
  if (type == Type::Bool) return {value != 0 ? "true" : "false"};
  const Precedence precedence = std::signbit(value) ? Precedence::Sign : Precedence::Operand;
  if (is_integral(type)) {
    if (std::fabs(value) >= kBeyondIndex)
      throw std::runtime_error("the largest and the smallest index cannot be written");
    const std::string text = fmt::format("{:.0f}", value + 0.0);  // -0 is written as 0
    // In -2147483648 the literal 2147483648 is an index, so the value needs int(...).
    const bool too_large = type == Type::Int && value == -0x1p31;
    const bool bare = typed == Typed::FromContext || (type == Type::Int && !too_large);
    return bare ? Written{text, value < 0 ? Precedence::Sign : Precedence::Operand} : converted(text);
  }
  const bool is_float = type == Type::Float;
  if (std::isnan(value)) {
    const std::string nan = is_float ? "0.0f / 0.0f" : "0.0 / 0.0";
    return type == Type::Double ? converted(nan) : Written{"(" + nan + ")"};
  }
  if (is_float) return {decimal(float(value)) + "f", precedence};
  const std::string text = value == std::numbers::pi ? "pi" : decimal(value);
  return type == Type::Double && typed == Typed::Explicit ? converted(text) : Written{text, precedence};
}

std::optional<Written> Forms::atom(NodeId id, Typed typed) const {
  const Node& n = graph_[id];
  if (n.op == Op::Const) return literal(graph_.constant_value(id), n.type, typed);
  if (arity(n.op) > 0) return std::nullopt;
  if (const auto other = renamed.find(id); other != renamed.end()) return Written{other->second};
  if (const auto role = facts(n.op).role)
    return Written{component_name(pipeline_.field_of(*role, int(n.payload)), int(n.payload))};
  if (n.op == Op::ImageIndex) return Written{fmt::format("image_index({})", n.payload)};
  return Written{std::string(name(n.op))};
}

void Forms::add(Form& form, NodeId id, Precedence least, Typed typed) const {
  if (const auto written = atom(id, typed)) {
    form.pattern += written->parenthesized(least);
  } else {
    form.pattern += '@';
    form.operands.push_back({id, least});
  }
}

// At most one of two literal operands takes its type from the other. Operators are left-associative: a right operand of
// the same precedence gets parentheses.
Form Forms::infix(const Node& node, std::string_view sign, Precedence precedence) const {
  const auto [a, b, none] = node.args;
  Form form{"", precedence};
  add(form, a, precedence, graph_.is_constant(b) ? Typed::Explicit : Typed::FromContext);
  form.pattern += fmt::format(" {} ", sign);
  add(form, b, tighter(precedence), graph_.is_constant(a) ? Typed::Explicit : Typed::FromContext);
  return form;
}

// The operand with the larger binding comes first: `r2 < rc * rc`. Equalities keep their order, because a == b and b ==
// a are two nodes. A comparison as an operand of a comparison gets parentheses.
Form Forms::comparison(const Node& node, std::string_view sign, std::string_view turned) const {
  Node as_read = node;
  const auto rank = [&](NodeId id) {
    const Binding binding = graph_[id].binding;
    return binding == Binding::J ? Binding::I : binding;
  };
  const bool turn = node.op != Op::Eq && rank(node.args[0]) < rank(node.args[1]);
  if (turn) std::swap(as_read.args[0], as_read.args[1]);
  Form form = infix(as_read, turn ? turned : sign, Precedence::Shift);
  form.precedence = node.op == Op::Eq ? Precedence::Equality : Precedence::Comparison;
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
    add(form, arguments[k], Precedence::Choice);
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
  Form form{"!", Precedence::Sign};
  add(form, node.args[0], Precedence::Operand);
  return form;
}

// Lowering takes a shift count modulo the width, in the type of the left operand: that BitAnd is not written.
Form Forms::shift(const Node& node) const {
  const NodeId by = node.args[1];
  const int width = node.type == Type::Int ? 32 : 64;
  const bool is_taken = is(by, Op::BitAnd) && graph_.is_constant(argument(by, 1), width - 1);
  NodeId count = is_taken ? argument(by, 0) : by;
  if (is_taken && is(count, Op::Cast) && graph_[argument(count, 0)].type == Type::Int) count = argument(count, 0);
  Form form{"", Precedence::Shift};
  add(form, node.args[0], Precedence::Shift);
  form.pattern += node.op == Op::Shl ? " << " : " >> ";
  add(form, count, tighter(Precedence::Shift), Typed::FromContext);
  return form;
}

// Recognises a - b * rint(a / b), as lowering makes it of nearest_image(a, b). Folding may have replaced the quotient
// by a product and removed factors of 1.
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
  return call("nearest_image", {a, length_of_period(graph_, box)});
}

// The language has no rint, but x - nearest_image(x, 1) equals rint(x) for every finite x.
Form Forms::rounded(const Node& node) const {
  require_free("nearest_image");
  const NodeId x = node.args[0];
  Form form{"", Precedence::Sum};
  add(form, x, Precedence::Sum);
  form.pattern += " - nearest_image(";
  add(form, x, Precedence::Choice);
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
  Form form = call(node.op == Op::Image ? "nearest_image" : "every_image", {node.args[0], cell[0], cell[1], cell[2]});
  form.has_own_line = true;
  return form;
}

Form Forms::of(NodeId id) const {
  const Node& n = graph_[id];
  Form form;
  switch (n.op) {
    case Op::Neg:
      form = {"-", Precedence::Sign};
      add(form, n.args[0], Precedence::Operand);
      return form;
    case Op::Not:
      return negation(n);
    case Op::Cast:
      return call(name(n.type), {n.args[0]});
    case Op::Add:
      if (auto known = interpolated(n)) return *known;
      return infix(n, "+", Precedence::Sum);
    case Op::Sub:
      if (auto known = nearest_image(n)) return *known;
      return infix(n, "-", Precedence::Sum);
    case Op::Mul:
      return infix(n, "*", Precedence::Product);
    case Op::Div:
      return infix(n, "/", Precedence::Product);
    case Op::Rem:
      return infix(n, "%", Precedence::Product);
    case Op::BitAnd:
      return infix(n, "&", Precedence::BitAnd);
    case Op::BitOr:
      return infix(n, "|", Precedence::BitOr);
    case Op::BitXor:
      return infix(n, "^", Precedence::BitXor);
    case Op::Shl:
    case Op::Shr:
      return shift(n);
    case Op::And:
      return infix(n, "&&", Precedence::And);
    case Op::Or:
      return infix(n, "||", Precedence::Or);
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
      form = {"", Precedence::Choice};
      add(form, n.args[0], Precedence::Or);
      form.pattern += " ? ";
      add(form, n.args[1], Precedence::Or);
      form.pattern += " : ";
      add(form, n.args[2], Precedence::Choice);
      return form;
    case Op::Vector:
      return vector({n.args.begin(), n.args.end()});
    case Op::Image:
    case Op::EveryImage:
      return image(n);
    case Op::X:
    case Op::Y:
    case Op::Z:
      return {fmt::format("@.{}", "xyz"[int(n.op) - int(Op::X)]),
              Precedence::Operand,
              {{n.args[0], Precedence::Operand}},
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
