// Two rewrites: products become monomials whose powers are Pow nodes with a constant exponent (monomials.h); then the
// Pow nodes of each base are expanded together, since the cheapest way depends on which powers are needed. Integer
// powers of a base that may be negative are computed from its root only if no result depends on the difference
// (negative_bases.h). Entry point: rsqrt().
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "compiler/ir/rewrite.h"
#include "compiler/passes/facts/power_product.h"
#include "compiler/passes/facts/signs.h"
#include "compiler/passes/optimize/monomials.h"
#include "compiler/passes/optimize/negative_bases.h"
#include "compiler/passes/passes.h"

namespace nbcc {
namespace {

// n, if the node is x^(n/2) and can be computed by products; else 0.
int twice_exponent(const Graph& graph, NodeId id) {
  const Node& node = graph[id];
  if (node.op != Op::Pow || !graph.is_constant(node.args[1])) return 0;
  const double exponent = graph.constant_value(node.args[1]);
  return is_made_by_products(exponent) ? int(2 * exponent) : 0;
}

// pow(pow(x, 0.5), 2) becomes x if no result depends on the difference. The source forms such a power from roots, and
// the power is NaN where x < 0.
void free_powers_of_roots(Monomials& monomials, Pipeline& pipeline) {
  const Graph& old = monomials.graph;
  std::vector<NegativeBase> powers;
  for (NodeId id = 0; id < old.size(); ++id) {
    const int of_root = twice_exponent(old, id), of_base = of_root == 0 ? 0 : twice_exponent(old, old[id].args[0]);
    if (of_base % 2 != 0 && of_root % 4 == 0) powers.push_back({id, old[old[id].args[0]].args[0]});
  }
  if (powers.empty()) return;
  const std::vector<bool> free = free_where_negative(old, pipeline.contributions, powers);
  Graph graph;
  std::vector<NodeId> new_id(std::size_t(old.size()), kNone);
  std::size_t next = 0;
  for (NodeId id = 0; id < old.size(); ++id) {
    const Node& node = old[id];
    const bool is_power = next < powers.size() && powers[next].power == id;
    if (!is_power || !free[next]) {
      new_id[std::size_t(id)] = copy_node(graph, node, new_id);
    } else {
      const NodeId x = new_id[std::size_t(powers[next].base)];
      const double exponent = old.constant_value(node.args[1]) * old.constant_value(old[node.args[0]].args[1]);
      const NodeId power = graph.make(Op::Pow, node.type, {x, graph.constant(exponent, node.type), kNone}, node.where);
      new_id[std::size_t(id)] = exponent == 1 ? x : power;
    }
    next += is_power;
  }
  rename_roots(pipeline, new_id);
  std::vector<double> widest(std::size_t(graph.size()), 1.0);
  for (std::size_t id = 0; id < new_id.size(); ++id) {
    double& known = widest[std::size_t(new_id[id])];
    known = std::max(known, monomials.widest_power[id]);
  }
  monomials = {std::move(graph), std::move(widest)};
}

// Second rewrite: each Pow(x, n/2) becomes a list of factors. If no other product uses the power, the product is
// multiplied by these factors one by one: m * (y u) becomes (m y) u, and other products may need m y. The same is done
// if the power itself might leave the range of the source.
class PowerRewrite {
 public:
  PowerRewrite(const Monomials& monomials, const Options& options, const Target& target)
      : old_(monomials.graph), widest_(monomials.widest_power), options_(options), machine_(target) {}

  Graph run(Pipeline& pipeline) {
    const std::vector<NodeId> roots = pipeline.roots();
    const std::vector<bool> alive = reachable(old_, roots);
    const std::vector<int> uses = count_uses(old_, roots);
    find_powers(alive, pipeline.contributions);
    find_values(alive, roots);
    new_id_.assign(std::size_t(old_.size()), kNone);
    for (NodeId id = 0; id < old_.size(); ++id) {
      if (!alive[std::size_t(id)]) continue;
      const Node node = old_[id];
      const auto is_inlined = [&](NodeId power) { return uses[std::size_t(power)] == 1 || !may_be_value(power); };
      if (is_power(id)) {
        if (may_be_value(id) || is_value_[std::size_t(id)])
          new_id_[std::size_t(id)] = product(kNone, power_factors(id, true), node.where);
      } else if (node.op == Op::Mul && is_power(node.args[1]) && is_inlined(node.args[1])) {
        const bool once = uses[std::size_t(node.args[1])] == 1;
        new_id_[std::size_t(id)] =
            product(new_id_[std::size_t(node.args[0])], power_factors(node.args[1], once), node.where);
      } else {
        new_id_[std::size_t(id)] = copy_node(target_, node, new_id_);
      }
    }
    rename_roots(pipeline, new_id_);
    return std::move(target_);
  }

 private:
  // Powers of one base that are computed together; `bare` powers do not use its root.
  struct Family {
    NodeId base = kNone;
    bool bare = false;
    auto operator<=>(const Family&) const = default;
  };

  void find_powers(const std::vector<bool>& alive, const std::vector<Contribution>& contributions) {
    std::set<NodeId> has_root;
    for (NodeId id = 0; id < old_.size(); ++id)
      if (alive[std::size_t(id)] && twice(id) % 2 != 0) has_root.insert(old_[id].args[0]);
    Signs signs(old_);
    std::vector<NegativeBase> inverses;
    for (NodeId id = 0; id < old_.size(); ++id) {
      const NodeId base = old_[id].args[0];
      if (alive[std::size_t(id)] && twice(id) < 0 && twice(id) % 2 == 0 && has_root.contains(base) &&
          !signs.is_never_negative(base))
        inverses.push_back({id, base});
    }
    const std::vector<bool> free = free_where_negative(old_, contributions, inverses);
    for (std::size_t k = 0; k < inverses.size(); ++k)
      if (!free[k]) bare_.insert(inverses[k].power);
    for (NodeId id = 0; id < old_.size(); ++id)
      if (alive[std::size_t(id)] && is_power(id)) wanted_[family(id)].insert(twice(id));
  }

  // A power that is a result, or an argument of an operation other than a product, is computed whatever its range,
  // because the source computes it too.
  void find_values(const std::vector<bool>& alive, const std::vector<NodeId>& roots) {
    is_value_.assign(std::size_t(old_.size()), false);
    for (const NodeId root : roots)
      if (root != kNone) is_value_[std::size_t(root)] = true;
    for (NodeId id = 0; id < old_.size(); ++id)
      for (std::size_t k = 0; alive[std::size_t(id)] && k < std::size_t(arity(old_[id].op)); ++k)
        if (old_[id].op != Op::Mul || k != 1) is_value_[std::size_t(old_[id].args[k])] = true;
  }

  Family family(NodeId power) const { return {old_[power].args[0], bare_.contains(power)}; }
  int twice(NodeId id) const { return twice_exponent(old_, id); }
  bool is_power(NodeId id) const { return twice(id) != 0; }
  double widest(NodeId power) const { return widest_[std::size_t(old_[power].args[0])]; }
  bool may_be_value(NodeId power) const { return std::abs(twice(power)) <= 2 * widest(power); }

  NodeId product(NodeId first, const std::vector<NodeId>& factors, Location where) {
    for (NodeId f : factors) first = first == kNone ? f : target_.binary(Op::Mul, first, f, where);
    return first;
  }

  // The estimate's relative error, for the vector type of the kernel. 0: no estimate is used; values of another width
  // are few, and use square root and division.
  double estimate_error(Type type) const {
    const bool wide = options_.precision == Precision::Double;
    if (type == (wide ? Type::Float : Type::Double)) return 0;
    return wide ? machine_.rsqrt_error_double : machine_.rsqrt_error_float;
  }
  double rounding(Type type) const {
    const bool wide = type == Type::Double || (type == Type::Real && options_.precision == Precision::Double);
    return wide ? 0x1p-53 : 0x1p-24;
  }

  // Nodes are numbered in the order in which they are made. A call has at most one argument that makes a node, because
  // compilers evaluate arguments in different orders.
  NodeId multiply(NodeId a, NodeId b) { return target_.binary(Op::Mul, a, b, where_); }
  NodeId negated(NodeId a) { return target_.unary(Op::Neg, a, where_); }
  NodeId constant(double value, Type type) { return target_.constant(value, type, where_); }
  NodeId fma(NodeId a, NodeId b, NodeId c) { return target_.make(Op::Fma, target_[a].type, {a, b, c}, where_); }

  // x^n for an integer n > 0, as a product of squares, none of which exceeds x^widest.
  void whole_power(NodeId x, int n, double widest, std::vector<NodeId>& factors) {
    int exponent = 1;
    for (; n > 0 && 2 * exponent <= widest; exponent *= 2) {
      if (n / exponent % 2) factors.push_back(x), n -= exponent;
      if (n > exponent) x = multiply(x, x);
    }
    for (; n > 0; n -= exponent) factors.push_back(x);
  }

  // `once`: only one product uses the power, so that fusing the correction of the estimate into the power pays off.
  std::vector<NodeId> power_factors(NodeId id, bool once) {
    const Node node = old_[id];
    where_ = node.where;
    const NodeId x = new_id_[std::size_t(node.args[0])];
    const std::set<int>& wanted = wanted_[family(id)];
    const int t = twice(id);
    const double widest = this->widest(id);
    std::vector<NodeId> factors;
    const bool roots = std::ranges::any_of(wanted, [](int w) { return w % 2 != 0; });
    const bool positive_root = std::ranges::any_of(wanted, [](int w) { return w % 2 != 0 && w > 0; });
    const bool estimated = roots && !positive_root && options_.root != RootMode::Exact && estimate_error(node.type) > 0;
    const int negative = int(std::ranges::count_if(wanted, [](int w) { return w < 0; }));
    if (t > 0) {
      if (t % 2 != 0) factors.push_back(target_.unary(Op::Sqrt, x, where_));
      whole_power(x, t / 2, widest, factors);
    } else if (!estimated) {
      exact_inverse(x, -t, roots, widest, factors);
    } else if (negative == 1 && once) {
      fused_inverse(x, -t, widest, factors);
    } else {
      const NodeId y = refined(x);
      if (-t % 2 != 0) factors.push_back(y);
      if (-t > 1) whole_power(multiply(y, y), -t / 2, widest, factors);
    }
    return factors;
  }

  // x^(-n/2) by division. One division serves all powers of this x.
  void exact_inverse(NodeId x, int n, bool roots, double widest, std::vector<NodeId>& factors) {
    const Type type = target_[x].type;
    const NodeId one = constant(1, type);
    if (!roots) {
      const NodeId inverse = target_.binary(Op::Div, one, x, where_);
      return whole_power(inverse, n / 2, widest, factors);
    }
    const NodeId root = target_.unary(Op::Sqrt, x, where_);
    const NodeId inverse = target_.binary(Op::Div, one, root, where_);
    if (n % 2 != 0) factors.push_back(inverse);
    if (n > 1) whole_power(multiply(inverse, inverse), n / 2, widest, factors);
  }

  // Coefficients of (1-e)^(-n/2): 1, n/2, n/2 (n/2+1)/2, ...; as many as the estimate's error requires.
  std::vector<double> correction(int n, Type type) const {
    // The error is already within the 2 ulp that fast math allows an operation.
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

  void fused_inverse(NodeId x, int n, double widest, std::vector<NodeId>& factors) {
    const Type type = target_[x].type;
    const NodeId y = target_.unary(Op::RsqrtEstimate, x, where_);
    const std::vector<double> c = correction(n, type);
    const NodeId u = n > 1 || c.size() > 1 ? multiply(y, y) : kNone;
    if (n % 2 != 0) factors.push_back(y);
    if (n > 1) whole_power(u, n / 2, widest, factors);
    if (c.size() == 1) return;
    if (c.size() == 2) {
      // 1 + c1 (1 - x u) = c1 ((1 + 1/c1) - x u): one operation, and a constant factor that can be hoisted out of the
      // sum.
      const NodeId shifted = constant(1 + 1 / c[1], type);
      factors.push_back(fma(negated(x), u, shifted));
      factors.push_back(constant(c[1], type));
      return;
    }
    const NodeId one = constant(1, type);
    const NodeId e = fma(negated(x), u, one);
    factors.push_back(polynomial(c, e, type));
  }

  // 1/sqrt(x) in working precision
  NodeId refined(NodeId x) {
    const Type type = target_[x].type;
    const NodeId y = target_.unary(Op::RsqrtEstimate, x, where_);
    const std::vector<double> c = correction(1, type);
    if (c.size() == 1) return y;
    // 1 - x y^2. The squares of an estimate of few bits all round in the same direction, which biases a sum over such
    // roots. x y rounds in either direction, but that helps only if its product with y is not rounded (fma).
    const NodeId one = constant(1, type);
    const NodeId product = machine_.fused ? multiply(x, y) : multiply(y, y);
    const NodeId e = fma(negated(machine_.fused ? y : x), product, one);
    // y + y e (c1 + c2 e + ...): the correction is small, so that its own rounding does not matter.
    const NodeId small = polynomial({c.begin() + 1, c.end()}, e, type);
    return fma(multiply(y, e), small, y);
  }

  const Graph& old_;
  const std::vector<double>& widest_;
  const Options& options_;
  const Target& machine_;
  Graph target_;
  std::map<Family, std::set<int>> wanted_;  // twice the exponents
  std::vector<bool> is_value_;              // by node
  std::set<NodeId> bare_;                   // integer inverse powers that are not computed from a root
  std::vector<NodeId> new_id_;
  Location where_;
};

}  // namespace

void rsqrt(Pipeline& pipeline, const Options& options, const Target& target) {
  Monomials monomials = form_monomials(pipeline);
  free_powers_of_roots(monomials, pipeline);
  pipeline.pair = PowerRewrite(monomials, options, target).run(pipeline);
}

}  // namespace nbcc
