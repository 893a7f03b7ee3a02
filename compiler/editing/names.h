// This folder turns a text into what editors show of it: the formatted text, its names with their uses, one line about
// each built-in word. This file: the names. parse() fills it (compiler/source/parse.h). Plain data.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "compiler/ir/ops.h"
#include "compiler/text/source.h"

namespace nbcc {

enum class NameKind : std::uint8_t { Field, Variable, Parameter, Function, Macro };

// Columns count bytes from 1; `end` is the location after the last byte.
struct TextSpan {
  Location begin, end;
};

// A name that the text declares.
struct DeclaredName {
  std::string name;
  NameKind kind = NameKind::Variable;
  std::string type;  // as declared: "vec3", "real[4]"; of a function: the type of its result; of a macro: its value
  std::string role;  // of a field: "input_i", "output(total, max)"; else empty
  std::string parameters;          // of a function: "vec3 dx, real rc"
  Location where;                  // of the name
  TextSpan extent;                 // of the declaration, without the semicolon
  std::optional<TextSpan> scope;   // of a name that is local to a block or a function
  std::optional<Binding> binding;  // what its values depend on; none if the text has errors
};

struct NameUse {
  Location where;
  int declared = 0;  // index in TextNames::declared
};

struct BuiltInUse {
  Location where;
  std::string name;
};

struct TextNames {
  std::vector<DeclaredName> declared;  // in the order of the text
  std::vector<NameUse> uses;           // declarations excluded
  std::vector<BuiltInUse> built_ins;
};

}  // namespace nbcc
