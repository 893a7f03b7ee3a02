// Requests about names: diagnostics, definition, references, highlights, rename, symbols, code actions. Entry points:
// the functions of answers.h; those about words are in word_answers.cpp, those about costs in hints.cpp.
#include "cli/lsp/answers.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "cli/lsp/declared_names.h"
#include "compiler/source/vocabulary.h"

namespace nbcc {
namespace {

// Numbers of the protocol.
enum LspSeverity { kLspError = 1, kLspWarning = 2, kLspInformation = 3 };
enum LspSymbol { kFunctionSymbol = 12, kVariableSymbol = 13, kConstantSymbol = 14, kFieldSymbol = 8 };

int severity_of(Severity severity) {
  return severity == Severity::Error ? kLspError : severity == Severity::Warning ? kLspWarning : kLspInformation;
}

std::vector<Location> places_of(const OpenText& text, int declared, bool with_declaration) {
  const DeclaredName& name = text.names.declared[std::size_t(declared)];
  std::vector<Location> places;
  const auto add = [&](Location where) {
    if (is_written_at(text.document, name, where) && std::ranges::find(places, where) == places.end())
      places.push_back(where);
  };
  if (with_declaration) add(name.where);
  for (const NameUse& use : text.names.uses)
    if (use.declared == declared) add(use.where);
  return places;
}

// "did you mean 'sqrt'?" -> "sqrt".
std::string meant_word(const std::string& message) {
  constexpr std::string_view before = "did you mean '";
  const std::size_t begin = message.find(before);
  if (begin == std::string::npos) return "";
  const std::size_t end = message.find('\'', begin + before.size());
  return end == std::string::npos ? "" : message.substr(begin + before.size(), end - begin - before.size());
}

bool is_name(const std::string& word) {
  return !word.empty() && !std::isdigit(static_cast<unsigned char>(word[0])) &&
         std::ranges::all_of(word, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; });
}

// The first occurrence of the word that is no name the parser knows: in the value of a macro, or in an expression that
// has errors. None for a component of a vector.
std::optional<Location> unknown_use(const OpenText& text, const std::string& name) {
  std::set<std::pair<int, int>> known;
  for (const DeclaredName& one : text.names.declared) known.emplace(one.where.line, one.where.column);
  for (const NameUse& one : text.names.uses) known.emplace(one.where.line, one.where.column);
  for (const BuiltInUse& one : text.names.built_ins) known.emplace(one.where.line, one.where.column);
  for (const TextWord& word : text.document.words()) {
    if (word.word != name || known.contains({word.where.line, word.where.column})) continue;
    const std::size_t at = text.document.offset_of(word.where);
    const std::size_t before = at == 0 ? std::string::npos : text.document.text().find_last_not_of(" \t\r\n", at - 1);
    if (before != std::string::npos && text.document.text()[before] == '.') continue;
    if (!text.facts.compiles || text.document.is_in_directive(word.where.line)) return word.where;
  }
  return std::nullopt;
}

}  // namespace

LspJson diagnostics_of(const OpenText& text) {
  LspJson list = LspJson::array();
  for (const Diagnostic& one : text.facts.diagnostics)
    list.push_back({{"range", text.document.range_of_word(one.where)},
                    {"severity", severity_of(one.severity)},
                    {"source", "nbcc"},
                    {"message", one.message}});
  return list;
}

LspJson definition_of(const OpenText& text, Location where) {
  const std::optional<int> found = declared_at(text.document, text.names, where);
  if (!found) return nullptr;
  const DeclaredName& name = text.names.declared[std::size_t(*found)];
  if (!is_written_at(text.document, name, name.where)) return nullptr;
  return {{"uri", text.uri}, {"range", text.document.range_of_word(name.where)}};
}

LspJson references_to(const OpenText& text, Location where, bool with_declaration) {
  const std::optional<int> found = declared_at(text.document, text.names, where);
  if (!found) return nullptr;
  LspJson list = LspJson::array();
  for (const Location& place : places_of(text, *found, with_declaration))
    list.push_back({{"uri", text.uri}, {"range", text.document.range_of_word(place)}});
  return list;
}

LspJson highlights_of(const OpenText& text, Location where) {
  const std::optional<int> found = declared_at(text.document, text.names, where);
  if (!found) return nullptr;
  LspJson list = LspJson::array();
  for (const Location& place : places_of(text, *found, true))
    list.push_back({{"range", text.document.range_of_word(place)}});
  return list;
}

LspJson name_to_rename(const OpenText& text, Location where) {
  if (!declared_at(text.document, text.names, where)) return nullptr;
  return text.document.range_of_word(text.document.word_at(where)->where);
}

LspJson renamed(const OpenText& text, Location where, const std::string& new_name) {
  const std::optional<int> found = declared_at(text.document, text.names, where);
  if (!found) throw RequestRefused{"this is no name that the text declares"};
  const std::string& old_name = text.names.declared[std::size_t(*found)].name;
  if (old_name == "finish") throw RequestRefused{"finish() is called by nbcc under this name"};
  if (!is_name(new_name)) throw RequestRefused{fmt::format("'{}' is no name", new_name)};
  if (is_language_word(new_name) || find_excluded_word(new_name))
    throw RequestRefused{fmt::format("'{}' is a word of the language", new_name)};
  // Also a name of another scope: it might hide this one.
  if (std::ranges::any_of(text.document.words(), [&](const TextWord& word) { return word.word == new_name; }))
    throw RequestRefused{fmt::format("'{}' is in the text already", new_name)};
  if (const std::optional<Location> unknown = unknown_use(text, old_name))
    throw RequestRefused{fmt::format("'{}' in line {} cannot be followed: it is in a macro or beside an error",
                                     old_name, unknown->line)};
  LspJson edits = LspJson::array();
  for (const Location& place : places_of(text, *found, true))
    edits.push_back({{"range", text.document.range_of_word(place)}, {"newText", new_name}});
  return {{"changes", {{text.uri, edits}}}};
}

LspJson symbols_of(const OpenText& text) {
  LspJson list = LspJson::array();
  for (const DeclaredName& name : text.names.declared) {
    if (name.scope || !is_written_at(text.document, name, name.where)) continue;
    const int kind = name.kind == NameKind::Field      ? kFieldSymbol
                     : name.kind == NameKind::Function ? kFunctionSymbol
                     : name.kind == NameKind::Macro    ? kConstantSymbol
                                                       : kVariableSymbol;
    const std::string detail = name.role.empty() ? name.type : name.role + " " + name.type;
    const LspJson of_name = text.document.range_of_word(name.where);
    // The whole line, so that a range contains the name whatever comes before it.
    const TextSpan whole{{name.where.line, 1}, std::max(name.extent.end, name.where, [](Location a, Location b) {
                           return std::pair(a.line, a.column) < std::pair(b.line, b.column);
                         })};
    LspJson range = text.document.range_of(whole);
    if (name.extent.end.line == name.where.line)
      range["end"] = text.document.position_of({name.where.line, int(text.document.line(name.where.line).size()) + 1});
    list.push_back(
        {{"name", name.name}, {"detail", detail}, {"kind", kind}, {"range", range}, {"selectionRange", of_name}});
  }
  return list;
}

LspJson code_actions_of(const OpenText& text, const LspJson& diagnostics) {
  LspJson list = LspJson::array();
  for (const LspJson& diagnostic : diagnostics) {
    const std::string meant = meant_word(diagnostic.at("message"));
    if (meant.empty()) continue;
    const LspJson edit{{"range", diagnostic.at("range")}, {"newText", meant}};
    list.push_back({{"title", fmt::format("Write '{}'", meant)},
                    {"kind", "quickfix"},
                    {"isPreferred", true},
                    {"diagnostics", LspJson::array({diagnostic})},
                    {"edit", {{"changes", {{text.uri, LspJson::array({edit})}}}}}});
  }
  return list;
}

}  // namespace nbcc
