// A position in a text and what the compiler knows about the text -> the results of the protocol's requests. Each
// function answers one request; `null` is no answer. They start no process and send nothing.
#pragma once
#include <string>

#include "cli/lsp/editor_facts.h"
#include "cli/lsp/text_document.h"

namespace nbcc {

struct OpenText {
  const TextDocument& document;
  const EditorFacts& facts;  // of this text
  const TextNames& names;    // of this text, else of the last one that was parsed
  std::string uri;
};

// A request that cannot be answered, with the reason for the user.
struct RequestRefused {
  std::string reason;
};

LspJson diagnostics_of(const OpenText& text);
LspJson hover_at(const OpenText& text, Location where);
LspJson completion_at(const OpenText& text, Location where);
LspJson signature_at(const OpenText& text, Location where);
LspJson definition_of(const OpenText& text, Location where);
LspJson references_to(const OpenText& text, Location where, bool with_declaration);
LspJson highlights_of(const OpenText& text, Location where);
LspJson name_to_rename(const OpenText& text, Location where);                        // its range
LspJson renamed(const OpenText& text, Location where, const std::string& new_name);  // throws RequestRefused
LspJson symbols_of(const OpenText& text);
LspJson semantic_tokens_of(const OpenText& text);
LspJson semantic_legend();
LspJson inlay_hints_of(const OpenText& text, Location from, Location to);
LspJson code_actions_of(const OpenText& text, const LspJson& diagnostics);

}  // namespace nbcc
