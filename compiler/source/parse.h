// Text -> Pipeline, by way of Clang. Throws CompileError with every diagnostic of the run.
// This folder turns a pipeline's text into a Pipeline, or into diagnostics: the prescan refuses what must not reach
// Clang, Clang parses, lowering executes the tree symbolically. parse() is the one door; nothing of Clang appears here.
#pragma once
#include <vector>

#include "compiler/ir/ir.h"
#include "compiler/text/diagnostic.h"

namespace nbcc {
// `warnings` (may be null) receives what is worth saying about a pipeline that compiles.
Pipeline parse(const Source& source, std::vector<Diagnostic>* warnings = nullptr);
}  // namespace nbcc
