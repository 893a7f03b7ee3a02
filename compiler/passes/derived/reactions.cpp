// Copies the pair graph twice, the second time with exchanged roles. Entry points: symmetries(), with_reactions().
#include "compiler/passes/derived/reactions.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/passes/derived/every_image.h"
#include "compiler/passes/derived/exchange.h"
#include "compiler/passes/derived/symmetric_tables.h"

namespace nbcc {
namespace {

// INPUT_I and INPUT_J may be rows of one array of which one side reads fewer numbers: both have as many here.
Pipeline with_equal_rows(Pipeline pipeline) {
  if (pipeline.dialect != Dialect::Cunbody) return pipeline;
  const int length = std::max(pipeline.components(Role::InputI), pipeline.components(Role::InputJ));
  for (Field& field : pipeline.fields)
    if (field.role == Role::InputI || field.role == Role::InputJ) field.length = length;
  return pipeline;
}

InputMap map_of_one_set(const Pipeline& pipeline) { return {pipeline, {}, {}, AdjointSide::OneSet}; }

bool can_be_reversed(Reduction reduction) {
  return reduction == Reduction::Sum || reduction == Reduction::Count || reduction == Reduction::Min ||
         reduction == Reduction::Max;
}

// A value as sign * factors * core; each factor depends on one particle.
struct Split {
  bool negative = false;
  std::vector<NodeId> factors, divisors;  // sorted
  NodeId core = kNone;                    // kNone: 1
  bool has_same_factors(const Split& other) const { return factors == other.factors && divisors == other.divisors; }
};

// More factors of a product are not taken out of it, so that nested products have short lists.
constexpr std::size_t kMaxFactors = 16;

// Takes factors of one particle out of products, and out of sums whose terms have the same factors.
class Splitter {
 public:
  explicit Splitter(Graph& graph) : graph_(graph) {
    const NodeId count = graph.size();
    for (NodeId id = 0; id < count; ++id) known_.push_back(split(id));
  }
  const Split& operator()(NodeId id) const { return known_[std::size_t(id)]; }

 private:
  Split split(NodeId id) {
    const Node node = graph_[id];
    if (node.binding == Binding::I || node.binding == Binding::J) return {false, {id}, {}, kNone};
    if (node.type < Type::Float || node.binding != Binding::Pair) return {false, {}, {}, id};
    const auto arg = [&](int k) -> const Split& { return known_[std::size_t(node.args[std::size_t(k)])]; };
    if (node.op == Op::Neg) {
      Split split = arg(0);
      split.negative = !split.negative;
      return split;
    }
    if (node.op == Op::Mul || node.op == Op::Div) return product(id, node, arg(0), arg(1));
    if (node.op == Op::Add || node.op == Op::Sub) return sum(id, node, arg(0), arg(1));
    return {false, {}, {}, id};
  }

  Split product(NodeId id, const Node& node, Split a, const Split& b) {
    const bool is_quotient = node.op == Op::Div;
    a.negative = a.negative != b.negative;
    const auto take = [](std::vector<NodeId>& to, const std::vector<NodeId>& from) {
      to.insert(to.end(), from.begin(), from.end());
      std::ranges::sort(to);
    };
    take(a.factors, is_quotient ? b.divisors : b.factors);
    take(a.divisors, is_quotient ? b.factors : b.divisors);
    if (a.factors.size() + a.divisors.size() > kMaxFactors) return {false, {}, {}, id};
    if (b.core == kNone) return a;
    if (a.core == kNone && !is_quotient) {
      a.core = b.core;
      return a;
    }
    if (a.core == kNone) a.core = graph_.constant(1, node.type);
    a.core = graph_.make(node.op, node.type, {a.core, b.core, kNone});
    return a;
  }

  Split sum(NodeId id, const Node& node, Split a, const Split& b) {
    if (a.core == kNone || b.core == kNone || !a.has_same_factors(b)) return {false, {}, {}, id};
    const bool adds = (node.op == Op::Add) == (a.negative == b.negative);
    a.core = graph_.make(adds ? Op::Add : Op::Sub, node.type, {a.core, b.core, kNone});
    return a;
  }

  Graph& graph_;
  std::vector<Split> known_;
};

Symmetry symmetry_of(const Splitter& split, const Contribution& given, const Contribution& exchanged) {
  if (given.guard != exchanged.guard || given.logit != exchanged.logit) return Symmetry::None;
  const Split &a = split(given.value), &b = split(exchanged.value);
  if (a.core != b.core) return Symmetry::None;
  return a.negative == b.negative ? Symmetry::Even : Symmetry::Odd;
}

Contribution copy_of(const Contribution& given, Exchange& copy) {
  const auto of = [&copy](NodeId id) { return id == kNone ? kNone : copy(id); };
  return {of(given.value), of(given.guard), of(given.scale), of(given.logit)};
}

// The contributions to i, then the contributions with exchanged roles.
std::vector<Contribution> both_ways(const Pipeline& pipeline, const InputMap& map, Graph& graph) {
  std::vector<Contribution> made;
  for (const bool exchanged : {false, true}) {
    // Signs are pulled out of both copies, so that they have the same form.
    Exchange copy(
        pipeline.pair, graph,
        [&](const Node& node) { return exchanged ? map.exchanged(graph, node) : map.of_i(graph, node); }, true,
        exchanged);
    for (const Contribution& one : pipeline.contributions) made.push_back(copy_of(one, copy));
  }
  return made;
}

// The field of a reaction, whose name no caller uses.
Field reaction_to(const Field& output, const Pipeline& made, int first) {
  Field field = output;
  const auto is_taken = [&made](const std::string& name) { return made.find(name) != nullptr; };
  field.name = free_name(output.name + "_of_j", is_taken);
  field.first = first + output.first;
  field.comment.clear();
  return field;
}

// finish() of the given pipeline, applied to the results for i and the reactions together.
void finish_both(OneSet& made, const Pipeline& given, const InputMap& map) {
  Graph& graph = made.pipeline.finish;
  const std::vector<const Field*> outputs = given.fields_of(Role::Output);
  std::vector<NodeId> together, reactions;
  for (int k = 0; k < int(outputs.size()); ++k) {
    const Field& output = *outputs[std::size_t(k)];
    const Type type = result_type(output);
    const NodeId of_i = graph.leaf(Op::Output, k, type, output.where);
    const NodeId of_j = graph.leaf(Op::Output, made.pipeline.first_reaction + k, type, output.where);
    together.push_back(graph.make(combining_operation(output.reduction), type, {of_i, of_j, kNone}, output.where));
    reactions.push_back(of_j);
  }
  made.pipeline.finished = together;
  if (!given.finished.empty()) {
    Exchange copy(
        given.finish, graph,
        [&](const Node& node) {
          return node.op == Op::Output ? together[std::size_t(node.payload)] : map.of_i(graph, node);
        },
        false, false);
    for (std::size_t k = 0; k < together.size(); ++k) made.pipeline.finished[k] = copy(given.finished[k]);
  }
  made.pipeline.finished.insert(made.pipeline.finished.end(), reactions.begin(), reactions.end());
}

int operations_of_pairs(const Pipeline& pipeline) {
  const std::vector<bool> needed = reachable(pipeline.pair, pipeline.roots());
  int cost = 0;
  for (NodeId id = 0; id < pipeline.pair.size(); ++id) {
    const Node& node = pipeline.pair[id];
    if (needed[std::size_t(id)] && node.binding == Binding::Pair && arity(node.op) > 0)
      cost += std::max(1, facts(node.op).cost);
  }
  return cost + pipeline.components(Role::Output);  // each component is also added
}

bool can_have_reactions(const Pipeline& pipeline) {
  if (pipeline.components(Role::InputPair) > 0 || pipeline.contributions.empty() || has_images(pipeline) ||
      pipeline.has_pair_values())
    return false;
  return std::ranges::all_of(pipeline.fields, [](const Field& field) {
    return field.role != Role::Output || can_be_reversed(field.reduction);
  });
}

std::vector<Symmetry> symmetries_of_outputs(const Pipeline& pipeline) {
  const InputMap map = map_of_one_set(pipeline);
  Graph graph;
  const std::vector<Contribution> both = both_ways(pipeline, map, graph);
  const Splitter split(graph);
  std::vector<Symmetry> found;
  for (std::size_t k = 0; k < pipeline.contributions.size(); ++k) {
    const Reduction reduction = pipeline.field_of(Role::Output, int(k)).reduction;
    found.push_back(can_be_reversed(reduction) ? symmetry_of(split, both[k], both[k + pipeline.contributions.size()])
                                               : Symmetry::None);
  }
  return found;
}

// The symmetries, and the tables that must be symmetric for them.
std::pair<std::vector<Symmetry>, TableParams> prove(const Pipeline& pipeline) {
  std::vector<Symmetry> proved = symmetries_of_outputs(pipeline);
  const TableParams square = square_tables(pipeline, pipeline.roots());
  if (square.empty()) return {proved, {}};
  Pipeline ordered = pipeline;
  order_indices(ordered, square);
  const std::vector<Symmetry> with_condition = symmetries_of_outputs(ordered);
  std::vector<NodeId> roots;  // of the outputs that gain a symmetry
  for (std::size_t k = 0; k < proved.size(); ++k) {
    if (proved[k] != Symmetry::None || with_condition[k] == Symmetry::None) continue;
    const Contribution& one = pipeline.contributions[k];
    roots.insert(roots.end(), {one.value, one.guard, one.logit});
    proved[k] = with_condition[k];
  }
  return {proved, roots.empty() ? TableParams() : square_tables(pipeline, roots)};
}

std::vector<std::string> names_of(const Pipeline& pipeline, const TableParams& tables) {
  std::vector<std::string> names;
  for (const int first : tables) names.push_back(pipeline.field_of(Role::Param, first).name);
  return names;
}

}  // namespace

Symmetries symmetries(const Pipeline& parsed) {
  const Pipeline pipeline = with_equal_rows(parsed);
  const auto [of_outputs, tables] = prove(pipeline);
  return {of_outputs, names_of(pipeline, tables)};
}

std::string symmetry_text(const Pipeline& pipeline) {
  const auto [of_components, tables] = symmetries(pipeline);
  std::string text;
  for (const Field& field : pipeline.fields) {
    if (field.role != Role::Output || is_hidden(field.reduction)) continue;
    const auto first = of_components.begin() + field.first;
    const bool all_equal = std::all_of(first, first + field.components(), [&](Symmetry one) { return one == *first; });
    const Symmetry symmetry = all_equal ? *first : Symmetry::None;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", field.name,
                        symmetry == Symmetry::Odd    ? "odd"
                        : symmetry == Symmetry::Even ? "even"
                                                     : "neither");
  }
  for (std::size_t k = 0; k < tables.size(); ++k)
    text += (k == 0 ? ", if " : k + 1 < tables.size() ? ", " : " and ") + tables[k];
  if (!tables.empty()) text += tables.size() == 1 ? " is symmetric" : " are symmetric";
  return text;
}

std::optional<OneSet> with_reactions(const Pipeline& parsed) {
  if (!can_have_reactions(parsed)) return {};
  Pipeline given = with_equal_rows(parsed);
  const TableParams symmetric_tables = prove(given).second;
  order_indices(given, symmetric_tables);
  const InputMap map = map_of_one_set(given);
  OneSet made;
  Pipeline& pipeline = made.pipeline;
  pipeline.name = given.name;
  pipeline.dialect = given.dialect;
  pipeline.tables = given.tables;
  pipeline.flops = given.flops;
  pipeline.raw_operations = given.raw_operations;
  pipeline.first_reaction = int(given.contributions.size());
  for (const AdjointField& one : map.fields()) {
    pipeline.fields.push_back(one.field);
    made.given.push_back(one.of);
  }
  for (const int first : {0, pipeline.first_reaction})
    for (const Field& field : given.fields) {
      if (field.role != Role::Output) continue;
      pipeline.fields.push_back(first == 0 ? field : reaction_to(field, pipeline, first));
      made.given.push_back(first == 0 ? field.name : "");
    }
  for (const Field& field : given.fields)
    if (field.role == Role::InputI)
      if (const Field* const other = partner_of(given, field)) made.partners.emplace_back(field.name, other->name);
  pipeline.contributions = both_ways(given, map, pipeline.pair);
  finish_both(made, given, map);
  Exchange positions(
      given.position_graph, pipeline.position_graph,
      [&](const Node& node) { return map.of_i(pipeline.position_graph, node); }, false, false);
  for (const NodeId position : given.positions) pipeline.positions.push_back(positions(position));
  unorder_indices(pipeline, symmetric_tables);
  made.symmetric_tables = names_of(parsed, symmetric_tables);
  return made;
}

double shared_cost(const Pipeline& one, const Pipeline& both) {
  return double(operations_of_pairs(both)) / (2.0 * double(operations_of_pairs(one)));
}

}  // namespace nbcc
