// Diagnostics about the user's text. A run collects every error; they are rendered in Clang's form:
// `file:line:col: error: message`, the source line, a caret.
#pragma once
#include <stdexcept>
#include <string>
#include <vector>

#include "compiler/text/source.h"

namespace nbcc {

enum class Severity { Note, Warning, Error };

struct Diagnostic {
  Severity severity = Severity::Error;
  Location where;
  std::string message;
  bool operator==(const Diagnostic&) const = default;
};

bool has_errors(const std::vector<Diagnostic>& diagnostics);

// One diagnostic as text, ending in a newline. Tabs in the source line are kept, so that the caret is aligned.
std::string render(const Source& source, const Diagnostic& diagnostic);
std::string render(const Source& source, const std::vector<Diagnostic>& diagnostics);

// The user's text is wrong. what() is the rendered text of all diagnostics (warnings included, in order).
struct CompileError : std::runtime_error {
  CompileError(const Source& source, std::vector<Diagnostic> diagnostics);
  ~CompileError() override;  // not inline, see below
  std::vector<Diagnostic> diagnostics;
};

// A bug in nbcc: an invariant of the compiler does not hold, or a backend compiler refused the emitted kernel.
struct InternalError : std::logic_error {
  using std::logic_error::logic_error;
  // This destructor and the one above are defined in diagnostic.cpp, which thereby has the only vtables. A vtable from
  // a file compiled with -fno-rtti (required by Clang's headers) has no type_info; typeid of a caught error would
  // crash.
  ~InternalError() override;
};

}  // namespace nbcc
