// The first look at a text, before Clang sees it: a small raw lexer that refuses what must not reach the parser
// (binary data, absurd size or nesting, unbalanced delimiters, on which Clang's incremental mode never returns,
// every directive but `#define NAME constant` and `#pragma flops N`), names the words of C++ that the language leaves
// out, and learns what the parser needs beforehand: the dialect, the flop convention, the comments behind declarations.
// Knows tokens, not grammar.
#pragma once
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "compiler/ir/ir.h"
#include "compiler/source/prescan_directive.h"
#include "compiler/text/diagnostic.h"

namespace nbcc {

struct Prescanned : StatedNumbers {
  Dialect dialect = Dialect::Named;
  std::unordered_map<int, std::string> comments;  // line -> the // comment that ends it
  std::set<std::string, std::less<>> own_names;   // of later functions, that the text declares at its top
  std::vector<Diagnostic> errors;                 // if any, the text must not be parsed
  Location end;                                   // behind the last token; of a text without any, its end
  // INPUT_I, INPUT_J, OUTPUT: where the text states the dimension, else where it first uses the array.
  std::map<std::string, Location, std::less<>> arrays;
};

Prescanned prescan(const Source& source);

}  // namespace nbcc
