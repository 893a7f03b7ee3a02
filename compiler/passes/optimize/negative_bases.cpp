// Graph -> powers whose values at negative bases affect no result. Entry point: free_where_negative(). Each power has a
// bit; two sets of bits are propagated from arguments to users:
//
//   is_nan   the node is NaN where the power's base is negative, whatever value the power has there
//   depends  the node's value there depends on the power's value
//
// A node that is NaN depends on nothing. A power is free if its bit reaches no result in `depends`.
#include "compiler/passes/optimize/negative_bases.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <map>
#include <span>
#include <utility>

#include "compiler/passes/facts/power_product.h"
#include "compiler/passes/facts/signs.h"

namespace nbcc {
namespace {

using Bits = std::uint64_t;
constexpr std::size_t kPowersAtOnce = 64;
// Each 64 powers cost one pass over the graph. Powers and comparisons of a condition beyond these limits are not
// examined: their bases count as possibly negative.
constexpr std::size_t kMaxPowers = 64 * kPowersAtOnce, kMaxComparisons = 64;

// True if the value is NaN where the first argument is negative.
bool is_nan_of_negative(const Graph& graph, const Node& node) {
  switch (node.op) {
    case Op::Sqrt:
    case Op::Rsqrt:
    case Op::Log:
    case Op::Log2:
    case Op::Log10:
      return true;
    case Op::Pow: {
      if (!graph.is_constant(node.args[1])) return false;
      const double exponent = graph.constant_value(node.args[1]);
      return std::isfinite(exponent) && !is_integer(exponent);
    }
    default:
      return false;
  }
}

constexpr Op kPropagatesNan[] = {Op::Neg,  Op::Abs,   Op::Sqrt,  Op::Rsqrt, Op::Cbrt, Op::Exp,  Op::Exp2, Op::Log,
                                 Op::Log2, Op::Expm1, Op::Log1p, Op::Log10, Op::Sin,  Op::Cos,  Op::Tan,  Op::Atan,
                                 Op::Sinh, Op::Cosh,  Op::Tanh,  Op::Erf,   Op::Erfc, Op::Cast, Op::Add,  Op::Sub,
                                 Op::Mul,  Op::Div,   Op::Min,   Op::Max,   Op::Fma};

// True if the value is NaN wherever an argument is.
bool propagates_nan(const Graph& graph, const Node& node) {
  if (!is_floating(node.type)) return false;
  if (node.op == Op::Pow) return graph.is_constant(node.args[1]) && !graph.is_constant(node.args[1], 0);
  return std::ranges::find(kPropagatesNan, node.op) != std::end(kPropagatesNan);
}

// Conditions -> bases that are not negative where the condition holds.
class Conditions {
 public:
  Conditions(const Graph& graph, std::span<const NegativeBase> powers)
      : graph_(graph), powers_(powers), signs_(graph) {}

  // The subset of `bits` whose base is not negative where the condition holds (`holds`) or fails (else).
  Bits excluded(NodeId condition, bool holds, Bits bits) {
    if (condition == kNone || bits == 0) return 0;
    Known& known = known_[{condition, holds}];
    if (const Bits unknown = bits & ~known.asked) {
      assume(condition, holds);
      for (Bits rest = unknown; rest != 0; rest &= rest - 1)
        if (const int k = std::countr_zero(rest); is_not_negative(powers_[std::size_t(k)].base))
          known.excluded |= Bits(1) << k;
      known.asked |= unknown;
      signs_.forget();
      ordered_.clear();
    }
    return known.excluded & bits;
  }

 private:
  struct Known {
    Bits asked = 0, excluded = 0;
  };

  bool is_not_negative(NodeId x) {
    const Node& node = graph_[x];
    const std::pair difference{node.args[1], node.args[0]};
    return (node.op == Op::Sub && std::ranges::find(ordered_, difference) != ordered_.end()) ||
           signs_.is_never_negative(x);
  }

  void assume(NodeId id, bool holds) {
    if (ordered_.size() >= kMaxComparisons) return;
    const Node node = graph_[id];
    const NodeId a = node.args[0], b = node.args[1];
    switch (node.op) {
      case Op::Not:
        return assume(a, !holds);
      case Op::And:
      case Op::Or:
        if (holds != (node.op == Op::And)) return;  // one of the two arguments, but unknown which
        assume(a, holds);
        return assume(b, holds);
      case Op::Lt:
      case Op::Le:
        return holds ? assume_order(a, b, node.op == Op::Lt) : assume_order(b, a, node.op == Op::Le);
      case Op::Eq:
        if (!holds) return;
        assume_order(a, b, false);
        return assume_order(b, a, false);
      default:
        return;
    }
  }

  // Assumes less < more or less <= more. A NaN argument contradicts nothing, since NaN has no sign.
  void assume_order(NodeId less, NodeId more, bool strictly) {
    ordered_.emplace_back(less, more);
    const SignSet zero = strictly ? SignSet(0) : kZero;
    const SignSet of_less = signs_.of(less), of_more = signs_.of(more);
    if (!(of_less & kNegative)) signs_.assume(more, SignSet(kPositive | (of_less & kZero ? zero : 0)));
    if (!(of_more & kPositive)) signs_.assume(less, SignSet(kNegative | (of_more & kZero ? zero : 0)));
  }

  const Graph& graph_;
  std::span<const NegativeBase> powers_;
  Signs signs_;
  std::vector<std::pair<NodeId, NodeId>> ordered_;  // (smaller, larger)
  std::map<std::pair<NodeId, bool>, Known> known_;
};

class Propagation {
 public:
  // `powers`: the powers of this call; `all`: the powers of all calls.
  Propagation(const Graph& graph, const std::vector<Contribution>& contributions, std::span<const NegativeBase> powers,
              std::span<const NegativeBase> all)
      : graph_(graph),
        contributions_(contributions),
        conditions_(graph, powers),
        is_nan_(std::size_t(graph.size()), 0),
        depends_(std::size_t(graph.size()), 0) {
    for (std::size_t k = 0; k < powers.size(); ++k) {
      of_base_[powers[k].base] |= Bits(1) << k;
      own_[powers[k].power] |= Bits(1) << k;
    }
    for (const NegativeBase& one : all)
      if (of_base_.contains(one.base)) base_[one.power] = one.base;
  }

  // The powers whose value affects a result.
  Bits run() {
    for (NodeId id = of_base_.begin()->first + 1; id < graph_.size(); ++id) propagate(id);
    Bits seen = 0;
    for (const Contribution& c : contributions_) {
      for (const NodeId root : {c.value, c.logit, c.scale})
        if (root != kNone) seen |= depends(root) & ~conditions_.excluded(c.guard, true, depends(root));
      if (c.guard != kNone) seen |= depends(c.guard);
    }
    return seen;
  }

 private:
  Bits is_nan(NodeId id) const { return is_nan_[std::size_t(id)]; }
  Bits depends(NodeId id) const { return depends_[std::size_t(id)]; }
  static Bits bits_at(const std::map<NodeId, Bits>& bits, NodeId id) {
    const auto found = bits.find(id);
    return found == bits.end() ? 0 : found->second;
  }

  void propagate(NodeId id) {
    const Node& node = graph_[id];
    Bits nan = 0, dependent = 0;
    if (node.op == Op::Select) {
      const auto [condition, yes, no] = node.args;
      const Bits any = is_nan(yes) | is_nan(no) | depends(yes) | depends(no);
      const Bits never_yes = conditions_.excluded(condition, true, any);
      const Bits never_no = conditions_.excluded(condition, false, any);
      nan = (is_nan(yes) | never_yes) & (is_nan(no) | never_no);
      dependent = depends(condition) | (depends(yes) & ~never_yes) | (depends(no) & ~never_no);
    } else {
      const bool keeps_nan = propagates_nan(graph_, node);
      for (int k = 0; k < arity(node.op); ++k) {
        const NodeId arg = node.args[std::size_t(k)];
        if (keeps_nan) nan |= is_nan(arg);
        dependent |= depends(arg);
      }
      if (is_nan_of_negative(graph_, node)) nan |= bits_at(of_base_, node.args[0]);
    }
    // All powers of a base may be replaced at once, so that the NaN of one must not free another.
    if (const auto base = base_.find(id); base != base_.end()) nan &= ~of_base_[base->second];
    dependent |= bits_at(own_, id);
    is_nan_[std::size_t(id)] = nan;
    depends_[std::size_t(id)] = dependent & ~nan;
  }

  const Graph& graph_;
  const std::vector<Contribution>& contributions_;
  Conditions conditions_;
  std::vector<Bits> is_nan_, depends_;    // by node
  std::map<NodeId, Bits> of_base_, own_;  // by base; by power
  std::map<NodeId, NodeId> base_;         // by power
};

}  // namespace

std::vector<bool> free_where_negative(const Graph& graph, const std::vector<Contribution>& contributions,
                                      const std::vector<NegativeBase>& powers) {
  std::vector<bool> free(powers.size());
  for (std::size_t begin = 0; begin < std::min(powers.size(), kMaxPowers); begin += kPowersAtOnce) {
    const std::size_t count = std::min(kPowersAtOnce, powers.size() - begin);
    const Bits seen = Propagation(graph, contributions, std::span(powers).subspan(begin, count), powers).run();
    for (std::size_t k = 0; k < count; ++k) free[begin + k] = !(seen >> k & 1);
  }
  return free;
}

}  // namespace nbcc
