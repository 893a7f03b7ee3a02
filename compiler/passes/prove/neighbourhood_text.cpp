// Neighbourhood -> one line of text for users. Entry point: neighbourhood_text().
#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

#include "compiler/ir/text/expression_text.h"
#include "compiler/passes/prove/neighbourhood.h"

namespace nbcc {
namespace {

class Formatter {
 public:
  Formatter(const Pipeline& pipeline, const Neighbourhood& n)
      : fields_(pipeline.fields), tables_(pipeline.tables), n_(n) {}

  std::string run() const {
    std::vector<std::string> differences, lengths;
    for (const Axis& axis : n_.axes) {
      differences.push_back(fmt::format("{} - {}", text(axis.of_j), operand(axis.of_i)));
      if (axis.length != kNone) lengths.push_back(length(axis.length));
    }
    std::string line = fmt::format("|{}| {} {}", as_one(differences, "(", ")"), n_.strict ? "<" : "<=", reach());
    if (n_.of_sites) line += " between any of their sites";
    if (n_.axes[0].cell != kNone) return line + " in the periodic cell " + cell();
    if (lengths.empty()) return line;
    line += fmt::format(" in the periodic box `{}`", as_one(lengths, "", ""));
    if (lengths.size() < n_.axes.size()) line += fmt::format(" along {} of {} axes", lengths.size(), n_.axes.size());
    return line;
  }

 private:
  std::string text(NodeId id) const { return expression_text(fields_, n_.graph, id, Sizes::AsAbs, tables_); }
  // "`a`, `b`, `c`"
  std::string cell() const {
    std::vector<std::string> vectors;
    for (const NodeId vector : n_.graph[n_.axes[0].cell].args) {
      std::vector<std::string> numbers;
      for (const NodeId number : n_.graph[vector].args) numbers.push_back(text(number));
      vectors.push_back(fmt::format("`{}`", as_one(numbers, "(", ")")));
    }
    return fmt::format("{}", fmt::join(vectors, ", "));
  }
  std::string operand(NodeId id) const {
    const Op op = n_.graph[id].op;
    return op == Op::Add || op == Op::Sub ? "(" + text(id) + ")" : text(id);
  }

  // Prints the components of one vector expression as that expression, and other components separately.
  std::string as_one(std::vector<std::string> parts, const char* open, const char* close) const {
    if (parts.size() == 1) return parts[0];
    std::vector<std::string> stems;
    for (std::size_t k = 0; k < parts.size(); ++k) stems.push_back(without(parts[k], fmt::format(".{}", "xyz"[k])));
    const bool same =
        std::all_of(stems.begin(), stems.end(), [&](const std::string& stem) { return stem == stems[0]; });
    if (same && has_all_components(parts.size())) return stems[0];
    return fmt::format("{}{}{}", open, fmt::join(parts, ", "), close);
  }

  static std::string without(std::string text, const std::string& ending) {
    for (std::size_t at = 0; (at = text.find(ending, at)) != std::string::npos;) {
      const std::size_t behind = at + ending.size();
      const bool ends =
          behind == text.size() || (!std::isalnum(static_cast<unsigned char>(text[behind])) && text[behind] != '_');
      if (ends)
        text.erase(at, ending.size());
      else
        at = behind;
    }
    return text;
  }

  // True if the vectors among the inputs of the axes have no further components.
  bool has_all_components(std::size_t dimensions) const {
    std::vector<NodeId> roots;
    for (const Axis& axis : n_.axes) roots.insert(roots.end(), {axis.of_i, axis.of_j, axis.length, axis.cell});
    const std::vector<bool> needed = reachable(n_.graph, roots);
    for (NodeId id = 0; id < n_.graph.size(); ++id)
      for (const Field& field : fields_) {
        const Node& n = n_.graph[id];
        const int k = int(n.payload) - field.first;
        if (needed[std::size_t(id)] && facts(n.op).role == field.role && k >= 0 && k < field.components() &&
            field.width > 1 && field.width != int(dimensions))
          return false;
      }
    return true;
  }

  // A length whose absolute value counts, so that |rc| is printed as rc.
  std::string length(NodeId id) const { return expression_text(fields_, n_.graph, id, Sizes::Bare, tables_); }

  std::string reach() const {
    const Reach& r = n_.of_sites ? *n_.of_sites : n_.reach;
    switch (r.kind) {
      case Reach::Kind::Uniform:
        return length(r.uniform);
      case Reach::Kind::OfI:
        return length(r.of_i);
      case Reach::Kind::OfJ:
        return length(r.of_j);
      case Reach::Kind::Max:
        return fmt::format("max({}, {})", length(r.of_i), length(r.of_j));
      case Reach::Kind::Min:
        return fmt::format("min({}, {})", length(r.of_i), length(r.of_j));
      case Reach::Kind::Sum:
        return fmt::format("{} + {}", length(r.of_i), length(r.of_j));
    }
    return {};
  }

  const std::vector<Field>& fields_;
  const std::vector<Table>& tables_;
  const Neighbourhood& n_;
};

}  // namespace

std::string neighbourhood_text(const Pipeline& pipeline, const Neighbourhood& neighbourhood) {
  return Formatter(pipeline, neighbourhood).run();
}

}  // namespace nbcc
