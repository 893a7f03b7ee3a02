// Reads the arguments of acos nodes. Entry point: find_acos_of_cosines(). Changes nothing.
#include "compiler/passes/facts/cosines.h"

#include <algorithm>
#include <tuple>

namespace nbcc {
namespace {

class Cosines {
 public:
  explicit Cosines(const Graph& graph) : graph_(graph) {}

  bool is_cosine(NodeId id) const {
    const Node& node = graph_[id];
    switch (node.op) {
      case Op::Cast:
      case Op::Neg:
        return is_cosine(node.args[0]);
      case Op::Div:
        return graph_[node.args[1]].binding > Binding::Param;
      case Op::Mul:  // dot(u, v) * rsqrt(dot(u, u) * dot(v, v))
        return std::ranges::any_of(std::array{node.args[0], node.args[1]},
                                   [&](NodeId factor) { return graph_[factor].op == Op::Rsqrt || is_cosine(factor); });
      case Op::Add:
        return is_dot(id);
      default:
        return false;
    }
  }

 private:
  // A sum of products: of two vectors, whose lengths are then 1.
  bool is_dot(NodeId id) const {
    const Node& node = graph_[id];
    if (node.op == Op::Add) return is_dot(node.args[0]) && is_dot(node.args[1]);
    return node.op == Op::Mul && node.binding > Binding::Param;
  }

  const Graph& graph_;
};

void find_in(const Graph& graph, const std::vector<NodeId>& roots, std::vector<Location>& found) {
  const Cosines cosines(graph);
  const std::vector<bool> needed = reachable(graph, roots);
  for (NodeId id = 0; id < graph.size(); ++id)
    if (needed[std::size_t(id)] && graph[id].op == Op::Acos && cosines.is_cosine(graph[id].args[0]))
      found.push_back(graph[id].where);
}

}  // namespace

std::vector<Location> find_acos_of_cosines(const Pipeline& pipeline) {
  std::vector<Location> found;
  find_in(pipeline.pair, pipeline.roots(), found);
  find_in(pipeline.finish, pipeline.finished, found);
  const auto place = [](const Location& where) { return std::tuple(where.line, where.column); };
  std::ranges::sort(found, {}, place);
  const auto repeated = std::ranges::unique(found, {}, place);
  found.erase(repeated.begin(), repeated.end());
  return found;
}

}  // namespace nbcc
