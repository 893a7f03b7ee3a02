// The proof that a pipeline's pairs have neighbours: every output is changed only where a guard of the text bounds the
// (nearest-image) distance of two positions by a reach, so that a search can leave all other pairs out. Proved on the
// pipeline as it has been parsed, in exact arithmetic; the guard stays in the kernel, and who searches rounds reaches
// and boxes outwards. Tested by tests/unit/neighbourhood_test.cpp.
//
// A pair whose guard compares with NaN counts as left out, by skip_if too: leave_out_nowhere() makes it so (nowhere.h).
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "compiler/ir/ir.h"
#include "compiler/passes/displacement.h"
#include "compiler/passes/reach.h"

namespace nbcc {

// A pair may change an output only if the root of the sum of the axes' squares is at most the reach.
struct Neighbourhood {
  Graph graph;             // of all nodes below; its inputs and params are the pipeline's
  std::vector<Axis> axes;  // one to three; each is open, or periodic in a box of its length
  Reach reach;
  bool strict = false;  // the distance is even less than the reach, but where that is 0
  // Bool: the comparisons of distances that the proof rests on, joined as the guards join them. Every pair that changes
  // an output passes `within`; other conditions of the guards are not part of it.
  NodeId within = kNone;
};

// Why there is none, although a guard looks like a cutoff: the step of the proof that fails, at its place.
struct NeighbourhoodObstacle {
  Location where;
  std::string reason;  // a sentence without its first capital and its full stop
};

// A neighbourhood, or an obstacle, or neither, for a pipeline without any such guard.
struct NeighbourhoodProof {
  std::optional<Neighbourhood> neighbourhood;
  std::optional<NeighbourhoodObstacle> obstacle;
};

NeighbourhoodProof prove_neighbourhood(const Pipeline& pipeline);

// The pipeline with `within` as a root of its pair graph, so that the passes round it as they round the guards.
Pipeline with_within(Pipeline pipeline, const Neighbourhood& neighbourhood);

// "|xj - xi| < rc in the periodic box `box`".
std::string neighbourhood_text(const Pipeline& pipeline, const Neighbourhood& neighbourhood);

}  // namespace nbcc
