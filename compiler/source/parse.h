// Pipeline text -> Pipeline, by Clang. Throws CompileError with every diagnostic of the run.
// This folder turns a pipeline's text into a Pipeline or into diagnostics: the prescan refuses text that must not reach
// Clang, Clang parses, lowering executes the AST symbolically. parse() is the only entry point; it hides Clang.
#pragma once
#include <vector>

#include "compiler/ir/ir.h"
#include "compiler/text/diagnostic.h"

namespace nbcc {

struct TextNames;

// `warnings` (may be null) receives the warnings about a pipeline that compiles.
Pipeline parse(const Source& source, std::vector<Diagnostic>* warnings = nullptr);

// The same for editors: `names` (compiler/editing/names.h) receives the names of the text and their uses, also of a
// text with errors, unless the prescan refuses it.
Pipeline parse(const Source& source, std::vector<Diagnostic>* warnings, TextNames& names);

}  // namespace nbcc
