// Requests about words: hover, completion, signature help, semantic tokens. Entry points: hover_at(), completion_at(),
// signature_at(), semantic_tokens_of(). Built-in words come from compiler/source/vocabulary.h and
// compiler/editing/built_in_help.h.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "cli/lsp/answers.h"
#include "cli/lsp/declared_names.h"
#include "compiler/editing/built_in_help.h"
#include "compiler/source/vocabulary.h"

namespace nbcc {
namespace {

// Numbers of the protocol.
enum LspCompletion {
  kFunctionItem = 3,
  kFieldItem = 5,
  kVariableItem = 6,
  kKeywordItem = 14,
  kConstantItem = 21,
  kTypeItem = 25
};
enum TokenType {
  kVariableToken,
  kParameterToken,
  kPropertyToken,
  kFunctionToken,
  kMacroToken,
  kTypeToken,
  kKeywordToken
};
constexpr std::array kTokenTypes = {"variable", "parameter", "property", "function", "macro", "type", "keyword"};
enum TokenModifier { kDeclaration = 1, kReadOnly = 2, kDefaultLibrary = 4 };
constexpr std::array kTokenModifiers = {"declaration", "readonly", "defaultLibrary"};

constexpr std::array kStatementWords = {"if", "else", "for", "return", "const", "void", "true", "false"};

// The text between the last `output(` of the line and the position, if that parenthesis is open.
bool is_in_output(const TextDocument& document, Location where) {
  const std::string_view before = document.line(where.line).substr(0, std::size_t(where.column - 1));
  const std::size_t open = before.rfind("output(");
  return open != std::string_view::npos && before.find(')', open) == std::string_view::npos;
}

LspJson markdown(const std::string& code, const std::string& text) {
  return {{"kind", "markdown"}, {"value", fmt::format("```pipe\n{}\n```\n{}", code, text)}};
}

// "pow(x, y)" and ", of two numbers" of a form such as "pow(x, y), of two numbers".
std::vector<std::string> calls_in(const std::string& form, std::string_view name) {
  std::vector<std::string> calls;
  const std::string begin = fmt::format("{}(", name);
  for (std::size_t at = 0; (at = form.find(begin, at)) != std::string::npos;) {
    const std::size_t end = form.find(')', at);
    if (end == std::string::npos) break;
    calls.push_back(form.substr(at, end + 1 - at));
    at = end;
  }
  return calls;
}

std::string about_name(const OpenText& text, const DeclaredName& name) {
  std::vector<std::string> lines;
  if (const std::string depends = dependence_text(name); !depends.empty()) lines.push_back(depends);
  if (name.role.starts_with("output") && text.facts.compiles && !text.facts.symmetry.empty() &&
      !text.facts.symmetry.starts_with("none"))
    lines.push_back("if i and j are exchanged: " + text.facts.symmetry);
  if (const std::string comment = text.document.comment_of_line(name.where.line); !comment.empty())
    lines.push_back(comment);
  if (name.kind == NameKind::Field)
    if (const std::string units = text.document.units(); !units.empty()) lines.push_back(units);
  return fmt::format("{}", fmt::join(lines, "\n\n"));
}

LspJson hover(const TextDocument& document, Location where, LspJson contents) {
  return {{"contents", std::move(contents)}, {"range", document.range_of_word(where)}};
}

LspJson item(std::string_view label, int kind, std::string_view detail, std::string_view help) {
  LspJson result{{"label", label}, {"kind", kind}};
  if (!detail.empty()) result["detail"] = detail;
  if (!help.empty()) result["documentation"] = help;
  return result;
}

// The components of the vector before the point.
LspJson component_items(const OpenText& text, std::string_view before_point, Location where) {
  std::size_t begin = before_point.size();
  while (begin > 0 &&
         (std::isalnum(static_cast<unsigned char>(before_point[begin - 1])) || before_point[begin - 1] == '_'))
    --begin;
  const std::string_view word = before_point.substr(begin);
  LspJson list = LspJson::array();
  for (const DeclaredName& name : text.names.declared) {
    if (name.name != word || !is_visible(name, where) || !name.type.starts_with("vec") || name.type.size() != 4)
      continue;
    for (const char* component : {"x", "y", "z", "w"})
      if (int(list.size()) < name.type[3] - '0') list.push_back(item(component, kFieldItem, "real", ""));
  }
  return list;
}

void add_declared(const OpenText& text, Location where, LspJson& list, std::set<std::string>& labels) {
  // The last declaration of a name hides those before it.
  for (std::size_t k = text.names.declared.size(); k-- > 0;) {
    const DeclaredName& name = text.names.declared[k];
    if (!is_visible(name, where) || !labels.insert(name.name).second) continue;
    const int kind = name.kind == NameKind::Field      ? kFieldItem
                     : name.kind == NameKind::Function ? kFunctionItem
                     : name.kind == NameKind::Macro    ? kConstantItem
                                                       : kVariableItem;
    list.push_back(item(name.name, kind, declaration_text(name), text.document.comment_of_line(name.where.line)));
  }
}

// The function whose parentheses are open at the position, and how many commas come before it there.
struct OpenCall {
  std::string_view name;
  int argument = 0;
};
std::optional<OpenCall> open_call(const TextDocument& document, Location where) {
  const std::string& all = document.text();
  int depth = 0, commas = 0;
  for (std::size_t at = document.offset_of(where); at-- > 0;) {
    if (document.is_in_comment(at)) continue;
    const char c = all[at];
    if (c == ';' || c == '{' || c == '}') return std::nullopt;
    if (c == ')' || c == ']') ++depth;
    if (c == ',' && depth == 0) ++commas;
    if ((c == '(' || c == '[') && depth-- == 0) {
      if (c == '[') {  // an index: the call is around it
        depth = 0, commas = 0;
        continue;
      }
      const std::optional<TextWord> word = document.word_at(document.location_at(at));
      if (!word) return std::nullopt;
      return OpenCall{word->word, commas};
    }
  }
  return std::nullopt;
}

// "pow(x, y)" -> its parameters as ranges of the label.
LspJson signature_json(const std::string& label, std::string_view help) {
  LspJson parameters = LspJson::array();
  const std::size_t open = label.find('('), close = label.rfind(')');
  for (std::size_t at = open + 1; at < close;) {
    const std::size_t end = std::min(label.find(',', at), close);
    const std::size_t begin = label.find_first_not_of(' ', at);
    if (begin < end) parameters.push_back({{"label", {begin, end}}});
    at = end + 1;
  }
  return {{"label", label}, {"documentation", help}, {"parameters", parameters}};
}

int type_of(NameKind kind) {
  return kind == NameKind::Field       ? kPropertyToken
         : kind == NameKind::Parameter ? kParameterToken
         : kind == NameKind::Function  ? kFunctionToken
         : kind == NameKind::Macro     ? kMacroToken
                                       : kVariableToken;
}

struct ColouredWord {
  int type, modifiers;
};

// The colour of a word that is no name of the text; none: it is left to the grammar.
std::optional<ColouredWord> colour_of_built_in(std::string_view word) {
  if (is_a(WordKind::Type, word)) return ColouredWord{kTypeToken, kDefaultLibrary};
  if (is_a(WordKind::Role, word)) return ColouredWord{kKeywordToken, 0};
  if (signature(word).empty())
    return is_built_in(word) ? std::optional(ColouredWord{kVariableToken, kReadOnly | kDefaultLibrary}) : std::nullopt;
  return ColouredWord{kFunctionToken, kDefaultLibrary};
}

}  // namespace

LspJson hover_at(const OpenText& text, Location where) {
  const std::optional<TextWord> word = text.document.word_at(where);
  if (!word || text.document.is_in_comment(text.document.offset_of(word->where))) return nullptr;
  if (const std::optional<int> found = declared_at(text.document, text.names, where)) {
    const DeclaredName& name = text.names.declared[std::size_t(*found)];
    return hover(text.document, word->where, markdown(declaration_text(name), about_name(text, name)));
  }
  const bool in_output = is_in_output(text.document, word->where);
  const std::string_view help = built_in_help(word->word, in_output);
  if (help.empty()) return nullptr;
  const std::string form = in_output ? "" : signature(word->word);
  const std::string code = in_output      ? fmt::format("output({})", word->word)
                           : form.empty() ? std::string(word->word)
                                          : fmt::format("{}", fmt::join(calls_in(form, word->word), "\n"));
  return hover(text.document, word->where,
               markdown(code, form.empty() ? std::string(help) : fmt::format("{}\n\n{}", help, form)));
}

LspJson completion_at(const OpenText& text, Location where) {
  LspJson list = LspJson::array();
  if (text.document.is_in_comment(text.document.offset_of(where))) return list;
  if (is_in_output(text.document, where)) {
    for (const std::string_view word : words(WordKind::Reduction))
      list.push_back(item(word, kKeywordItem, "", built_in_help(word, true)));
    return list;
  }
  std::string_view before = text.document.line(where.line).substr(0, std::size_t(where.column - 1));
  while (!before.empty() && (std::isalnum(static_cast<unsigned char>(before.back())) || before.back() == '_'))
    before.remove_suffix(1);
  if (before.ends_with('.')) return component_items(text, before.substr(0, before.size() - 1), where);
  std::set<std::string> labels;
  add_declared(text, where, list, labels);
  for (const BuiltInHelp& row : built_in_help()) {
    if (!labels.insert(std::string(row.word)).second) continue;
    const int kind = is_a(WordKind::Type, row.word)   ? kTypeItem
                     : is_a(WordKind::Role, row.word) ? kKeywordItem
                     : signature(row.word).empty()    ? kConstantItem
                                                      : kFunctionItem;
    list.push_back(item(row.word, kind, signature(row.word), row.help));
  }
  for (const char* word : kStatementWords) list.push_back(item(word, kKeywordItem, "", ""));
  return list;
}

LspJson signature_at(const OpenText& text, Location where) {
  const std::optional<OpenCall> call = open_call(text.document, where);
  if (!call) return nullptr;
  LspJson signatures = LspJson::array();
  for (const DeclaredName& name : text.names.declared)
    if (name.kind == NameKind::Function && name.name == call->name)
      signatures.push_back(signature_json(declaration_text(name), text.document.comment_of_line(name.where.line)));
  const std::string form = signature(call->name);
  if (signatures.empty())
    for (const std::string& one : calls_in(form, call->name))
      signatures.push_back(signature_json(one, fmt::format("{}: {}", form, built_in_help(call->name))));
  if (signatures.empty()) return nullptr;
  // The first one that has so many parameters.
  int active = 0;
  while (active + 1 < int(signatures.size()) && int(signatures[active]["parameters"].size()) <= call->argument)
    ++active;
  return {{"signatures", signatures}, {"activeSignature", active}, {"activeParameter", call->argument}};
}

LspJson semantic_legend() { return {{"tokenTypes", kTokenTypes}, {"tokenModifiers", kTokenModifiers}}; }

LspJson semantic_tokens_of(const OpenText& text) {
  std::map<std::pair<int, int>, ColouredWord> names;
  const auto add = [&](Location where, const DeclaredName& name, int modifiers) {
    if (!is_written_at(text.document, name, where)) return;
    const bool read_only = name.kind == NameKind::Macro || name.role.starts_with("input") || name.role == "param";
    names.emplace(std::pair(where.line, where.column),
                  ColouredWord{type_of(name.kind), modifiers | (read_only ? kReadOnly : 0)});
  };
  for (const DeclaredName& name : text.names.declared) add(name.where, name, kDeclaration);
  for (const NameUse& use : text.names.uses) add(use.where, text.names.declared[std::size_t(use.declared)], 0);
  LspJson data = LspJson::array();
  int last_line = 0, last_character = 0;
  for (const TextWord& word : text.document.words()) {
    const auto named = names.find({word.where.line, word.where.column});
    std::optional<ColouredWord> colour;
    if (named != names.end())
      colour = named->second;
    else if (is_in_output(text.document, word.where) && is_a(WordKind::Reduction, word.word))
      colour = ColouredWord{kKeywordToken, 0};
    else
      colour = colour_of_built_in(word.word);
    if (!colour) continue;
    const LspJson position = text.document.position_of(word.where);
    const int line = position["line"], character = position["character"];
    data.insert(data.end(), {line - last_line, line == last_line ? character - last_character : character,
                             int(word.word.size()), colour->type, colour->modifiers});
    last_line = line, last_character = character;
  }
  return {{"data", data}};
}

}  // namespace nbcc
