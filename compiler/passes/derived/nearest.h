// A pipeline that searches nearest neighbours without a guard -> the same one with a bound for each i, so that a
// neighbour search can be used: pairs whose value exceeds the bound change nothing. The runtime raises or lowers the
// bounds (runtime/sum/derived/nearest.cpp). Tested by tests/numeric/nearest_test.cpp.
#pragma once
#include <optional>

#include "compiler/ir/ir.h"

namespace nbcc {

// Requires that all outputs are the min or argmin of one value or payloads of these argmins, and that an upper bound of
// that value provably bounds a distance. The result has one more input of i, nbcc_bound; one more output, nbcc_least,
// the k least values in rising order, where k is the largest number of indices that an argmin keeps; for k > 1 the
// output nbcc_last, the last of them alone; and, in place of
// j_index, an input of j, nbcc_j. Empty: the pipeline is of another kind, or already has a neighbourhood.
std::optional<Pipeline> nearest_pipeline(const Pipeline& pipeline);

// The number of components of j of which the value by which the outputs choose has a difference to an input of i: the
// axes of its distance.
int axes_of_nearest(const Pipeline& pipeline);

// A pipeline with the floating-point inputs of one side as inputs of j; its output nbcc_zero is NaN if one of their
// values is not finite, else 0. Empty: there are no such inputs.
std::optional<Pipeline> finite_pipeline(const Pipeline& pipeline, Role side);

}  // namespace nbcc
