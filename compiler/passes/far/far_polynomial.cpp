// Arithmetic of polynomials. Entry points: the header.
#include "compiler/passes/far/far_polynomial.h"

#include <algorithm>

namespace nbcc {

namespace {
FarProduct joined(FarProduct a, const FarProduct& b) {
  a.insert(a.end(), b.begin(), b.end());
  std::ranges::sort(a);
  return a;
}
}  // namespace

void append(Sum& to, const Sum& terms, double factor) {
  for (Term term : terms) {
    term.coefficient *= factor;
    const auto same = std::ranges::find(to, term.factors, &Term::factors);
    if (same == to.end())
      to.push_back(std::move(term));
    else
      same->coefficient += term.coefficient;
  }
  std::erase_if(to, [](const Term& term) { return term.coefficient == 0; });
}

Sum product_of(const Sum& a, const Sum& b) {
  Sum result;
  for (const Term& x : a)
    for (const Term& y : b) {
      Term term{x.coefficient * y.coefficient, x.factors};
      term.factors.insert(term.factors.end(), y.factors.begin(), y.factors.end());
      std::ranges::sort(term.factors);
      append(result, {term}, 1);
    }
  return result;
}

void append(Polynomial& to, const Polynomial& from, double factor) {
  for (const auto& [monomial, terms] : from) append(to[monomial], terms, factor);
  std::erase_if(to, [](const auto& entry) { return entry.second.empty(); });
}

Polynomial product_of(const Polynomial& a, const Polynomial& b) {
  Polynomial result;
  for (const auto& [x, of_x] : a)
    for (const auto& [y, of_y] : b)
      append(result[Monomial{joined(x.of_j, y.of_j), joined(x.of_i, y.of_i)}], product_of(of_x, of_y), 1);
  std::erase_if(result, [](const auto& entry) { return entry.second.empty(); });
  return result;
}

}  // namespace nbcc
