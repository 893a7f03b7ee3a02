// Loops over elements -> one operation for each element. Entry points: written_out(), and the queries of
// element_loops.h, which read graphs with loops.
#include <map>
#include <set>
#include <utility>

#include "compiler/ir/rewrite.h"
#include "compiler/passes/optimize/element_loops.h"
#include "compiler/text/own_stack.h"

namespace nbcc {
namespace {

class Writer {
 public:
  Writer(Pipeline& pipeline, const std::set<NodeId>& kept, bool keeps_arrays)
      : pipeline_(pipeline),
        old_(pipeline.pair),
        kept_(kept),
        keeps_arrays_(keeps_arrays),
        in_loop_(nodes_in_loops(old_)) {
    for (const Role role : {Role::InputI, Role::InputJ, Role::Param})
      fields_[std::size_t(role)] = pipeline.fields_of(role);
  }

  void run() {
    new_id_.assign(std::size_t(old_.size()), kNone);
    for (NodeId id = 0; id < old_.size(); ++id)
      if (!in_loop_[std::size_t(id)])
        new_id_[std::size_t(id)] = is_loop(old_[id].op) && !kept_.contains(id) ? sum(id) : copy(id);
    const std::vector<const Field*> outputs = pipeline_.fields_of(Role::Output);
    std::vector<Contribution> written(pipeline_.contributions.size());
    for (std::size_t c = 0; c < outputs.size(); ++c)
      if (keeps_arrays_)
        written[c].value = copy(pipeline_.contributions[c].value);
      else
        written[c] = component(pipeline_.contributions[c], std::int64_t(c) - outputs[c]->first);
    rename_roots(pipeline_, new_id_);
    for (std::size_t c = 0; c < written.size(); ++c) {
      pipeline_.contributions[c].value = written[c].value;
      if (written[c].guard != kNone) pipeline_.contributions[c].guard = written[c].guard;
    }
    pipeline_.pair = std::move(new_);
  }

 private:
  // The value of an output for element k; its guard, too, if its term in a loop is a choice between a value and 0.
  Contribution component(const Contribution& one, std::int64_t k) {
    const Node& n = old_[one.value];
    const bool is_choice = in_loop_[std::size_t(one.value)] && n.op == Op::Select && one.guard == kNone;
    if (is_choice && old_.is_constant(n.args[2], 0)) return {at(n.args[1], k), at(n.args[0], k)};
    if (is_choice && old_.is_constant(n.args[1], 0)) return {at(n.args[2], k), new_.unary(Op::Not, at(n.args[0], k))};
    return {at(one.value, k), kNone};
  }

  // Nodes in loops that are kept are copied when something copied reads them.
  NodeId copy(NodeId id) {
    if (new_id_[std::size_t(id)] != kNone) return new_id_[std::size_t(id)];
    for (std::size_t k = 0; k < std::size_t(arity(old_[id].op)); ++k) copy(old_[id].args[k]);
    return new_id_[std::size_t(id)] = copy_node(new_, old_[id], new_id_);
  }

  NodeId sum(NodeId id) {
    const Node& loop = old_[id];
    const Op op = loop.op == Op::SumOfElements ? Op::Add : loop.op == Op::MinOfElements ? Op::Min : Op::Max;
    const auto [first, count] = elements_of(loop.payload);
    NodeId result = at(loop.args[0], first);
    for (std::int64_t k = first + 1; k < first + count; ++k)
      result = new_.make(op, loop.type, {result, at(loop.args[0], k), kNone}, loop.where);
    return result;
  }

  // The value for element k of a node in a loop, or the value of any other node.
  NodeId at(NodeId id, std::int64_t k) {
    if (!in_loop_[std::size_t(id)]) return new_id_[std::size_t(id)];
    if (const auto known = at_.find({id, k}); known != at_.end()) return known->second;
    const Node& n = old_[id];
    NodeId made = kNone;
    if (is_element(n.op)) {
      const Op leaf = n.op == Op::ElementOfI ? Op::InputI : n.op == Op::ElementOfJ ? Op::InputJ : Op::Param;
      const Role role = *facts(leaf).role;
      const Type type = fields_[std::size_t(role)].at(std::size_t(n.payload + k))->type;
      made = new_.cast(new_.leaf(leaf, n.payload + k, type, n.where), n.type);  // a condition is read as an integer
    } else {
      std::array<NodeId, 3> args{kNone, kNone, kNone};
      for (std::size_t a = 0; a < std::size_t(arity(n.op)); ++a) args[a] = at(n.args[a], k);
      made = copy_node(new_, n, args);
    }
    return at_[{id, k}] = made;
  }

  Pipeline& pipeline_;
  const Graph& old_;
  const std::set<NodeId>& kept_;  // loops
  const bool keeps_arrays_;
  const std::vector<bool> in_loop_;
  std::array<std::vector<const Field*>, kRoles> fields_;  // [role][component]
  std::vector<NodeId> new_id_;
  std::map<std::pair<NodeId, std::int64_t>, NodeId> at_;
  Graph new_;
};

}  // namespace

Pipeline written_out(Pipeline pipeline, const std::set<NodeId>& kept, bool keeps_arrays) {
  if (has_element_loops(pipeline)) run_on_own_stack(kDeepStack, [&] { Writer(pipeline, kept, keeps_arrays).run(); });
  return pipeline;
}

std::vector<bool> nodes_in_loops(const Graph& graph) {
  std::vector<bool> in_loop(std::size_t(graph.size()), false);
  for (NodeId id = 0; id < graph.size(); ++id) {
    const Node& n = graph[id];
    if (is_element(n.op)) in_loop[std::size_t(id)] = true;
    for (int k = 0; k < arity(n.op) && !is_loop(n.op); ++k)
      if (in_loop[std::size_t(n.args[std::size_t(k)])]) in_loop[std::size_t(id)] = true;
  }
  return in_loop;
}

std::vector<NodeId> nodes_of_loop(const Graph& graph, const std::vector<bool>& in_loop, NodeId term) {
  std::set<NodeId> found;
  std::vector<NodeId> open{term};
  while (!open.empty()) {
    const NodeId id = open.back();
    open.pop_back();
    if (!in_loop[std::size_t(id)] || !found.insert(id).second) continue;
    for (const NodeId arg : graph[id].args)
      if (arg != kNone) open.push_back(arg);
  }
  return {found.begin(), found.end()};
}

std::vector<NodeId> read_by_loop(const Graph& graph, const std::vector<bool>& in_loop, NodeId term) {
  std::set<NodeId> found;
  for (const NodeId id : nodes_of_loop(graph, in_loop, term))
    for (const NodeId arg : graph[id].args)
      if (arg != kNone && !in_loop[std::size_t(arg)]) found.insert(arg);
  return {found.begin(), found.end()};
}

bool has_element_loops(const Pipeline& pipeline) {
  for (NodeId id = 0; id < pipeline.pair.size(); ++id)
    if (is_element(pipeline.pair[id].op)) return true;
  return false;
}

}  // namespace nbcc
