// A pipeline that sums forces -> the same one with the virial of its pairs as an additional output, for programs that
// compute the pressure for any formula. Tested by tests/unit/compiler/passes/derived/virial_test.cpp.
#pragma once
#include <string>

#include "compiler/ir/ir.h"

namespace nbcc {

// Why a pipeline has no virial; the message is for the caller.
struct NoVirial {
  std::string message;
};

// Names of the force, an output(sum) vec3, and of the two positions, inputs of type vec3.
struct VirialChoice {
  std::string force = "force", place_i = "xi", place_j = "xj";
};

// Adds an output FORCE_virial[6]: half of (x_i - x_j)_a f_b, summed over the j of each i, for ab = xx, yy, zz, xy, xz,
// yz, where f is the pair's contribution to the force on i. If each pair is summed from both sides, the sum over all i
// is the sum over all pairs. x_i - x_j is the displacement that the force is computed from (pair_displacement.h): in a
// box or cell its minimum image, else the plain difference. Throws NoVirial.
Pipeline with_virial(const Pipeline& pipeline, const VirialChoice& choice);

}  // namespace nbcc
