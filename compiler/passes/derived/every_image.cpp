// Entry points: has_images(), copies_pipeline(). The image's node is replaced by the difference of two inputs plus a
// third, the shift of the copy.
#include "compiler/passes/derived/every_image.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "compiler/ir/period.h"
#include "compiler/ir/rewrite.h"
#include "compiler/passes/facts/displacement.h"
#include "compiler/passes/facts/power_product.h"
#include "compiler/passes/outputs/add_field.h"
#include "compiler/passes/prove/non_finite.h"

namespace nbcc {
namespace {

bool has(const Pipeline& pipeline, Op op) {
  const std::vector<bool> needed = reachable(pipeline.pair, pipeline.roots());
  for (NodeId id = 0; id < pipeline.pair.size(); ++id)
    if (needed[std::size_t(id)] && pipeline.pair[id].op == op) return true;
  return false;
}

// An argmin finds a copy. The caller's field becomes a payload, the index of the particle copied; -1 if there is none.
void name_the_copied(Pipeline& pipeline, int copied) {
  std::vector<Field> choosers;
  for (const Field& field : pipeline.fields)
    if (field.role == Role::Output && keeps_index(field.reduction)) choosers.push_back(field);
  if (choosers.empty()) return;
  Graph& finish = pipeline.finish;
  const auto output = [&](int component, Type type) { return finish.leaf(Op::Output, component, type); };
  if (pipeline.finished.empty())
    for (int c = 0; c < pipeline.components(Role::Output); ++c)
      pipeline.finished.push_back(output(c, result_type(pipeline.field_of(Role::Output, c))));
  const std::vector<bool> needed = reachable(finish, pipeline.finished);
  std::map<int, NodeId> index_of;  // by component of an argmin
  for (const Field& chooser : choosers) {
    Field payload = chooser;
    payload.reduction = Reduction::At;
    payload.follows = chooser.first;
    payload.first = pipeline.components(Role::Output);
    std::ranges::find(pipeline.fields, chooser.name, &Field::name)->name = kCopyOf + chooser.name;
    for (int c = 0; c < chooser.components(); ++c) {
      const Contribution& chosen = pipeline.contributions[std::size_t(chooser.first + c)];
      const NodeId guard = chosen.guard;
      pipeline.contributions.push_back({pipeline.pair.leaf(Op::InputJ, copied, Type::Index), guard});
      const NodeId copy = output(chooser.first + c, Type::Index);
      const NodeId is_none = finish.binary(Op::Lt, copy, finish.constant(0, Type::Index));
      index_of[chooser.first + c] = finish.select(is_none, copy, output(payload.first + c, Type::Index));
    }
    pipeline.fields.push_back(payload);
  }
  // finish() reads the index of the particle in place of the copy's.
  std::vector<NodeId> new_ids(needed.size(), kNone);
  for (NodeId id = 0; id < NodeId(needed.size()); ++id) {
    if (!needed[std::size_t(id)]) continue;
    const Node node = finish[id];
    const auto known = node.op == Op::Output ? index_of.find(int(node.payload)) : index_of.end();
    new_ids[std::size_t(id)] = known != index_of.end() ? known->second
                               : arity(node.op) == 0   ? id
                                                       : copy_node(finish, node, new_ids);
  }
  for (NodeId& root : pipeline.finished) root = new_ids[std::size_t(root)];
  for (const Field& chooser : choosers)
    for (int c = chooser.first; c < chooser.first + chooser.components(); ++c) {
      pipeline.finished.push_back(pipeline.finished[std::size_t(c)]);
      pipeline.finished[std::size_t(c)] = output(c, Type::Index);
    }
}

// The same nodes as lowering makes of nearest_image().
NodeId minimum_image(Graph& graph, NodeId difference, NodeId length, Location where) {
  if (graph.is_constant(length, 0)) return difference;
  const NodeId period = period_of(graph, length, where);
  const NodeId periods = graph.unary(Op::Rint, graph.binary(Op::Div, difference, period, where), where);
  return graph.binary(Op::Sub, difference, graph.binary(Op::Mul, period, periods, where), where);
}

}  // namespace

bool has_images(const Pipeline& pipeline) { return has(pipeline, Op::EveryImage); }

std::optional<NodeId> comparison_of_indices(const Graph& graph, const std::vector<bool>& needed) {
  std::vector<std::uint8_t> depends(std::size_t(graph.size()), 0);  // bits: on i_index, on j_index
  for (NodeId id = 0; id < graph.size(); ++id) {
    const Node& n = graph[id];
    std::uint8_t& own = depends[std::size_t(id)];
    if (n.op == Op::IIndex) own = 1;
    if (n.op == Op::JIndex) own = 2;
    if (n.op == Op::Philox) continue;  // a random number of the pair may decide
    for (int k = 0; k < arity(n.op); ++k) own |= depends[std::size_t(n.args[std::size_t(k)])];
    const bool compares = n.op == Op::Eq || n.op == Op::Lt || n.op == Op::Le;
    if (compares && own == 3 && needed[std::size_t(id)]) return id;
  }
  return {};
}

void replace_self_pair(Pipeline& pipeline) {
  if (!has(pipeline, Op::SelfPair)) return;
  rewrite(pipeline, [](Graph& target, const Node& old, std::array<NodeId, 3> args) {
    if (old.op != Op::SelfPair) return copy_node(target, old, args);
    const NodeId i = target.leaf(Op::IIndex, 0, Type::Index, old.where);
    return target.binary(Op::Eq, i, target.leaf(Op::JIndex, 0, Type::Index, old.where), old.where);
  });
}

CopiesPipeline copies_pipeline(const Pipeline& pipeline_of_images, ImageShifts shifts) {
  const bool of_copies = shifts == ImageShifts::OfCopies;
  CopiesPipeline made;
  made.given = pipeline_of_images;
  const Pipeline& given = made.given;
  Graph& graph = made.given.pair;
  const std::vector<bool> needed = reachable(graph, given.roots());
  NodeId image = 0;
  while (!needed[std::size_t(image)] || graph[image].op != Op::EveryImage) ++image;
  const std::array<NodeId, 3> vector = graph[graph[image].args[0]].args;
  const std::array<NodeId, 3> cell = graph[graph[image].args[1]].args;
  made.image = image;
  std::array<int, 3> place{-1, -1, -1};  // of each component; -1: the component is the same for all pairs
  for (std::size_t c = 0; c < 3; ++c) {
    const std::optional<Difference> difference = read_difference(graph, vector[c]);
    if (!difference) continue;
    place[c] = made.axes++;
    made.of_i.push_back(difference->of_i);
    made.of_j.push_back(difference->of_j);
    for (std::size_t k = 0; k < 3; ++k) made.periods[k].push_back(graph[cell[k]].args[c]);
  }
  made.pipeline = given;
  Pipeline& pipeline = made.pipeline;
  const int of_i = add_field(pipeline, kPlaceOfI, Role::InputI, Type::Real, of_length(made.axes));
  const int of_j = add_field(pipeline, kPlaceOfJ, Role::InputJ, Type::Real, of_length(made.axes));
  const int shift = of_copies ? add_field(pipeline, kShiftOfJ, Role::InputJ, Type::Real, of_length(made.axes)) : -1;
  const bool keeps_indices = std::ranges::any_of(
      pipeline.fields, [](const Field& field) { return field.role == Role::Output && keeps_index(field.reduction); });
  const bool tests_self = has(given, Op::SelfPair);
  int copied = -1, moved_i = -1, moved_j = -1;
  if (of_copies && (keeps_indices || tests_self || has(given, Op::JIndex)))
    copied = add_field(pipeline, kCopiedJ, Role::InputJ, Type::Index);
  if (of_copies && (tests_self || has(given, Op::ImageIndex))) {
    moved_i = add_field(pipeline, kMovedI, Role::InputI, Type::Int, of_length(3));
    moved_j = add_field(pipeline, kMovedJ, Role::InputJ, Type::Int, of_length(3));
  }
  rewrite(pipeline, [&](Graph& target, const Node& old, std::array<NodeId, 3> args) {
    const auto index = [&](int k) {
      return target.binary(Op::Sub, target.leaf(Op::InputJ, moved_j + k, Type::Int, old.where),
                           target.leaf(Op::InputI, moved_i + k, Type::Int, old.where), old.where);
    };
    switch (old.op) {
      case Op::EveryImage: {
        std::array<NodeId, 3> parts = target[args[0]].args;
        for (std::size_t c = 0; c < 3; ++c)
          if (place[c] >= 0) {
            const auto of_j_at = [&](int first) {
              return target.leaf(Op::InputJ, first + place[c], Type::Real, old.where);
            };
            const NodeId i = target.leaf(Op::InputI, of_i + place[c], Type::Real, old.where);
            const NodeId difference = target.binary(Op::Sub, of_j_at(of_j), i, old.where);
            const NodeId period = target[target[args[1]].args[c]].args[c];
            parts[c] = of_copies                        ? target.binary(Op::Add, difference, of_j_at(shift), old.where)
                       : shifts == ImageShifts::Nearest ? minimum_image(target, difference, period, old.where)
                                                        : difference;
          }
        return target.make(Op::Vector, Type::Vector, parts, old.where);
      }
      case Op::X:
      case Op::Y:
      case Op::Z:
        if (target[args[0]].op != Op::Vector) break;
        return target[args[0]].args[std::size_t(old.op) - std::size_t(Op::X)];
      case Op::ImageIndex:
        if (!of_copies) break;
        return index(int(old.payload));
      case Op::JIndex:
        if (!of_copies) break;
        return target.leaf(Op::InputJ, copied, Type::Index, old.where);
      case Op::SelfPair: {
        const NodeId i = target.leaf(Op::IIndex, 0, Type::Index, old.where);
        const NodeId j = of_copies ? target.leaf(Op::InputJ, copied, Type::Index, old.where)
                                   : target.leaf(Op::JIndex, 0, Type::Index, old.where);
        NodeId all = target.binary(Op::Eq, i, j, old.where);
        const auto place_at = [&](Op side, int first, int axis) {
          return target.leaf(side, first + axis, Type::Real, old.where);
        };
        for (int axis = 0; axis < made.axes && shifts == ImageShifts::OfRanges; ++axis) {
          const NodeId way =
              target.binary(Op::Sub, place_at(Op::InputJ, of_j, axis), place_at(Op::InputI, of_i, axis), old.where);
          const NodeId is_here = target.binary(Op::Eq, way, target.constant(0, Type::Real), old.where);
          all = target.binary(Op::And, all, is_here, old.where);
        }
        for (int k = 0; k < 3 && of_copies; ++k)
          all = target.binary(Op::And, all,
                              target.binary(Op::Eq, target.leaf(Op::InputJ, moved_j + k, Type::Int, old.where),
                                            target.leaf(Op::InputI, moved_i + k, Type::Int, old.where), old.where),
                              old.where);
        return all;
      }
      default:
        break;
    }
    return copy_node(target, old, args);
  });
  if (of_copies) name_the_copied(pipeline, copied);
  made.proof = prove_neighbourhood(pipeline);
  if (made.proof.neighbourhood) exclude_non_finite(pipeline, *made.proof.neighbourhood);
  return made;
}

std::optional<Pipeline> nearest_images_pipeline(const Pipeline& pipeline) {
  if (has(pipeline, Op::ImageIndex)) return {};
  CopiesPipeline made = copies_pipeline(pipeline, ImageShifts::Nearest);
  Graph& graph = made.given.pair;
  const std::array<NodeId, 3> vector = graph[graph[made.image].args[0]].args;
  for (std::size_t c = 0; c < 3; ++c)
    if (read_difference(graph, vector[c]).has_value() != (int(c) < made.axes)) return {};
  if (!made.proof.neighbourhood) return {};
  return std::move(made.pipeline);
}

namespace {

// `id` as a coordinate times factors that are the same for all pairs. The sum of a place and the shift of the same axis
// is the coordinate of a copy.
struct ScaledCoordinate {
  int coordinate = -1;          // -1: the node is something else
  std::vector<NodeId> factors;  // sorted
  bool operator==(const ScaledCoordinate&) const = default;
};
ScaledCoordinate scaled_coordinate(const Graph& graph, NodeId id, Op input, int first, int axes) {
  const Node& n = graph[look_through_casts(graph, id)];
  const int coordinate = int(n.payload) - first;
  if (n.op == input && coordinate >= 0 && coordinate < axes) return {coordinate, {}};
  if (n.op == Op::Add) {
    // The fields of places and of shifts are adjacent.
    const ScaledCoordinate place = scaled_coordinate(graph, n.args[0], input, first, axes),
                           shift = scaled_coordinate(graph, n.args[1], input, first + axes, axes);
    return place == shift ? place : ScaledCoordinate{};
  }
  if (n.op != Op::Mul) return {};
  const bool is_first = graph[n.args[0]].binding <= Binding::Param;
  if (!is_first && graph[n.args[1]].binding > Binding::Param) return {};
  ScaledCoordinate found = scaled_coordinate(graph, n.args[is_first ? 1 : 0], input, first, axes);
  found.factors.push_back(n.args[is_first ? 0 : 1]);
  std::ranges::sort(found.factors);
  return found;
}

// The coordinate of a copy without its shift.
NodeId without_shift(Graph& graph, NodeId id) {
  const Node n = graph[id];
  if (n.op == Op::Add) return n.args[0];
  if (n.op != Op::Mul) return id;
  std::array<NodeId, 3> args = n.args;
  for (std::size_t k = 0; k < 2; ++k)
    if (graph[args[k]].binding > Binding::Param) args[k] = without_shift(graph, args[k]);
  return graph.make(n.op, n.type, args, n.where);
}

}  // namespace

std::vector<int> bounded_coordinates(const CopiesPipeline& copies, const Neighbourhood& neighbourhood) {
  const int first_i = copies.pipeline.find(kPlaceOfI)->first, first_j = copies.pipeline.find(kPlaceOfJ)->first;
  const Graph& graph = neighbourhood.graph;
  if (neighbourhood.of_sites) return {};
  std::vector<int> coordinates;
  for (const Axis& axis : neighbourhood.axes) {
    if (axis.length != kNone || axis.cell != kNone) return {};
    const ScaledCoordinate i = scaled_coordinate(graph, axis.of_i, Op::InputI, first_i, copies.axes);
    const ScaledCoordinate j = scaled_coordinate(graph, axis.of_j, Op::InputJ, first_j, copies.axes);
    if (j.coordinate < 0 || i != j || std::ranges::find(coordinates, j.coordinate) != coordinates.end()) return {};
    coordinates.push_back(j.coordinate);
  }
  return int(coordinates.size()) == copies.axes ? coordinates : std::vector<int>();
}

// The proof speaks of the inputs that the runtime makes; callers know the difference in their text.
std::string neighbours_of_images(const CopiesPipeline& copies) {
  Neighbourhood shown = *copies.proof.neighbourhood;
  for (Axis& axis : shown.axes) axis.of_j = without_shift(shown.graph, axis.of_j);
  std::string text = "every image of j with " + neighbourhood_text(copies.pipeline, shown);
  for (const auto& [made, known] : {std::pair{kPlaceOfJ, "image of j"}, std::pair{kPlaceOfI, "i"}})
    for (std::size_t at = text.find(made); at != std::string::npos; at = text.find(made))
      text.replace(at, std::string_view(made).size(), known);
  return text;
}

std::optional<Diagnostic> guard_without_cutoff(const CopiesPipeline& copies) {
  const auto& [neighbourhood, obstacle] = copies.proof;
  if (obstacle)
    return Diagnostic{Severity::Error, obstacle->where,
                      fmt::format("no cutoff of every_image() is proved here: {}; a periodic sum by tolerance needs "
                                  "terms without such guards",
                                  obstacle->reason)};
  if (neighbourhood && bounded_coordinates(copies, *neighbourhood).empty())
    return Diagnostic{Severity::Error, copies.given.pair[copies.image].where,
                      "the guards of every_image() are no cutoff, which bounds each component of its result, and "
                      "nothing else; a periodic sum by tolerance needs terms without such guards"};
  return {};
}

std::optional<Diagnostic> period_without_positions(const Pipeline& pipeline) {
  const CopiesPipeline copies = copies_pipeline(pipeline);
  const Graph& graph = copies.given.pair;
  const std::array<NodeId, 3> vector = graph[graph[copies.image].args[0]].args;
  for (const NodeId period : graph[graph[copies.image].args[1]].args)
    for (std::size_t c = 0; c < 3; ++c)
      if (graph.is_constant(vector[c]) && !graph.is_constant(graph[period].args[c], 0))
        return Diagnostic{Severity::Error, graph[copies.image].where,
                          "every_image(): a component of the difference is the same for all pairs, so that a periodic "
                          "vector must be 0 there"};
  return {};
}

}  // namespace nbcc
