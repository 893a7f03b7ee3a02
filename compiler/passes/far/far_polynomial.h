// Polynomials in values of single particles, whose coefficients are sums of products of nodes. Part of far_terms.cpp.
#pragma once
#include <map>
#include <vector>

#include "compiler/ir/ir.h"
#include "compiler/passes/derive/term.h"

namespace nbcc {

// A value of one particle, or with `centre` its difference from the mean of `centred[centre]` over all j: velocities
// enter as differences vj - vi, and a velocity that all particles have in common must not cost digits.
struct FarAtom {
  NodeId node = kNone;  // of the pipeline's pair graph
  int centre = -1;      // -1: none
  auto operator<=>(const FarAtom&) const = default;
};
using FarProduct = std::vector<FarAtom>;  // sorted; empty: 1

struct Monomial {
  FarProduct of_j, of_i;
  auto operator<=>(const Monomial&) const = default;
};
// The coefficient of each monomial; none is empty.
using Polynomial = std::map<Monomial, Sum>;

// Adds factor * terms, so that equal products become one term.
void append(Sum& to, const Sum& terms, double factor);
void append(Polynomial& to, const Polynomial& from, double factor);
Sum product_of(const Sum& a, const Sum& b);
Polynomial product_of(const Polynomial& a, const Polynomial& b);

}  // namespace nbcc
