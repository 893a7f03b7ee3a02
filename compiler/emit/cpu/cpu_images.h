// Minimum images that most pairs of a search do not need -> a test with bounding boxes of raw coordinates. Part of
// emit_cpu.
//
// In a large periodic box the minimum image of xj - xi is xj - xi itself unless the pair lies across a boundary. A
// kernel over half lists compares the boxes of a vector of j and of a block of i, as the caller gives their
// coordinates: if no difference is so large that its quotient by the length rounds to another integer than 0, it sums
// with the differences themselves. The results have the same bits. Not in mixed precision, nor in slanted cells. Tested
// by tests/numeric/half_lists_test.cpp.
#pragma once
#include <string>
#include <vector>

#include "compiler/emit/plan.h"

namespace nbcc {

// An image difference - length * round(difference * factor), or round(difference / factor).
struct OptionalImage {
  NodeId image, difference, of_i, of_j, factor;
  bool divides;
};

// The images of a pair that can be tested; empty if there are none, or differences of more components than a test has.
std::vector<OptionalImage> optional_images(const Plan& plan);

class CpuPairBody;
// `limits`: the definition of image_limits, the largest differences without images, after the statements for params.
// `box_of_i`: definitions of low_i and high_i, for the block of i. `box_of_j`: statements that set the elements of
// box[8] for the vector of particles from j on: the low and the high bounds of four components of j.
struct ImageTest {
  std::string limits, box_of_i, box_of_j;
};
ImageTest image_test(const CpuPairBody& body, const std::vector<OptionalImage>& images);

}  // namespace nbcc
