// The passes: each turns a pipeline into an equivalent one. A pass is one function in one file of the same name, and is
// tested by tests/unit/compiler/passes/optimize/NAME_test.cpp; optimize.cpp has their order. All but fold and cse are
// for Math::Fast only.
#pragma once
#include "compiler/ir/ir.h"
#include "compiler/options.h"
#include "compiler/target.h"

namespace nbcc {

// Constant arithmetic, x+0, x*1, x-(-y), select of a constant, double negation: rules that hold for every x, NaN and
// infinity included. +0 and -0 are not distinguished: x+0 becomes x although -0+0 is +0. x*0 stays (x may be NaN or
// infinite), and so does a constant operation whose result is not finite, so that emitters meet only non-finite
// literals that the user wrote.
void fold(Pipeline& pipeline);

// The rule of fold() for one node: the folded form of `node` with the arguments `args` (ids in `target`). Lowering
// applies it while it builds the graph, so that loop bounds and array indices are constants when they are needed.
NodeId fold_node(Graph& target, const Node& node, std::array<NodeId, 3> args);
// op(a, b), folded; both arguments are converted to the larger of their types.
NodeId make_folded(Graph& target, Op op, NodeId a, NodeId b = kNone);

// One node per value: commutative arguments are sorted, and a>b and b<a are one node, so that hash-consing merges equal
// values. Nodes that no contribution and no finish() needs are dropped.
void cse(Pipeline& pipeline);

// Roots, reciprocals and powers: products are read as monomials, so that 1/(r*r*r), pow(r2, -1.5) and 1/sqrt(r2)/r2 are
// one value, and r2^(-n/2) is computed from the hardware's estimate with the Newton correction fused into the power:
//   y = estimate(x), e = 1 - x y^2:  x^(-n/2) = y^n (1-e)^(-n/2) = y^n (1 + n/2 e + n/2 (n/2+1)/2 e^2 + ...)
//
// If several odd powers of one x are needed, y is refined once and multiplied up. If sqrt(x) itself is needed too, both
// use square root and division, so that sqrt(0) is 0 and 1/0 infinite. In the other cases x = 0 and x = infinity give
// NaN where IEEE arithmetic gives infinity and 0.
void rsqrt(Pipeline& pipeline, const Options& options, const Target& target);

// exp(x) in single precision becomes exp2(x log2(e)); log2(e) is merged with the factors of x. For targets with
// fast_exp2.
void binary_exponents(Pipeline& pipeline, const Options& options);

// A factor that does not depend on j and is common to a whole sum is taken out and applied once after the loop
// (Contribution::scale). Per-i and per-j nodes are computed once per particle without a rewrite: `plan` reads the
// bindings.
void hoist(Pipeline& pipeline);

// Sums of products become chains of fused multiply-adds that begin with the bare terms: dx*dx + dy*dy + dz*dz + eps2
// takes three operations, in source order four. For targets with Fma.
void contract(Pipeline& pipeline);

}  // namespace nbcc
