// The passes: each turns a pipeline into an equal one. One function and one file each, named alike and tested by
// tests/unit/NAME_test.cpp; optimize.cpp has their order. All but fold and cse are for Math::Fast only.
#pragma once
#include "compiler/ir/ir.h"
#include "compiler/options.h"
#include "compiler/target.h"

namespace nbcc {

// Constant arithmetic, x+0, x*1, x-(-y), select of a constant, double negation: what holds for every x, NaN and
// infinity included. +0 and -0 are not told apart: x+0 becomes x although -0+0 is +0. x*0 stays (x may be NaN or
// infinite), and so does a constant operation whose result is not finite, so that no emitter meets such a literal that
// the user did not write.
void fold(Pipeline& pipeline);

// The rule of fold(), for one node: what `node` with the arguments `args` (ids in `target`) is, after folding.
// Lowering applies it as it builds, so that loop bounds and array indices are constants when they are needed.
NodeId fold_node(Graph& target, const Node& node, std::array<NodeId, 3> args);
// op(a, b), folded, of numbers of whatever types: they are converted to the greater one.
NodeId make_folded(Graph& target, Op op, NodeId a, NodeId b = kNone);

// One node per value: commutative arguments are sorted, a>b and b<a become one, so that hash-consing meets them. What
// no contribution and no finish() needs is dropped.
void cse(Pipeline& pipeline);

// Roots, reciprocals and powers: products are read as monomials, so that 1/(r*r*r), pow(r2, -1.5) and 1/sqrt(r2)/r2
// are one thing, and r2^(-n/2) is made of the hardware's estimate with the Newton correction fused into the power:
//   y = estimate(x), e = 1 - x y^2:  x^(-n/2) = y^n (1-e)^(-n/2) = y^n (1 + n/2 e + n/2 (n/2+1)/2 e^2 + ...)
//
// Where several odd powers of one x are needed, y is refined once and multiplied up. Where sqrt(x) itself is needed
// too, square root and division are used for both, so that sqrt(0) is 0 and 1/0 infinite. In the other cases x = 0
// and x = infinity give NaN where IEEE arithmetic gives infinity and 0.
void rsqrt(Pipeline& pipeline, const Options& options, const Target& target);

// exp(x) of single precision becomes exp2(x log2(e)), whose factor joins those of x. For targets with fast_exp2.
void binary_exponents(Pipeline& pipeline, const Options& options);

// A factor that does not depend on j, common to a whole sum, is taken out of it and applied once after the loop
// (Contribution::scale). That i-bound and j-bound nodes are computed once per particle needs no rewriting: `plan` reads
// it off the bindings.
void hoist(Pipeline& pipeline);

// Sums of products become chains of fused multiply-adds that begin with the bare terms: dx*dx + dy*dy + dz*dz + eps2
// is three operations, where the literal order takes four. For targets with Fma.
void contract(Pipeline& pipeline);

}  // namespace nbcc
