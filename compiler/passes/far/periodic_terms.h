// Pipeline with every_image() and no cutoff -> the terms of its periodic sum, in the pipeline over shifted ranges
// (every_image.h). Tested by tests/numeric/periodic_sum_test.cpp.
#pragma once
#include "compiler/passes/derived/every_image.h"
#include "compiler/passes/far/far_terms.h"

namespace nbcc {

struct PeriodicReading {
  CopiesPipeline copies;  // ImageShifts::OfRanges
  FarReading reading;     // of copies.pipeline: terms on both sides, or why there is no periodic sum
};
// Requires has_images().
PeriodicReading read_periodic_terms(const Pipeline& pipeline);

}  // namespace nbcc
