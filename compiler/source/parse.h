// Text -> Pipeline, by way of Clang. Throws CompileError with every diagnostic of the run.
// The one door to Clang's parser; nothing of Clang appears in this header.
#pragma once
#include <vector>

#include "compiler/ir/ir.h"
#include "compiler/text/diagnostic.h"

namespace nbcc {
// `warnings` (may be null) receives what is worth saying about a pipeline that compiles.
Pipeline parse(const Source& source, std::vector<Diagnostic>* warnings = nullptr);
}  // namespace nbcc
