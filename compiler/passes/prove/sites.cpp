#include "compiler/passes/prove/sites.h"

#include <algorithm>
#include <set>
#include <vector>

#include "compiler/passes/facts/displacement.h"
#include "compiler/passes/passes.h"

namespace nbcc {
namespace {

// An upper bound of the distance of two values along an axis. In a periodic box it is the smaller one of |d| and
// | |d| - |length| |, which is exact if the sites of a molecule are at most one period apart. In a cell it is |d|,
// because the nearest image is not longer than the vector itself.
NodeId distance_along(Graph& graph, NodeId from, NodeId to, NodeId length) {
  const NodeId distance = make_folded(graph, Op::Abs, make_folded(graph, Op::Sub, to, from));
  if (length == kNone) return distance;
  const NodeId around = make_folded(graph, Op::Sub, distance, make_folded(graph, Op::Abs, length));
  return make_folded(graph, Op::Min, distance, make_folded(graph, Op::Abs, around));
}

// The distance of two sites of one particle; kNone: they are the same.
NodeId distance_of_sites(Graph& graph, const std::vector<Axis>& from, const std::vector<Axis>& to,
                         NodeId Axis::* of_side) {
  NodeId squared = kNone;
  for (std::size_t k = 0; k < from.size(); ++k) {
    if (from[k].*of_side == to[k].*of_side) continue;
    const NodeId along = distance_along(graph, from[k].*of_side, to[k].*of_side, to[k].length);
    const NodeId square = make_folded(graph, Op::Mul, along, along);
    squared = squared == kNone ? square : make_folded(graph, Op::Add, squared, square);
  }
  return squared == kNone ? kNone : make_folded(graph, Op::Sqrt, squared);
}

std::set<NodeId> sites_of(const Cutoff& cutoff) {
  if (!cutoff.sites.empty()) return cutoff.sites;
  return {cutoff.axes[0].of_i, cutoff.axes[0].of_j};
}

}  // namespace

std::optional<Cutoff> between_sites(Graph& graph, Reaches& reaches, const Cutoff& a, const Cutoff& b) {
  if (a.axes.size() != b.axes.size()) return {};
  for (std::size_t k = 0; k < a.axes.size(); ++k) {
    const Axis &one = a.axes[k], &other = b.axes[k];
    if (one.length != other.length || one.cell != other.cell || one.component != other.component) return {};
  }
  const std::set<NodeId> sites_a = sites_of(a), sites_b = sites_of(b);
  if (std::ranges::none_of(sites_a, [&](NodeId site) { return sites_b.contains(site); })) return {};
  const NodeId of_i = distance_of_sites(graph, b.axes, a.axes, &Axis::of_i);
  const NodeId of_j = distance_of_sites(graph, b.axes, a.axes, &Axis::of_j);
  Cutoff both{a.axes, reaches.larger(a.reach, reaches.longer(b.reach, of_i, of_j)), a.strict && b.strict,
              reaches.larger(a.as_written(), b.as_written()), sites_a};
  both.sites.insert(sites_b.begin(), sites_b.end());
  return both;
}

}  // namespace nbcc
