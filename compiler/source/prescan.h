// The scan of a text before Clang parses it: a small raw lexer. It refuses input that must not reach the parser: binary
// data, excessive size or nesting, unbalanced delimiters (on which Clang's incremental mode never returns), every
// directive but `#define NAME constant` and `#pragma flops N`. It reports words of C++ that are not in the language,
// and collects data for the parser: the dialect, the stated flops, the comments after declarations. It knows tokens, no
// grammar.
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
  std::unordered_map<int, std::string> comments;  // line -> the // comment at its end
  std::set<std::string, std::less<>> own_names;   // later_functions() that the text declares at top level as its own
  std::vector<Diagnostic> errors;                 // if not empty, the text must not be parsed
  Location end;                                   // after the last token, or the end of a text without tokens
  // INPUT_I, INPUT_J, OUTPUT -> the location of the dimension's #define, else of the array's first use.
  std::map<std::string, Location, std::less<>> arrays;
};

Prescanned prescan(const Source& source);

}  // namespace nbcc
