// Graph -> the magnitudes of its values as vectors of exponents. Entry point: Magnitudes. It changes nothing;
// monomials.cpp uses it to decide which products may be regrouped.
#include "compiler/passes/facts/magnitudes.h"

#include <algorithm>
#include <cmath>

namespace nbcc {
namespace {

// log2 of the constant factor that a regrouped product may gain or lack. The guarantee is for sources whose values are
// within 2^-100 .. 2^100; single precision reaches 2^-126 .. 2^127, and `hoist` may take another 2^16.
constexpr double kSlack = 8;
// Longer products keep the form of the source, which bounds the compile time.
constexpr std::size_t kMaxAtoms = 8;
constexpr double kMaxExponent = 1024;
// Maximum number of values per direction; dropping some only forbids more.
constexpr std::size_t kMaxFormed = 16;

Magnitude magnitude(const Graph& graph, NodeId id, const std::vector<Magnitude>& of) {
  const Node& node = graph[id];
  const auto argument = [&](std::size_t k) -> const Magnitude& { return of[std::size_t(node.args[k])]; };
  if (node.op == Op::Abs && is_floating(node.type)) return argument(0);
  const Magnitude atom{0, {{id, 1.0}}};
  const std::optional<Factors> factors = read_factors(graph, id);
  if (!factors) return atom;
  Magnitude m{std::log2(std::fabs(factors->coefficient)), {}};
  for (std::size_t k = 0; k < std::size_t(factors->count); ++k) m.add(argument(k), factors->exponents[k]);
  const bool simple =
      std::isfinite(m.constant) && m.exponents.size() <= kMaxAtoms &&
      std::ranges::all_of(m.exponents, [](const auto& power) { return std::fabs(power.second) <= kMaxExponent; });
  return simple ? m : atom;
}

double first_exponent(const Magnitude& m) { return m.exponents.begin()->second; }

// The exponents divided by the first exponent.
Exponents direction(const Magnitude& m) {
  Exponents result = m.exponents;
  for (auto& [atom, exponent] : result) exponent /= first_exponent(m);
  return result;
}

}  // namespace

void Magnitude::add(const Magnitude& other, double times) {
  constant += times * other.constant;
  multiply(exponents, other.exponents, times);
  drop_zeros(exponents);
}

Magnitudes::Magnitudes(const Graph& graph, const std::vector<bool>& alive) : of_(alive.size()) {
  for (NodeId id = 0; id < graph.size(); ++id) {
    if (!alive[std::size_t(id)]) continue;
    Magnitude& m = of_[std::size_t(id)] = magnitude(graph, id, of_);
    if (m.exponents.empty()) continue;
    const double length = first_exponent(m);
    std::vector<Formed>& formed = formed_[direction(m)];
    const bool is_known =
        std::ranges::any_of(formed, [&](const Formed& v) { return v.length == length && v.constant == m.constant; });
    if (!is_known && formed.size() < kMaxFormed) formed.push_back({length, m.constant});
  }
}

const std::vector<Magnitudes::Formed>* Magnitudes::along(const Magnitude& m) const {
  const auto found = formed_.find(direction(m));
  return found == formed_.end() ? nullptr : &found->second;
}

bool Magnitudes::covers(const Magnitude& m) const {
  if (m.exponents.empty()) return true;
  const std::vector<Formed>* const formed = along(m);
  return formed && std::ranges::any_of(*formed, [&](const Formed& v) {
           const double t = first_exponent(m) / v.length;
           return std::fabs(t) <= 1 && std::fabs(m.constant - t * v.constant) <= kSlack;
         });
}

double Magnitudes::widest_power(NodeId id) const {
  const Magnitude& m = of(id);
  double widest = 1;
  if (m.exponents.empty()) return widest;
  const std::vector<Formed>* const formed = along(m);
  for (const Formed& v : formed ? *formed : std::vector<Formed>()) {
    const double t = v.length / first_exponent(m);
    if (std::fabs(v.constant - t * m.constant) <= kSlack) widest = std::max(widest, std::fabs(t));
  }
  return widest;
}

}  // namespace nbcc
