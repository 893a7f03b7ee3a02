// Contribution -> Terms: the inverse of lowering statements (compiler/source/lower.cpp, lower_reduce.cpp). Entry
// points: terms_of(), count_conditions(), right_side(), is_unwritten().
#include "compiler/ir/text/contribution_terms.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <stdexcept>

#include "compiler/ir/text/node_form.h"

namespace nbcc {
namespace {

bool holds_whole_terms(const Field& output) { return is_integral(output.type) && !keeps_index(output.reduction); }

bool adds_or_multiplies(const Field& output) {
  return output.reduction == Reduction::Sum || output.reduction == Reduction::Product;
}

// The operation by which lowering joins several terms; none if it does not join them.
std::optional<Op> joining(Reduction reduction) {
  if (is_sum(reduction)) return Op::Add;
  if (reduction == Reduction::Product) return Op::Mul;
  if (is_exponential(reduction) || reduction == Reduction::At) return std::nullopt;
  return is_minimum(reduction) ? Op::Min : Op::Max;
}

bool is_constant_bits(const Graph& graph, NodeId id, double value) {
  return graph.is_constant(id, value) && std::signbit(graph.constant_value(id)) == std::signbit(value);
}

// The guard and the value of `guard ? value : identity`; none for other nodes.
std::optional<OutputTerm> guarded(const Graph& graph, const Field& output, NodeId id) {
  const Node& n = graph[id];
  if (n.op != Op::Select) return std::nullopt;
  const double nothing = identity<double>(output.reduction);
  if (is_constant_bits(graph, n.args[2], nothing)) return OutputTerm{{n.args[0], false}, n.args[1]};
  if (is_constant_bits(graph, n.args[1], nothing)) return OutputTerm{{n.args[0], true}, n.args[2]};
  return std::nullopt;
}

// The links of the chain (((a . b) . c) . d) from the last to the second, and a.
struct Chain {
  std::vector<NodeId> links;
  NodeId first = kNone;
};
Chain chain_of(const Graph& graph, Op op, NodeId value, bool through_differences) {
  Chain chain{{}, value};
  const auto is_link = [&](const Node& n) {
    return n.op == op || (through_differences && n.op == Op::Sub && !graph.is_constant(n.args[1]));
  };
  for (; is_link(graph[chain.first]); chain.first = graph[chain.first].args[0]) chain.links.push_back(chain.first);
  return chain;
}

// The type to which lowering converts a term of type `from`; none if it refuses the term or would lose digits.
std::optional<Type> contributed_type(const Field& output, Type from) {
  const bool arg = keeps_index(output.reduction), product = output.reduction == Reduction::Product;
  if (holds_whole_terms(output)) {
    if (from > output.type) return std::nullopt;
    return adds_or_multiplies(output) ? Type::Double : Type::Index;
  }
  if (arg && from < Type::Float) return Type::Index;
  if ((output.type == Type::Double && !arg) || product) return Type::Double;
  return from != Type::Double || output.type == Type::Real || is_exponential(output.reduction) ? Type::Real : from;
}

}  // namespace

std::vector<OutputTerm> terms_of(const Graph& graph, const Field& output, NodeId value, NodeId guard) {
  const std::vector<OutputTerm> whole{{{guard, false}, value}};
  const auto op = joining(output.reduction);
  const bool of_doubles = holds_whole_terms(output) && adds_or_multiplies(output);
  const bool apart = of_doubles && graph[value].type == Type::Double;
  if (!op || (guard != kNone && !apart)) return whole;
  // Lowering joins integer minima and maxima in another way: no number is their identity.
  if (is_integral(graph[value].type)) return whole;
  Chain chain = chain_of(graph, *op, value, *op == Op::Add && !of_doubles);
  const auto term_of = [&](NodeId id, bool with_guards) {
    const auto under_guard = guard == kNone && with_guards ? guarded(graph, output, id) : std::nullopt;
    return under_guard.value_or(OutputTerm{{guard, false}, id});
  };
  const auto has_guard = [&](NodeId id) { return !(term_of(id, true).guard == Guard{}); };
  // The links before the first guarded term are one term.
  while (!apart && !chain.links.empty() && !has_guard(chain.first)) {
    const Node& next = graph[chain.links.back()];
    if (next.op != Op::Sub && has_guard(next.args[1])) break;
    chain.first = chain.links.back();
    chain.links.pop_back();
  }
  const auto terms = [&](bool with_guards) {
    std::vector<OutputTerm> result{term_of(chain.first, with_guards)};
    for (auto link = chain.links.rbegin(); link != chain.links.rend(); ++link) {
      const Node& n = graph[*link];
      result.push_back(n.op == Op::Sub ? OutputTerm{{}, n.args[1], true} : term_of(n.args[1], with_guards));
    }
    return result;
  };
  // Lowering would join terms with one common guard under this guard, so do not write them as several statements.
  const std::vector<OutputTerm> result = terms(true);
  if (guard != kNone || result[0].guard == Guard{} ||
      std::ranges::any_of(result, [&](const OutputTerm& t) { return !(t.guard == result[0].guard); }))
    return result;
  return apart ? terms(false) : whole;
}

std::vector<Guard> count_conditions(const Graph& graph, const Field& output, NodeId value, NodeId guard) {
  std::vector<Guard> result;
  const auto add = [&](const Guard& condition, NodeId number) {
    const double times = graph.is_constant(number) ? graph.constant_value(number) : -1;
    if (times < 0 || times > 1e4 || std::trunc(times) != times)
      throw std::runtime_error(fmt::format("a count of '{}' cannot be written: it is no number of ones", output.name));
    result.insert(result.end(), std::size_t(times), condition);
  };
  Chain chain = chain_of(graph, Op::Add, value, false);
  const auto add_term = [&](NodeId id) {
    const auto under_guard = guard == kNone ? guarded(graph, output, id) : std::nullopt;
    if (under_guard)
      add(under_guard->guard, under_guard->value);
    else
      add({guard, false}, id);
  };
  add_term(chain.first);
  for (; !chain.links.empty(); chain.links.pop_back()) add_term(graph[chain.links.back()].args[1]);
  return result;
}

RightSide right_side(const Graph& graph, const Field& output, NodeId value) {
  const Node& n = graph[value];
  const bool whole = holds_whole_terms(output);
  if (n.op == Op::Const) {
    const double number = graph.constant_value(value);
    if (whole) return {literal(number, output.type, Typed::FromContext).text};
    const bool taken = n.type == Type::Double && contributed_type(output, Type::Real) == Type::Double;
    return {literal(number, n.type, taken || n.type == Type::Index ? Typed::FromContext : Typed::Explicit).text};
  }
  if (n.op == Op::Cast) {
    const NodeId from = n.args[0];
    const bool truth = graph[from].type == Type::Bool;
    if (contributed_type(output, graph[from].type) == n.type && (!truth || whole))
      return {truth ? "int(@)" : "@", from};
  }
  const bool fits = !whole || (is_integral(n.type) && n.type <= output.type);
  return {fits ? "@" : fmt::format("{}(@)", name(output.type)), value};
}

bool is_unwritten(const Graph& graph, const Field& output, const Contribution& contribution) {
  const auto is = [&](NodeId id, double value, Type type) {
    return is_constant_bits(graph, id, value) && graph[id].type == type;
  };
  const NodeId value = contribution.value;
  if (is_sum(output.reduction)) return is(value, 0, Type::Real);
  if (output.reduction == Reduction::Softmax)
    return is(value, 0, Type::Real) && is(contribution.logit, -HUGE_VAL, Type::Real);
  if (output.reduction == Reduction::Product) return is(value, 1, Type::Double);
  const double sign = is_minimum(output.reduction) ? 1 : -1;
  return holds_whole_terms(output) ? is(value, sign * 0x1p63, Type::Index) : is(value, sign * HUGE_VAL, Type::Real);
}

}  // namespace nbcc
