// Finds which nodes depend on table indices alone, copies the largest of them once for each value of the indices, and
// selects among the copies. Entry point: type_terms().
#include "compiler/passes/optimize/type_terms.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "compiler/ir/rewrite.h"
#include "compiler/passes/optimize/element_loops.h"
#include "compiler/passes/passes.h"

namespace nbcc {
namespace {

// A selection among more values, by a comparison and a Select for each, costs as much as a function.
constexpr int kMaxElements = 9;
constexpr std::size_t kMaxIndices = 2;
// A term of more operations is computed for each pair, as all further terms are after so many copies of operations.
constexpr std::size_t kMaxOperations = 200, kMaxCopies = 4000;

// An index as lowering makes it, which is clamped to 0 ... count - 1.
std::optional<int> count_of_index(const Graph& graph, const Node& index) {
  if (index.op == Op::Cast && index.type == Type::Int) return count_of_index(graph, graph[index.args[0]]);
  if (index.op != Op::Min || index.type >= Type::Float || !graph.is_constant(index.args[1])) return {};
  const Node& clamped = graph[index.args[0]];
  if (clamped.op != Op::Max || !graph.is_constant(clamped.args[1], 0)) return {};
  return int(graph.constant_value(index.args[1])) + 1;
}

// A selection costs as much as a division or a root.
bool is_costly(Op op) { return facts(op).is_function && op != Op::Div && op != Op::Sqrt && op != Op::Rsqrt; }

class TypeTerms {
 public:
  explicit TypeTerms(Pipeline& pipeline) : pipeline_(pipeline), graph_(pipeline.pair) {}

  void run() {
    if (pipeline_.tables.empty() || has_element_loops(pipeline_)) return;
    const std::vector<bool> needed = reachable(graph_, pipeline_.roots());
    const NodeId count = graph_.size();
    find_indices(needed);
    if (counts_.empty()) return;
    for (NodeId id = 0; id < count; ++id) terms_.push_back(needed[std::size_t(id)] ? term(id) : Term());
    std::vector<NodeId> replaced(std::size_t(count), kNone);
    Graph target;
    for (NodeId id = 0; id < count; ++id) {
      if (!needed[std::size_t(id)]) continue;
      replaced[std::size_t(id)] = copy_node(target, graph_[id], replaced);
      if (is_replaced(id, needed)) replaced[std::size_t(id)] = selected(target, id, replaced);
    }
    rename_roots(pipeline_, replaced);
    pipeline_.pair = std::move(target);
  }

 private:
  struct Term {
    bool of_types = false;   // it depends on params and the indices alone
    bool is_costly = false;  // it contains a function
    std::set<NodeId> indices;
  };

  // The indices of lookups; a row is an index times the number of columns.
  void find_indices(const std::vector<bool>& needed) {
    const auto note = [this](NodeId id) {
      if (const std::optional<int> count = count_of_index(graph_, graph_[id])) counts_[id] = *count;
    };
    for (NodeId id = 0; id < graph_.size(); ++id) {
      if (!needed[std::size_t(id)] || graph_[id].op != Op::Lookup) continue;
      const Node& row = graph_[graph_[id].args[0]];
      note(row.op == Op::Mul ? row.args[0] : graph_[id].args[0]);
      note(graph_[id].args[1]);
    }
  }

  Term term(NodeId id) const {
    const Node& node = graph_[id];
    if (counts_.contains(id)) return {true, false, {id}};
    if (node.binding == Binding::Constant || node.binding == Binding::Param) return {true, false, {}};
    if (arity(node.op) == 0 || numbers_in(node.type) > 1) return {};
    Term all{true, is_costly(node.op), {}};
    for (const NodeId arg : node.args) {
      if (arg == kNone) continue;
      const Term& of_arg = terms_[std::size_t(arg)];
      if (!of_arg.of_types) return {};
      all.is_costly |= of_arg.is_costly;
      all.indices.insert(of_arg.indices.begin(), of_arg.indices.end());
    }
    if (all.indices.size() > kMaxIndices || elements_of(all) > kMaxElements) return {};
    return all;
  }

  int elements_of(const Term& term) const {
    int elements = 1;
    for (const NodeId index : term.indices) elements = std::min(elements * counts_.at(index), kMaxElements + 1);
    return elements;
  }

  // True for the largest terms, which a root or a node of another kind uses.
  bool is_replaced(NodeId id, const std::vector<bool>& needed) {
    if (users_.empty()) find_outer_users(needed);
    const Term& term = terms_[std::size_t(id)];
    return users_[std::size_t(id)] && term.of_types && term.is_costly && !term.indices.empty() &&
           graph_[id].binding == Binding::Pair && graph_[id].type >= Type::Float && cone(id).size() <= kMaxOperations &&
           copies_ < kMaxCopies;
  }
  void find_outer_users(const std::vector<bool>& needed) {
    users_.assign(terms_.size(), false);
    for (NodeId id = 0; id < NodeId(terms_.size()); ++id) {
      if (!needed[std::size_t(id)] || terms_[std::size_t(id)].of_types) continue;
      for (const NodeId arg : graph_[id].args)
        if (arg != kNone) users_[std::size_t(arg)] = true;
    }
    for (const NodeId root : pipeline_.roots())
      if (root != kNone) users_[std::size_t(root)] = true;
  }

  // The nodes between the term and its indices, in topological order.
  std::vector<NodeId> cone(NodeId id) const {
    std::set<NodeId> found;
    std::vector<NodeId> next{id};
    while (!next.empty() && found.size() <= kMaxOperations) {
      const NodeId one = next.back();
      next.pop_back();
      if (counts_.contains(one) || terms_[std::size_t(one)].indices.empty() || !found.insert(one).second) continue;
      for (const NodeId arg : graph_[one].args)
        if (arg != kNone) next.push_back(arg);
    }
    return {found.begin(), found.end()};
  }

  // The value of the term where its indices have these values.
  NodeId value_at(Graph& target, NodeId id, const std::map<NodeId, int>& at, const std::vector<NodeId>& replaced) {
    std::map<NodeId, NodeId> copies;
    for (const auto& [index, value] : at) copies[index] = target.constant(value, graph_[index].type);
    for (const NodeId one : cone(id)) {
      ++copies_;
      std::array<NodeId, 3> args{kNone, kNone, kNone};
      for (std::size_t k = 0; k < std::size_t(arity(graph_[one].op)); ++k) {
        const auto copy = copies.find(graph_[one].args[k]);
        args[k] = copy == copies.end() ? replaced[std::size_t(graph_[one].args[k])] : copy->second;
      }
      copies[one] = fold_node(target, graph_[one], args);
    }
    return copies.at(id);
  }

  // The selection by the index that changes from pair to pair is the outer one, so that the inner ones, by an index of
  // i, leave the loop over j.
  NodeId selected(Graph& target, NodeId id, const std::vector<NodeId>& replaced) {
    std::vector<NodeId> indices(terms_[std::size_t(id)].indices.begin(), terms_[std::size_t(id)].indices.end());
    std::ranges::stable_partition(indices, [&](NodeId index) { return graph_[index].binding != Binding::I; });
    return selected(target, id, replaced, indices, {});
  }
  NodeId selected(Graph& target, NodeId id, const std::vector<NodeId>& replaced, std::span<const NodeId> indices,
                  std::map<NodeId, int> at) {
    if (indices.empty()) return value_at(target, id, at, replaced);
    const NodeId index = indices[0];
    NodeId chosen = kNone;
    for (int value = 0; value < counts_.at(index); ++value) {
      at[index] = value;
      const NodeId one = selected(target, id, replaced, indices.subspan(1), at);
      if (chosen == kNone) {
        chosen = one;
        continue;
      }
      const NodeId constant = target.constant(value, graph_[index].type);
      const NodeId equal = target.binary(Op::Eq, replaced[std::size_t(index)], constant, graph_[id].where);
      chosen = target.select(equal, one, chosen, graph_[id].where);
    }
    return chosen;
  }

  Pipeline& pipeline_;
  const Graph& graph_;
  std::map<NodeId, int> counts_;  // index -> number of its values
  std::vector<Term> terms_;       // [node]
  std::vector<bool> users_;       // [node] a root or a node that is no term of types uses it
  std::size_t copies_ = 0;
};

}  // namespace

void type_terms(Pipeline& pipeline) { TypeTerms(pipeline).run(); }

}  // namespace nbcc
