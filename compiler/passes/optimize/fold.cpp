// Simplifies each node that has a simpler form with the same value for all arguments. Does not reassociate, and looks
// at most two operations deep; other passes do what needs --math fast. Entry point: fold().
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <optional>

#include "compiler/ir/rewrite.h"
#include "compiler/passes/passes.h"

namespace nbcc {
namespace {

// True if every value of `from` is a value of `to`, in every precision that Real may have.
bool is_exact_cast(Type from, Type to) {
  switch (from) {
    case Type::Bool:
      return true;
    case Type::Int:
      return to == Type::Index || to == Type::Double;
    case Type::Float:
      return to == Type::Real || to == Type::Double;
    case Type::Real:
      return to == Type::Double;
    default:
      return false;
  }
}

// 1/divisor, if x/divisor and x*(1/divisor) are equal, in single precision too.
std::optional<double> exact_reciprocal(double divisor) {
  int exponent = 0;
  if (std::fabs(std::frexp(divisor, &exponent)) != 0.5 || std::abs(exponent) > 120) return std::nullopt;
  return 1.0 / divisor;
}

class Folder {
 public:
  Folder(Graph& target, const Node& old) : target_(target), where_(old.where) {}

  // The simplest node that has the value of op(args).
  NodeId make(Op op, Type type, const std::array<NodeId, 3>& args) {
    if (const auto value = constant_result(op, type, args)) return target_.constant(*value, type, where_);
    const NodeId simpler = simplify(op, type, args[0], args[1], args[2]);
    return simpler != kNone ? simpler : target_.make(op, type, args, where_);
  }

 private:
  NodeId make(Op op, Type type, NodeId a, NodeId b = kNone) { return make(op, type, std::array{a, b, kNone}); }
  bool is(NodeId id, Op op) const { return target_[id].op == op; }
  NodeId argument(NodeId id, int k = 0) const { return target_[id].args[std::size_t(k)]; }

  std::optional<double> constant_result(Op op, Type type, const std::array<NodeId, 3>& args) const {
    // The estimate depends on the target.
    if (op == Op::RsqrtEstimate || numbers_in(type) > 1) return std::nullopt;
    std::array<double, 3> values{};
    std::array<const double*, 3> pointers{};
    for (std::size_t k = 0; k < std::size_t(arity(op)); ++k) {
      if (!target_.is_constant(args[k])) return std::nullopt;
      values[k] = target_.constant_value(args[k]);
      pointers[k] = &values[k];
    }
    const Type argument = target_[args[0]].type;
    // The hardware decides the result of an integer division by 0 and of a conversion out of range.
    if ((op == Op::Div || op == Op::Rem) && !is_floating(type) && values[1] == 0) return std::nullopt;
    if (op == Op::Cast && is_floating(argument) && !fits(values[0], type)) return std::nullopt;
    double result = 0;
    evaluate(op, type, argument, pointers, &result, 1);
    if (type == Type::Float) result = double(float(result));
    if (type == Type::Index && std::fabs(result) > 9007199254740992.0) return std::nullopt;
    return std::isfinite(result) ? std::optional(result) : std::nullopt;
  }

  static bool fits(double value, Type type) {
    if (type == Type::Int) return std::fabs(value) < 2147483648.0;
    if (type == Type::Index) return std::fabs(value) < 9223372036854775808.0;
    return true;
  }

  // kNone: no simpler form is known.
  NodeId simplify(Op op, Type type, NodeId a, NodeId b, NodeId c) {
    switch (op) {
      case Op::Neg:
        return is(a, Op::Neg) ? argument(a) : kNone;
      case Op::Abs:
        if (is(a, Op::Abs)) return a;
        return is(a, Op::Neg) ? make(Op::Abs, type, argument(a)) : kNone;
      case Op::Add:
        return simplify_add(type, a, b);
      case Op::Sub:
        return simplify_sub(type, a, b);
      case Op::Mul:
        return simplify_mul(type, a, b);
      case Op::Div:
        return simplify_div(type, a, b);
      case Op::Min:
      case Op::Max:
        return a == b ? a : kNone;
      case Op::Not:
        return is(a, Op::Not) ? argument(a) : kNone;
      case Op::And:
        return simplify_logic(a, b, 1);
      case Op::Or:
        return simplify_logic(a, b, 0);
      case Op::Select:
        return simplify_select(type, a, b, c);
      case Op::Cast:
        return simplify_cast(type, a);
      default:
        return kNone;
    }
  }

  NodeId simplify_add(Type type, NodeId a, NodeId b) {
    if (target_.is_constant(b, 0)) return a;
    if (target_.is_constant(a, 0)) return b;
    if (is(b, Op::Neg)) return make(Op::Sub, type, a, argument(b));
    if (is(a, Op::Neg)) return make(Op::Sub, type, b, argument(a));
    return kNone;
  }

  NodeId simplify_sub(Type type, NodeId a, NodeId b) {
    if (target_.is_constant(b, 0)) return a;
    if (target_.is_constant(a, 0)) return make(Op::Neg, type, b);
    if (is(b, Op::Neg)) return make(Op::Add, type, a, argument(b));
    return kNone;
  }

  NodeId simplify_mul(Type type, NodeId a, NodeId b) {
    for (const auto& [x, factor] : {std::array{a, b}, std::array{b, a}}) {
      if (target_.is_constant(factor, 1)) return x;
      if (target_.is_constant(factor, -1)) return make(Op::Neg, type, x);
    }
    if (is(a, Op::Neg) && is(b, Op::Neg)) return make(Op::Mul, type, argument(a), argument(b));
    return kNone;
  }

  NodeId simplify_div(Type type, NodeId a, NodeId b) {
    if (target_.is_constant(b, 1)) return a;
    if (target_.is_constant(b, -1)) return make(Op::Neg, type, a);
    if (!is_floating(type)) return kNone;
    if (is(a, Op::Neg) && is(b, Op::Neg)) return make(Op::Div, type, argument(a), argument(b));
    if (!target_.is_constant(b)) return kNone;
    const auto reciprocal = exact_reciprocal(target_.constant_value(b));
    return reciprocal ? make(Op::Mul, type, a, target_.constant(*reciprocal, type, where_)) : kNone;
  }

  // `neutral` is the truth value that does not change the other argument; the opposite value decides the result alone.
  NodeId simplify_logic(NodeId a, NodeId b, double neutral) {
    if (a == b) return a;
    for (const auto& [x, known] : {std::array{a, b}, std::array{b, a}}) {
      if (target_.is_constant(known)) return target_.is_constant(known, neutral) ? x : known;
    }
    return kNone;
  }

  NodeId simplify_select(Type type, NodeId condition, NodeId yes, NodeId no) {
    if (target_.is_constant(condition)) return target_.is_constant(condition, 0) ? no : yes;
    if (yes == no) return yes;
    if (is(condition, Op::Not)) return make(Op::Select, type, {argument(condition), no, yes});
    if (type != Type::Bool) return kNone;
    if (target_.is_constant(yes, 1)) return make(Op::Or, type, condition, no);
    if (target_.is_constant(no, 0)) return make(Op::And, type, condition, yes);
    if (target_.is_constant(yes, 0)) return make(Op::And, type, make(Op::Not, type, condition), no);
    if (target_.is_constant(no, 1)) return make(Op::Or, type, make(Op::Not, type, condition), yes);
    return kNone;
  }

  NodeId simplify_cast(Type type, NodeId a) {
    if (target_[a].type == type) return a;
    if (!is(a, Op::Cast)) return kNone;
    const NodeId inner = argument(a);
    return is_exact_cast(target_[inner].type, target_[a].type) ? make(Op::Cast, type, inner) : kNone;
  }

  Graph& target_;
  Location where_;
};

}  // namespace

NodeId fold_node(Graph& target, const Node& node, std::array<NodeId, 3> args) {
  const bool is_simple = arity(node.op) == 0 || node.op == Op::Lookup || is_loop(node.op);
  return is_simple ? copy_node(target, node, args) : Folder(target, node).make(node.op, node.type, args);
}

NodeId make_folded(Graph& target, Op op, NodeId a, NodeId b) {
  const Location where = target[a].where;
  const Type type = b == kNone ? target[a].type : std::max(target[a].type, target[b].type);
  Folder folder(target, {.where = where});
  const auto converted = [&](NodeId id) { return folder.make(Op::Cast, type, {id, kNone, kNone}); };
  return folder.make(op, type, {converted(a), b == kNone ? kNone : converted(b), kNone});
}

void fold(Pipeline& pipeline) {
  rewrite(pipeline, fold_node);
  for (Contribution& contribution : pipeline.contributions) {
    const auto drop_if = [&](NodeId& root, double neutral) {
      if (root != kNone && pipeline.pair.is_constant(root, neutral)) root = kNone;
    };
    drop_if(contribution.guard, 1);
    drop_if(contribution.scale, 1);
  }
}

}  // namespace nbcc
