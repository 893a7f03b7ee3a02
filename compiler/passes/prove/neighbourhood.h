// The proof that only neighbours interact: every output changes only where a guard of the source bounds the
// (minimum-image) distance of two positions by a reach, i.e. a cutoff distance, so that a search can skip all other
// pairs. The proof uses the parsed pipeline and exact arithmetic; the guard stays in the kernel, and searches round
// reaches and boxes outwards. Tested by tests/unit/compiler/passes/prove/neighbourhood_test.cpp.
//
// A pair whose guard compares with NaN counts as excluded, by skip_if too: exclude_non_finite() ensures it
// (non_finite.h).
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "compiler/ir/ir.h"
#include "compiler/passes/facts/displacement.h"
#include "compiler/passes/prove/reach.h"

namespace nbcc {

// A pair may change an output only if the square root of the sum of its squared displacements is at most the reach.
struct Neighbourhood {
  Graph graph;             // of all nodes below; its inputs and params are those of the pipeline
  std::vector<Axis> axes;  // one to three; each is open, or periodic in a box of its length
  Reach reach;
  std::optional<Reach> of_sites;  // for texts, if the guards compare distances of several sites: their reach
  bool strict = false;            // the distance is less than the reach, unless the reach is 0
  // Bool: the distance comparisons that the proof uses, joined in the same way as in the guards. Every pair that
  // changes an output passes `within`; other conditions of the guards are not included.
  NodeId within = kNone;
};

// Why there is no proof although a guard looks like a cutoff: the failing step and its source location.
struct NeighbourhoodObstacle {
  Location where;
  std::string reason;     // a sentence without initial capital and full stop
  bool is_limit = false;  // the guard bounds the distance, but nbcc has a limit: parse() warns
};

// A neighbourhood; or an obstacle; or neither, for a pipeline without a guard that looks like a cutoff.
struct NeighbourhoodProof {
  std::optional<Neighbourhood> neighbourhood;
  std::optional<NeighbourhoodObstacle> obstacle;
};

NeighbourhoodProof prove_neighbourhood(const Pipeline& pipeline);

// Adds `within` as a root of the pair graph, so that the passes round it as they round the guards.
Pipeline with_within(Pipeline pipeline, const Neighbourhood& neighbourhood);

// A line for users: "|xj - xi| < rc in the periodic box `box`".
std::string neighbourhood_text(const Pipeline& pipeline, const Neighbourhood& neighbourhood);

}  // namespace nbcc
