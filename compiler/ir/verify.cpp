// Checks the invariants that ir.h states. Entry point: verify(). It changes nothing. Errors of the user are reported
// elsewhere: everything that verify() finds is a bug in nbcc.
#include "compiler/ir/verify.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <functional>

#include "compiler/ir/print.h"
#include "compiler/text/diagnostic.h"

namespace nbcc {
namespace {

bool is_number(Type type) { return type > Type::Bool; }

// An error message about the types of a vector operation, or an empty string.
std::string wrong_vectors(const Node& node, const std::function<Type(int)>& type_of) {
  const auto takes = [&](Type type) {
    for (int k = 0; k < arity(node.op); ++k)
      if (type_of(k) != type) return false;
    return true;
  };
  switch (node.op) {
    case Op::Vector:
      return takes(Type::Real) && node.type == Type::Vector ? "" : "a vector is made of three reals";
    case Op::Cell:
      if (node.binding > Binding::Param) return "a cell depends on i or j";
      return takes(Type::Vector) && node.type == Type::Cell ? "" : "a cell is made of three vectors";
    case Op::Image:
    case Op::EveryImage:
      return type_of(0) == Type::Vector && type_of(1) == Type::Cell && node.type == Type::Vector
                 ? ""
                 : "an image is a vector, of a vector and a cell";
    default:
      return takes(Type::Vector) && node.type == Type::Real ? "" : "a component is a real, of a vector";
  }
}

// An error message about the types of a node whose arguments exist, or an empty string.
std::string wrong_types(const Graph& graph, const Node& node) {
  const auto type_of = [&](int k) { return graph[node.args[std::size_t(k)]].type; };
  const auto all_are = [&](Type type) {
    for (int k = 0; k < arity(node.op); ++k) {
      if (type_of(k) != type) return false;
    }
    return true;
  };
  const char* const type_mismatch = all_are(node.type) ? "" : "its arguments and its type differ";
  switch (facts(node.op).typing) {
    case Typing::Leaf:
    case Typing::Conversion:
      return {};
    case Typing::Logic:
      return node.type == Type::Bool && all_are(Type::Bool) ? "" : "logic is of bool";
    case Typing::Comparison:
      if (node.type != Type::Bool) return "a comparison gives bool";
      return all_are(type_of(0)) ? "" : "its arguments differ in type";
    case Typing::Choice:
      if (type_of(0) != Type::Bool) return "its condition is not bool";
      return type_of(1) == node.type && type_of(2) == node.type ? "" : "its arguments and its type differ";
    case Typing::Element:
      return all_are(Type::Int) && is_number(node.type) ? "" : "a row and a column are of int, an element is a number";
    case Typing::Number:
      return is_number(node.type) ? type_mismatch : "arithmetic on bool";
    case Typing::Integer:
      return is_integral(node.type) ? type_mismatch : "a remainder is of int or index";
    case Typing::OfVectors:
      return wrong_vectors(node, type_of);
    case Typing::Real:
      return is_floating(node.type) ? type_mismatch : "a function of floating point numbers is of another type";
  }
  return {};
}

std::string wrong_constant(const Node& node) {
  const double value = std::bit_cast<double>(node.payload);
  if (node.type == Type::Bool && value != 0 && value != 1) return "a bool constant is 0 or 1";
  if (is_integral(node.type) && std::trunc(value) != value) return "an integer constant has a fraction";
  if (node.type == Type::Int && std::fabs(value) > 2147483648.0) return "an int constant exceeds 32 bits";
  return {};
}

// [role][component]: the field with this component.
using Components = std::array<std::vector<const Field*>, kRoles>;

// An error message about a leaf of the pair graph or of finish(), or an empty string.
std::string wrong_leaf(const Components& components, const Node& node, bool in_finish) {
  const auto component_of = [&](Role role) -> std::string {
    const std::vector<const Field*>& fields = components[std::size_t(role)];
    if (node.payload < 0 || node.payload >= std::int64_t(fields.size())) return "its component does not exist";
    const Field& field = *fields[std::size_t(node.payload)];
    if ((role == Role::Output ? result_type(field) : field.type) != node.type) return "its type is not its field's";
    return {};
  };
  if (node.op == Op::Const) return wrong_constant(node);
  if (in_finish && (facts(node.op).binding == Binding::J || node.op == Op::ImageIndex || node.op == Op::SelfPair))
    return "finish() knows no j-particle";
  if (node.op == Op::Output && !in_finish) return "an output is read before finish()";
  // Element 0 need not exist: the term of a loop over other elements may read x[k - 10].
  if (is_element(node.op)) return is_number(node.type) ? "" : "an element is a number";
  if (const auto role = facts(node.op).role) return component_of(*role);
  if (node.op == Op::ImageIndex)
    return node.type == Type::Int && node.payload >= 0 && node.payload < 3 ? "" : "an image index is an int, of three";
  if (node.op == Op::SelfPair) return node.type == Type::Bool ? "" : "a condition is bool";
  return node.type == Type::Index ? "" : "an index is of type index";
}

Binding joined_binding(const Graph& graph, const Node& node) {
  Binding binding = facts(node.op).binding;
  for (int k = 0; k < arity(node.op); ++k) binding = join(binding, graph[node.args[std::size_t(k)]].binding);
  return binding;
}

std::string wrong_node(const Components& components, const Graph& graph, NodeId id, bool in_finish) {
  const Node& node = graph[id];
  for (int k = 0; k < 3; ++k) {
    const NodeId arg = node.args[std::size_t(k)];
    const bool used = k < arity(node.op);
    if (used && (arg < 0 || arg >= id)) return "an argument does not precede its user";
    if (!used && arg != kNone) return "it has too many arguments";
  }
  std::string wrong = arity(node.op) == 0 ? wrong_leaf(components, node, in_finish) : wrong_types(graph, node);
  if (wrong.empty() && arity(node.op) > 0 && node.binding != joined_binding(graph, node))
    wrong = "its binding is not the join of its arguments'";
  return wrong;
}

// Runs the checks; adds the pass and the node to each error message.
class Checker {
 public:
  Checker(const Pipeline& pipeline, std::string_view after) : pipeline_(pipeline), after_(after) {
    for (const Role role : {Role::InputI, Role::InputJ, Role::InputPair, Role::Param, Role::Output})
      components_[std::size_t(role)] = pipeline.fields_of(role);
  }

  void fields() const {
    std::array<int, kRoles> next{};
    int next_table = pipeline_.params_by_value();
    for (const Field& field : pipeline_.fields) {
      int& first = field.is_table() ? next_table : next[std::size_t(field.role)];
      require(field.width >= 1 && field.width <= 4 && field.length >= 0, field.name, "its shape is impossible");
      require(field.first == first, field.name, "its first component does not follow the field before it");
      require(field.defaults.empty() || int(field.defaults.size()) == field.components(), field.name,
              "it has not one default per component");
      const bool is_output = field.role == Role::Output;
      require(is_output ? field.kind != FieldKind::Param && !field.is_table()
                        : field.kind == kind_of(field.role) || (field.role == Role::Param && field.is_table()),
              field.name, "its kind does not fit its role");
      require(!is_output || field.is_histogram() == (field.reduction == Reduction::Histogram), field.name,
              "its kind does not fit its reduction");
      first += field.components();
    }
  }

  void graph(const Graph& graph, bool in_finish) const {
    for (NodeId id = 0; id < graph.size(); ++id) {
      const std::string wrong = wrong_node(components_, graph, id, in_finish);
      if (!wrong.empty()) fail(text(graph, id, in_finish), wrong);
    }
  }

  void contributions() const {
    const Graph& pair = pipeline_.pair;
    require(int(pipeline_.contributions.size()) == pipeline_.components(Role::Output), "pair",
            "it has not one contribution per output component");
    require(pipeline_.within >= kNone && pipeline_.within < pair.size(), "within",
            "it names a node that does not exist");
    require(pipeline_.within == kNone || pair[pipeline_.within].type == Type::Bool, "within", "it is not bool");
    for (std::size_t c = 0; c < pipeline_.contributions.size(); ++c) {
      const Contribution& contribution = pipeline_.contributions[c];
      const std::string what = fmt::format("contribution {}", c);
      for (NodeId root : {contribution.value, contribution.guard, contribution.scale, contribution.logit}) {
        require(root >= kNone && root < pair.size(), what, "it names a node that does not exist");
      }
      require(contribution.value != kNone, what, "it has no value");
      require(is_number(pair[contribution.value].type), what, "its value is a bool");
      if (contribution.guard != kNone)
        require(pair[contribution.guard].type == Type::Bool, what, "its guard is not bool");
      if (contribution.scale != kNone) scale(c, what);
      const bool has_logit = contribution.logit != kNone;
      const Reduction reduction = components_[std::size_t(Role::Output)][c]->reduction;
      const bool is_histogram = reduction == Reduction::Histogram;
      require((reduction == Reduction::Softmax || is_histogram) == has_logit, what,
              "a softmax has a logit, a histogram an element, and nothing else has");
      require(!has_logit || is_histogram || is_floating(pair[contribution.logit].type), what,
              "its logit is no real number");
      require(!is_histogram || pair[contribution.logit].type == Type::Int, what, "its element is no int");
    }
  }

  void finished() const {
    const std::vector<NodeId>& roots = pipeline_.finished;
    require(roots.empty() || int(roots.size()) == pipeline_.components(Role::Output), "finish",
            "it has not one result per output component");
    for (NodeId root : roots) {
      require(root >= 0 && root < pipeline_.finish.size(), "finish", "a result names a node that does not exist");
      require(is_number(pipeline_.finish[root].type), "finish", "a result is a bool");
    }
  }

 private:
  void scale(std::size_t c, const std::string& what) const {
    const Node& node = pipeline_.pair[pipeline_.contributions[c].scale];
    const bool on_j = join(node.binding, Binding::I) == Binding::Pair;
    require(!on_j, what, "its scale depends on j");
    require(is_number(node.type), what, "its scale is a bool");
    require(components_[std::size_t(Role::Output)][c]->reduction == Reduction::Sum, what, "only a sum has a scale");
  }

  static std::string text(const Graph& graph, NodeId id, bool in_finish) {
    return fmt::format("{} %{} = {}", in_finish ? "finish" : "pair", id, print_operation(graph[id], graph[id].args));
  }

  [[noreturn]] void fail(const std::string& what, std::string_view wrong) const {
    throw InternalError(fmt::format("after {}: {}: {}", after_, what, wrong));
  }

  void require(bool holds, const std::string& what, std::string_view wrong) const {
    if (!holds) fail(what, wrong);
  }

  const Pipeline& pipeline_;
  std::string_view after_;
  Components components_;
};

}  // namespace

void verify(const Pipeline& pipeline, std::string_view after) {
  const Checker check(pipeline, after);
  check.fields();
  check.graph(pipeline.pair, false);
  check.graph(pipeline.finish, true);
  check.contributions();
  check.finished();
}

}  // namespace nbcc
