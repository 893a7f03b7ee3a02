// Terms -> nodes. The one decision is which coefficient is taken out of a sum: the smallest one, if all others are
// exact multiples of it, so that -24 a + 12 b is -12 (2 a - b).
#include "compiler/passes/derive/derivative_terms.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_map>
#include <utility>

#include "compiler/ir/limits.h"
#include "compiler/passes/derive/common_factors.h"
#include "compiler/passes/passes.h"

namespace nbcc {

namespace {
// Maximum number of factors of one term. A longer product becomes one node, which later terms share; otherwise a chain
// of n operations would give n terms of n factors.
constexpr std::size_t kMaxFactorsPerTerm = 12;

// True well inside the range of single precision.
bool is_moderate(double coefficient) { return std::fabs(coefficient) > 1e-30 && std::fabs(coefficient) < 1e30; }
bool has(const Term& term, NodeId id) { return std::ranges::find(term.factors, id) != term.factors.end(); }
}  // namespace

Node Terms::like(NodeId id, Op op, Type type) const {
  Node node;
  node.op = op;
  node.type = type;
  node.where = graph_[id].where;
  return node;
}

NodeId Terms::make(Op op, NodeId a, NodeId b) {
  if (graph_.size() > kMaxNodes) throw TooManyNodes(kMaxNodes);
  if (!gives_bool(op)) return make_folded(graph_, op, a, b);
  return fold_node(graph_, like(a, op, Type::Bool), {a, b, kNone});
}

NodeId Terms::select(NodeId condition, NodeId yes, NodeId no) {
  const Type type = std::max(graph_[yes].type, graph_[no].type);
  const auto converted = [&](NodeId id) { return fold_node(graph_, like(id, Op::Cast, type), {id, kNone, kNone}); };
  return fold_node(graph_, like(yes, Op::Select, type), {condition, converted(yes), converted(no)});
}

NodeId Terms::power(NodeId x, double exponent) {
  if (exponent == 0) return kNone;
  if (exponent == 1) return x;
  if (exponent == -1) return make(Op::Div, graph_.constant(1, graph_[x].type), x);
  if (exponent == 2 || exponent == 3) return make(Op::Mul, power(x, exponent - 1), x);
  return make(Op::Pow, x, graph_.constant(exponent, graph_[x].type));
}

Multiple Terms::read(NodeId id) {
  if (const auto found = read_.find(id); found != read_.end()) return found->second;
  const Multiple multiple = find_multiple(id);
  read_.emplace(id, multiple);
  return multiple;
}

Multiple Terms::find_multiple(NodeId id) {
  const Node node = graph_[id];
  if (graph_.is_constant(id)) return {graph_.constant_value(id), kNone};
  const auto [a, b, c] = node.args;
  if (node.op == Op::Neg) {
    const Multiple inner = read(a);
    return {-inner.coefficient, inner.node};
  }
  if (node.op == Op::Mul && is_floating(node.type))
    for (const auto& [constant, other] : {std::pair(a, b), std::pair(b, a)})
      if (graph_.is_constant(constant)) {
        const Multiple inner = read(other);
        return {graph_.constant_value(constant) * inner.coefficient, inner.node};
      }
  if (node.op == Op::Div && is_floating(node.type)) {
    const Multiple above = read(a);
    if (above.coefficient == 1 || above.node == kNone) return {1, id};
    return {above.coefficient, make(Op::Div, above.node, b)};
  }
  return {1, id};
}

NodeId Terms::product(const std::vector<NodeId>& factors) {
  NodeId product = kNone;
  for (const NodeId factor : factors) product = product == kNone ? factor : make(Op::Mul, product, factor);
  return product;
}

// The coefficient is multiplied to the first factor, which terms of several components have in common.
NodeId Terms::scaled(double coefficient, const Term& term, Type type) {
  if (term.factors.empty()) return graph_.constant(coefficient, type);
  if (coefficient == 1) return product(term.factors);
  if (coefficient == -1) return make(Op::Neg, product(term.factors));
  std::vector<NodeId> factors = term.factors;
  factors[0] = make(Op::Mul, graph_.constant(coefficient, graph_[factors[0]].type), factors[0]);
  return product(factors);
}

NodeId Terms::value(const Term& term, Type type) {
  const NodeId id = term.coefficient == 0 ? graph_.constant(0, type) : scaled(term.coefficient, term, type);
  return fold_node(graph_, like(id, Op::Cast, type), {id, kNone, kNone});
}

Term Terms::times(Term term, double factor) {
  term.coefficient *= factor;
  return term;
}

Sum Terms::times(Sum sum, double factor) {
  for (Term& term : sum) term.coefficient *= factor;
  return sum;
}

Term Terms::times(Term term, const Multiple& factor) {
  const Multiple rest = factor.node == kNone ? Multiple{} : read(factor.node);
  const double coefficient = factor.coefficient * rest.coefficient;
  const bool joins = is_moderate(term.coefficient * coefficient) || coefficient == 1 || term.coefficient == 1 ||
                     term.coefficient == 0 || (term.factors.empty() && rest.node == kNone);
  // Large constants stay separate factors: 3e200 (x/y) 3e200 is finite where (9e400) x/y is not.
  const double apart = joins ? 1 : term.factors.empty() ? std::exchange(term.coefficient, coefficient) : coefficient;
  if (joins) term.coefficient *= coefficient;
  if (rest.node != kNone) term.factors.push_back(rest.node);
  if (apart != 1) term.factors.push_back(graph_.constant(apart, graph_[term.factors[0]].type));
  if (term.factors.size() > kMaxFactorsPerTerm) term.factors = {product(term.factors)};
  return term;
}

Term Terms::over(const Term& term, NodeId divisor) {
  if (divisor == kNone || term.coefficient == 0) return term;
  const NodeId above = term.factors.empty() ? graph_.constant(1, graph_[divisor].type) : product(term.factors);
  return {term.coefficient, {make(Op::Div, above, divisor)}};
}

Term Terms::converted(Term term, Type type) {
  for (NodeId& factor : term.factors) factor = fold_node(graph_, like(factor, Op::Cast, type), {factor, kNone, kNone});
  return term;
}

Term Terms::with_sign_of(const Term& term, NodeId x) {
  const Type type = graph_[x].type;
  const NodeId below = make(Op::Lt, x, graph_.constant(0, type)), value = this->value(term, type);
  return {1, {select(below, make(Op::Neg, value), value)}};
}

Sum Terms::collected(const Sum& sum) {
  std::map<std::vector<NodeId>, std::size_t> known;  // sorted factors -> index in `all`
  Sum all;
  for (const Term& term : sum) {
    std::vector<NodeId> sorted = term.factors;
    std::ranges::sort(sorted);
    const auto [found, is_new] = known.emplace(std::move(sorted), all.size());
    if (is_new)
      all.push_back(term);
    else
      all[found->second].coefficient += term.coefficient;
  }
  std::erase_if(all, [](const Term& term) { return term.coefficient == 0; });
  return all;
}

std::vector<NodeId> Terms::take_common_factors(std::vector<Term>& terms) {
  std::vector<NodeId> common;
  const std::vector<NodeId> candidates = terms[0].factors;
  for (const NodeId id : candidates) {
    if (!std::ranges::all_of(terms, [&](const Term& term) { return has(term, id); })) continue;
    common.push_back(id);
    for (Term& term : terms) term.factors.erase(std::ranges::find(term.factors, id));
  }
  return common;
}

// Replaces a factor by its two factors, if it is a product and another term has one of them.
void Terms::split_shared_products(Sum& sum) {
  std::unordered_map<NodeId, int> holders;  // factor -> number of terms that have it
  const auto count = [&](const Term& term, int change) {
    std::vector<NodeId> factors = term.factors;
    std::ranges::sort(factors);
    const auto repeated = std::ranges::unique(factors);
    factors.erase(repeated.begin(), repeated.end());
    for (const NodeId id : factors) holders[id] += change;
  };
  for (const Term& term : sum) count(term, 1);
  const auto is_elsewhere = [&](NodeId id, const Term& term) {
    const auto found = holders.find(id);
    return found != holders.end() && found->second > int(has(term, id));
  };
  for (Term& term : sum)
    for (std::size_t f = 0; f < term.factors.size(); ++f) {
      const Node node = graph_[term.factors[f]];
      if (node.op != Op::Mul) continue;
      const Multiple a = read(node.args[0]), b = read(node.args[1]);
      if (a.node == kNone && b.node == kNone) continue;
      if (!is_elsewhere(a.node, term) && !is_elsewhere(b.node, term)) continue;
      count(term, -1);
      term.coefficient *= a.coefficient * b.coefficient;
      term.factors[f] = a.node == kNone ? b.node : a.node;
      if (a.node != kNone && b.node != kNone) term.factors.insert(term.factors.begin() + std::ptrdiff_t(f) + 1, b.node);
      count(term, 1);
    }
}

Term Terms::joined(Sum sum) {
  sum = collected(sum);
  if (sum.empty()) return {0, {}};
  if (sum.size() == 1) return sum[0];
  split_shared_products(sum);
  return factored(collected(sum));
}

Term Terms::factored(Sum sum) {
  if (sum.empty()) return {0, {}};
  if (sum.size() == 1) return sum[0];
  CommonFactors terms(std::move(sum));
  for (NodeId best = terms.best(); best != kNone; best = terms.best()) {
    Term group = factored(terms.take(best));
    group.factors.insert(group.factors.begin(), best);
    if (terms.size() == 0) return group;
    terms.put_first(std::move(group));
  }
  return added(terms.rest());
}

Term Terms::added(const Sum& sum) {
  double common = sum[0].coefficient;
  for (const Term& term : sum)
    if (std::fabs(term.coefficient) < std::fabs(common)) common = term.coefficient;
  common = std::copysign(common, sum[0].coefficient);
  const auto divides = [&](const Term& term) { return term.coefficient / common * common == term.coefficient; };
  if (!std::ranges::all_of(sum, divides)) common = 1;
  Type type = Type::Float;  // the largest type of the factors
  for (const Term& term : sum)
    for (const NodeId id : term.factors) type = std::max(type, graph_[id].type);
  NodeId total = kNone;
  for (const Term& term : sum) {
    const double coefficient = term.coefficient / common;
    const bool subtracted = total != kNone && coefficient < 0;
    const NodeId next = scaled(subtracted ? -coefficient : coefficient, term, type);
    total = total == kNone ? next : make(subtracted ? Op::Sub : Op::Add, total, next);
  }
  return {common, {total}};
}

}  // namespace nbcc
