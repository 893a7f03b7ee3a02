// Entry point: loops_written_out(). Each round of a loop makes nodes with the location of the same operation; so many
// nodes of one location are a loop that is written out.
#include "compiler/passes/optimize/loops_written_out.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "compiler/passes/optimize/element_loops.h"

namespace nbcc {
namespace {

class Finder {
 public:
  Finder(const Pipeline& pipeline, Math math)
      : pipeline_(pipeline), graph_(pipeline.pair), math_(math), needed_(reachable(graph_, pipeline.roots())) {}

  std::vector<LoopWrittenOut> run() const {
    std::map<std::pair<int, int>, std::vector<NodeId>> nodes_at;  // line, column -> nodes of operations
    for (NodeId id = 0; id < graph_.size(); ++id)
      if (const Node& n = graph_[id]; needed_[std::size_t(id)] && arity(n.op) > 0 && n.where.line > 0)
        nodes_at[{n.where.line, n.where.column}].push_back(id);
    std::vector<LoopWrittenOut> found;
    bool is_certain = false;  // the reason found for the line is that of an operation which cannot be a loop
    for (const auto& [at, nodes] : nodes_at) {
      if (int(nodes.size()) <= kMostUnreported) continue;
      const bool same_line = !found.empty() && found.back().where.line == at.first;
      const bool needs_before = needs_round_before(nodes);
      if (same_line && (is_certain || !needs_before)) continue;
      if (same_line) found.pop_back();
      const Node& n = graph_[nodes.back()];
      is_certain = needs_before && !is_sum(n.op);
      found.push_back({n.where, int(nodes.size()),
                       is_certain ? "each round needs the result of the round before, and "
                                    "only sums, minima and maxima stay loops"
                                  : reason_of(nodes, needs_before)});
    }
    return found;
  }

 private:
  static bool is_sum(Op op) {
    return op == Op::Add || op == Op::Sub || op == Op::Min || op == Op::Max || op == Op::Select;
  }

  // True if most of the nodes depend on another of them.
  bool needs_round_before(const std::vector<NodeId>& nodes) const {
    std::vector<bool> depends(std::size_t(graph_.size()), false);
    std::size_t count = 0;
    auto next = nodes.begin();
    for (NodeId id = nodes.front(); id <= nodes.back(); ++id) {
      for (int k = 0; k < arity(graph_[id].op); ++k)
        if (depends[std::size_t(graph_[id].args[std::size_t(k)])]) depends[std::size_t(id)] = true;
      if (id != *next) continue;
      count += depends[std::size_t(id)];
      depends[std::size_t(id)] = true;
      ++next;
    }
    return count > nodes.size() / 2;
  }

  // `nodes`: of sums and extremes, or, unless `needs_before`, of operations whose results nothing combines.
  std::string reason_of(const std::vector<NodeId>& nodes, bool needs_before) const {
    for (const Field* field : fields_read_by(nodes)) {
      if (field->width > 1)
        return fmt::format("'{}' is an array of vectors, and only arrays of numbers stay loops", field->name);
      if (field->role == Role::InputPair)
        return fmt::format("'{}' is an input_pair, whose elements stay no loop", field->name);
    }
    const std::string differ = "its rounds differ in more than the element that they read";
    if (!needs_before) return differ + ", or add to outputs that are no output(sum) of real numbers";
    if (math_ == Math::Fast) return differ;
    return differ + ", or, with precise math, the sum has other terms before them";
  }

  // The arrays that the last round reads.
  std::vector<const Field*> fields_read_by(const std::vector<NodeId>& nodes) const {
    std::vector<const Field*> fields;
    std::set<NodeId> seen(nodes.begin(), nodes.end());
    std::vector<NodeId> open{nodes.back()};
    while (!open.empty()) {
      const Node& n = graph_[open.back()];
      open.pop_back();
      if (arity(n.op) == 0 && facts(n.op).role && !is_element(n.op))
        if (const Field& field = pipeline_.field_of(*facts(n.op).role, int(n.payload)); field.length > 0)
          fields.push_back(&field);
      for (const NodeId arg : n.args)
        if (arg != kNone && seen.insert(arg).second) open.push_back(arg);
    }
    return fields;
  }

  const Pipeline& pipeline_;
  const Graph& graph_;
  const Math math_;
  const std::vector<bool> needed_;
};

}  // namespace

std::vector<LoopWrittenOut> loops_written_out(const Pipeline& pipeline, Math math) {
  if (pipeline.pair.size() <= kMostUnreported) return {};
  const Pipeline with_loops = with_element_loops(pipeline, math);
  return Finder(with_loops, math).run();
}

}  // namespace nbcc
