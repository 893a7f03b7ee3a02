// TextNames and a position -> a declared name; a declared name -> text. Entry points: the functions of
// declared_names.h.
#include "cli/lsp/declared_names.h"

#include <fmt/format.h>

namespace nbcc {
namespace {

bool is_before(Location a, Location b) { return std::pair(a.line, a.column) < std::pair(b.line, b.column); }

}  // namespace

std::optional<int> declared_at(const TextDocument& document, const TextNames& names, Location where) {
  const std::optional<TextWord> word = document.word_at(where);
  if (!word) return std::nullopt;
  for (const NameUse& use : names.uses)
    if (use.where == word->where && names.declared[std::size_t(use.declared)].name == word->word) return use.declared;
  for (std::size_t k = 0; k < names.declared.size(); ++k)
    if (names.declared[k].where == word->where && names.declared[k].name == word->word) return int(k);
  return std::nullopt;
}

bool is_written_at(const TextDocument& document, const DeclaredName& name, Location where) {
  const std::optional<TextWord> word = document.word_at(where);
  return word && word->where == where && word->word == name.name;
}

bool is_visible(const DeclaredName& name, Location where) {
  return is_before(name.where, where) && (!name.scope || is_before(where, name.scope->end));
}

std::string declaration_text(const DeclaredName& name) {
  switch (name.kind) {
    case NameKind::Field:
      return fmt::format("{} {} {}", name.role, name.type, name.name);
    case NameKind::Function:
      return fmt::format("{} {}({})", name.type, name.name, name.parameters);
    case NameKind::Macro:
      return fmt::format("#define {} {}", name.name, name.type);
    case NameKind::Variable:
    case NameKind::Parameter:
      break;
  }
  return name.type + " " + name.name;
}

std::string dependence_text(const DeclaredName& name) {
  if (name.kind == NameKind::Function || name.kind == NameKind::Macro) return "";
  if (name.role == "input_i") return "a value of each i";
  if (name.role == "input_j") return "a value of each j";
  if (name.role == "input_pair") return "a value of each listed pair";
  if (name.role == "param") return "the same for all pairs";
  if (name.role.starts_with("output(total")) return "one result for the run";
  if (name.role.starts_with("output(pair")) return "a result of each listed pair";
  if (name.role.starts_with("output")) return "a result of each i";
  if (!name.binding) return "";
  switch (*name.binding) {
    case Binding::Constant:
      return "a constant";
    case Binding::Param:
      return "computed once per run";
    case Binding::I:
      return "computed once per i";
    case Binding::J:
      return "computed once per j";
    case Binding::Pair:
      break;
  }
  return "computed per pair";
}

}  // namespace nbcc
