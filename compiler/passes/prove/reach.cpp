// Pair nodes -> reaches. Entry point: Reaches. Bounds are not rounded: they hold in exact arithmetic, and their users
// round outwards. Each case states its inequality.
#include "compiler/passes/prove/reach.h"

#include <cmath>

#include "compiler/passes/facts/power_product.h"
#include "compiler/passes/passes.h"

namespace nbcc {
namespace {

using Kind = Reach::Kind;

// More nodes than any bound that a person writes. A shared node is expanded at each visit.
constexpr int kMaxVisited = 20'000;

bool has_i(const Reach& r) { return r.of_i != kNone; }
bool has_j(const Reach& r) { return r.of_j != kNone; }

// The kind of a reach that has these values; `both`: its kind if it has values of i and of j.
Kind kind_of(const Reach& r, Kind both) {
  if (has_i(r) && has_j(r)) return both;
  return has_i(r) ? Kind::OfI : has_j(r) ? Kind::OfJ : Kind::Uniform;
}

}  // namespace

NodeId Reaches::make(Op op, NodeId a, NodeId b) {
  if (op == Op::Max || op == Op::Min) {
    if (is_at_least(a, b)) return op == Op::Max ? a : b;
    if (is_at_least(b, a)) return op == Op::Max ? b : a;
    if (graph_.is_constant(a) && !graph_.is_constant(b)) std::swap(a, b);
  }
  return make_folded(graph_, op, a, b);
}

// True if a >= b for all inputs, because a is b, a maximum of b and other values, or b plus a value that is never
// negative.
bool Reaches::is_at_least(NodeId a, NodeId b) {
  const Node n = graph_[a];
  if (a == b) return true;
  if (n.op == Op::Max) return is_at_least(n.args[0], b) || is_at_least(n.args[1], b);
  if (n.op != Op::Add) return false;
  return (n.args[0] == b && signs_.is_never_negative(n.args[1])) ||
         (n.args[1] == b && signs_.is_never_negative(n.args[0]));
}

NodeId Reaches::number(double value, NodeId beside) { return graph_.constant(value, graph_[beside].type); }

NodeId Reaches::joined(Op op, NodeId a, NodeId b) {
  if (a == kNone || b == kNone) return a == kNone ? b : a;
  return make(op, a, b);
}

NodeId Reaches::not_negative(NodeId id) { return signs_.is_never_negative(id) ? id : make(Op::Max, id, number(0, id)); }

NodeId Reaches::size(NodeId id) { return signs_.is_never_negative(id) ? id : make(Op::Abs, id); }

template <typename Change>
Reach Reaches::each(Reach reach, const Change& change) {
  for (NodeId* node : {&reach.uniform, &reach.of_i, &reach.of_j})
    if (*node != kNone) *node = change(*node);
  return reach;
}

// A value of at most one side is a reach itself.
std::optional<Reach> Reaches::separate(NodeId id) const {
  switch (graph_[id].binding) {
    case Binding::I:
      return Reach{.kind = Kind::OfI, .of_i = id};
    case Binding::J:
      return Reach{.kind = Kind::OfJ, .of_j = id};
    case Binding::Pair:
      return {};
    default:
      return Reach{.kind = Kind::Uniform, .uniform = id};
  }
}

// ---- two reaches -> one reach

// The reach as a sum. max(a, b) <= max(a, 0) + max(b, 0), and min(a, b) <= (a + b) / 2; a value of one side is the
// entire sum.
Reach Reaches::as_sum(const Reach& r) {
  Reach sum{.kind = Kind::Sum, .of_i = r.of_i, .of_j = r.of_j};
  if (r.kind == Kind::Uniform) {
    sum.of_i = sum.of_j = make(Op::Mul, r.uniform, number(0.5, r.uniform));
  } else if (r.kind == Kind::OfI) {
    sum.of_j = number(0, r.of_i);
  } else if (r.kind == Kind::OfJ) {
    sum.of_i = number(0, r.of_j);
  } else if (r.kind == Kind::Max) {
    sum = each(sum, [&](NodeId id) { return not_negative(id); });
  } else if (r.kind == Kind::Min) {
    sum = each(sum, [&](NodeId id) { return make(Op::Mul, id, number(0.5, id)); });
  }
  return sum;
}

Reach Reaches::larger(const Reach& a, const Reach& b) {
  if (a == b) return a;
  if (b.kind == Kind::Uniform && a.kind != Kind::Uniform && a.kind != Kind::Sum) {
    // If there are values of both sides, the maximum of three values needs the uniform one only once.
    Reach r = a;
    if (has_i(r)) r.of_i = make(Op::Max, r.of_i, b.uniform);
    if (has_j(r) && (!has_i(r) || r.kind == Kind::Min)) r.of_j = make(Op::Max, r.of_j, b.uniform);
    return r;
  }
  if (a.kind == Kind::Uniform && b.kind != Kind::Uniform && b.kind != Kind::Sum) return larger(b, a);
  if (a.kind == Kind::Sum || b.kind == Kind::Sum) {
    // max(a + b, c + d) <= max(a, c) + max(b, d)
    const Reach x = as_sum(a), y = as_sum(b);
    return {.kind = Kind::Sum, .of_i = make(Op::Max, x.of_i, y.of_i), .of_j = make(Op::Max, x.of_j, y.of_j)};
  }
  // min(of_i, of_j) is at most either value; of the two, the value of the other reach's side is compared.
  const bool both_smaller = a.kind == Kind::Min && b.kind == Kind::Min;
  Reach x = a, y = b;
  for (const auto& [one, other] : {std::pair{&x, &y}, std::pair{&y, &x}}) {
    if (both_smaller || one->kind != Kind::Min) continue;
    const bool of_i = has_i(*other);
    *one = of_i ? Reach{.kind = Kind::OfI, .of_i = one->of_i} : Reach{.kind = Kind::OfJ, .of_j = one->of_j};
  }
  Reach r{.uniform = joined(Op::Max, x.uniform, y.uniform),
          .of_i = joined(Op::Max, x.of_i, y.of_i),
          .of_j = joined(Op::Max, x.of_j, y.of_j)};
  r.kind = kind_of(r, both_smaller ? Kind::Min : Kind::Max);
  return r;
}

Reach Reaches::smaller(const Reach& a, const Reach& b) {
  if (a == b) return a;
  if (b.kind == Kind::Uniform && a.kind != Kind::Uniform) {
    if (a.kind == Kind::Sum) return b;
    Reach r = a;
    if (has_i(r)) r.of_i = make(Op::Min, r.of_i, b.uniform);
    if (has_j(r) && (!has_i(r) || r.kind == Kind::Max)) r.of_j = make(Op::Min, r.of_j, b.uniform);
    return r;
  }
  if (a.kind == Kind::Uniform && b.kind != Kind::Uniform) return smaller(b, a);
  // Either reach is a bound, so that the simpler one is enough if the two cannot be combined.
  const auto combines = [](Kind k) { return k != Kind::Max && k != Kind::Sum; };
  if (!combines(a.kind) || !combines(b.kind)) return combines(b.kind) ? b : a;
  Reach r{.uniform = joined(Op::Min, a.uniform, b.uniform),
          .of_i = joined(Op::Min, a.of_i, b.of_i),
          .of_j = joined(Op::Min, a.of_j, b.of_j)};
  r.kind = kind_of(r, Kind::Min);
  return r;
}

Reach Reaches::sum(const Reach& a, const Reach& b) {
  if (a.kind == Kind::Uniform && b.kind != Kind::Uniform) return sum(b, a);
  if (b.kind == Kind::Uniform && a.kind == Kind::Sum)
    return {.kind = Kind::Sum, .of_i = make(Op::Add, a.of_i, b.uniform), .of_j = a.of_j};
  if (b.kind == Kind::Uniform) return each(a, [&](NodeId id) { return make(Op::Add, id, b.uniform); });
  if (a.kind == b.kind && (a.kind == Kind::OfI || a.kind == Kind::OfJ))
    return {.kind = a.kind, .of_i = joined(Op::Add, a.of_i, b.of_i), .of_j = joined(Op::Add, a.of_j, b.of_j)};
  const Reach x = as_sum(a), y = as_sum(b);
  return {.kind = Kind::Sum, .of_i = make(Op::Add, x.of_i, y.of_i), .of_j = make(Op::Add, x.of_j, y.of_j)};
}

Reach Reaches::longer(const Reach& reach, NodeId of_i, NodeId of_j) {
  Reach sum = as_sum(reach);
  if (of_i != kNone) sum.of_i = make(Op::Add, sum.of_i, of_i);
  if (of_j != kNone) sum.of_j = make(Op::Add, sum.of_j, of_j);
  return sum;
}

// ---- node -> reach

std::optional<Reach> Reaches::both_above(NodeId a, NodeId b, NodeId factor,
                                         Reach (Reaches::*join)(const Reach&, const Reach&)) {
  const std::optional<Reach> x = scaled_above(a, factor), y = scaled_above(b, factor);
  return x && y ? std::optional((this->*join)(*x, *y)) : std::nullopt;
}

// The largest of the elements, or of their absolute values, at row + column; kNone: any row, or any column. kNone: they
// are too many.
NodeId Reaches::largest_element(NodeId lookup, NodeId row, NodeId column, bool of_size) {
  const Node n = graph_[lookup];
  const Table& table = tables_[std::size_t(n.payload)];
  const Type type = graph_[n.args[0]].type;
  const int all_columns = table.columns > 0 ? table.columns : table.count;
  const int rows = row == kNone ? table.count / all_columns : 1, columns = column == kNone ? all_columns : 1;
  if (rows * columns > kMaxComparedElements) {
    refused = lookup;
    return kNone;
  }
  NodeId largest = kNone;
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < columns; ++c) {
      const NodeId of_row = row == kNone ? graph_.constant(r * all_columns, type) : row;
      const NodeId of_column = column == kNone ? graph_.constant(c, type) : column;
      const NodeId element = graph_.make(Op::Lookup, n.type, {of_row, of_column, kNone}, n.where, n.payload);
      largest = joined(Op::Max, largest, of_size ? size(element) : element);
    }
  return largest;
}

// An upper bound of an element, or of its absolute value, whose row and column belong to different particles or to the
// pair.
std::optional<Reach> Reaches::element_above(NodeId lookup, bool of_size) {
  const Node n = graph_[lookup];
  if (std::size_t(n.payload) >= tables_.size() || tables_[std::size_t(n.payload)].power >= 0) return {};
  const auto [row, column, none] = n.args;
  Reach reach;
  for (const bool of_row : {true, false}) {
    const Binding binding = graph_[of_row ? row : column].binding;
    if (binding != Binding::I && binding != Binding::J) continue;
    NodeId& side = binding == Binding::I ? reach.of_i : reach.of_j;
    side = largest_element(lookup, of_row ? row : kNone, of_row ? kNone : column, of_size);
  }
  if (!has_i(reach) && !has_j(reach)) reach.uniform = largest_element(lookup, kNone, kNone, of_size);
  reach.kind = kind_of(reach, Kind::Min);
  if (reach.kind == Kind::Uniform && reach.uniform == kNone) return {};
  return reach;
}

// An upper bound of factor * id, for a uniform factor.
std::optional<Reach> Reaches::scaled_above(NodeId id, NodeId factor) {
  if (++visited_ > kMaxVisited) return {};
  const Node n = graph_[id];
  const auto times = [&](NodeId x) { return factor == kNone ? x : make(Op::Mul, factor, x); };
  if (n.binding != Binding::Pair) return separate(times(id));
  const bool chooses = n.op == Op::Max || n.op == Op::Min || n.op == Op::Select;
  if (!is_floating(n.type) && !chooses) return {};
  const auto is_uniform = [&](NodeId x) { return graph_[x].binding <= Binding::Param; };
  const auto [a, b, c] = n.args;
  switch (n.op) {
    case Op::Cast:
      return look_through_casts(graph_, id) == id ? std::nullopt : scaled_above(a, factor);
    case Op::Neg:
      return scaled_above(a, make(Op::Neg, times(number(1, id))));
    case Op::Select:
      // Either argument may be selected.
      return both_above(b, c, factor, &Reaches::larger);
    case Op::Max:
    case Op::Min: {
      // factor * max(a, b) is factor * a or factor * b, whatever the sign of the factor.
      const bool exactly = factor == kNone || signs_.is_never_negative(factor);
      return both_above(a, b, factor, n.op == Op::Min && exactly ? &Reaches::smaller : &Reaches::larger);
    }
    case Op::Add:
      return both_above(a, b, factor, &Reaches::sum);
    case Op::Sub: {
      const auto x = scaled_above(a, factor), y = scaled_above(b, make(Op::Neg, times(number(1, id))));
      return x && y ? std::optional(sum(*x, *y)) : std::nullopt;
    }
    case Op::Fma: {
      const auto x = scaled_above(make(Op::Mul, a, b), factor), y = scaled_above(c, factor);
      return x && y ? std::optional(sum(*x, *y)) : std::nullopt;
    }
    case Op::Mul:
      if (is_uniform(b)) return scaled_above(a, times(b));
      if (is_uniform(a)) return scaled_above(b, times(a));
      break;
    case Op::Div:
      if (is_uniform(b)) return scaled_above(a, make(Op::Div, times(number(1, id)), b));
      break;
    case Op::Abs:
      if (factor == kNone) return size_above(a);
      break;
    case Op::Sqrt:
      if (factor == kNone) return root_above(a);
      break;
    case Op::Lookup:
      if (factor == kNone) return element_above(id, false);
      break;
    default:
      break;
  }
  if (factor == kNone || !signs_.is_never_negative(factor)) return {};
  const std::optional<Reach> bare = scaled_above(id, kNone);
  return bare ? std::optional(each(*bare, [&](NodeId x) { return make(Op::Mul, factor, x); })) : std::nullopt;
}

// An upper bound of |id|.
std::optional<Reach> Reaches::size_above(NodeId id) {
  if (++visited_ > kMaxVisited) return {};
  if (graph_[id].binding != Binding::Pair) return separate(size(id));
  if (signs_.is_never_negative(id)) return scaled_above(id, kNone);
  const Node n = graph_[id];
  const auto both = [&](NodeId a, NodeId b, auto join) -> std::optional<Reach> {
    const std::optional<Reach> x = size_above(a), y = size_above(b);
    return x && y ? std::optional((this->*join)(*x, *y)) : std::nullopt;
  };
  switch (n.op) {
    case Op::Lookup:
      return element_above(id, true);
    case Op::Cast:
      return look_through_casts(graph_, id) == id ? std::nullopt : size_above(n.args[0]);
    case Op::Neg:
    case Op::Abs:
      return size_above(n.args[0]);
    case Op::Max:
    case Op::Min:
      // |min(a, b)| may be the larger one of |a| and |b|.
      return both(n.args[0], n.args[1], &Reaches::larger);
    case Op::Select:
      return both(n.args[1], n.args[2], &Reaches::larger);
    case Op::Add:
    case Op::Sub:
      return both(n.args[0], n.args[1], &Reaches::sum);
    case Op::Mul:
    case Op::Div:
      for (const int k : {0, 1}) {
        const NodeId factor = n.args[std::size_t(k)], other = n.args[std::size_t(1 - k)];
        if (graph_[factor].binding > Binding::Param || (n.op == Op::Div && k == 0)) continue;
        const std::optional<Reach> bare = size_above(other);
        if (!bare) return {};
        return each(*bare, [&](NodeId x) { return make(n.op, x, size(factor)); });
      }
      return {};
    default:
      return {};
  }
}

// sqrt(a b) <= (|a| + |b|) / 2
std::optional<Reach> Reaches::mean_of_sizes(NodeId of_i, NodeId of_j) {
  const auto half = [&](NodeId id) { return make(Op::Mul, size(id), number(0.5, id)); };
  return Reach{.kind = Kind::Sum, .of_i = half(of_i), .of_j = half(of_j)};
}

// An upper bound of sqrt(id), where id is a product of squares and of at most one other factor, or of two other
// factors, one of i and one of j.
std::optional<Reach> Reaches::roots_of_squares(NodeId id) {
  PowerProduct rest = read_product(graph_, id);
  if (!(rest.coefficient > 0)) return {};
  const Type type = graph_[id].type;
  NodeId factor = graph_.constant(std::sqrt(rest.coefficient), type);
  NodeId of_pair = kNone;
  PowerProduct outside;  // absolute values of one side's values: the roots of their squares
  for (auto& [node, exponent] : rest.exponents) {
    if (!is_even(exponent)) continue;
    const bool separates = graph_[node].binding != Binding::Pair;
    if (!separates && (exponent != 2 || of_pair != kNone)) return {};
    if (separates)
      outside.exponents[size(node)] += exponent / 2;
    else
      of_pair = node;
    exponent = 0;
  }
  drop_zeros(rest.exponents);
  rest.coefficient = 1;
  const NodeId before = outside.exponents.empty() ? factor : make(Op::Mul, factor, make_product(graph_, outside, type));
  std::optional<Reach> under;
  if (of_pair != kNone) {
    if (!rest.exponents.empty()) return {};
    under = size_above(of_pair);
  } else if (rest.exponents.empty()) {
    return separate(before);
  } else {
    PowerProduct i, j;
    for (const auto& [node, exponent] : rest.exponents) {
      if (graph_[node].binding == Binding::Pair) return {};
      (graph_[node].binding == Binding::J ? j : i).exponents[node] = exponent;
    }
    const NodeId left = make_product(graph_, i, type), right = make_product(graph_, j, type);
    if (graph_[left].binding == Binding::I && !j.exponents.empty())
      under = mean_of_sizes(left, right);
    else
      under = separate(make(Op::Sqrt, not_negative(make_product(graph_, rest, type))));
  }
  if (!under || graph_.is_constant(before, 1)) return under;
  const Binding binding = graph_[before].binding;
  const bool fits = binding <= Binding::Param || (binding == Binding::I && !has_j(*under)) ||
                    (binding == Binding::J && !has_i(*under));
  if (!fits) return {};
  if (under->kind == Kind::Uniform) return separate(make(Op::Mul, before, under->uniform));
  return each(*under, [&](NodeId x) { return make(Op::Mul, before, x); });
}

// An upper bound of sqrt(max(id, 0)).
std::optional<Reach> Reaches::root_above(NodeId id) {
  if (++visited_ > kMaxVisited) return {};
  const Node n = graph_[id];
  if (n.binding == Binding::Pair && (n.op == Op::Max || n.op == Op::Min || n.op == Op::Select)) {
    const NodeId a = n.args[n.op == Op::Select ? 1 : 0], b = n.args[n.op == Op::Select ? 2 : 1];
    const std::optional<Reach> x = root_above(a), y = root_above(b);
    if (!x || !y) return {};
    return n.op == Op::Min ? smaller(*x, *y) : larger(*x, *y);
  }
  if (const NodeId same = look_through_casts(graph_, id); same != id) return root_above(same);
  if (auto squares = roots_of_squares(id)) return squares;
  const std::optional<Reach> reach = scaled_above(id, kNone);
  return reach ? std::optional(increased(*reach, 0.5)) : std::nullopt;
}

// An upper bound of max(reach, 0)^exponent.
Reach Reaches::increased(const Reach& reach, double exponent) {
  const auto power = [&](NodeId id) {
    if (exponent == 1) return id;
    const NodeId base = not_negative(id);
    return exponent == 0.5 ? make(Op::Sqrt, base) : make(Op::Pow, base, number(exponent, base));
  };
  if (reach.kind != Kind::Sum) return each(reach, power);
  // a + b <= max(2 a, 2 b)
  Reach r = each(reach, [&](NodeId id) { return power(make(Op::Mul, id, number(2, id))); });
  r.kind = Kind::Max;
  return r;
}

std::optional<Reach> Reaches::power_above(NodeId id, double exponent) {
  visited_ = 0;
  if (exponent == 0.5) return root_above(id);
  const std::optional<Reach> reach = scaled_above(id, kNone);
  if (!reach || exponent == 1) return reach;
  return increased(*reach, exponent);
}

}  // namespace nbcc
