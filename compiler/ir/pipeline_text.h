// Pipeline -> the text of a .pipe file that parses to an equal one, for people to read and to change.
// Tested by tests/unit/pipeline_text_test.cpp.
#pragma once
#include <string>

#include "compiler/ir/ir.h"

namespace nbcc {

// Of a pipeline as it is parsed, or built by hand: before the passes, which make operations that no text says. What is
// used several times gets a variable; what no output needs is left out. Equal but for the order of commuting arguments,
// and for whole numbers that are compared in 64 bits or added up under several guards, which go through another int().
//
// Throws std::runtime_error, which names it, for what the language has no words for: an rsqrt_estimate, a scale taken
// out of a sum, a lookup of a spline's coefficient but by spline(), a function that a field hides, a number of counts
// that is none.
std::string pipeline_text(const Pipeline& pipeline);

}  // namespace nbcc
