// Graph -> the magnitudes of its values as vectors of exponents. One door: Magnitudes. It changes nothing;
// monomials.cpp asks it what may be regrouped.
#include "compiler/passes/magnitudes.h"

#include <algorithm>
#include <cmath>

namespace nbcc {
namespace {

// Constants that a regrouped product may gain or lack, as a power of two. The promise is for texts within 2^-100 ..
// 2^100, single precision reaches 2^-126 .. 2^127, and `hoist` may take another 2^16 away.
constexpr double kSlack = 8;
// Longer products stay as they are written, so that no text takes long.
constexpr std::size_t kMaxAtoms = 8;
constexpr double kMaxExponent = 1024;
// Values of one direction that are remembered: forgetting some only forbids more.
constexpr std::size_t kMaxFormed = 16;

Magnitude atom(NodeId id) { return {0, {{id, 1.0}}}; }

Magnitude magnitude(const Graph& graph, NodeId id, const std::vector<Magnitude>& of) {
  const Node& node = graph[id];
  if (node.type < Type::Float) return atom(id);
  const auto argument = [&](int k) -> const Magnitude& { return of[std::size_t(node.args[std::size_t(k)])]; };
  Magnitude m;
  switch (node.op) {
    case Op::Const: {
      const double value = std::fabs(graph.constant_value(id));
      if (value == 0 || !std::isfinite(value)) return atom(id);
      m.constant = std::log2(value);
      return m;
    }
    case Op::Neg:
    case Op::Abs:
      return argument(0);
    case Op::Mul:
      m = argument(0);
      m.add(argument(1), 1);
      break;
    case Op::Div:
      m = argument(0);
      m.add(argument(1), -1);
      break;
    case Op::Sqrt:
      m.add(argument(0), 0.5);
      break;
    case Op::Rsqrt:
      m.add(argument(0), -0.5);
      break;
    case Op::Pow:
      if (!graph.is_constant(node.args[1]) || !std::isfinite(graph.constant_value(node.args[1]))) return atom(id);
      m.add(argument(0), graph.constant_value(node.args[1]));
      break;
    default:
      return atom(id);
  }
  const bool simple = m.atoms.size() <= kMaxAtoms &&
                      std::ranges::all_of(m.atoms, [](const auto& a) { return std::fabs(a.second) <= kMaxExponent; });
  return simple ? m : atom(id);
}

}  // namespace

void Magnitude::add(const Magnitude& other, double times) {
  if (times == 0) return;
  constant += times * other.constant;
  for (const auto& [node, exponent] : other.atoms) {
    const auto at = std::ranges::lower_bound(atoms, node, {}, &std::pair<NodeId, double>::first);
    if (at == atoms.end() || at->first != node)
      atoms.insert(at, {node, times * exponent});
    else if ((at->second += times * exponent) == 0)
      atoms.erase(at);
  }
}

Magnitudes::Magnitudes(const Graph& graph, const std::vector<bool>& alive) : of_(alive.size()) {
  for (NodeId id = 0; id < graph.size(); ++id) {
    if (!alive[std::size_t(id)]) continue;
    Magnitude& m = of_[std::size_t(id)] = magnitude(graph, id, of_);
    if (m.atoms.empty()) continue;
    const double length = m.atoms[0].second;
    Direction direction = m.atoms;
    for (auto& [node, exponent] : direction) exponent /= length;
    std::vector<Formed>& formed = formed_[direction];
    const bool is_known =
        std::ranges::any_of(formed, [&](const Formed& v) { return v.length == length && v.constant == m.constant; });
    if (!is_known && formed.size() < kMaxFormed) formed.push_back({length, m.constant});
  }
}

const std::vector<Magnitudes::Formed>* Magnitudes::along(const Magnitude& m) const {
  Direction direction = m.atoms;
  for (auto& [node, exponent] : direction) exponent /= m.atoms[0].second;
  const auto found = formed_.find(direction);
  return found == formed_.end() ? nullptr : &found->second;
}

bool Magnitudes::covers(const Magnitude& m) const {
  if (m.atoms.empty()) return true;
  const std::vector<Formed>* const formed = along(m);
  return formed && std::ranges::any_of(*formed, [&](const Formed& v) {
           const double t = m.atoms[0].second / v.length;
           return std::fabs(t) <= 1 && std::fabs(m.constant - t * v.constant) <= kSlack;
         });
}

double Magnitudes::widest_power(NodeId id) const {
  const Magnitude& m = of(id);
  double widest = 1;
  if (m.atoms.empty()) return widest;
  const std::vector<Formed>* const formed = along(m);
  for (const Formed& v : formed ? *formed : std::vector<Formed>()) {
    const double t = v.length / m.atoms[0].second;
    if (std::fabs(v.constant - t * m.constant) <= kSlack) widest = std::max(widest, std::fabs(t));
  }
  return widest;
}

}  // namespace nbcc
