// Reverse and forward accumulation. Doors: gradient(), rates_of_change(). How products are
// differentiated as one is in derivative_products.h, how sums of terms are joined in derivative_terms.h.
#include "compiler/passes/derivative.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>
#include <set>

#include "compiler/passes/derivative_products.h"
#include "compiler/passes/derivative_terms.h"

namespace nbcc {
namespace {

constexpr bool is_component(Op op) { return op == Op::X || op == Op::Y || op == Op::Z; }

// Of nodes of one type, folded.
class ArithmeticOf final : public Arithmetic {
 public:
  ArithmeticOf(Graph& graph, Terms& terms, Type type) : graph_(graph), terms_(terms), type_(type) {}
  NodeId number(double value) override { return graph_.constant(value, type_); }
  NodeId make(Op op, NodeId a, NodeId b) override { return terms_.make(op, a, b); }
  NodeId select(NodeId condition, NodeId yes, NodeId no) override { return terms_.select(condition, yes, no); }

 private:
  Graph& graph_;
  Terms& terms_;
  Type type_;
};

// What both directions know of the graph below some values.
class Differentiation {
 public:
  Differentiation(Graph& graph, std::span<const NodeId> of, const std::set<NodeId>& by)
      : graph_(graph), terms_(graph), by_(by), depends_(std::size_t(*std::ranges::max_element(of)) + 1) {
    const std::vector<bool> alive = reachable(graph, {of.begin(), of.end()});
    for (NodeId id = 0; id < NodeId(depends_.size()); ++id)
      if (alive[std::size_t(id)]) depends_[std::size_t(id)] = find_dependence(id);
    products_.emplace(graph_, terms_, depends_, by_);
  }

 protected:
  struct Operand {
    NodeId id;
    int argument;  // of the operation; of a component of an image: 0 its vector, 1 to 3 the lattice vectors
  };

  bool depends(NodeId id) const { return depends_[std::size_t(id)]; }
  bool is_variable(NodeId id) const { return by_.contains(id); }

  // The numbers that a number is made of. An image's component is that of its vector less whole multiples of those of
  // the lattice vectors.
  std::vector<Operand> operands(NodeId id) const {
    const Node& node = graph_[id];
    std::vector<Operand> result;
    if (is_component(node.op)) {
      const Node& image = graph_[node.args[0]];
      const auto k = std::size_t(node.op) - std::size_t(Op::X);
      result.push_back({graph_[image.args[0]].args[k], 0});
      for (int m = 0; m < 3; ++m) result.push_back({graph_[graph_[image.args[1]].args[std::size_t(m)]].args[k], m + 1});
      return result;
    }
    for (int k = 0; k < arity(node.op); ++k) result.push_back({node.args[std::size_t(k)], k});
    return result;
  }

  // dy/d(operand), as a multiple of a node.
  Multiple partial(NodeId id, int argument) {
    const Node node = graph_[id];
    if (is_component(node.op)) return argument == 0 ? Multiple{1, kNone} : Multiple{-1, copies(node, argument - 1)};
    if (node.op == Op::Pow && argument == 0 && graph_.is_constant(node.args[1])) {
      const double power = graph_.constant_value(node.args[1]);
      return {power, terms_.power(node.args[0], power - 1)};
    }
    if (facts(node.op).partial == nullptr) throw NotDifferentiable{id};
    ArithmeticOf with(graph_, terms_, node.type);
    const NodeId made = facts(node.op).partial(with, {id, node.args}, argument);
    return made == kNone ? Multiple{0, kNone} : terms_.read(made);
  }

  // x^p has the derivative p x^p / x, and 0 at 0: `relative` times p / x.
  Term by_base(const Node& power, const Term& relative) {
    const auto [x, p, none] = power.args;
    const NodeId zero = graph_.constant(0, power.type);
    const Multiple exponent = terms_.read(p);
    const NodeId inverse =
        terms_.make(Op::Div, exponent.node == kNone ? graph_.constant(1, power.type) : exponent.node, x);
    const NodeId slope = terms_.select(terms_.make(Op::Eq, x, zero), zero, inverse);
    return terms_.times(relative, {exponent.coefficient, slope});
  }

  // Of a Min or Max: that the first argument is taken.
  NodeId takes_first(const Node& node) {
    const auto [a, b, c] = node.args;
    return node.op == Op::Min ? terms_.make(Op::Lt, a, b) : terms_.make(Op::Lt, b, a);
  }

  Graph& graph_;
  Terms terms_;

 private:
  bool find_dependence(NodeId id) const {
    if (is_variable(id)) return true;
    const Node& node = graph_[id];
    if (!is_floating(node.type) || facts(node.op).partial == &partials::none) return false;
    return std::ranges::any_of(operands(id), [&](const Operand& o) { return depends(o.id); });
  }

  // How many times a lattice vector was taken off: the coordinate of (vector - image) along it, from the reciprocal
  // lattice.
  NodeId copies(const Node& component, int m) {
    const Node image = graph_[component.args[0]];
    const Node vector = graph_[image.args[0]], cell = graph_[image.args[1]];
    const auto lattice = [&](int k) { return graph_[cell.args[std::size_t(k % 3)]].args; };
    const auto of = [&](Op op, NodeId a, NodeId b) { return terms_.make(op, a, b); };
    const auto p = lattice(m), q = lattice(m + 1), r = lattice(m + 2);
    NodeId along = kNone, volume = kNone;
    for (std::size_t k = 0; k < 3; ++k) {
      const std::size_t l = (k + 1) % 3, n = (k + 2) % 3;
      const NodeId normal = of(Op::Sub, of(Op::Mul, q[l], r[n]), of(Op::Mul, q[n], r[l]));
      const NodeId part = graph_.make(Op(int(Op::X) + int(k)), Type::Real, {component.args[0], kNone, kNone});
      const NodeId moved = of(Op::Mul, of(Op::Sub, vector.args[k], part), normal);
      const NodeId size = of(Op::Mul, p[k], normal);
      along = along == kNone ? moved : of(Op::Add, along, moved);
      volume = volume == kNone ? size : of(Op::Add, volume, size);
    }
    return terms_.make(Op::Rint, of(Op::Div, along, volume));
  }

  const std::set<NodeId>& by_;
  std::vector<bool> depends_;

 protected:
  std::optional<Products> products_;
};

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
        is_polynomial_(std::size_t(last_) + 1) {
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
  // Where only sums and products follow, a 0 stays a 0: one selection here is as good as one for each variable.
  void select_now(NodeId id, Adjoint& adjoint) {
    const NodeId value = guarded(adjoint.path, 0, terms_.value(all_of(adjoint, id), graph_[id].type));
    adjoint = {{}, {terms_.term(value)}, {}};
  }

  void find_polynomials() {
    for (NodeId id = 0; id <= last_; ++id) {
      const Op op = graph_[id].op;
      const bool keeps =
          op == Op::Add || op == Op::Sub || op == Op::Neg || op == Op::Mul || op == Op::Cast || is_component(op);
      is_polynomial_[std::size_t(id)] =
          depends(id) && (is_variable(id) || (keeps && std::ranges::all_of(operands(id), [&](const Operand& o) {
                                                return !depends(o.id) || is_polynomial_[std::size_t(o.id)];
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
      const bool both = !yes.empty() && !no.empty();
      always = always || both;
      if (!both) {
        const NodeId holds = yes.empty() ? terms_.make(Op::Not, condition) : condition;
        somewhere = somewhere == kNone ? holds : terms_.make(Op::Or, somewhere, holds);
      }
      const auto value_of = [&](std::vector<Branch>& some) {
        if (some.empty()) return kNone;
        const Branch branch = join_branches(std::move(some), depth + 1);
        return guarded(branch.path, depth + 1, branch.value);
      };
      const NodeId if_so = value_of(yes), else_value = value_of(no);
      const Type type = graph_[if_so == kNone ? else_value : if_so].type;
      const auto or_zero = [&](NodeId value) { return value == kNone ? graph_.constant(0, type) : value; };
      one_more(terms_.select(condition, or_zero(if_so), or_zero(else_value)));
    }
    if (!always) path.emplace_back(somewhere, true);
    return {path, sum};
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
      if (!adjoint.plain.empty()) add(node.args[0], path, terms_.times(terms_.joined(adjoint.plain), {base, id}));
      return;
    }
    if (node.op == Op::Sqrt && adjoint.plain.empty()) {
      for (Term term : adjoint.relative) add_relative(node.args[0], path, terms_.times(term, 0.5));
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
        return hand_on_choice(takes_first(node), node.args[0], node.args[1], path, all);
      default:
        break;
    }
    if (products_->is_product(id)) return hand_on_product(id, path, all);
    for (const Operand& operand : operands(id))
      if (depends(operand.id)) add(operand.id, path, terms_.times(all, partial(id, operand.argument)));
  }

  void hand_on_choice(NodeId condition, NodeId yes, NodeId no, Path path, const Term& term) {
    path.emplace_back(condition, true);
    add(yes, path, term);
    path.back().second = false;
    add(no, path, term);
  }

  void hand_on_product(NodeId id, const Path& path, const Term& all) {
    for (const auto& [atom, power] : products_->powers(id)) {
      if (power == 0) continue;
      if (const auto rest = products_->without(id, atom, power))
        add(atom, path,
            terms_.over(terms_.times(terms_.times(all, power * rest->sign), {1, rest->above}), rest->below));
      else
        add_relative(atom, path, terms_.times(all, {power, id}));
    }
  }

  std::span<const Weighted> sum_;
  const NodeId last_;
  std::vector<std::vector<Adjoint>> adjoints_;  // by node: one for each path
  std::vector<bool> is_polynomial_;             // by node: whether it is one of the variables
};

class Rates : Differentiation {
 public:
  Rates(Graph& graph, std::span<const NodeId> of, const std::map<NodeId, NodeId>& rates, const std::set<NodeId>& by)
      : Differentiation(graph, of, by), of_(of), given_(rates) {}

  std::vector<NodeId> run() {
    const NodeId last = *std::ranges::max_element(of_);
    const std::vector<bool> needed = find_needed(last);
    for (NodeId id = 0; id <= last; ++id)
      if (needed[std::size_t(id)] && depends(id)) known_[id] = rate(id);
    std::vector<NodeId> result;
    for (const NodeId y : of_) result.push_back(changes(y) ? value_of(y) : kNone);
    return result;
  }

 private:
  // A product needs its factors, which are not all of its arguments.
  std::vector<bool> find_needed(NodeId last) {
    std::vector<bool> needed(std::size_t(last) + 1);
    for (const NodeId y : of_) needed[std::size_t(y)] = true;
    for (NodeId id = last; id >= 0; --id) {
      if (!needed[std::size_t(id)] || !depends(id) || is_variable(id)) continue;
      if (products_->is_product(id))
        for (const auto& [atom, power] : products_->powers(id)) needed[std::size_t(atom)] = true;
      else
        for (const Operand& operand : operands(id)) needed[std::size_t(operand.id)] = true;
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
      case Op::Max:
        return {terms_.term(terms_.select(takes_first(node), value_of(a), value_of(b)))};
      default:
        if (products_->is_logarithmic(id)) return {terms_.times(relative_rate(id), {1, id})};
        return Terms::collected(products_->is_product(id) ? rate_of_product(id) : rate_of_function(id));
    }
  }

  // Long sums are joined, and so are sums of plain numbers.
  Sum sum(Sum terms, const Sum& others, double sign) {
    constexpr std::size_t kMostTerms = 8;
    for (const Term& term : others) terms.push_back(Terms::times(term, sign));
    terms = Terms::collected(terms);
    return terms.size() <= kMostTerms && has_products(terms) ? terms : Sum{terms_.joined(terms)};
  }

  Sum rate_of_function(NodeId id) {
    Sum result;
    for (const Operand& operand : operands(id))
      if (changes(operand.id)) result.push_back(terms_.times(rate_of(operand.id), partial(id, operand.argument)));
    return result;
  }

  Sum rate_of_product(NodeId id) {
    Sum result, relative;  // dM, and dM/M by the factors that one can divide by
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
    if (!relative.empty()) multiply_out({terms_.joined(relative)}, {1, id}, result);
    return result;
  }

  // Products of a few terms may meet their like when they are multiplied out, as in the second derivative of a product;
  // a sum of plain numbers is made once.
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
    const bool opened = is_sum && (graph_[a].op == Op::Mul || graph_[b].op == Op::Mul);
    for (const Term& term : terms) {
      result.push_back(terms_.times(term, {factor.coefficient, opened ? a : factor.node}));
      if (opened)
        result.push_back(terms_.times(term, {node.op == Op::Add ? factor.coefficient : -factor.coefficient, b}));
    }
  }

  // dx/x; of exp(a) that is da.
  Term relative_rate(NodeId x) {
    const Node& node = graph_[x];
    const NodeId a = node.args[0];
    if (products_->is_logarithmic(x)) return by_base(Node(node), rate_of(a));
    if (is_variable(x) || (node.op != Op::Exp && node.op != Op::Exp2)) return terms_.over(rate_of(x), x);
    return Terms::times(rate_of(a), node.op == Op::Exp ? 1 : std::numbers::ln2);
  }

  std::span<const NodeId> of_;
  const std::map<NodeId, NodeId>& given_;
  std::map<NodeId, Sum> known_;  // by node: not joined as long as only sums are made of it
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

std::vector<NodeId> rates_of_change(Graph& graph, std::span<const NodeId> of, const std::map<NodeId, NodeId>& rates) {
  std::set<NodeId> variables;
  for (const auto& [variable, rate] : rates) variables.insert(variable);
  return Rates(graph, of, rates, variables).run();
}

}  // namespace nbcc
