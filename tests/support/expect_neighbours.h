// A pipeline's neighbourhood, tried: on random particles, whatever contributes is within the reach.
#pragma once
#include "compiler/ir/ir.h"

namespace nbcc::test {

struct PairCounts {
  int contributing = 0, others = 0;
};

// Fails the test for each pair that contributes beyond the reach. The pipeline's neighbourhood must be proved. Numbers
// are of either sign, so that no proof may rely on lengths that are not negative.
PairCounts expect_neighbours(const Pipeline& pipeline, unsigned draws);

}  // namespace nbcc::test
