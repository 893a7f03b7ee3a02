// Clang's preprocessor and syntax tree -> the names of a text. Entry points: collect_macros(), collect_names(). Part of
// the parser: parse.cpp calls them while Clang's objects live.
#pragma once
#include "compiler/editing/names.h"

namespace clang {
class ASTContext;
class Preprocessor;
}  // namespace clang

namespace nbcc {

// Macros of the text and their uses are added to `names` while the preprocessor reads; `names` must outlive it.
void collect_macros(clang::Preprocessor& preprocessor, TextNames& names);

// Adds all other names, also of a text with errors.
void collect_names(clang::ASTContext& context, TextNames& names);

}  // namespace nbcc
