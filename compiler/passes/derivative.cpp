// Reverse accumulation. Door: gradient(). How products are differentiated as one is in derivative_products.h, how sums
// of terms are joined in derivative_terms.h.
#include "compiler/passes/derivative.h"

#include <algorithm>
#include <array>
#include <map>
#include <numbers>
#include <set>

#include "compiler/passes/differentiation.h"

namespace nbcc {
namespace {

// Which branches were taken on the way from the value: conditions and how they went, the outermost first.
using Path = std::vector<std::pair<NodeId, bool>>;

// dy/dn as a sum of terms: those of it, and those of n dy/dn.
struct Adjoint {
  Path path;
  Sum plain, relative;
};

class Gradient : Differentiation {
 public:
  Gradient(Graph& graph, std::span<const Weighted> sum, std::span<const NodeId> of, const std::set<NodeId>& by)
      : Differentiation(graph, of, by),
        sum_(sum),
        last_(*std::ranges::max_element(of)),
        adjoints_(std::size_t(last_) + 1),
        is_polynomial_(std::size_t(last_) + 1),
        is_finite_(std::size_t(last_) + 1) {
    find_polynomials();
  }

  std::map<NodeId, NodeId> run() {
    std::map<NodeId, NodeId> result;
    for (const Weighted& one : sum_) {
      const Path path = one.guard == kNone ? Path{} : Path{{one.guard, true}};
      add(one.y, path, one.weight == kNone ? Term{} : terms_.term(one.weight));
    }
    for (NodeId id = last_; id >= 0; --id) {
      std::vector<Adjoint> arrived = std::move(adjoints_[std::size_t(id)]);
      if (arrived.empty() || !depends(id)) continue;
      Adjoint adjoint = arrived.size() == 1 ? std::move(arrived[0]) : join(arrived, id);
      if (!adjoint.path.empty() && is_polynomial_[std::size_t(id)]) select_now(id, adjoint);
      if (is_variable(id)) {
        const NodeId value = terms_.value(all_of(adjoint, id), graph_[id].type);
        result[id] = guarded(adjoint.path, 0, value);
      } else {
        hand_on(id, adjoint);
      }
    }
    return result;
  }

 private:
  // Where only sums and products with finite factors follow, a 0 stays a 0: one selection here is as good as one for
  // each variable.
  void select_now(NodeId id, Adjoint& adjoint) {
    const NodeId value = guarded(adjoint.path, 0, terms_.value(all_of(adjoint, id), graph_[id].type));
    adjoint = {{}, {terms_.term(value)}, {}};
  }

  void find_polynomials() {
    for (NodeId id = 0; id <= last_; ++id) {
      const Op op = graph_[id].op;
      const bool is_sum = op == Op::Add || op == Op::Sub || op == Op::Neg || op == Op::Cast || is_component(op);
      const bool keeps = (is_sum || op == Op::Mul) && is_floating(graph_[id].type);
      // Made of inputs and constants by sums and products.
      is_finite_[std::size_t(id)] =
          arity(op) == 0 ||
          (keeps && std::ranges::all_of(operands(id), [&](const Operand& o) { return is_finite_[std::size_t(o.id)]; }));
      is_polynomial_[std::size_t(id)] =
          depends(id) && (is_variable(id) || (keeps && std::ranges::all_of(operands(id), [&](const Operand& o) {
                                                return (!depends(o.id) || is_polynomial_[std::size_t(o.id)]) &&
                                                       (is_sum || is_finite_[std::size_t(o.id)]);
                                              })));
    }
  }

  // ---- what arrives at a node

  Adjoint& at(NodeId id, const Path& path) {
    std::vector<Adjoint>& all = adjoints_[std::size_t(id)];
    const auto found = std::ranges::find(all, path, &Adjoint::path);
    return found != all.end() ? *found : all.emplace_back(path);
  }
  void add(NodeId id, const Path& path, const Term& term) {
    if (depends(id) && term.coefficient != 0) at(id, path).plain.push_back(term);
  }
  void add_relative(NodeId id, const Path& path, const Term& term) {
    if (depends(id)) at(id, path).relative.push_back(term);
  }

  Term all_of(const Adjoint& adjoint, NodeId id) {
    Sum sum = adjoint.plain;
    if (!adjoint.relative.empty()) sum.push_back(terms_.over(terms_.joined(adjoint.relative), id));
    return terms_.joined(sum);
  }

  // What has come by different branches becomes one, by selections. Factors that all have stay outside.
  Adjoint join(const std::vector<Adjoint>& arrived, NodeId id) {
    std::vector<Term> terms;
    for (const Adjoint& one : arrived) terms.push_back(all_of(one, id));
    const std::vector<NodeId> common = Terms::take_common_factors(terms);
    std::vector<Branch> branches;
    for (std::size_t k = 0; k < terms.size(); ++k)
      branches.push_back({arrived[k].path, terms_.value(terms[k], graph_[id].type)});
    Branch joined = join_branches(std::move(branches), 0);
    Term all{1, common};
    return {std::move(joined.path), {terms_.times(all, {1, joined.value})}, {}};
  }

  struct Branch {
    Path path;  // where it does not lead, the value does not count
    NodeId value;
  };

  // Of branches that agree in their first `depth` conditions.
  Branch join_branches(std::vector<Branch> branches, std::size_t depth) {
    if (branches.size() == 1) return std::move(branches[0]);
    NodeId sum = kNone;
    bool always = false;
    NodeId somewhere = kNone;  // that one of several conditions holds
    Path path;
    while (!branches.empty()) {
      const auto one_more = [&](NodeId value) { sum = sum == kNone ? value : terms_.make(Op::Add, sum, value); };
      if (branches[0].path.size() == depth) {
        always = true;
        path.assign(branches[0].path.begin(), branches[0].path.begin() + std::ptrdiff_t(depth));
        one_more(branches[0].value);
        branches.erase(branches.begin());
        continue;
      }
      const NodeId condition = branches[0].path[depth].first;
      path.assign(branches[0].path.begin(), branches[0].path.begin() + std::ptrdiff_t(depth));
      std::vector<Branch> yes, no, others;
      for (Branch& b : branches) {
        const bool other = b.path.size() == depth || b.path[depth].first != condition;
        (other ? others : b.path[depth].second ? yes : no).push_back(std::move(b));
      }
      branches = std::move(others);
      if (branches.empty() && sum == kNone && (yes.empty() || no.empty()))
        return join_branches(std::move(yes.empty() ? no : yes), depth + 1);
      // Whether a value comes by them at all: kNone where it always does, once the condition holds.
      std::array<NodeId, 2> inner{kNone, kNone};
      const auto value_of = [&](std::vector<Branch>& some, NodeId& taken) {
        if (some.empty()) return kNone;
        const Branch branch = join_branches(std::move(some), depth + 1);
        taken = condition_of(branch.path, depth + 1);
        return guarded(branch.path, depth + 1, branch.value);
      };
      const bool by_yes = !yes.empty(), by_no = !no.empty();
      const NodeId if_so = value_of(yes, inner[0]), else_value = value_of(no, inner[1]);
      if (by_yes && by_no && inner[0] == kNone && inner[1] == kNone) {
        always = true;
      } else {
        if (by_yes) somewhere = any(somewhere, all(condition, inner[0]));
        if (by_no) somewhere = any(somewhere, all(terms_.make(Op::Not, condition), inner[1]));
      }
      const Type type = graph_[if_so == kNone ? else_value : if_so].type;
      const auto or_zero = [&](NodeId value) { return value == kNone ? graph_.constant(0, type) : value; };
      one_more(terms_.select(condition, or_zero(if_so), or_zero(else_value)));
    }
    if (!always) path.emplace_back(somewhere, true);
    return {path, sum};
  }

  NodeId all(NodeId a, NodeId b) { return a == kNone ? b : b == kNone ? a : terms_.make(Op::And, a, b); }
  NodeId any(NodeId a, NodeId b) { return a == kNone ? b : b == kNone ? a : terms_.make(Op::Or, a, b); }

  // That the path beyond `depth` is taken; kNone: it ends there.
  NodeId condition_of(const Path& path, std::size_t depth) {
    NodeId condition = kNone;
    for (std::size_t k = depth; k < path.size(); ++k)
      condition = all(condition, path[k].second ? path[k].first : terms_.make(Op::Not, path[k].first));
    return condition;
  }

  // The value where the path beyond `depth` is taken, else 0.
  NodeId guarded(const Path& path, std::size_t depth, NodeId value) {
    for (std::size_t k = path.size(); k-- > depth;) {
      const NodeId zero = graph_.constant(0, graph_[value].type);
      value = path[k].second ? terms_.select(path[k].first, value, zero) : terms_.select(path[k].first, zero, value);
    }
    return value;
  }

  // ---- from a node to what it is made of

  void hand_on(NodeId id, const Adjoint& adjoint) {
    const Node node = graph_[id];
    const Path& path = adjoint.path;
    if (node.op == Op::Exp || node.op == Op::Exp2) {
      // d exp(a) = exp(a) da: what is relative to it needs no division.
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
    if ((node.op == Op::Add || node.op == Op::Sub) && !adjoint.relative.empty() && hand_on_shares(id, adjoint)) return;
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
      return add(node.args[0], path, by_base(node, terms_.joined(relative)));
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
        return hand_on_choice(node.args[0], node.args[1], node.args[2], path, all);
      case Op::Min:
      case Op::Max:
        if (is_place(id)) return hand_on_place(id, path, all);
        return hand_on_choice(takes_first(node), node.args[0], node.args[1], path, all);
      default:
        break;
    }
    if (products_->is_product(id)) return hand_on_product(id, path, all);
    for (const Operand& operand : operands(id))
      if (depends(operand.id)) add(operand.id, path, terms_.times(all, partial(id, operand.argument)));
  }

  // Of 1 + exp(a): what is relative to the sum is relative to the exponential.
  bool hand_on_shares(NodeId id, const Adjoint& adjoint) {
    const Node node = graph_[id];
    const std::array<NodeId, 2> shares{share_of_exponential(id, 0), share_of_exponential(id, 1)};
    if (shares[0] == kNone && shares[1] == kNone) return false;
    const Term relative = terms_.joined(adjoint.relative), plain = terms_.joined(adjoint.plain);
    for (const int k : {0, 1}) {
      const double sign = k == 1 && node.op == Op::Sub ? -1 : 1;
      const NodeId arg = node.args[std::size_t(k)], share = shares[std::size_t(k)];
      add(arg, adjoint.path, Terms::times(plain, sign));
      if (share != kNone)
        add_relative(arg, adjoint.path, terms_.times(relative, {1, share}));
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

  // The product of the term and the node; 0 where the term is 0, as exp(-exp(a)) is where exp(a) is infinite.
  Term zero_with(const Term& term, const Term& product, NodeId node) {
    const Type type = graph_[node].type;
    const NodeId zero = graph_.constant(0, type), value = terms_.value(term, type);
    return terms_.term(terms_.select(terms_.make(Op::Eq, value, zero), zero, terms_.value(product, type)));
  }

  // The operand that is taken gets the term; where a NaN makes the value NaN, each gets that.
  void hand_on_place(NodeId id, const Path& path, const Term& term) {
    const Node node = graph_[id];
    const NodeId value = terms_.value(term, node.type), zero = graph_.constant(0, node.type);
    const std::array<NodeId, 2> taken{takes_first(node), takes_second(node)};
    for (const std::size_t k : {0, 1})
      if (depends(node.args[k]))
        add(node.args[k], path, terms_.term(terms_.select(taken[k], value, terms_.select(taken[1 - k], zero, id))));
  }

  void hand_on_choice(NodeId condition, NodeId yes, NodeId no, Path path, const Term& term) {
    path.emplace_back(condition, true);
    add(yes, path, term);
    path.back().second = false;
    add(no, path, term);
  }

  void hand_on_product(NodeId id, const Path& path, const Term& all) {
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
  const NodeId last_;
  std::vector<std::vector<Adjoint>> adjoints_;  // by node: one for each path
  std::vector<bool> is_polynomial_;             // by node: whether it is one of the variables
  std::vector<bool> is_finite_;                 // by node: whether it is one of inputs
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
