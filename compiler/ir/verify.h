// Checks the invariants that ir.h states. Runs after parsing and after each pass; a violation is a bug in nbcc.
#pragma once
#include <string_view>

#include "compiler/ir/ir.h"

namespace nbcc {
// Throws InternalError, which names the pass `after` which the pipeline is wrong, and the node as text.
void verify(const Pipeline& pipeline, std::string_view after);
}  // namespace nbcc
