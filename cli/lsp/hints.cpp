// What only the compiler knows of a text -> inlay hints: how often a variable is computed, which pairs a search leaves,
// whether there is a far field, how the terms of an output change if i and j are exchanged, operations per pair. Entry
// point: inlay_hints_of().
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "cli/lsp/answers.h"

namespace nbcc {
namespace {

// Labels in the order in which they are added, by the place after which they are shown.
class Hints {
 public:
  explicit Hints(const TextDocument& document) : document_(document) {}

  // After the statement that ends at `end`: behind its semicolon, if that follows.
  void add(Location end, std::string label) {
    if (document_.line(end.line).substr(std::size_t(std::max(end.column - 1, 0))).starts_with(';')) ++end.column;
    labels_[{end.line, end.column}].push_back(std::move(label));
  }

  LspJson between(Location from, Location to) const {
    LspJson list = LspJson::array();
    for (const auto& [where, labels] : labels_)
      if (where >= std::pair(from.line, from.column) && where <= std::pair(to.line, to.column))
        list.push_back({{"position", document_.position_of({where.first, where.second})},
                        {"label", fmt::format("{}", fmt::join(labels, "; "))},
                        {"paddingLeft", true}});
    return list;
  }

 private:
  const TextDocument& document_;
  std::map<std::pair<int, int>, std::vector<std::string>> labels_;
};

// "odd" of acc in "acc odd, pot even; a pair costs 0.59 of computing it twice"; "" if the text says nothing of it.
std::string symmetry_of_output(const std::string& symmetry, const std::string& output) {
  if (symmetry.starts_with("none")) return "";
  const std::string outputs = ", " + symmetry.substr(0, symmetry.find(';'));
  const std::string before = ", " + output + " ";
  const std::size_t begin = outputs.find(before);
  if (begin == std::string::npos) return "";
  const std::size_t first = begin + before.size();
  return outputs.substr(first, std::min(outputs.find(", ", first), outputs.size()) - first);
}

// The end of the first statement skip_if(...), which usually has the cutoff; otherwise the end of the first output.
Location place_of_neighbours(const OpenText& text, Location first_output) {
  for (const BuiltInUse& use : text.names.built_ins) {
    if (use.name != "skip_if") continue;
    const std::size_t end = text.document.text().find(';', text.document.offset_of(use.where));
    if (end != std::string::npos) return text.document.location_at(end);
  }
  return first_output;
}

void add_variables(const OpenText& text, Hints& hints) {
  for (const DeclaredName& name : text.names.declared) {
    if (name.kind != NameKind::Variable || !name.binding || name.scope) continue;
    if (*name.binding == Binding::J) hints.add(name.extent.end, "once per j");
    if (*name.binding == Binding::I) hints.add(name.extent.end, "once per i");
    if (*name.binding == Binding::Param) hints.add(name.extent.end, "once per run");
  }
}

}  // namespace

LspJson inlay_hints_of(const OpenText& text, Location from, Location to) {
  Hints hints(text.document);
  if (!text.facts.compiles) return LspJson::array();
  add_variables(text, hints);
  bool is_first = true;
  for (const DeclaredName& name : text.names.declared) {
    if (!name.role.starts_with("output")) continue;
    if (const std::string symmetry = symmetry_of_output(text.facts.symmetry, name.name);
        symmetry.starts_with("odd") || symmetry.starts_with("even"))
      hints.add(name.extent.end, "pair once: " + symmetry);
    if (!std::exchange(is_first, false)) continue;
    const int operations = text.facts.operations_per_pair;
    hints.add(name.extent.end, fmt::format("{} operation{} per pair", operations, operations == 1 ? "" : "s"));
    if (!text.facts.far_field.starts_with("none")) hints.add(name.extent.end, "far field: " + text.facts.far_field);
    if (!text.facts.neighbours.empty())
      hints.add(place_of_neighbours(text, name.extent.end),
                fmt::format("neighbours {}, {}", text.facts.neighbours, text.facts.search_cost));
  }
  return hints.between(from, to);
}

}  // namespace nbcc
