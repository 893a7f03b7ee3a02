// Graph -> graph with products as monomials. Entry point: form_monomials(). A product is first read with its factors
// expanded down to nodes that are not products; if that cannot be multiplied within the range of the source, it is read
// again with its factors unexpanded.
#include "compiler/passes/optimize/monomials.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "compiler/ir/rewrite.h"
#include "compiler/passes/facts/magnitudes.h"
#include "compiler/passes/facts/signs.h"

namespace nbcc {
namespace {

// base^exponent
struct Power {
  NodeId base = kNone;
  double exponent = 1;
  // An integer power that the source forms from roots: sqrt(x)*sqrt(x) is NaN where x < 0, unlike x.
  bool of_roots = false;

  auto operator<=>(const Power&) const = default;
};

// A product of powers of nodes of the old graph.
struct Monomial : PowerProduct {
  std::set<NodeId> of_roots;  // bases; see Power::of_roots

  void multiply(const Monomial& other, double exponent) {
    of_roots.insert(other.of_roots.begin(), other.of_roots.end());
    for (const auto& [base, power] : other.exponents)
      if (exponents.contains(base) && !(is_integer(power) && is_integer(exponents.at(base)))) of_roots.insert(base);
    PowerProduct::multiply(other, exponent);
    std::erase_if(of_roots, [this](NodeId base) { return !is_integer(exponents.at(base)); });
  }
  // x^p and nothing else: expanding it loses nothing.
  bool is_power() const { return coefficient == 1 && exponents.size() == 1; }
  std::vector<Power> powers() const {
    std::vector<Power> result;
    for (const auto& [base, exponent] : exponents) result.push_back({base, exponent, of_roots.contains(base)});
    return result;
  }
};

// An order in which the factors of a monomial can be multiplied, such that every intermediate product is covered.
class MultiplicationOrder {
 public:
  MultiplicationOrder(const Magnitudes& magnitudes, double coefficient, const std::vector<Power>& powers)
      : magnitudes_(magnitudes) {
    if (std::fabs(coefficient) != 1) add(kCoefficient, {std::log2(std::fabs(coefficient)), {}});
    for (std::size_t k = 0; k < powers.size(); ++k) {
      Magnitude power;
      power.add(magnitudes.of(powers[k].base), powers[k].exponent);
      add(int(k), power);
    }
  }

  // `preference` sorts the factors: the first factor that is possible is taken.
  template <typename Preference>
  bool find(const Preference& preference) {
    std::ranges::stable_sort(factors_, {}, [&](const Factor& factor) { return preference(factor.which); });
    order_.clear();
    dead_ends_.clear();
    return extend({}, 0);
  }

  static constexpr int kCoefficient = -1;
  const std::vector<int>& order() const { return order_; }  // indices of powers, or kCoefficient

 private:
  struct Factor {
    int which;
    Magnitude magnitude;
  };
  void add(int which, Magnitude magnitude) { factors_.push_back({which, std::move(magnitude)}); }

  bool extend(const Magnitude& product, unsigned taken) {
    if (order_.size() == factors_.size()) return true;
    if (!dead_ends_.insert(taken).second) return false;
    for (std::size_t k = 0; k < factors_.size(); ++k) {
      if (taken & (1u << k)) continue;
      Magnitude next = product;
      next.add(factors_[k].magnitude, 1);
      if (!magnitudes_.covers(next)) continue;
      order_.push_back(factors_[k].which);
      if (extend(next, taken | (1u << k))) return true;
      order_.pop_back();
    }
    return false;
  }

  const Magnitudes& magnitudes_;
  std::vector<Factor> factors_;
  std::vector<int> order_;
  std::set<unsigned> dead_ends_;  // sets of factors from which the search found no order, or still searches one
};

// Longer products keep the form of the source.
constexpr std::size_t kMaxFactors = 8;

class Rewrite {
 public:
  explicit Rewrite(const Pipeline& pipeline)
      : old_(pipeline.pair),
        alive_(reachable(old_, pipeline.roots())),
        uses_(count_uses(old_, pipeline.roots())),
        magnitudes_(old_, alive_),
        signs_(old_),
        monomials_(alive_.size()) {}

  Monomials run(Pipeline& pipeline) {
    for (NodeId id = 0; id < old_.size(); ++id)
      if (alive_[std::size_t(id)]) find_monomial(id);
    const std::vector<bool> needed = find_needed(pipeline.roots());
    count_factors(needed);
    new_id_.assign(std::size_t(old_.size()), kNone);
    for (NodeId id = 0; id < old_.size(); ++id)
      if (needed[std::size_t(id)]) new_id_[std::size_t(id)] = remake(id);
    rename_roots(pipeline, new_id_);
    std::vector<double> widest(std::size_t(target_.size()), 1.0);
    for (NodeId id = 0; id < old_.size(); ++id)
      if (needed[std::size_t(id)]) {
        double& known = widest[std::size_t(new_id_[std::size_t(id)])];
        known = std::max(known, magnitudes_.widest_power(id));
      }
    // The power p of a root is the power p/2 of its base.
    for (const auto& [root, base] : root_base_) {
      double& known = widest[std::size_t(root)];
      known = std::max(known, 2 * widest[std::size_t(base)]);
    }
    return {std::move(target_), std::move(widest)};
  }

 private:
  void find_monomial(NodeId id) {
    for (const bool expanded : {true, false}) {
      Monomial monomial;
      if (!read(id, expanded, monomial)) return;
      // Integer powers of a non-negative base are the same whether or not they are formed from roots.
      std::erase_if(monomial.of_roots, [this](NodeId base) { return signs_.is_never_negative(base); });
      if (!is_moderate(monomial)) continue;
      MultiplicationOrder order(magnitudes_, monomial.coefficient, monomial.powers());
      if (!order.find([](int k) { return k; })) continue;
      monomials_[std::size_t(id)] = monomial;
      return;
    }
  }

  // Merged constants may leave the range of single precision although no product of the source did: 1e-30 * x and 1e-30
  // * y, with x and y large.
  static bool is_moderate(const Monomial& m) {
    const bool ordinary = m.coefficient == 0 || (std::fabs(m.coefficient) > 1e-30 && std::fabs(m.coefficient) < 1e30);
    return ordinary && m.exponents.size() <= kMaxFactors &&
           std::ranges::all_of(m.exponents, [](const auto& p) { return is_made_by_products(p.second); });
  }

  // A monomial needs only its bases, not all of its arguments: expanded products are skipped.
  std::vector<bool> find_needed(const std::vector<NodeId>& roots) const {
    std::vector<bool> needed(std::size_t(old_.size()), false);
    for (const NodeId root : roots) needed[std::size_t(root)] = true;
    for (NodeId id = old_.size(); id-- > 0;) {
      if (!needed[std::size_t(id)]) continue;
      if (const auto& monomial = monomials_[std::size_t(id)]) {
        for (const auto& [base, exponent] : monomial->exponents) needed[std::size_t(base)] = true;
      } else {
        for (NodeId arg : old_[id].args)
          if (arg != kNone) needed[std::size_t(arg)] = true;
      }
    }
    return needed;
  }

  void count_factors(const std::vector<bool>& needed) {
    for (NodeId id = 0; id < old_.size(); ++id)
      if (const auto& monomial = monomials_[std::size_t(id)]; monomial && needed[std::size_t(id)])
        for (const Power& factor : monomial->powers()) ++shared_by_[factor];
  }

  // The factors that most products have come first in each product, so that they are multiplied once: m r^-3 in m dx
  // r^-3 and m dy r^-3, whatever their order in the source.
  std::vector<Power> shared_first(const Monomial& monomial) const {
    std::vector<Power> powers = monomial.powers();
    std::ranges::stable_sort(powers, {},
                             [this](const Power& p) { return std::pair(-shared_by_.at(p), p.exponent != 1); });
    return powers;
  }

  NodeId remake(NodeId id) {
    const Node& node = old_[id];
    const auto& monomial = monomials_[std::size_t(id)];
    return monomial ? build(*monomial, node.type, node.where) : copy_node(target_, node, new_id_);
  }

  // Reads the node as a monomial of the nodes below it; false if the node is not a product.
  bool read(NodeId id, bool expanded, Monomial& monomial) const {
    const Node& node = old_[id];
    const std::optional<Factors> factors = read_factors(old_, id);
    if (!factors || factors->count == 0) return false;
    const auto [a, b, c] = node.args;
    if (node.op != Op::Neg && node.op != Op::Mul && node.op != Op::Div)
      return raise(a, factors->exponents[0], monomial);
    monomial.coefficient = factors->coefficient;
    const auto multiply = [&](NodeId arg, NodeId other, double exponent) {
      const Monomial own = expanded ? factor(arg, other) : unexpanded(arg);
      if (exponent < 0 && own.coefficient == 0) return false;
      monomial.multiply(own, exponent);
      return true;
    };
    return multiply(a, b, 1) && (node.op == Op::Neg || multiply(b, a, factors->exponents[1]));
  }

  // base^exponent. A power of a power becomes one power if that holds for every x: if the outer exponent is an integer,
  // or if the inner one is not an even number, so that both are NaN for x < 0. sqrt(x*x) is |x| and is kept.
  bool raise(NodeId base, double exponent, Monomial& monomial) const {
    if (exponent == 0 || !is_made_by_products(exponent)) return false;
    if (const auto& inner = monomials_[std::size_t(base)]; inner && inner->is_power()) {
      const auto [inner_base, power] = *inner->exponents.begin();
      if ((!is_even(power) || is_integer(exponent)) && is_made_by_products(power * exponent)) {
        monomial.exponents[inner_base] = power * exponent;
        const bool of_roots = !inner->of_roots.empty() || !is_integer(power) || !is_integer(exponent);
        if (of_roots && is_integer(power * exponent)) monomial.of_roots.insert(inner_base);
        return true;
      }
    }
    monomial.exponents[base] = exponent;
    return true;
  }

  Monomial own(NodeId id) const { return monomials_[std::size_t(id)].value_or(atom(id)); }
  Monomial atom(NodeId id) const {
    Monomial atom;
    if (old_.is_constant(id))
      atom.coefficient = old_.constant_value(id);
    else
      atom.exponents[id] = 1;
    return atom;
  }
  Monomial unexpanded(NodeId id) const {
    const Monomial inner = own(id);
    return inner.is_power() ? inner : atom(id);
  }

  // A factor is expanded if it has no other user, or if one of its roots or reciprocals also occurs in `other` (kNone:
  // no factor); otherwise the shared product (as in `s * dx`, `s * dy`) would be computed once for each user.
  Monomial factor(NodeId id, NodeId other) const {
    const Monomial inner = own(id);
    if (uses_[std::size_t(id)] <= 1 || inner.is_power()) return inner;
    const Exponents beside = other == kNone ? Exponents() : own(other).exponents;
    for (const auto& [base, exponent] : inner.exponents)
      if ((exponent < 0 || !is_integer(exponent)) && beside.contains(base)) return inner;
    return atom(id);
  }

  // Factors of one binding are adjacent, so that their product is computed once per particle: constants and params with
  // the j factors (or with the i factors if there are no j factors), then pair factors, and an i factor last, where
  // `hoist` finds it. If that order would leave the range, another order is taken.
  NodeId build(const Monomial& monomial, Type type, Location where) {
    const std::vector<Power> powers = shared_first(monomial);
    const bool has_j = std::ranges::any_of(powers, [&](const Power& p) { return old_[p.base].binding == Binding::J; });
    MultiplicationOrder factors(magnitudes_, monomial.coefficient, powers);
    factors.find([&](int k) {
      if (k == MultiplicationOrder::kCoefficient) return 0;
      const Binding binding = old_[powers[std::size_t(k)].base].binding;
      if (binding <= Binding::Param) return 1;
      if (binding == Binding::Pair) return 3;
      return binding == Binding::I && has_j ? 4 : 2;
    });
    NodeId product = kNone;
    for (const int k : factors.order()) {
      const NodeId next = k == MultiplicationOrder::kCoefficient ? target_.constant(monomial.coefficient, type, where)
                                                                 : power(powers[std::size_t(k)], type, where);
      product = product == kNone ? next : target_.binary(Op::Mul, product, next, where);
    }
    if (product == kNone) return target_.constant(monomial.coefficient, type, where);
    return monomial.coefficient == -1 ? target_.unary(Op::Neg, product, where) : product;
  }

  // Powers are Pow nodes with a constant exponent; an integer power formed from roots is a power of a root.
  NodeId power(const Power& factor, Type type, Location where) {
    const NodeId x = new_id_[std::size_t(factor.base)];
    const auto pow = [&](NodeId base, double exponent) {
      return target_.make(Op::Pow, type, {base, target_.constant(exponent, type), kNone}, where);
    };
    if (factor.of_roots) {
      const NodeId root = pow(x, factor.exponent < 0 ? -0.5 : 0.5);
      root_base_[root] = x;
      return factor.exponent == 0 ? target_.binary(Op::Div, root, root, where)
                                  : pow(root, std::fabs(2 * factor.exponent));
    }
    if (factor.exponent == 1) return x;
    // 1, except for 0, infinity and NaN
    if (factor.exponent == 0) return target_.binary(Op::Div, x, x, where);
    return pow(x, factor.exponent);
  }

  const Graph& old_;
  Graph target_;
  std::vector<bool> alive_;
  std::vector<int> uses_;
  Magnitudes magnitudes_;
  Signs signs_;
  std::vector<std::optional<Monomial>> monomials_;  // by node; empty: not a product
  std::map<Power, int> shared_by_;                  // number of products that have the factor
  std::map<NodeId, NodeId> root_base_;              // new graph: root that an integer power is formed from -> base
  std::vector<NodeId> new_id_;
};

}  // namespace

Monomials form_monomials(Pipeline& pipeline) { return Rewrite(pipeline).run(pipeline); }

}  // namespace nbcc
