// Pipeline -> the text of a .pipe file that parses to an equal one, for people to read and to change.
// Tested by tests/unit/compiler/ir/text/pipeline_text_test.cpp.
#pragma once
#include <string>

#include "compiler/ir/ir.h"

namespace nbcc {

// `pipeline` is parsed or built by hand, and has not gone through the passes, which make operations that the language
// lacks. Values that are used several times become variables; dead nodes are not written. The parsed text equals the
// pipeline, except for the order of commuting arguments, and for integers that are compared in 64 bits or summed under
// several guards: these gain an int().
//
// Throws std::runtime_error, which names the construct, if the language cannot express it: an rsqrt_estimate, a scale
// after a sum, a spline coefficient outside spline(), a function hidden by a field of the same name, a count whose
// terms are not counts.
std::string pipeline_text(const Pipeline& pipeline);

}  // namespace nbcc
