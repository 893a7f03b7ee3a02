// Two rewrites: products become monomials whose powers are Pow nodes with a constant exponent (half-integers), then
// each base's Pow nodes are made together, since what is cheapest depends on which powers are wanted. One door:
// rsqrt().
#include "compiler/rsqrt.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "compiler/rewrite.h"

namespace nbcc {
namespace {

// Powers beyond this are left to pow(): a chain of products would lose accuracy and gain nothing.
constexpr int kMaxTwiceExponent = 48;

bool is_floating(Type type) { return type >= Type::Float; }

std::vector<int> count_uses(const Graph& graph, const std::vector<NodeId>& roots) {
  std::vector<int> uses(std::size_t(graph.size()), 0);
  const std::vector<bool> alive = reachable(graph, roots);
  for (NodeId id = 0; id < graph.size(); ++id)
    if (alive[std::size_t(id)])
      for (NodeId arg : graph[id].args)
        if (arg != kNone) ++uses[std::size_t(arg)];
  for (NodeId root : roots)
    if (root != kNone) ++uses[std::size_t(root)];
  return uses;
}

// coefficient * product of bases to half-integer powers; bases are ids of the old graph.
struct Monomial {
  double coefficient = 1;
  std::vector<std::pair<NodeId, int>> powers;  // base, twice the exponent

  void multiply(NodeId base, int twice) {
    for (auto& [b, t] : powers)
      if (b == base) {
        t += twice;
        return;
      }
    powers.emplace_back(base, twice);
  }
  void multiply(const Monomial& other, int sign) {
    coefficient = sign > 0 ? coefficient * other.coefficient : coefficient / other.coefficient;
    for (const auto& [base, twice] : other.powers) multiply(base, sign * twice);
  }
  bool has(NodeId base) const {
    return std::any_of(powers.begin(), powers.end(), [&](const auto& p) { return p.first == base; });
  }
};

// First rewrite: products to monomials.
class MonomialRewrite {
 public:
  MonomialRewrite(const Graph& old, std::vector<int> uses)
      : old_(old), uses_(std::move(uses)), monomials_(uses_.size()), is_product_(uses_.size(), false) {}

  Graph run(std::vector<NodeId*> roots) {
    std::vector<NodeId> old_roots;
    for (NodeId* root : roots) old_roots.push_back(*root);
    const std::vector<bool> alive = reachable(old_, old_roots);
    for (NodeId id = 0; id < old_.size(); ++id)
      if (alive[std::size_t(id)]) find_monomial(id);
    const std::vector<bool> needed = find_needed(old_roots);
    count_factors(needed);
    new_id_.assign(std::size_t(old_.size()), kNone);
    for (NodeId id = 0; id < old_.size(); ++id)
      if (needed[std::size_t(id)]) new_id_[std::size_t(id)] = remake(id);
    for (NodeId* root : roots)
      if (*root != kNone) *root = new_id_[std::size_t(*root)];
    return std::move(target_);
  }

 private:
  void find_monomial(NodeId id) {
    Monomial monomial;
    if (!is_floating(old_[id].type) || !read(old_[id], monomial) || !is_ordinary(monomial.coefficient)) return;
    monomials_[std::size_t(id)] = monomial;
    is_product_[std::size_t(id)] = true;
  }

  // A product needs its bases, which are not all of its arguments: what has been opened is passed over.
  std::vector<bool> find_needed(const std::vector<NodeId>& roots) const {
    std::vector<bool> needed(std::size_t(old_.size()), false);
    for (NodeId root : roots)
      if (root != kNone) needed[std::size_t(root)] = true;
    for (NodeId id = old_.size(); id-- > 0;) {
      if (!needed[std::size_t(id)]) continue;
      if (is_product_[std::size_t(id)]) {
        for (const auto& [base, twice] : monomials_[std::size_t(id)].powers) needed[std::size_t(base)] = true;
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
        for (const auto& factor : monomials_[std::size_t(id)].powers) ++shared_by_[factor];
    for (NodeId id = 0; id < old_.size(); ++id)
      if (needed[std::size_t(id)] && is_product_[std::size_t(id)])
        std::sort(monomials_[std::size_t(id)].powers.begin(), monomials_[std::size_t(id)].powers.end(),
                  [&](const auto& a, const auto& b) {
                    const int shared_a = shared_by_[a], shared_b = shared_by_[b];
                    if (shared_a != shared_b) return shared_a > shared_b;
                    const bool plain_a = a.second == 2, plain_b = b.second == 2;
                    return plain_a != plain_b ? plain_a : a < b;
                  });
  }

  NodeId remake(NodeId id) {
    const Node& node = old_[id];
    if (is_product_[std::size_t(id)]) return build(monomials_[std::size_t(id)], node.type, node.where);
    std::array<NodeId, 3> args{kNone, kNone, kNone};
    for (int k = 0; k < arity(node.op); ++k) args[std::size_t(k)] = new_id_[std::size_t(node.args[std::size_t(k)])];
    return copy_node(target_, node, args);
  }

  // Constants that have been joined may leave single precision's range although no product of the text did: 1e-30 * x
  // and 1e-30 * y, with x and y large.
  static bool is_ordinary(double coefficient) {
    return coefficient == 0 || (std::fabs(coefficient) > 1e-30 && std::fabs(coefficient) < 1e30);
  }

  // The node as a monomial of what stands below it; false if it is no product.
  bool read(const Node& node, Monomial& monomial) {
    const auto a = node.args[0], b = node.args[1];
    switch (node.op) {
      case Op::Neg:
        monomial = factor(a, {});
        monomial.coefficient = -monomial.coefficient;
        return true;
      case Op::Mul: {
        const Monomial right = factor(b, own(a));
        monomial = factor(a, own(b));
        monomial.multiply(right, 1);
        return true;
      }
      case Op::Div: {
        const Monomial right = factor(b, own(a));
        if (right.coefficient == 0) return false;
        monomial = factor(a, own(b));
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
  bool root(NodeId a, int twice, Monomial& monomial) {
    const Monomial& inner = monomials_[std::size_t(a)];
    if (is_product_[std::size_t(a)] && inner.coefficient == 1 && inner.powers.size() == 1) {
      const auto [base, t] = inner.powers[0];
      if ((t % 4 != 0 || twice % 2 == 0) && t * twice % 2 == 0 && std::abs(t * twice / 2) <= kMaxTwiceExponent) {
        monomial.multiply(base, t * twice / 2);
        return true;
      }
    }
    monomial.multiply(a, twice);
    return true;
  }

  Monomial own(NodeId id) const {
    if (is_product_[std::size_t(id)]) return monomials_[std::size_t(id)];
    Monomial atom;
    if (old_.is_constant(id))
      atom.coefficient = old_.constant_value(id);
    else
      atom.powers.emplace_back(id, 2);
    return atom;
  }

  // A factor is opened if nobody else uses it, or if a root or reciprocal in it meets its like in `other`: else the
  // shared product (as in `s * dx`, `s * dy`) would be made once for each user.
  Monomial factor(NodeId id, const Monomial& other) const {
    const Monomial inner = own(id);
    if (!is_product_[std::size_t(id)] || uses_[std::size_t(id)] <= 1) return inner;
    const bool pure_power = inner.coefficient == 1 && inner.powers.size() == 1;
    if (pure_power) return inner;
    for (const auto& [base, twice] : inner.powers)
      if ((twice < 0 || twice % 2 != 0) && other.has(base)) return inner;
    Monomial atom;
    atom.powers.emplace_back(id, 2);
    return atom;
  }

  // Factors of one binding stand together, so that their product is made once per particle: constants and params with
  // the j factors (or the i factors if there are none), then what belongs to the pair, and an i factor last, where
  // `hoist` finds it.
  NodeId build(const Monomial& monomial, Type type, Location where) {
    const bool has_j = std::any_of(monomial.powers.begin(), monomial.powers.end(),
                                   [&](const auto& p) { return old_[p.first].binding == Binding::J; });
    NodeId product = kNone;
    if (monomial.coefficient != 1 && monomial.coefficient != -1)
      product = target_.constant(monomial.coefficient, type, where);
    multiply_by(product, monomial, type, where, [](Binding b) { return b <= Binding::Param; });
    multiply_by(product, monomial, type, where, [&](Binding b) { return b == (has_j ? Binding::J : Binding::I); });
    multiply_by(product, monomial, type, where, [](Binding b) { return b == Binding::Pair; });
    if (has_j) {
      NodeId of_i = kNone;
      multiply_by(of_i, monomial, type, where, [](Binding b) { return b == Binding::I; });
      if (of_i != kNone) product = target_.binary(Op::Mul, product, of_i, where);
    }
    if (product == kNone) return target_.constant(monomial.coefficient, type, where);
    return monomial.coefficient == -1 ? target_.unary(Op::Neg, product, where) : product;
  }

  // Powers stand as Pow nodes with a constant exponent.
  template <typename Accept>
  void multiply_by(NodeId& product, const Monomial& monomial, Type type, Location where, Accept accept) {
    for (const auto& [base, twice] : monomial.powers) {
      if (!accept(old_[base].binding)) continue;
      const NodeId x = new_id_[std::size_t(base)];
      NodeId factor = x;
      if (twice == 0)
        factor = target_.binary(Op::Div, x, x, where);  // 1 but for 0, infinity and NaN, which must show
      else if (twice != 2)
        factor = target_.make(Op::Pow, type, {x, target_.constant(twice / 2.0, type), kNone}, where);
      product = product == kNone ? factor : target_.binary(Op::Mul, product, factor, where);
    }
  }

  const Graph& old_;
  Graph target_;
  std::vector<int> uses_;
  std::vector<Monomial> monomials_;
  std::vector<bool> is_product_;
  std::map<std::pair<NodeId, int>, int> shared_by_;  // base, twice the exponent -> how many products have it
  std::vector<NodeId> new_id_;
};

// Second rewrite: each Pow(x, n/2) as a list of factors, which a product takes up one by one where no other product
// wants the power: m * (y u) becomes (m y) u, and m y may be wanted elsewhere.
class PowerRewrite {
 public:
  PowerRewrite(const Graph& old, const Options& options, const Target& target)
      : old_(old), options_(options), machine_(target) {}

  Graph run(std::vector<NodeId*> roots) {
    std::vector<NodeId> old_roots;
    for (NodeId* root : roots) old_roots.push_back(*root);
    const std::vector<bool> alive = reachable(old_, old_roots);
    const std::vector<int> uses = count_uses(old_, old_roots);
    for (NodeId id = 0; id < old_.size(); ++id)
      if (alive[std::size_t(id)] && is_power(id)) wanted_[old_[id].args[0]].insert(twice(id));
    new_id_.assign(std::size_t(old_.size()), kNone);
    for (NodeId id = 0; id < old_.size(); ++id) {
      if (!alive[std::size_t(id)]) continue;
      const Node node = old_[id];
      if (is_power(id))
        new_id_[std::size_t(id)] = product(kNone, power_factors(id), node.where);
      else if (node.op == Op::Mul && is_power(node.args[1]) && uses[std::size_t(node.args[1])] == 1)
        new_id_[std::size_t(id)] = product(new_id_[std::size_t(node.args[0])], power_factors(node.args[1]), node.where);
      else {
        std::array<NodeId, 3> args{kNone, kNone, kNone};
        for (int k = 0; k < arity(node.op); ++k) args[std::size_t(k)] = new_id_[std::size_t(node.args[std::size_t(k)])];
        new_id_[std::size_t(id)] = copy_node(target_, node, args);
      }
    }
    for (NodeId* root : roots)
      if (*root != kNone) *root = new_id_[std::size_t(*root)];
    return std::move(target_);
  }

 private:
  bool is_power(NodeId id) const {
    const Node& node = old_[id];
    if (node.op != Op::Pow || !old_.is_constant(node.args[1])) return false;
    const double t = 2 * old_.constant_value(node.args[1]);
    return t == std::floor(t) && t != 0 && std::fabs(t) <= kMaxTwiceExponent;
  }
  int twice(NodeId id) const { return int(2 * old_.constant_value(old_[id].args[1])); }

  NodeId product(NodeId first, const std::vector<NodeId>& factors, Location where) {
    for (NodeId f : factors) first = first == kNone ? f : target_.binary(Op::Mul, first, f, where);
    return first;
  }

  // Of the vectors that the kernel works in; values of another width are few, and made by square root and division.
  double estimate_error(Type type) const {
    const bool wide = options_.precision == Precision::Double;
    if (type == (wide ? Type::Float : Type::Double)) return 0;
    return wide ? machine_.rsqrt_error_double : machine_.rsqrt_error_float;
  }
  double rounding(Type type) const {
    const bool wide = type == Type::Double || (type == Type::Real && options_.precision == Precision::Double);
    return wide ? 0x1p-53 : 0x1p-24;
  }

  NodeId multiply(NodeId a, NodeId b) { return target_.binary(Op::Mul, a, b, where_); }
  NodeId constant(double value, Type type) { return target_.constant(value, type, where_); }
  NodeId fma(NodeId a, NodeId b, NodeId c) { return target_.make(Op::Fma, target_[a].type, {a, b, c}, where_); }

  // x^n for whole n > 0, as products of squares.
  void whole_power(NodeId x, int n, std::vector<NodeId>& factors) {
    for (NodeId square = x; n > 0; n /= 2) {
      if (n % 2) factors.push_back(square);
      if (n > 1) square = multiply(square, square);
    }
  }

  std::vector<NodeId> power_factors(NodeId id) {
    const Node node = old_[id];
    where_ = node.where;
    const NodeId x = new_id_[std::size_t(node.args[0])];
    const std::set<int>& wanted = wanted_[node.args[0]];
    const int t = twice(id);
    std::vector<NodeId> factors;
    const bool roots = std::any_of(wanted.begin(), wanted.end(), [](int w) { return w % 2 != 0; });
    const bool positive_root = std::any_of(wanted.begin(), wanted.end(), [](int w) { return w % 2 != 0 && w > 0; });
    const bool estimated = roots && !positive_root && options_.root != RootMode::Exact && estimate_error(node.type) > 0;
    const int negative = int(std::count_if(wanted.begin(), wanted.end(), [](int w) { return w < 0; }));
    if (t > 0) {
      if (t % 2 != 0) factors.push_back(target_.unary(Op::Sqrt, x, where_));
      whole_power(x, t / 2, factors);
    } else if (!estimated) {
      exact_inverse(x, -t, roots, negative, factors);
    } else if (negative == 1) {
      fused_inverse(x, -t, factors);
    } else {
      const NodeId y = refined(x);
      if (-t % 2 != 0) factors.push_back(y);
      if (-t > 1) whole_power(multiply(y, y), -t / 2, factors);
    }
    return factors;
  }

  // x^(-n/2) by division. One division serves all powers of this x.
  void exact_inverse(NodeId x, int n, bool roots, int negative, std::vector<NodeId>& factors) {
    const Type type = target_[x].type;
    const NodeId one = constant(1, type);
    if (!roots) {
      const NodeId inverse = target_.binary(Op::Div, one, x, where_);
      return whole_power(inverse, n / 2, factors);
    }
    const NodeId root = target_.unary(Op::Sqrt, x, where_);
    if (negative == 1 && n == 3) {
      factors.push_back(target_.binary(Op::Div, one, multiply(x, root), where_));
      return;
    }
    const NodeId inverse = target_.binary(Op::Div, one, root, where_);
    if (n % 2 != 0) factors.push_back(inverse);
    if (n > 1) whole_power(multiply(inverse, inverse), n / 2, factors);
  }

  // Coefficients of (1-e)^(-n/2): 1, n/2, n/2 (n/2+1)/2, ...; as many as the estimate's error asks for.
  std::vector<double> correction(int n, Type type) const {
    // Within 2 ulp as it is, which is what fast mathematics allows an operation.
    const bool good = estimate_error(type) <= 4 * rounding(type);
    if (good || options_.root == RootMode::Estimate) return {1};
    const double e = 2.2 * estimate_error(type);  // 1 - x y^2 for the worst y
    std::vector<double> c{1};
    double power = 1;
    for (int k = 1; k < 12; ++k) {
      c.push_back(c.back() * (n / 2.0 + k - 1) / k);
      power *= e;
      const double next = c.back() * (n / 2.0 + k) / (k + 1) * power * e;
      if (next < 1.2 * rounding(type)) break;
    }
    return c;
  }

  // 1 + c1 e + c2 e^2 + ... by Horner's rule
  NodeId polynomial(const std::vector<double>& c, NodeId e, Type type) {
    NodeId p = constant(c.back(), type);
    for (std::size_t k = c.size() - 1; k-- > 0;) p = fma(e, p, constant(c[k], type));
    return p;
  }

  void fused_inverse(NodeId x, int n, std::vector<NodeId>& factors) {
    const Type type = target_[x].type;
    const NodeId y = target_.unary(Op::RsqrtEstimate, x, where_);
    const std::vector<double> c = correction(n, type);
    const NodeId u = n > 1 || c.size() > 1 ? multiply(y, y) : kNone;
    if (n % 2 != 0) factors.push_back(y);
    if (n > 1) whole_power(u, n / 2, factors);
    if (c.size() == 1) return;
    if (c.size() == 2) {
      // 1 + c1 (1 - x u) = c1 ((1 + 1/c1) - x u): one operation, and a factor that leaves the sum.
      factors.push_back(fma(target_.unary(Op::Neg, x, where_), u, constant(1 + 1 / c[1], type)));
      factors.push_back(constant(c[1], type));
      return;
    }
    const NodeId e = fma(target_.unary(Op::Neg, x, where_), u, constant(1, type));
    factors.push_back(polynomial(c, e, type));
  }

  // 1/sqrt(x) in working precision
  NodeId refined(NodeId x) {
    const Type type = target_[x].type;
    const NodeId y = target_.unary(Op::RsqrtEstimate, x, where_);
    const std::vector<double> c = correction(1, type);
    if (c.size() == 1) return y;
    // 1 - x y^2. The squares of an estimate of few bits all round the same way, and a sum over such roots is off by
    // that; x y rounds either way, but is worth it only where its product with y is not rounded too.
    const NodeId one = constant(1, type);
    const NodeId e = machine_.fused ? fma(target_.unary(Op::Neg, y, where_), multiply(x, y), one)
                                    : fma(target_.unary(Op::Neg, x, where_), multiply(y, y), one);
    // y + y e (c1 + c2 e + ...): the correction is small, so that its own rounding does not matter.
    const NodeId small = polynomial({c.begin() + 1, c.end()}, e, type);
    return fma(multiply(y, e), small, y);
  }

  const Graph& old_;
  const Options& options_;
  const Target& machine_;
  Graph target_;
  std::map<NodeId, std::set<int>> wanted_;
  std::vector<NodeId> new_id_;
  Location where_;
};

void rewrite_graph(Graph& graph, std::vector<NodeId*> roots, const Options& options, const Target& target) {
  std::vector<NodeId> ids;
  for (NodeId* root : roots) ids.push_back(*root);
  graph = MonomialRewrite(graph, count_uses(graph, ids)).run(roots);
  graph = PowerRewrite(graph, options, target).run(roots);
}

}  // namespace

void rsqrt(Pipeline& pipeline, const Options& options, const Target& target) {
  std::vector<NodeId*> roots;
  for (Contribution& c : pipeline.contributions)
    for (NodeId* root : {&c.value, &c.guard, &c.scale}) roots.push_back(root);
  rewrite_graph(pipeline.pair, roots, options, target);
}

}  // namespace nbcc
