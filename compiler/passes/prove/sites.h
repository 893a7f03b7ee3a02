// The cutoff of the distance between a site of i and a site of j -> a cutoff of the distance between two other sites,
// by the triangle inequality: |b0 - a0| <= |b1 - a1| + |a1 - a0| + |b1 - b0|, so that guards of several pairs of sites
// of two molecules are one search. Tested by tests/unit/compiler/passes/prove/neighbourhood_test.cpp.
#pragma once
#include <optional>
#include <vector>

#include "compiler/ir/ir.h"
#include "compiler/passes/facts/displacement.h"
#include "compiler/passes/prove/cutoff.h"
#include "compiler/passes/prove/reach.h"

namespace nbcc {

// A cutoff along `axes` that holds where `cutoff` holds; empty if the axes are not as many, or are not periodic in the
// same box or cell. Adds nodes to the graph, which `reaches` belongs to.
std::optional<Cutoff> between_other_sites(Graph& graph, Reaches& reaches, const Cutoff& cutoff,
                                          const std::vector<Axis>& axes);

}  // namespace nbcc
