// What finish() does to a component of a total -> statements. A step of pipeline_text.h.
#pragma once
#include <vector>

#include "compiler/ir/text/pipeline_statements.h"

namespace nbcc {

// Complete lines, with braces and indentation, which combine values of i with the total: `root` is the combined value
// in Pipeline::finish. Throws std::runtime_error if statements of the language cannot make it.
std::vector<Statement> total_statements(const Pipeline& pipeline, int component, NodeId root);

}  // namespace nbcc
