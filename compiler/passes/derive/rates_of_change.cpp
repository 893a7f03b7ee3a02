// Forward accumulation. Entry point: rates_of_change(), declared in derivative.h. Sums of a few products stay sums
// until a value is requested, so that equal terms of a second derivative are merged.
#include <algorithm>
#include <array>
#include <map>
#include <numbers>
#include <ranges>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "compiler/passes/derive/derivative.h"
#include "compiler/passes/derive/differentiation.h"

namespace nbcc {
namespace {

class Rates : Differentiation {
 public:
  Rates(Graph& graph, std::span<const NodeId> of, const std::map<NodeId, NodeId>& rates, const std::set<NodeId>& by)
      : Differentiation(graph, of, by), of_(of), given_(rates) {}

  std::vector<NodeId> run() {
    const std::unordered_set<NodeId> needed = find_needed();
    find_exponentials();
    for (const NodeId id : alive())
      if (needed.contains(id) && depends(id)) known_[id] = rate(id);
    std::vector<NodeId> result;
    for (const NodeId y : of_) result.push_back(changes(y) ? value_of(y) : kNone);
    return result;
  }

 private:
  void find_exponentials() {
    for (const NodeId id : alive()) {
      const std::array<NodeId, 3>& args = graph_[id].args;
      if (is_exponential(id) ||
          std::ranges::any_of(args, [this](NodeId arg) { return has_exponential_.contains(arg); }))
        has_exponential_.insert(id);
    }
  }

  // A product needs only its factors, not all of its arguments.
  std::unordered_set<NodeId> find_needed() {
    std::unordered_set<NodeId> needed(of_.begin(), of_.end());
    for (const NodeId id : alive() | std::views::reverse) {
      if (!needed.contains(id) || !depends(id) || is_variable(id)) continue;
      if (products_->is_product(id))
        for (const auto& [atom, power] : products_->powers(id)) needed.insert(atom);
      else
        for (const Operand& operand : operands(id)) needed.insert(operand.id);
    }
    return needed;
  }

  bool changes(NodeId id) const {
    const auto found = known_.find(id);
    return found != known_.end() && !found->second.empty();
  }
  Sum terms_of(NodeId id) const { return changes(id) ? known_.at(id) : Sum{}; }
  Term rate_of(NodeId id) { return terms_.joined(terms_of(id)); }
  NodeId value_of(NodeId id) { return terms_.value(terms_of(id), graph_[id].type); }

  Sum rate(NodeId id) {
    if (is_variable(id)) return Terms::collected({terms_.term(given_.at(id))});
    const Node node = graph_[id];
    const auto [a, b, c] = node.args;
    switch (node.op) {
      case Op::Neg:
        return Terms::times(terms_of(a), -1);
      case Op::Add:
      case Op::Sub:
        return sum(terms_of(a), terms_of(b), node.op == Op::Add ? 1 : -1);
      case Op::Sqrt:
        return {terms_.over(Terms::times(rate_of(a), 0.5), id)};
      case Op::Cast:
        return {terms_.converted(rate_of(a), node.type)};
      case Op::Abs:
        return {terms_.with_sign_of(rate_of(a), a)};
      case Op::Select:
        return {terms_.term(terms_.select(a, value_of(b), value_of(c)))};
      case Op::Min:
      case Op::Max: {
        // If the looked-up coordinate is NaN, neither argument is taken.
        const NodeId second = is_clamp(id) ? terms_.select(takes_second(node), value_of(b), id) : value_of(b);
        return {terms_.term(terms_.select(takes_first(node), value_of(a), second))};
      }
      default:
        if (products_->is_logarithmic(id)) return {terms_.times(relative_rate(id), {1, id})};
        return Terms::collected(products_->is_product(id) ? rate_of_product(id) : rate_of_function(id));
    }
  }

  // Long sums are joined to one term, and so are sums without products.
  Sum sum(Sum terms, const Sum& others, double sign) {
    constexpr std::size_t kMaxTermsOfSum = 8;
    for (const Term& term : others) terms.push_back(Terms::times(term, sign));
    terms = Terms::collected(terms);
    return terms.size() <= kMaxTermsOfSum && has_products(terms) ? terms : Sum{terms_.joined(terms)};
  }

  Sum rate_of_function(NodeId id) {
    Sum result;
    if (const Node node = graph_[id]; is_exponential(id) && changes(node.args[0])) {
      // exp(-exp(a)) is 0 where exp(a) is infinite, and so is its rate.
      const Term inner = rate_of(node.args[0]), outer = terms_.times(inner, partial(id, 0));
      const bool of_exponential = node.op != Op::Cosh && has_exponential_.contains(node.args[0]);
      if (!of_exponential) return {outer};
      const NodeId zero = graph_.constant(0, node.type);
      return {terms_.term(terms_.select(terms_.make(Op::Eq, id, zero), zero, terms_.value(outer, node.type)))};
    }
    for (const Operand& operand : operands(id))
      if (changes(operand.id)) result.push_back(terms_.times(rate_of(operand.id), partial(id, operand.argument)));
    return result;
  }

  Sum rate_of_product(NodeId id) {
    Sum result, relative;  // dM; dM/M for the factors that can be divided by
    for (const auto& [atom, power] : products_->powers(id)) {
      if (power == 0 || !changes(atom)) continue;
      const auto rest = products_->without(id, atom, power);
      if (!rest)
        relative.push_back(Terms::times(relative_rate(atom), power));
      else if (rest->below != kNone)
        result.push_back(terms_.over(terms_.times(rate_of(atom), {power * rest->sign, rest->above}), rest->below));
      else
        multiply_out(few_terms_of(atom), {power * rest->sign, rest->above}, result);
    }
    // A factor exp(-exp(a)) is 0 where the rate of its exponent is infinite.
    const bool vanishes = std::ranges::any_of(products_->powers(id), [&](const auto& factor) {
      return is_exponential(factor.first) && has_exponential_.contains(graph_[factor.first].args[0]);
    });
    Sum product;
    if (!relative.empty()) multiply_out({terms_.joined(relative)}, {1, id}, vanishes ? product : result);
    if (!product.empty()) {
      const Type type = graph_[id].type;
      const NodeId zero = graph_.constant(0, type);
      const NodeId value = terms_.value(product, type);
      result.push_back(terms_.term(terms_.select(terms_.make(Op::Eq, id, zero), zero, value)));
    }
    return result;
  }

  // The products of a few terms may be merged with equal terms when they are multiplied out, as in the second
  // derivative of a product; a sum without products is computed once.
  Sum few_terms_of(NodeId id) {
    const Sum terms = terms_of(id);
    return terms.size() <= 4 && has_products(terms) ? terms : Sum{rate_of(id)};
  }
  static bool has_products(const Sum& terms) {
    return std::ranges::any_of(terms, [](const Term& term) { return term.factors.size() > 1; });
  }
  void multiply_out(const Sum& terms, const Multiple& factor, Sum& result) {
    const Node node = factor.node == kNone ? Node{} : graph_[factor.node];
    const auto [a, b, c] = node.args;
    const bool is_sum = node.op == Op::Add || node.op == Op::Sub;
    const bool expanded = is_sum && (graph_[a].op == Op::Mul || graph_[b].op == Op::Mul);
    for (const Term& term : terms) {
      result.push_back(terms_.times(term, {factor.coefficient, expanded ? a : factor.node}));
      if (expanded)
        result.push_back(terms_.times(term, {node.op == Op::Add ? factor.coefficient : -factor.coefficient, b}));
    }
  }

  // dx/x. For exp(a) it is da, for cosh(a) tanh(a) da. For a sum with an exponential it is computed from fractions,
  // none of which overflows.
  Term relative_rate(NodeId x) {
    const Node node = graph_[x];
    const NodeId a = node.args[0];
    if (const NodeId e = exponential_in(x); e != kNone && e != x) return relative_rate(e);
    if (node.op == Op::Cosh && !is_variable(x)) return terms_.times(rate_of(a), {1, terms_.make(Op::Tanh, a)});
    if ((node.op == Op::Add || node.op == Op::Sub) && !is_variable(x)) {
      const NodeId fractions[] = {fraction_of_exponential(x, 0), fraction_of_exponential(x, 1)};
      if (fractions[0] != kNone || fractions[1] != kNone) {
        Sum sum;
        for (const int k : {0, 1}) {
          const NodeId arg = node.args[std::size_t(k)];
          if (!changes(arg)) continue;
          const double sign = k == 1 && node.op == Op::Sub ? -1 : 1;
          sum.push_back(fractions[k] != kNone ? terms_.times(relative_rate(arg), {1, fractions[k]})
                                              : Terms::times(terms_.over(rate_of(arg), x), sign));
        }
        return terms_.joined(sum);
      }
    }
    if (products_->is_long(x)) return relative_rate_of_factors(x);
    if (products_->is_logarithmic(x)) return derivative_by_base(Node(node), rate_of(a));
    if (is_variable(x) || (node.op != Op::Exp && node.op != Op::Exp2)) return terms_.over(rate_of(x), x);
    return Terms::times(rate_of(a), node.op == Op::Exp ? 1 : std::numbers::ln2);
  }

  // dx/x for a product that may be infinite where its factors are not.
  Term relative_rate_of_factors(NodeId x) {
    if (const auto found = relative_.find(x); found != relative_.end()) return found->second;
    Sum sum;
    for (const auto& [atom, power] : products_->powers(x))
      if (power != 0 && changes(atom)) sum.push_back(Terms::times(relative_rate(atom), power));
    return relative_[x] = terms_.joined(sum);
  }

  std::span<const NodeId> of_;
  const std::map<NodeId, NodeId>& given_;
  std::unordered_set<NodeId> has_exponential_;  // exponentials, and nodes that depend on one
  std::unordered_map<NodeId, Sum> known_;       // by node; joined to one term only when a value is needed
  std::unordered_map<NodeId, Term> relative_;   // cache of relative_rate_of_factors()
};

}  // namespace

std::vector<NodeId> rates_of_change(Graph& graph, std::span<const NodeId> of, const std::map<NodeId, NodeId>& rates) {
  std::set<NodeId> variables;
  for (const auto& [variable, rate] : rates) variables.insert(variable);
  return Rates(graph, of, rates, variables).run();
}

}  // namespace nbcc
