// Reverse accumulation. Entry point: gradient(). derivative_products.h differentiates products, derivative_terms.h
// joins sums of terms.
#include "compiler/passes/derive/derivative.h"

#include <algorithm>
#include <array>
#include <map>
#include <numbers>
#include <ranges>
#include <set>
#include <unordered_map>

#include "compiler/passes/derive/branch_paths.h"
#include "compiler/passes/derive/differentiation.h"

namespace nbcc {
namespace {

// dy/dn as a sum of terms: the sum of `plain`, and the sum of `relative` divided by n.
struct Adjoint {
  PathId path = kAlways;
  Sum plain, relative;
};

// The adjoints of one node, one for each path, in order of arrival.
struct Arrived {
  std::vector<Adjoint> all;
  std::unordered_map<PathId, std::size_t> by_path;
};

class Gradient : Differentiation {
 public:
  Gradient(Graph& graph, std::span<const Weighted> sum, std::span<const NodeId> of, const std::set<NodeId>& by)
      : Differentiation(graph, of, by), sum_(sum) {}

  std::map<NodeId, NodeId> run() {
    std::map<NodeId, NodeId> result;
    for (const Weighted& one : sum_) {
      const PathId path = one.guard == kNone ? kAlways : paths_.enter(kAlways, one.guard, true);
      add(one.y, path, one.weight == kNone ? Term{} : terms_.term(one.weight));
    }
    for (const NodeId id : alive() | std::views::reverse) {
      auto found = adjoints_.extract(id);
      if (found.empty()) continue;
      std::vector<Adjoint>& arrived = found.mapped().all;
      Adjoint adjoint = arrived.size() == 1 ? std::move(arrived[0]) : join(arrived, id);
      if (adjoint.path != kAlways && is_polynomial(id)) select_now(id, adjoint);
      if (is_variable(id)) {
        const NodeId value = terms_.value(all_of(adjoint, id), graph_[id].type);
        result[id] = paths_.guarded(adjoint.path, kAlways, value);
      } else {
        propagate(id, adjoint);
      }
    }
    return result;
  }

 private:
  // If only sums and products with finite factors follow, a 0 stays 0: one selection here replaces one selection for
  // each variable.
  void select_now(NodeId id, Adjoint& adjoint) {
    const NodeId all = terms_.value(all_of(adjoint, id), graph_[id].type);
    adjoint = {kAlways, {terms_.term(paths_.guarded(adjoint.path, kAlways, all))}, {}};
  }

  static bool is_sum(Op op) {
    return op == Op::Add || op == Op::Sub || op == Op::Neg || op == Op::Cast || is_component(op);
  }
  bool is_sum_or_product(NodeId id) const {
    const Node& node = graph_[id];
    return (is_sum(node.op) || node.op == Op::Mul) && is_floating(node.type);
  }

  // True if the node is computed from inputs and constants by sums and products.
  bool is_finite(NodeId id) {
    if (const auto known = is_finite_.find(id); known != is_finite_.end()) return known->second;
    const bool finite =
        arity(graph_[id].op) == 0 ||
        (is_sum_or_product(id) && std::ranges::all_of(operands(id), [&](const Operand& o) { return is_finite(o.id); }));
    return is_finite_[id] = finite;
  }

  // True if the node is computed from the variables by sums and products whose other factors are finite.
  bool is_polynomial(NodeId id) {
    if (const auto known = is_polynomial_.find(id); known != is_polynomial_.end()) return known->second;
    const bool polynomial =
        depends(id) && (is_variable(id) ||
                        (is_sum_or_product(id) && std::ranges::all_of(operands(id), [&](const Operand& o) {
                           return (!depends(o.id) || is_polynomial(o.id)) && (is_sum(graph_[id].op) || is_finite(o.id));
                         })));
    return is_polynomial_[id] = polynomial;
  }

  // ---- adjoints that arrive at a node

  Adjoint& at(NodeId id, PathId path) {
    Arrived& arrived = adjoints_[id];
    const auto [found, is_new] = arrived.by_path.emplace(path, arrived.all.size());
    return is_new ? arrived.all.emplace_back(path) : arrived.all[found->second];
  }
  void add(NodeId id, PathId path, const Term& term) {
    if (depends(id) && term.coefficient != 0) at(id, path).plain.push_back(term);
  }
  void add_relative(NodeId id, PathId path, const Term& term) {
    if (depends(id)) at(id, path).relative.push_back(term);
  }

  Term all_of(const Adjoint& adjoint, NodeId id) {
    Sum sum = adjoint.plain;
    if (!adjoint.relative.empty()) sum.push_back(terms_.over(terms_.joined(adjoint.relative), id));
    return terms_.joined(sum);
  }

  // Joins the adjoints of several paths by selections. Common factors stay outside the selections.
  Adjoint join(const std::vector<Adjoint>& arrived, NodeId id) {
    std::vector<Term> terms;
    for (const Adjoint& one : arrived) terms.push_back(all_of(one, id));
    const std::vector<NodeId> common = Terms::take_common_factors(terms);
    std::vector<Branch> branches;
    for (std::size_t k = 0; k < terms.size(); ++k)
      branches.push_back({arrived[k].path, terms_.value(terms[k], graph_[id].type)});
    const Branch joined = paths_.join(branches);
    return {joined.path, {terms_.times(Term{1, common}, {1, joined.value})}, {}};
  }

  // ---- from a node to its arguments

  void propagate(NodeId id, const Adjoint& adjoint) {
    const Node node = graph_[id];
    const PathId path = adjoint.path;
    if (node.op == Op::Exp || node.op == Op::Exp2) {
      // d exp(a) = exp(a) da: a relative term needs no division.
      const double base = node.op == Op::Exp ? 1 : std::numbers::ln2;
      for (Term term : adjoint.relative) add(node.args[0], path, terms_.times(term, base));
      if (!adjoint.plain.empty()) add(node.args[0], path, times_exponential(terms_.joined(adjoint.plain), {base, id}));
      return;
    }
    if (node.op == Op::Cosh && adjoint.plain.empty()) {
      // d cosh(a) = cosh(a) tanh(a) da
      const NodeId slope = terms_.make(Op::Tanh, node.args[0]);
      for (Term term : adjoint.relative) add(node.args[0], path, terms_.times(term, {1, slope}));
      return;
    }
    if ((node.op == Op::Add || node.op == Op::Sub) && !adjoint.relative.empty() && propagate_fractions(id, adjoint))
      return;
    if (node.op == Op::Sqrt && adjoint.plain.empty()) {
      for (Term term : adjoint.relative) add_relative(node.args[0], path, terms_.times(term, 0.5));
      return;
    }
    if (const NodeId e = exponential_in(id); e != kNone && e != id && adjoint.plain.empty()) {
      for (const Term& term : adjoint.relative) add_relative(e, path, term);
      return;
    }
    if (products_->is_logarithmic(id)) {
      Sum relative = adjoint.relative;
      if (!adjoint.plain.empty()) relative.push_back(terms_.times(terms_.joined(adjoint.plain), {1, id}));
      return add(node.args[0], path, derivative_by_base(node, terms_.joined(relative)));
    }
    if (products_->is_long(id) && !adjoint.relative.empty()) {
      // The product may be infinite where its factors are not.
      const Term relative = terms_.joined(adjoint.relative);
      for (const auto& [atom, power] : products_->powers(id))
        if (power != 0) add_relative(atom, path, terms_.times(relative, power));
      if (!adjoint.plain.empty()) propagate(id, {path, adjoint.plain, {}});
      return;
    }
    const Term all = all_of(adjoint, id);
    switch (node.op) {
      case Op::Neg:
        return add(node.args[0], path, terms_.times(all, -1));
      case Op::Add:
      case Op::Sub:
        add(node.args[0], path, all);
        return add(node.args[1], path, terms_.times(all, node.op == Op::Add ? 1 : -1));
      case Op::Sqrt:
        return add(node.args[0], path, terms_.over(terms_.times(all, 0.5), id));
      case Op::Cast:
        return add(node.args[0], path, terms_.converted(all, graph_[node.args[0]].type));
      case Op::Abs:
        return add(node.args[0], path, terms_.with_sign_of(all, node.args[0]));
      case Op::Select:
        return propagate_choice(node.args[0], node.args[1], node.args[2], path, all);
      case Op::Min:
      case Op::Max:
        if (is_clamp(id)) return propagate_clamp(id, path, all);
        return propagate_choice(takes_first(node), node.args[0], node.args[1], path, all);
      default:
        break;
    }
    if (products_->is_product(id)) return propagate_product(id, path, all);
    for (const Operand& operand : operands(id))
      if (depends(operand.id)) add(operand.id, path, terms_.times(all, partial(id, operand.argument)));
  }

  // For 1 + exp(a): a relative term of the sum becomes a relative term of the exponential.
  bool propagate_fractions(NodeId id, const Adjoint& adjoint) {
    const Node node = graph_[id];
    const std::array<NodeId, 2> fractions{fraction_of_exponential(id, 0), fraction_of_exponential(id, 1)};
    if (fractions[0] == kNone && fractions[1] == kNone) return false;
    const Term relative = terms_.joined(adjoint.relative), plain = terms_.joined(adjoint.plain);
    for (const int k : {0, 1}) {
      const double sign = k == 1 && node.op == Op::Sub ? -1 : 1;
      const NodeId arg = node.args[std::size_t(k)], fraction = fractions[std::size_t(k)];
      add(arg, adjoint.path, Terms::times(plain, sign));
      if (fraction != kNone)
        add_relative(arg, adjoint.path, terms_.times(relative, {1, fraction}));
      else
        add(arg, adjoint.path, Terms::times(terms_.over(relative, id), sign));
    }
    return true;
  }

  // term * exponential
  Term times_exponential(const Term& term, const Multiple& exponential) {
    const Term product = terms_.times(term, exponential);
    return may_vanish_for(term, exponential.node) ? zero_with(term, product, exponential.node) : product;
  }

  using Differentiation::may_vanish_for;
  bool may_vanish_for(const Term& term, NodeId of) const {
    return std::ranges::any_of(term.factors, [&](NodeId factor) { return may_vanish_for(factor, of); });
  }

  // The product of the term and the node; 0 where the term is 0, as in exp(-exp(a)) where exp(a) is infinite.
  Term zero_with(const Term& term, const Term& product, NodeId node) {
    const Type type = graph_[node].type;
    const NodeId zero = graph_.constant(0, type), value = terms_.value(term, type);
    return terms_.term(terms_.select(terms_.make(Op::Eq, value, zero), zero, terms_.value(product, type)));
  }

  // The argument that is taken gets the term. If an argument is NaN, the value is NaN, and both get NaN.
  void propagate_clamp(NodeId id, PathId path, const Term& term) {
    const Node node = graph_[id];
    const NodeId value = terms_.value(term, node.type), zero = graph_.constant(0, node.type);
    const std::array<NodeId, 2> taken{takes_first(node), takes_second(node)};
    for (const std::size_t k : {0, 1})
      if (depends(node.args[k]))
        add(node.args[k], path, terms_.term(terms_.select(taken[k], value, terms_.select(taken[1 - k], zero, id))));
  }

  void propagate_choice(NodeId condition, NodeId yes, NodeId no, PathId path, const Term& term) {
    add(yes, paths_.enter(path, condition, true), term);
    add(no, paths_.enter(path, condition, false), term);
  }

  void propagate_product(NodeId id, PathId path, const Term& all) {
    const bool vanishes = std::ranges::any_of(products_->powers(id), [&](const auto& factor) {
      return factor.second > 0 && is_exponential(factor.first) && may_vanish_for(all, factor.first);
    });
    const auto kept = [&](const Term& product) { return vanishes ? zero_with(all, product, id) : product; };
    for (const auto& [atom, power] : products_->powers(id)) {
      if (power == 0) continue;
      if (const auto rest = products_->without(id, atom, power))
        add(atom, path,
            kept(terms_.over(terms_.times(terms_.times(all, power * rest->sign), {1, rest->above}), rest->below)));
      else
        add_relative(atom, path, kept(terms_.times(all, {power, id})));
    }
  }

  std::span<const Weighted> sum_;
  BranchPaths paths_{graph_, terms_};
  std::unordered_map<NodeId, Arrived> adjoints_;
  std::unordered_map<NodeId, bool> is_polynomial_, is_finite_;
};

}  // namespace

std::vector<NodeId> gradient(Graph& graph, std::span<const Weighted> sum, std::span<const NodeId> by) {
  std::vector<NodeId> of;
  for (const Weighted& one : sum) of.push_back(one.y);
  if (of.empty()) return std::vector<NodeId>(by.size(), kNone);
  const std::set<NodeId> variables(by.begin(), by.end());
  const std::map<NodeId, NodeId> found = Gradient(graph, sum, of, variables).run();
  std::vector<NodeId> result;
  for (const NodeId x : by) result.push_back(found.contains(x) ? found.at(x) : kNone);
  return result;
}

std::vector<NodeId> gradient(Graph& graph, NodeId y, std::span<const NodeId> by) {
  const Weighted once{.y = y};
  return gradient(graph, std::span(&once, 1), by);
}

}  // namespace nbcc
