// Common base of reverse mode (derivative.cpp) and forward mode (rates_of_change.cpp): which nodes depend on variables,
// and partial derivatives of single operations.
#pragma once
#include <algorithm>
#include <optional>
#include <set>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "compiler/passes/derive/derivative_products.h"
#include "compiler/passes/derive/derivative_terms.h"
#include "compiler/passes/derive/not_differentiable.h"

namespace nbcc {

constexpr bool is_component(Op op) { return op == Op::X || op == Op::Y || op == Op::Z; }

// Arithmetic on nodes of one type, folded.
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

// Facts about the nodes below some values, for both modes.
class Differentiation {
 public:
  Differentiation(Graph& graph, std::span<const NodeId> of, const std::set<NodeId>& by)
      : graph_(graph), terms_(graph), by_(by), alive_(find_alive(of)) {
    for (const NodeId id : alive_)
      if (find_dependence(id)) depends_.insert(id);
    find_clamps();
    products_.emplace(graph_, terms_, depends_, by_);
  }

 protected:
  struct Operand {
    NodeId id;
    int argument;  // argument index; for a component of an image: 0 is its vector, 1 to 3 the lattice vectors
  };

  // True for a Min or Max that clamps the coordinate of a table lookup to the table.
  bool is_clamp(NodeId id) const { return clamps_.contains(id); }

  // The nodes below `of` that may depend on a variable, in topological order.
  const std::vector<NodeId>& alive() const { return alive_; }
  bool depends(NodeId id) const { return depends_.contains(id); }
  bool is_variable(NodeId id) const { return by_.contains(id); }

  // The scalars that a scalar is computed from. A component of an image is the same component of its vector plus
  // integer multiples of the same component of each lattice vector.
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
    if (is_component(node.op))
      return argument == 0 ? Multiple{1, kNone} : multiple_of_lattice_vector(node, argument - 1);
    if (node.op == Op::Pow && argument == 0 && graph_.is_constant(node.args[1])) {
      const double power = graph_.constant_value(node.args[1]);
      return {power, terms_.power(node.args[0], power - 1)};
    }
    if (facts(node.op).partial == nullptr) throw NotDifferentiable{id};
    ArithmeticOf with(graph_, terms_, node.type);
    const NodeId made = facts(node.op).partial(with, {id, node.args}, argument);
    return made == kNone ? Multiple{0, kNone} : terms_.read(made);
  }

  // The relative derivative of a power x^p, propagated to its base: relative * p / x, and 0 at x = 0.
  Term derivative_by_base(const Node& power, const Term& relative) {
    const auto [x, p, none] = power.args;
    const NodeId zero = graph_.constant(0, power.type);
    const Multiple exponent = terms_.read(p);
    const NodeId inverse =
        terms_.make(Op::Div, exponent.node == kNone ? graph_.constant(1, power.type) : exponent.node, x);
    const NodeId slope = terms_.select(terms_.make(Op::Eq, x, zero), zero, inverse);
    return terms_.times(relative, {exponent.coefficient, slope});
  }

  // The condition under which a Min or Max takes its first argument.
  NodeId takes_first(const Node& node) {
    const auto [a, b, c] = node.args;
    return node.op == Op::Min ? terms_.make(Op::Lt, a, b) : terms_.make(Op::Lt, b, a);
  }

  // The condition under which a Min or Max takes its second argument. If an argument is NaN, neither is taken.
  NodeId takes_second(const Node& node) {
    const auto [a, b, c] = node.args;
    return node.op == Op::Min ? terms_.make(Op::Le, b, a) : terms_.make(Op::Le, a, b);
  }

  bool is_exponential(NodeId id) const {
    const Op op = graph_[id].op;
    return depends(id) && !is_variable(id) && (op == Op::Exp || op == Op::Exp2 || op == Op::Cosh);
  }

  // True if the value may be 0 where `of` is infinite, because it depends on `of` by more than sums and products. Also
  // true if the search would take long: an unneeded selection does no harm.
  bool may_vanish_for(NodeId id, NodeId of) const {
    constexpr std::size_t kMaxVisited = 1000;
    std::set<std::pair<NodeId, bool>> seen;
    std::vector<std::pair<NodeId, bool>> next{{id, false}};
    while (!next.empty()) {
      const auto [n, by_function] = next.back();
      next.pop_back();
      if ((n == of && by_function) || seen.size() > kMaxVisited) return true;
      if (n <= of || !seen.emplace(n, by_function).second) continue;
      const Op op = graph_[n].op;
      const bool is_polynomial = op == Op::Add || op == Op::Sub || op == Op::Mul || op == Op::Neg || op == Op::Cast;
      for (int k = 0; k < arity(op); ++k)
        next.emplace_back(graph_[n].args[std::size_t(k)], by_function || !(is_polynomial || (op == Op::Div && k == 0)));
    }
    return false;
  }

  // The exponential e, if the node is e times factors that do not depend on the variables; else kNone.
  NodeId exponential_in(NodeId id) const {
    if (const auto found = exponentials_.find(id); found != exponentials_.end()) return found->second;
    const NodeId exponential = find_exponential_in(id);
    return exponentials_[id] = exponential;
  }
  NodeId find_exponential_in(NodeId id) const {
    const Node& node = graph_[id];
    if (is_variable(id) || !depends(id)) return kNone;
    if (is_exponential(id)) return id;
    if (node.op == Op::Neg) return exponential_in(node.args[0]);
    if (node.op != Op::Mul && node.op != Op::Div) return kNone;
    const auto [a, b, c] = node.args;
    if (!depends(b)) return exponential_in(a);
    return node.op == Op::Mul && !depends(a) ? exponential_in(b) : kNone;
  }

  // Addend k of a sum or difference u (with its sign) divided by u, in a form that does not overflow if the addend is
  // an exponential: a/u = 1/(1 + b/a). kNone: the addend is another function.
  NodeId fraction_of_exponential(NodeId u, int k) {
    const Node node = graph_[u];
    const NodeId own = node.args[std::size_t(k)], other = node.args[std::size_t(1 - k)];
    const NodeId exponential = exponential_in(own);
    if (exponential == kNone) return kNone;
    const Node e = graph_[exponential];
    const NodeId one = graph_.constant(1, node.type);
    // exp(-a) for 1/exp(a), so that the fraction can be differentiated in the same way.
    const NodeId ratio = exponential == own && e.op != Op::Cosh
                             ? terms_.make(Op::Mul, other, terms_.make(e.op, terms_.make(Op::Neg, e.args[0])))
                             : terms_.make(Op::Div, other, own);
    // For a - b the fractions are a/u and -b/u = 1/(1 - a/b).
    return terms_.make(Op::Div, one, terms_.make(node.op, one, ratio));
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

  // How many times lattice vector m was added.
  Multiple multiple_of_lattice_vector(const Node& component, int m) {
    if (graph_[component.args[0]].op == Op::Image) return {-1, lattice_multiple(component, m)};
    return {1, graph_.cast(graph_.leaf(Op::ImageIndex, m, Type::Int), component.type)};
  }

  // How many times lattice vector m was subtracted from a minimum image: the coordinate of (vector - image) along it,
  // by the reciprocal lattice.
  NodeId lattice_multiple(const Node& component, int m) {
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

  // Nodes with a lower id than all variables depend on none of them, and may be very many: they are skipped.
  std::vector<NodeId> find_alive(std::span<const NodeId> of) const {
    std::unordered_set<NodeId> seen;
    std::vector<NodeId> next(of.begin(), of.end()), found;
    while (!next.empty()) {
      const NodeId id = next.back();
      next.pop_back();
      if (id == kNone || by_.empty() || id < *by_.begin() || !seen.insert(id).second) continue;
      found.push_back(id);
      next.insert(next.end(), graph_[id].args.begin(), graph_[id].args.end());
    }
    std::ranges::sort(found);
    return found;
  }

  // Collects the clamps between the index of each lookup and the real coordinate that it is computed from.
  void find_clamps() {
    std::vector<NodeId> next;
    for (const NodeId id : alive_)
      if (graph_[id].op == Op::Lookup) next.push_back(graph_[id].args[1]);
    std::unordered_set<NodeId> seen;
    while (!next.empty()) {
      const NodeId id = next.back();
      next.pop_back();
      const Op op = graph_[id].op;
      if ((op != Op::Min && op != Op::Max && op != Op::Cast) || !seen.insert(id).second) continue;
      if (op != Op::Cast && is_floating(graph_[id].type)) clamps_.insert(id);
      for (int k = 0; k < arity(op); ++k) next.push_back(graph_[id].args[std::size_t(k)]);
    }
  }

  const std::set<NodeId>& by_;
  std::vector<NodeId> alive_;
  std::unordered_set<NodeId> depends_, clamps_;
  mutable std::unordered_map<NodeId, NodeId> exponentials_;  // cache of exponential_in()

 protected:
  std::optional<Products> products_;
};

}  // namespace nbcc
