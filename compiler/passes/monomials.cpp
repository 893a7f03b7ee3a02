// Graph -> graph, products as monomials. One door: form_monomials(). A product is read twice if need be:
// with its factors opened down to what is no product, and if that cannot be multiplied up within the text's range, with
// its factors as they stand.
#include "compiler/passes/monomials.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "compiler/ir/rewrite.h"
#include "compiler/passes/magnitudes.h"
#include "compiler/passes/signs.h"

namespace nbcc {
namespace {

// base^(twice/2); the base is an id of the old graph.
struct Power {
  NodeId base = kNone;
  int twice = 2;
  // A whole power that the text makes of roots: sqrt(x)*sqrt(x) is NaN where x < 0, and x is not.
  bool of_roots = false;

  bool is_root() const { return twice % 2 != 0; }
  auto operator<=>(const Power&) const = default;
};

// coefficient * product of bases to half-integer powers
struct Monomial {
  double coefficient = 1;
  std::vector<Power> powers;

  void multiply(Power power) {
    for (Power& p : powers)
      if (p.base == power.base) {
        const bool of_roots = p.of_roots || power.of_roots || p.is_root() || power.is_root();
        p.twice += power.twice;
        p.of_roots = of_roots && !p.is_root();
        return;
      }
    powers.push_back(power);
  }
  void multiply(const Monomial& other, int sign) {
    coefficient = sign > 0 ? coefficient * other.coefficient : coefficient / other.coefficient;
    for (const Power& p : other.powers) multiply({p.base, sign * p.twice, p.of_roots});
  }
  bool has(NodeId base) const {
    return std::ranges::any_of(powers, [&](const Power& p) { return p.base == base; });
  }
  // x^p and nothing else: opening it loses nothing.
  bool is_power() const { return coefficient == 1 && powers.size() == 1; }
};

// An order in which the factors of a monomial can be multiplied, such that every product on the way is covered.
class MultiplicationOrder {
 public:
  MultiplicationOrder(const Magnitudes& magnitudes, const Monomial& monomial) : magnitudes_(magnitudes) {
    if (std::fabs(monomial.coefficient) != 1) add(kCoefficient, {std::log2(std::fabs(monomial.coefficient)), {}});
    for (std::size_t k = 0; k < monomial.powers.size(); ++k) {
      Magnitude power;
      power.add(magnitudes.of(monomial.powers[k].base), monomial.powers[k].twice / 2.0);
      add(int(k), power);
    }
  }

  // `preference` sorts the factors: what can come first does.
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
  std::set<unsigned> dead_ends_;  // sets of factors from which no order was found, or is being looked for
};

// Longer products stay as they are written.
constexpr std::size_t kMaxFactors = 8;

class Rewrite {
 public:
  explicit Rewrite(const Pipeline& pipeline)
      : old_(pipeline.pair),
        alive_(reachable(old_, pipeline.roots())),
        uses_(count_uses(old_, pipeline.roots())),
        magnitudes_(old_, alive_),
        signs_(old_),
        monomials_(alive_.size()),
        is_product_(alive_.size(), false) {}

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
    // A power of a root is half that power of the base.
    for (const auto& [root, base] : root_base_) {
      double& known = widest[std::size_t(root)];
      known = std::max(known, 2 * widest[std::size_t(base)]);
    }
    return {std::move(target_), std::move(widest)};
  }

 private:
  void find_monomial(NodeId id) {
    if (old_[id].type < Type::Float) return;
    for (const bool opened : {true, false}) {
      Monomial monomial;
      if (!read(old_[id], opened, monomial)) return;
      drop_proved_roots(monomial);
      if (!is_moderate(monomial) || !MultiplicationOrder(magnitudes_, monomial).find([](int k) { return k; })) continue;
      monomials_[std::size_t(id)] = monomial;
      is_product_[std::size_t(id)] = true;
      return;
    }
  }

  // A base that is never negative has the same whole powers, made of roots or not.
  void drop_proved_roots(Monomial& monomial) {
    for (Power& p : monomial.powers)
      if (p.of_roots && signs_.is_never_negative(p.base)) p.of_roots = false;
  }

  // Constants that have been joined may leave single precision's range although no product of the text did: 1e-30 * x
  // and 1e-30 * y, with x and y large.
  static bool is_moderate(const Monomial& m) {
    const bool ordinary = m.coefficient == 0 || (std::fabs(m.coefficient) > 1e-30 && std::fabs(m.coefficient) < 1e30);
    return ordinary && m.powers.size() <= kMaxFactors &&
           std::ranges::all_of(m.powers, [](const Power& p) { return std::abs(p.twice) <= kMaxTwiceExponent; });
  }

  // A product needs its bases, which are not all of its arguments: what has been opened is passed over.
  std::vector<bool> find_needed(const std::vector<NodeId>& roots) const {
    std::vector<bool> needed(std::size_t(old_.size()), false);
    for (const NodeId root : roots) needed[std::size_t(root)] = true;
    for (NodeId id = old_.size(); id-- > 0;) {
      if (!needed[std::size_t(id)]) continue;
      if (is_product_[std::size_t(id)]) {
        for (const Power& p : monomials_[std::size_t(id)].powers) needed[std::size_t(p.base)] = true;
      } else {
        for (NodeId arg : old_[id].args)
          if (arg != kNone) needed[std::size_t(arg)] = true;
      }
    }
    return needed;
  }

  // What many products share stands first in each of them, so that it is multiplied once: m r^-3 in m dx r^-3 and
  // m dy r^-3, however they were written.
  void count_factors(const std::vector<bool>& needed) {
    for (NodeId id = 0; id < old_.size(); ++id)
      if (needed[std::size_t(id)] && is_product_[std::size_t(id)])
        for (const Power& factor : monomials_[std::size_t(id)].powers) ++shared_by_[factor];
    for (NodeId id = 0; id < old_.size(); ++id)
      if (needed[std::size_t(id)] && is_product_[std::size_t(id)])
        std::ranges::sort(monomials_[std::size_t(id)].powers, [&](const Power& a, const Power& b) {
          const int shared_a = shared_by_[a], shared_b = shared_by_[b];
          if (shared_a != shared_b) return shared_a > shared_b;
          const bool plain_a = a.twice == 2, plain_b = b.twice == 2;
          return plain_a != plain_b ? plain_a : a < b;
        });
  }

  NodeId remake(NodeId id) {
    const Node& node = old_[id];
    if (is_product_[std::size_t(id)]) return build(monomials_[std::size_t(id)], node.type, node.where);
    return copy_node(target_, node, new_id_);
  }

  // The node as a monomial of what stands below it; false if it is no product.
  bool read(const Node& node, bool opened, Monomial& monomial) const {
    const auto a = node.args[0], b = node.args[1];
    switch (node.op) {
      case Op::Neg:
        monomial = opened ? factor(a, {}) : as_it_stands(a);
        monomial.coefficient = -monomial.coefficient;
        return true;
      case Op::Mul: {
        const Monomial right = opened ? factor(b, own(a)) : as_it_stands(b);
        monomial = opened ? factor(a, own(b)) : as_it_stands(a);
        monomial.multiply(right, 1);
        return true;
      }
      case Op::Div: {
        const Monomial right = opened ? factor(b, own(a)) : as_it_stands(b);
        if (right.coefficient == 0) return false;
        monomial = opened ? factor(a, own(b)) : as_it_stands(a);
        monomial.multiply(right, -1);
        return true;
      }
      case Op::Sqrt:
        return root(a, 1, monomial);
      case Op::Rsqrt:
        return root(a, -1, monomial);
      case Op::Pow: {
        if (!old_.is_constant(b)) return false;
        const double twice = 2 * old_.constant_value(b);
        if (twice != std::floor(twice) || std::fabs(twice) > kMaxTwiceExponent || twice == 0) return false;
        return root(a, int(twice), monomial);
      }
      default:
        return false;
    }
  }

  // x^(twice/2). A power of a power is a power where that holds for every x: when the outer exponent is whole, or when
  // the inner one is odd or odd halves, so that both are NaN for x < 0. sqrt(x*x) is |x| and stays.
  bool root(NodeId a, int twice, Monomial& monomial) const {
    const Monomial& inner = monomials_[std::size_t(a)];
    if (is_product_[std::size_t(a)] && inner.is_power()) {
      const auto [base, t, of_roots] = inner.powers[0];
      if ((t % 4 != 0 || twice % 2 == 0) && t * twice % 2 == 0 && std::abs(t * twice / 2) <= kMaxTwiceExponent) {
        const int product = t * twice / 2;
        monomial.multiply({base, product, (of_roots || t % 2 != 0 || twice % 2 != 0) && product % 2 == 0});
        return true;
      }
    }
    monomial.multiply({a, twice});
    return true;
  }

  Monomial own(NodeId id) const { return is_product_[std::size_t(id)] ? monomials_[std::size_t(id)] : atom(id); }
  Monomial atom(NodeId id) const {
    Monomial atom;
    if (old_.is_constant(id))
      atom.coefficient = old_.constant_value(id);
    else
      atom.powers.push_back({id});
    return atom;
  }
  Monomial as_it_stands(NodeId id) const {
    const Monomial inner = own(id);
    return inner.is_power() ? inner : atom(id);
  }

  // A factor is opened if nobody else uses it, or if a root or reciprocal in it meets its like in `other`: else the
  // shared product (as in `s * dx`, `s * dy`) would be made once for each user.
  Monomial factor(NodeId id, const Monomial& other) const {
    const Monomial inner = own(id);
    if (uses_[std::size_t(id)] <= 1 || inner.is_power()) return inner;
    for (const Power& p : inner.powers)
      if ((p.twice < 0 || p.is_root()) && other.has(p.base)) return inner;
    return atom(id);
  }

  // Factors of one binding stand together, so that their product is made once per particle: constants and params with
  // the j factors (or the i factors if there are none), then what belongs to the pair, and an i factor last, where
  // `hoist` finds it. Where that order would leave the range, another is taken.
  NodeId build(const Monomial& monomial, Type type, Location where) {
    const bool has_j =
        std::ranges::any_of(monomial.powers, [&](const Power& p) { return old_[p.base].binding == Binding::J; });
    MultiplicationOrder factors(magnitudes_, monomial);
    factors.find([&](int k) {
      if (k == MultiplicationOrder::kCoefficient) return 0;
      const Binding binding = old_[monomial.powers[std::size_t(k)].base].binding;
      if (binding <= Binding::Param) return 1;
      if (binding == Binding::Pair) return 3;
      return binding == Binding::I && has_j ? 4 : 2;
    });
    NodeId product = kNone;
    for (const int k : factors.order()) {
      const NodeId next = k == MultiplicationOrder::kCoefficient ? target_.constant(monomial.coefficient, type, where)
                                                                 : power(monomial.powers[std::size_t(k)], type, where);
      product = product == kNone ? next : target_.binary(Op::Mul, product, next, where);
    }
    if (product == kNone) return target_.constant(monomial.coefficient, type, where);
    return monomial.coefficient == -1 ? target_.unary(Op::Neg, product, where) : product;
  }

  // Powers are Pow nodes with a constant exponent; a whole power that is made of roots is the power of a root.
  NodeId power(const Power& factor, Type type, Location where) {
    const NodeId x = new_id_[std::size_t(factor.base)];
    const auto pow = [&](NodeId base, double exponent) {
      return target_.make(Op::Pow, type, {base, target_.constant(exponent, type), kNone}, where);
    };
    if (factor.of_roots) {
      const NodeId root = pow(x, factor.twice < 0 ? -0.5 : 0.5);
      root_base_[root] = x;
      return factor.twice == 0 ? target_.binary(Op::Div, root, root, where) : pow(root, std::abs(factor.twice));
    }
    if (factor.twice == 2) return x;
    // 1 but for 0, infinity and NaN, which must show
    if (factor.twice == 0) return target_.binary(Op::Div, x, x, where);
    return pow(x, factor.twice / 2.0);
  }

  const Graph& old_;
  Graph target_;
  std::vector<bool> alive_;
  std::vector<int> uses_;
  Magnitudes magnitudes_;
  Signs signs_;
  std::vector<Monomial> monomials_;
  std::vector<bool> is_product_;
  std::map<Power, int> shared_by_;      // how many products have it
  std::map<NodeId, NodeId> root_base_;  // in the new graph: the root of which a whole power is made -> its base
  std::vector<NodeId> new_id_;
};

}  // namespace

Monomials form_monomials(Pipeline& pipeline) { return Rewrite(pipeline).run(pipeline); }

}  // namespace nbcc
