// The terms of a far field in words, for users. Entry point: far_text().
#include <fmt/format.h>

#include <algorithm>

#include "compiler/ir/text/expression_text.h"
#include "compiler/passes/far/far_terms.h"

namespace nbcc {

std::vector<std::string> weight_names(const Pipeline& pipeline, const FarTerms& terms) {
  std::vector<std::string> names;
  for (const FarProduct& product : terms.weights) {
    std::string name;
    for (const FarAtom& atom : product) {
      const Node& node = pipeline.pair[atom.node];
      const std::string one = node.op == Op::InputJ ? pipeline.field_of(Role::InputJ, int(node.payload)).name
                                                    : expression_text(pipeline.fields, pipeline.pair, atom.node);
      name += (name.empty() ? "" : "*") + one;
    }
    names.push_back(name.empty() ? "1" : name);
  }
  return names;
}

std::string far_text(const Pipeline& pipeline, const FarTerms& terms) {
  std::vector<std::string> names;
  for (std::string& name : weight_names(pipeline, terms))
    if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
  return fmt::format("linear in {}, {}", fmt::join(names, ", "),
                     terms.both_sides ? "both sides" : "the side of j alone");
}

}  // namespace nbcc
