// Entry point: share_powers().
#include "compiler/passes/optimize/shared_powers.h"

#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "compiler/ir/rewrite.h"

namespace nbcc {
namespace {

constexpr double kMaxDifference = 4;  // of exponents: so many divisions cost less than a power

// An exponent as `root` + offset.
struct Exponent {
  NodeId root = kNone;
  double offset = 0;
};
Exponent exponent_of(const Graph& graph, NodeId id) {
  Exponent found{id, 0};
  for (;;) {
    const Node& node = graph[found.root];
    const bool is_sum = node.op == Op::Add || node.op == Op::Sub;
    if (is_sum && graph.is_constant(node.args[1])) {
      found.offset += (node.op == Op::Add ? 1 : -1) * graph.constant_value(node.args[1]);
      found.root = node.args[0];
    } else if (node.op == Op::Add && graph.is_constant(node.args[0])) {
      found.offset += graph.constant_value(node.args[0]);
      found.root = node.args[1];
    } else {
      return found;
    }
  }
}

bool is_power(const Graph& graph, NodeId id) {
  return graph[id].op == Op::Pow && !graph.is_constant(graph[id].args[1]);
}

// x^exponent at x = 0.
NodeId at_zero(Graph& graph, NodeId exponent, Type type) {
  const NodeId zero = graph.constant(0, type), one = graph.constant(1, type);
  const NodeId infinite = graph.constant(std::numeric_limits<double>::infinity(), type);
  return graph.select(graph.binary(Op::Lt, zero, exponent), zero,
                      graph.select(graph.binary(Op::Lt, exponent, zero), infinite, one));
}

// Powers of one base, whose exponents differ by whole numbers.
struct SharedPower {
  NodeId least = kNone, greatest = kNone;  // of `old`: the powers with these exponents
  double least_offset = 0, greatest_offset = 0;
  // Of the new graph: [n] the power with n more factors, of which the first is the one pow() that is left.
  std::vector<NodeId> multiples = {};
  NodeId is_least = kNone;  // that pow() has the least exponent, and the factor is x; else 1 / x
};

// Groups of the powers, by index of the power in the graph; powers alone are in none.
std::map<NodeId, std::shared_ptr<SharedPower>> shared_powers(const Graph& graph, const std::vector<bool>& alive) {
  // By base, root and fraction of the exponent.
  std::map<std::tuple<NodeId, NodeId, double>, std::map<double, NodeId>> all;
  for (NodeId id = 0; id < graph.size(); ++id) {
    if (!alive[std::size_t(id)] || !is_power(graph, id)) continue;
    const Exponent exponent = exponent_of(graph, graph[id].args[1]);
    all[{graph[id].args[0], exponent.root, exponent.offset - std::floor(exponent.offset)}].emplace(exponent.offset, id);
  }
  std::map<NodeId, std::shared_ptr<SharedPower>> found;
  for (const auto& [key, powers] : all)
    for (auto begin = powers.begin(); begin != powers.end();) {
      const auto end = powers.upper_bound(begin->first + kMaxDifference);
      const auto last = std::prev(end);
      if (begin != last) {
        const auto group =
            std::make_shared<SharedPower>(SharedPower{begin->second, last->second, begin->first, last->first});
        for (; begin != end; ++begin) found[begin->second] = group;
      }
      begin = end;
    }
  return found;
}

}  // namespace

// The one pow() has the least or the greatest exponent, whichever is nearer to 0: factors then lead away from 1, so
// that no step leaves the range of numbers unless the result does. Where the exponents have both signs, that holds for
// x^2 within the range.
void share_powers(Pipeline& pipeline) {
  const Graph& old = pipeline.pair;
  const std::vector<bool> alive = reachable(old, pipeline.roots());
  const std::map<NodeId, std::shared_ptr<SharedPower>> shared = shared_powers(old, alive);
  if (shared.empty()) return;
  Graph graph;
  std::vector<NodeId> new_id(std::size_t(old.size()), kNone);
  // The powers with the least and the greatest exponent may follow: their arguments are copied before.
  const auto copy = [&](const auto& self, NodeId id) -> NodeId {
    if (new_id[std::size_t(id)] != kNone) return new_id[std::size_t(id)];
    for (const NodeId arg : old[id].args)
      if (arg != kNone) self(self, arg);
    const auto at = shared.find(id);
    if (at == shared.end()) return new_id[std::size_t(id)] = copy_node(graph, old[id], new_id);
    SharedPower& of = *at->second;
    const Type type = old[id].type;
    const NodeId x = new_id[std::size_t(old[id].args[0])], exponent = new_id[std::size_t(old[id].args[1])];
    if (of.multiples.empty()) {
      const NodeId least = self(self, old[of.least].args[1]), greatest = self(self, old[of.greatest].args[1]);
      of.is_least = graph.binary(Op::Le, graph.constant(0, type), graph.binary(Op::Add, least, greatest));
      const NodeId factor = graph.select(of.is_least, x, graph.binary(Op::Div, graph.constant(1, type), x));
      of.multiples.push_back(graph.binary(Op::Pow, x, graph.select(of.is_least, least, greatest)));
      for (int n = 0; n < int(of.greatest_offset - of.least_offset); ++n)
        of.multiples.push_back(graph.binary(Op::Mul, of.multiples.back(), factor));
    }
    const double offset = exponent_of(old, old[id].args[1]).offset;
    const NodeId power = graph.select(of.is_least, of.multiples[std::size_t(std::lround(offset - of.least_offset))],
                                      of.multiples[std::size_t(std::lround(of.greatest_offset - offset))]);
    const NodeId is_zero = graph.binary(Op::Eq, x, graph.constant(0, type));
    return new_id[std::size_t(id)] = graph.select(is_zero, at_zero(graph, exponent, type), power);
  };
  for (NodeId id = 0; id < old.size(); ++id)
    if (alive[std::size_t(id)]) copy(copy, id);
  rename_roots(pipeline, new_id);
  pipeline.pair = std::move(graph);
}

}  // namespace nbcc
