// The cutoff of the distance between a site of i and a site of j -> a cutoff of the distance between two other sites,
// by the triangle inequality: |b0 - a0| <= |b1 - a1| + |a1 - a0| + |b1 - b0|, so that guards of several pairs of sites
// of two molecules are one search. Tested by tests/unit/compiler/passes/prove/sites_test.cpp.
#pragma once
#include <optional>

#include "compiler/ir/ir.h"
#include "compiler/passes/prove/cutoff.h"
#include "compiler/passes/prove/reach.h"

namespace nbcc {

// The cutoff, along the axes of `a`, that holds where `a` or `b` holds. Empty if they have no site in common, so that
// they may bound a distance of positions and one of velocities, or if their axes are not as many, or not periodic in
// the same box or cell. Adds nodes to the graph, which `reaches` belongs to.
std::optional<Cutoff> between_sites(Graph& graph, Reaches& reaches, const Cutoff& a, const Cutoff& b);

}  // namespace nbcc
