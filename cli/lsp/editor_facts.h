// A text -> what the compiler knows about it, as JSON for the process of the server. Entry points: facts_of() in a
// child process, read_facts() in the server.
#pragma once
#include <string>
#include <vector>

#include "cli/lsp/json_rpc.h"
#include "compiler/editing/names.h"
#include "compiler/text/diagnostic.h"

namespace nbcc {

struct EditorFacts {
  std::vector<Diagnostic> diagnostics;
  bool has_names = false;  // false: the prescan has refused the text, so that no parser has seen it
  TextNames names;
  // The rest is empty for a text with errors; see PipelineCheck.
  bool compiles = false;
  std::string neighbours, search_cost, far_field, symmetry;
  int operations_per_pair = 0, operations_per_i = 0, operations_per_j = 0;
};

// Errors of the text become diagnostics, and are not thrown.
EditorFacts facts_of(const Source& source);

std::string written_facts(const EditorFacts& facts);
EditorFacts read_facts(const std::string& text);  // throws if `text` was not made by written_facts()

}  // namespace nbcc
