// A pipeline that sums forces -> the same one with the virial of its pairs besides, for engines that want the pressure
// of any formula. Tested by tests/unit/virial_test.cpp.
#pragma once
#include <string>

#include "compiler/ir/ir.h"

namespace nbcc {

// What has no virial, in words for the caller.
struct NoVirial {
  std::string message;
};

// Of which force, and between which places: names of an output(sum) vec3 and of inputs of type vec3.
struct VirialChoice {
  std::string force = "force", place_i = "xi", place_j = "xj";
};

// The pipeline with an output FORCE_virial[6] besides: half of (x_i - x_j)_a f_b, summed over the j of each i, for ab =
// xx, yy, zz, xy, xz, yz, where f is what the pair adds to the force on i. With each pair seen from both of its ends
// the sum over all i is that over pairs. The difference is the one that the force is made of (pair_displacement.h): in
// a box or cell its nearest image, else that of the positions as they are. Throws NoVirial.
Pipeline with_virial(const Pipeline& pipeline, const VirialChoice& choice);

}  // namespace nbcc
