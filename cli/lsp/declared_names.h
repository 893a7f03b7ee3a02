// A position in a text -> the name declared or used there; a name -> its declaration as text. Entry points:
// declared_at(), declaration_text(), dependence_text().
#pragma once
#include <optional>
#include <string>

#include "cli/lsp/text_document.h"
#include "compiler/editing/names.h"

namespace nbcc {

// The index in `names.declared` of the name that the word at the position declares or uses.
std::optional<int> declared_at(const TextDocument& document, const TextNames& names, Location where);

// True if the word at the location is the name. A text that cannot be parsed is shown with the names of the last text
// that could: another word may have come to a location of these names.
bool is_written_at(const TextDocument& document, const DeclaredName& name, Location where);

// True if the name can be written at the position: it is declared before it, and its block is not closed.
bool is_visible(const DeclaredName& name, Location where);

// "input_j real mj", "vec3 dx", "real f(vec3 dx, real rc)", "#define N 4".
std::string declaration_text(const DeclaredName& name);

// "once per j": how often the value is computed; "" if it is not known.
std::string dependence_text(const DeclaredName& name);

}  // namespace nbcc
