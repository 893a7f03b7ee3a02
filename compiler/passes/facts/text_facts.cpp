// Entry point: text_facts(). Visits the nodes that results depend on.
#include "compiler/passes/facts/text_facts.h"

#include <xxhash.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/ir/print.h"
#include "compiler/passes/facts/equal_indices.h"

namespace nbcc {
namespace {

std::optional<Role> role_read_by(Op op) {
  if (op == Op::InputI) return Role::InputI;
  if (op == Op::InputJ) return Role::InputJ;
  if (op == Op::InputPair) return Role::InputPair;
  if (op == Op::Param) return Role::Param;
  return std::nullopt;
}

bool is_index(const Graph& graph, NodeId id) { return graph[id].op == Op::IIndex || graph[id].op == Op::JIndex; }

bool tests_equality(const Graph& graph, const Node& node) {
  return node.op == Op::Eq && is_index(graph, node.args[0]) && is_index(graph, node.args[1]);
}

// Of the printed pipeline behind its first line, which has the name. Not 0.
std::uint64_t digest_of(const Pipeline& pipeline) {
  const std::string text = print(pipeline);
  const std::string_view statements = std::string_view(text).substr(text.find('\n'));
  return std::max<std::uint64_t>(XXH3_64bits(statements.data(), statements.size()), 1);
}

class Facts {
 public:
  explicit Facts(const Pipeline& pipeline) : pipeline_(pipeline) {
    found_.index_guard = index_guard(pipeline);
    found_.index_use = IndexUse::Unused;
    for (const Field& field : pipeline.fields) found_.is_read.push_back(field.role == Role::Output || field.is_table());
    visit(pipeline.pair, pipeline.roots());
    visit(pipeline.finish, pipeline.finished);
    found_.digest = digest_of(pipeline);
  }
  TextFacts found() && { return std::move(found_); }

 private:
  void visit(const Graph& graph, const std::vector<NodeId>& roots) {
    const std::vector<bool> needed = reachable(graph, roots);
    for (const NodeId root : roots)
      if (root != kNone && is_index(graph, root)) found_.index_use = IndexUse::Value;
    for (NodeId id = 0; id < graph.size(); ++id) {
      if (!needed[std::size_t(id)]) continue;
      const Node& node = graph[id];
      if (const std::optional<Role> role = role_read_by(node.op)) add_read(*role, int(node.payload));
      if (node.op == Op::SelfPair || tests_equality(graph, node)) {
        found_.index_use = std::max(found_.index_use, IndexUse::Equal);
        continue;
      }
      for (const NodeId argument : node.args)
        if (argument != kNone && is_index(graph, argument)) found_.index_use = IndexUse::Value;
    }
  }

  void add_read(Role role, int component) {
    const Field* const field = &pipeline_.field_of(role, component);
    found_.is_read[std::size_t(field - pipeline_.fields.data())] = true;
  }

  const Pipeline& pipeline_;
  TextFacts found_;
};

}  // namespace

TextFacts text_facts(const Pipeline& pipeline) { return Facts(pipeline).found(); }

}  // namespace nbcc
