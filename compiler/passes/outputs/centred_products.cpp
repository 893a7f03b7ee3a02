// Entry point: centred_products().
#include "compiler/passes/outputs/centred_products.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <map>
#include <utility>

#include "compiler/ir/rewrite.h"
#include "compiler/passes/optimize/element_loops.h"
#include "compiler/passes/outputs/add_field.h"

namespace nbcc {
namespace {

// The vectors of a sum of squared differences, as their first components.
struct Difference {
  std::int64_t of_i = 0, of_j = 0;
  Elements elements;
};

std::optional<Difference> difference_of(const Graph& graph, const Node& loop) {
  if (loop.op != Op::SumOfElements || loop.type != Type::Real) return {};
  const Node& square = graph[loop.args[0]];
  if (square.op != Op::Mul || square.args[0] != square.args[1]) return {};
  const Node& difference = graph[square.args[0]];
  if (difference.op != Op::Sub || difference.type != Type::Real) return {};
  const Node *a = &graph[difference.args[0]], *b = &graph[difference.args[1]];
  if (a->op == Op::ElementOfJ) std::swap(a, b);
  if (a->op != Op::ElementOfI || b->op != Op::ElementOfJ || a->type != Type::Real || b->type != Type::Real) return {};
  return Difference{a->payload, b->payload, elements_of(loop.payload)};
}

// |x - c|^2, |y - c|^2 and (x - c).(y - c) as loops -> the sum of squared differences.
NodeId square_of_distance(Graph& graph, NodeId norm_i, NodeId norm_j, NodeId product) {
  const NodeId norms = graph.binary(Op::Add, norm_i, norm_j);
  const NodeId twice = graph.binary(Op::Mul, graph.constant(2), product);
  const NodeId square = graph.binary(Op::Max, graph.binary(Op::Sub, norms, twice), graph.constant(0));
  const NodeId infinity = graph.constant(std::numeric_limits<double>::infinity());
  return graph.select(graph.binary(Op::Eq, norms, infinity), infinity, square);
}

}  // namespace

std::optional<CentredProducts> centred_products(const Pipeline& with_loops) {
  if (!with_loops.tables.empty()) return {};
  CentredProducts made{with_loops, {}};
  // [first components of the vectors of i and j, their length] first component of the param
  std::map<std::array<std::int64_t, 3>, std::int64_t> centre_of;
  const std::vector<bool> live = reachable(with_loops.pair, with_loops.roots());
  for (NodeId id = 0; id < with_loops.pair.size(); ++id) {
    if (!live[std::size_t(id)]) continue;
    const std::optional<Difference> found = difference_of(with_loops.pair, with_loops.pair[id]);
    if (!found) continue;
    const auto [first, count] = found->elements;
    const std::int64_t of_i = found->of_i + first, of_j = found->of_j + first;
    if (centre_of.contains({of_i, of_j, count})) continue;
    const std::string param = fmt::format("nbcc_centre{}", centre_of.size());
    centre_of[{of_i, of_j, count}] = add_field(made.pipeline, param, Role::Param, Type::Real, of_length(int(count)));
    const Field& field_of_i = *with_loops.fields_of(Role::InputI).at(std::size_t(of_i));
    const Field& field_of_j = *with_loops.fields_of(Role::InputJ).at(std::size_t(of_j));
    made.centres.push_back({param, field_of_j.name, field_of_i.name, int(of_j) - field_of_j.first, int(count),
                            int(of_i) - field_of_i.first});
  }
  if (made.centres.empty()) return {};
  rewrite(made.pipeline, [&](Graph& target, const Node& old, std::array<NodeId, 3> args) {
    if (!is_loop(old.op)) return copy_node(target, old, args);
    const std::optional<Difference> found = difference_of(with_loops.pair, old);
    if (!found) return copy_node(target, old, args);
    const auto [first, count] = found->elements;
    const std::int64_t centre = centre_of.at({found->of_i + first, found->of_j + first, count});
    const NodeId c = target.leaf(Op::ElementOfParam, centre - first, Type::Real, old.where);
    const auto centred = [&](Op op, std::int64_t vector) {
      return target.binary(Op::Sub, target.leaf(op, vector, Type::Real, old.where), c);
    };
    const auto sum_of_products = [&](NodeId a, NodeId b) {
      return target.make(Op::SumOfElements, Type::Real, {target.binary(Op::Mul, a, b), kNone, kNone}, old.where,
                         old.payload);
    };
    const NodeId x = centred(Op::ElementOfI, found->of_i), y = centred(Op::ElementOfJ, found->of_j);
    return square_of_distance(target, sum_of_products(x, x), sum_of_products(y, y), sum_of_products(x, y));
  });
  made.pipeline = written_out(std::move(made.pipeline));
  return made;
}

}  // namespace nbcc
