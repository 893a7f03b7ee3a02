// A pipeline with every_image() -> one for copies of particles. The given pipeline's pairs are of i with the periodic
// images of j. The runtime (runtime/sum/derived/every_image.h) makes a copy of j for each of its images that may be
// within reach of an i, with its own position, and runs the pipeline made here over i and the copies. In that pipeline
// the displacement is the difference of two inputs, positions in one cell, plus a third, the shift of the copy. In
// large boxes the minimum image of that difference will do. Tested by tests/numeric/every_image_test.cpp and
// nearest_images_test.cpp.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compiler/ir/ir.h"
#include "compiler/made_inputs.h"
#include "compiler/passes/prove/neighbourhood.h"
#include "compiler/text/diagnostic.h"

namespace nbcc {

// True if a contribution depends on an image.
bool has_images(const Pipeline& pipeline);

// A comparison among the needed nodes that depends on i_index and j_index, if there is one.
std::optional<NodeId> comparison_of_indices(const Graph& graph, const std::vector<bool>& needed);

// Replaces self_pair by i_index == j_index, in a pipeline without images.
void replace_self_pair(Pipeline& pipeline);

struct CopiesPipeline {
  Pipeline pipeline;
  int axes = 0;  // components of a position
  Pipeline given;
  // Nodes of the given pipeline's pair graph, to which some are added: coordinates of i and of j by component, and
  // the periodic vectors, [vector][component].
  std::vector<NodeId> of_i, of_j;
  std::array<std::vector<NodeId>, 3> periods;
  NodeId image = kNone;      // the node of every_image(), in the given graph
  NeighbourhoodProof proof;  // of `pipeline`
};

// Where the shift of an image comes from. OfCopies: an input of each copy. OfRanges: the lists of a run, whose ranges
// of j each have a shift, so that the text has none. Nearest: there are no copies; each axis has the minimum image.
enum class ImageShifts : std::uint8_t { OfCopies, OfRanges, Nearest };

// Requires has_images(). Guards of the result are false for NaN, if a cutoff is proved (non_finite.h). Over shifted
// ranges self_pair is true for equal indices at one place, and image_index() stays.
CopiesPipeline copies_pipeline(const Pipeline& pipeline, ImageShifts shifts = ImageShifts::OfCopies);

// The same pairs, if the k-th periodic vector is along the k-th axis, and longer than twice the reach, for all k: the
// minimum image of a pair is then the only one within reach. Empty: the text reads image_index(), a component of the
// difference before another one is the same for all pairs, or no cutoff is proved.
std::optional<Pipeline> nearest_images_pipeline(const Pipeline& pipeline);

// The coordinate, from 0 on, of each axis of a neighbourhood of the copies pipeline. Empty, unless each coordinate is
// bounded: all others would have images without number.
std::vector<int> bounded_coordinates(const CopiesPipeline& copies, const Neighbourhood& neighbourhood);

// A line for users, of a pipeline whose cutoff is proved: "every image of j with |image of j - i| < rc".
std::string neighbours_of_images(const CopiesPipeline& copies);

// An error if guards compare distances, and no cutoff bounds the distance of the images that act.
std::optional<Diagnostic> guard_without_cutoff(const CopiesPipeline& copies);

// An error at every_image(), if a component that is the same for all pairs has a period.
std::optional<Diagnostic> period_without_positions(const Pipeline& pipeline);

}  // namespace nbcc
