// finish() -> the statements that change a total. A step of pipeline_text.h.
#pragma once
#include <vector>

#include "compiler/ir/pipeline_statements.h"

namespace nbcc {

// Statements of finish() that give the total component its result; each may begin with a condition, "if (@ && !@) ".
// Throws std::runtime_error if there are none.
std::vector<Statement> total_statements(const Pipeline& pipeline, int component);

}  // namespace nbcc
