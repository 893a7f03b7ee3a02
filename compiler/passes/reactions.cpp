// Copies the pair graph twice, the second time with exchanged roles. Entry points: symmetries(), with_reactions().
#include "compiler/passes/reactions.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "compiler/passes/exchange.h"

namespace nbcc {
namespace {

InputMap map_of_one_set(const Pipeline& pipeline) { return {pipeline, {}, {}, AdjointSide::OneSet}; }

bool can_be_reversed(Reduction reduction) {
  return reduction == Reduction::Sum || reduction == Reduction::Count || reduction == Reduction::Product ||
         reduction == Reduction::Min || reduction == Reduction::Max;
}

// A product as its sign and the powers of its factors, without factors of one particle.
struct Factors {
  bool negative = false;
  std::map<NodeId, int> powers;
};

// More factors are not multiplied out, so that nested products stay short.
constexpr std::size_t kMaxFactors = 64;

class Products {
 public:
  explicit Products(const Graph& graph) : graph_(graph) {}

  Factors operator()(NodeId id) {
    Factors product;
    multiply(product, id, 1);
    std::erase_if(product.powers, [](const auto& factor) { return factor.second == 0; });
    return product;
  }

 private:
  void multiply(Factors& product, NodeId id, int power) {
    const Node& node = graph_[id];
    if (node.binding == Binding::I || node.binding == Binding::J) return;
    if (product.powers.size() < kMaxFactors) {
      if (node.op == Op::Neg) {
        product.negative = !product.negative;
        return multiply(product, node.args[0], power);
      }
      if (node.op == Op::Mul || node.op == Op::Div) {
        multiply(product, node.args[0], power);
        return multiply(product, node.args[1], node.op == Op::Div ? -power : power);
      }
    }
    product.powers[id] += power;
  }

  const Graph& graph_;
};

Symmetry symmetry_of(const Graph& graph, const Contribution& given, const Contribution& exchanged) {
  if (given.guard != exchanged.guard || given.logit != exchanged.logit) return Symmetry::None;
  Products products(graph);
  const Factors a = products(given.value), b = products(exchanged.value);
  if (a.powers != b.powers) return Symmetry::None;
  return a.negative == b.negative ? Symmetry::Even : Symmetry::Odd;
}

Contribution copy_of(const Contribution& given, Exchange& copy) {
  const auto of = [&copy](NodeId id) { return id == kNone ? kNone : copy(id); };
  return {of(given.value), of(given.guard), of(given.scale), of(given.logit)};
}

// The contributions to i, then those of exchanged roles.
std::vector<Contribution> both_ways(const Pipeline& pipeline, const InputMap& map, Graph& graph) {
  std::vector<Contribution> made;
  for (const bool exchanged : {false, true}) {
    Exchange copy = map.copy_of_pair(pipeline.pair, graph, exchanged);
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
        false);
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

}  // namespace

std::vector<Symmetry> symmetries(const Pipeline& pipeline) {
  const InputMap map = map_of_one_set(pipeline);
  Graph graph;
  const std::vector<Contribution> both = both_ways(pipeline, map, graph);
  std::vector<Symmetry> found;
  for (std::size_t k = 0; k < pipeline.contributions.size(); ++k) {
    const Reduction reduction = pipeline.field_of(Role::Output, int(k)).reduction;
    found.push_back(can_be_reversed(reduction) ? symmetry_of(graph, both[k], both[k + pipeline.contributions.size()])
                                               : Symmetry::None);
  }
  return found;
}

std::string symmetry_text(const Pipeline& pipeline) {
  const std::vector<Symmetry> of_components = symmetries(pipeline);
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
  return text;
}

std::optional<OneSet> with_reactions(const Pipeline& given) {
  if (given.components(Role::InputPair) > 0 || given.contributions.empty()) return {};
  for (const Field& field : given.fields)
    if (field.role == Role::Output && !can_be_reversed(field.reduction)) return {};
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
      [&](const Node& node) { return map.of_i(pipeline.position_graph, node); }, false);
  for (const NodeId position : given.positions) pipeline.positions.push_back(positions(position));
  return made;
}

double shared_cost(const Pipeline& one, const Pipeline& both) {
  return double(operations_of_pairs(both)) / (2.0 * double(operations_of_pairs(one)));
}

}  // namespace nbcc
