// Node -> signs, from the signs of its arguments. Entry point: Signs. It knows signs but no bounds: x*x + 1 is
// positive, x - x may have any sign.
#include "compiler/passes/facts/signs.h"

#include <algorithm>
#include <cmath>

#include "compiler/passes/facts/power_product.h"

namespace nbcc {
namespace {

SignSet sign_of(double value) {
  if (std::isnan(value)) return kAnySign;
  return value < 0 ? kNegative : value > 0 ? kPositive : kZero;
}

SignSet negated(SignSet a) {
  return SignSet((a & kNegative ? kPositive : 0) | (a & kZero) | (a & kPositive ? kNegative : 0));
}

// Applies `rule` to all pairs of signs. It takes -1, 0 or 1, and returns one of these, or 2 for any sign.
template <typename Rule>
SignSet combined(SignSet a, SignSet b, const Rule& rule) {
  SignSet result = 0;
  for (const int x : {-1, 0, 1})
    for (const int y : {-1, 0, 1}) {
      if (!(a & sign_of(x)) || !(b & sign_of(y))) continue;
      const int z = rule(x, y);
      result |= z == 2 ? kAnySign : sign_of(z);
    }
  return result;
}

SignSet added(SignSet a, SignSet b) {
  return combined(a, b, [](int x, int y) { return x * y < 0 ? 2 : x + y == 0 ? 0 : x + y > 0 ? 1 : -1; });
}

SignSet multiplied(SignSet a, SignSet b) {
  return combined(a, b, [](int x, int y) { return x * y; });
}

SignSet of_power(const Graph& graph, const Node& node, SignSet base) {
  if (!(base & (kNegative | kZero))) return kPositive;
  if (!graph.is_constant(node.args[1])) return base & kNegative ? kAnySign : kZero | kPositive;
  const double exponent = graph.constant_value(node.args[1]);
  // A negative base gives NaN if the exponent is not an integer.
  const bool even = is_even(exponent) || !is_integer(exponent);
  return even || !(base & kNegative) ? kZero | kPositive : kAnySign;
}

}  // namespace

void Signs::assume(NodeId id, SignSet possible) {
  const auto [at, is_new] = assumed_.emplace(id, possible);
  if (!is_new) at->second &= possible;
  known_.clear();
}

void Signs::forget() {
  assumed_.clear();
  known_.clear();
}

SignSet Signs::of(NodeId id) {
  if (const auto known = known_.find(id); known != known_.end()) return known->second;
  SignSet signs = find(id);
  // A contradiction between signs and assumptions never occurs, so any sign is correct.
  if (const auto assumed = assumed_.find(id); assumed != assumed_.end()) signs &= assumed->second;
  if (signs == 0) signs = kAnySign;
  return known_[id] = signs;
}

SignSet Signs::find(NodeId id) {
  const Node node = graph_[id];
  if (node.op == Op::Const) return sign_of(graph_.constant_value(id));
  if (node.type == Type::Bool) return kZero | kPositive;
  if (arity(node.op) == 0) return kAnySign;
  // Integers wrap around.
  const bool chooses = node.op == Op::Min || node.op == Op::Max || node.op == Op::Select || node.op == Op::Cast;
  if (is_integral(node.type) && !chooses) return kAnySign;
  if (node.op == Op::Select) return of(node.args[1]) | of(node.args[2]);
  const SignSet a = of(node.args[0]);
  if (arity(node.op) == 1) return of_function(node, a);
  if (node.op == Op::Fma) {
    const SignSet product =
        node.args[0] == node.args[1] ? multiplied(a, a) & ~kNegative : multiplied(a, of(node.args[1]));
    return added(product, of(node.args[2]));
  }
  return of_numbers(node, a, of(node.args[1]));
}

SignSet Signs::of_function(const Node& node, SignSet a) {
  switch (node.op) {
    case Op::Neg:
      return negated(a);
    case Op::Abs:
      return SignSet((a & kZero) | (a & (kNegative | kPositive) ? kPositive : 0));
    case Op::Sqrt:
      return a & kPositive ? a & (kZero | kPositive) : kZero;
    case Op::Rsqrt:
    case Op::RsqrtEstimate:
    case Op::Exp:
    case Op::Exp2:
    case Op::Cosh:
    case Op::Erfc:
    case Op::BesselK0:
    case Op::BesselK1:
    case Op::BesselI0:
      return kPositive;
    case Op::Cbrt:
    case Op::Sinh:
    case Op::Asin:
    case Op::Atan:
    case Op::Tanh:
    case Op::Erf:
    case Op::BesselI1:
      return a;
    case Op::Cast:
      // A fraction may be dropped. The result for a value out of range depends on the hardware.
      if (is_floating(graph_[node.args[0]].type) && !is_floating(node.type)) return kAnySign;
      return node.type < graph_[node.args[0]].type && !is_floating(node.type) ? kAnySign : a;
    default:
      return kAnySign;
  }
}

SignSet Signs::of_numbers(const Node& node, SignSet a, SignSet b) {
  const bool same = node.args[0] == node.args[1];
  switch (node.op) {
    case Op::Add:
      return added(a, b);
    case Op::Sub:
      return added(a, negated(b));
    case Op::Mul:
      return same ? SignSet(multiplied(a, a) & ~kNegative) : multiplied(a, b);
    case Op::Div:
      // A divisor of 0 makes the result infinite or NaN; the sign of the zero is unknown.
      return b & kZero && b & kNegative ? kAnySign : multiplied(a, b & ~kZero ? SignSet(b & ~kZero) : kAnySign);
    case Op::Min:
      return combined(a, b, [](int x, int y) { return std::min(x, y); });
    case Op::Max:
      return combined(a, b, [](int x, int y) { return std::max(x, y); });
    case Op::Pow:
      return of_power(graph_, node, a);
    default:
      return kAnySign;
  }
}

}  // namespace nbcc
