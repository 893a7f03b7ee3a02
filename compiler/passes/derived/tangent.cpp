// The rate of an output is a sum over pairs of the rates of their values (output_terms.h), and then the rate of
// finish(). Values and finish() are differentiated by rates_of_change(). Entry point: tangent_pipeline().
#include "compiler/passes/derived/tangent.h"

#include <algorithm>
#include <map>

#include "compiler/ir/limits.h"
#include "compiler/passes/derive/derivative.h"
#include "compiler/passes/derived/differentiated.h"
#include "compiler/passes/derived/output_terms.h"
#include "compiler/passes/passes.h"

namespace nbcc {
namespace {

class TangentBuilder {
 public:
  TangentBuilder(const Pipeline& pipeline, const AdjointChoice& choice)
      : names_(names_of_outputs(pipeline, choice)),
        saved_(saved_results(pipeline, names_)),
        old_(with_saved_results(pipeline, saved_)),
        outputs_(with_outputs_of_finish(chosen_outputs(old_, names_))),
        by_(chosen_variables(old_, choice, AdjointSide::Tangent)),
        added_inputs_(old_, by_, saved_),
        input_map_(old_, added_inputs_.fields(), raw_components(), AdjointSide::Tangent),
        fields_(input_map_.fields()) {
    new_.name = pipeline.name + "_tangent";
    for (const AdjointField& field : fields_) new_.fields.push_back(field.field);
    new_.tables = pipeline.tables;
    new_.tables.insert(new_.tables.end(), input_map_.added_tables().begin(), input_map_.added_tables().end());
    for (const Field& field : outputs_) add_output(field);
  }

  Adjoint run() {
    add_contributions();
    add_finish();
    fold(new_);
    return {std::move(new_), std::move(fields_), AdjointSide::Tangent};
  }

 private:
  // finish() may compute a result from other outputs, whose rates it then needs.
  std::vector<Field> with_outputs_of_finish(std::vector<Field> outputs) const {
    if (old_.finished.empty()) return outputs;
    std::vector<NodeId> roots;
    for (const Field& field : outputs)
      for (int c = field.first; c < field.first + field.components(); ++c)
        roots.push_back(old_.finished[std::size_t(c)]);
    const std::vector<bool> needed = reachable(old_.finish, roots);
    for (NodeId id = 0; id < old_.finish.size(); ++id) {
      const Node& node = old_.finish[id];
      if (node.op != Op::Output || !needed[std::size_t(id)] || !is_floating(node.type)) continue;
      const Field& field = old_.field_of(Role::Output, int(node.payload));
      const auto is_field = [&](const Field& other) { return other.name == field.name; };
      if (std::ranges::none_of(outputs, is_field)) outputs.push_back(field);
    }
    return outputs;
  }

  std::vector<int> raw_components() const {
    std::vector<int> result;
    for (int c = 0; c < int(old_.contributions.size()); ++c)
      result.push_back(added_inputs_.saved(SavedKind::Raw, c).value_or(-1));
    return result;
  }

  void add_output(const Field& field) {
    Field output = field;
    output.name = "t_" + field.name;
    const auto is_taken = [&](const Field& other) { return other.name == output.name; };
    while (std::ranges::any_of(new_.fields, is_taken)) output.name = "t" + output.name;
    if (!field.is_histogram()) output.reduction = Reduction::Sum;
    if (has_values_of_i(old_, field)) output.kind = FieldKind::Particle;
    output.follows = -1;
    output.comment.clear();
    output.first = new_.components(Role::Output);
    new_.fields.push_back(output);
    fields_.push_back({output, AdjointMeaning::Derivative, field.name, ""});
  }

  // Each variable of the graph -> its rate. `leaf` makes the leaf of a component of a field, kNone if the graph has
  // none; `rate` that of a component of the added inputs.
  template <typename Leaf, typename Rate>
  std::map<NodeId, NodeId> rates_in(Graph& graph, const Leaf& leaf, const Rate& rate) const {
    std::map<NodeId, NodeId> rates;
    for (const Field& field : by_) {
      const int first = added_inputs_.rate(field.role, field.first);
      if (const int table = table_of(old_, field); table >= 0) {
        for (const NodeId lookup : lookups_of(graph, table)) {
          const Node node = graph[lookup];
          rates[lookup] = graph.make(Op::Lookup, node.type, node.args, node.where, input_map_.table_of_added(first));
        }
        continue;
      }
      for (int c = 0; c < field.components(); ++c)
        if (const NodeId variable = leaf(field, field.first + c); variable != kNone) rates[variable] = rate(first + c);
    }
    return rates;
  }

  void add_contributions() {
    Graph& graph = new_.pair;
    Exchange copy = input_map_.copy_of_pair(old_.pair, graph, false);
    OutputTerms terms(old_, added_inputs_, input_map_, graph);
    std::vector<std::vector<Weighted>> all;  // by component of the new outputs
    std::vector<NodeId> values;
    for (const Field& field : outputs_)
      for (int c = field.first; c < field.first + field.components(); ++c) {
        const Contribution& old = old_.contributions[std::size_t(c)];
        std::vector<Weighted>& of = all.emplace_back();
        if (field.is_histogram())
          of.push_back({copy(old.value), kNone, old.guard == kNone ? kNone : copy(old.guard)});
        else
          terms.add(c, graph.constant(1, field.type), copy, false, of);
        for (const Weighted& one : of) values.push_back(one.y);
        new_.contributions.push_back({.value = kNone, .guard = of.front().guard});
        if (field.is_histogram()) new_.contributions.back().logit = copy(old.logit);
      }
    const auto rates = rates_in(
        graph, [&](const Field& field, int c) { return input_map_.variable(graph, field.role, c); },
        [&](int component) { return input_map_.added_input(graph, component, false); });
    const std::vector<NodeId> found = rates_of_change(graph, values, rates);
    std::size_t next = 0, component = 0;
    for (const std::vector<Weighted>& of : all) {
      NodeId sum = kNone;
      for (const Weighted& one : of) {
        const NodeId rate = found[next++];
        if (rate == kNone) continue;
        const NodeId part = one.weight == kNone ? rate : times(one.weight, rate);
        sum = sum == kNone ? part : make_folded(graph, Op::Add, sum, part);
      }
      const Type type = graph[of.front().y].type;
      new_.contributions[component++].value = sum == kNone ? graph.constant(0, type) : graph.cast(sum, type);
    }
  }

  // weight * rate; where a minimum does not choose the pair, 0 and not 0 * rate.
  NodeId times(NodeId weight, NodeId rate) {
    Graph& graph = new_.pair;
    const Node node = graph[weight];
    if (node.op != Op::Select || !graph.is_constant(node.args[2], 0)) return make_folded(graph, Op::Mul, weight, rate);
    const NodeId chosen = make_folded(graph, Op::Mul, node.args[1], rate);
    return graph.select(node.args[0], chosen, graph.constant(0, graph[chosen].type));
  }

  void add_finish() {
    if (old_.finished.empty()) return;
    Graph finish = old_.finish;
    std::map<NodeId, NodeId> rates = rates_in(
        finish,
        [&](const Field& field, int c) {
          const bool is_read = field.role == Role::InputI || field.role == Role::Param;
          return is_read ? finish.leaf(leaf_op(field.role), c, field.type) : kNone;
        },
        [&](int component) { return finish.leaf(Op::InputPair, component, type_of_added(component)); });
    int next = 0;
    std::vector<NodeId> results;
    for (const Field& field : outputs_)
      for (int c = field.first; c < field.first + field.components(); ++c) {
        rates[finish.leaf(Op::Output, c, result_type(field))] =
            finish.leaf(Op::InputPair, -1 - next++, result_type(field));
        results.push_back(old_.finished[std::size_t(c)]);
      }
    const std::vector<NodeId> found = rates_of_change(finish, results, rates);
    Exchange copy = input_map_.copy_of_finish(finish, new_.finish, false);
    for (std::size_t k = 0; k < found.size(); ++k)
      new_.finished.push_back(found[k] == kNone ? new_.finish.constant(0, finish[results[k]].type) : copy(found[k]));
  }

  Type type_of_added(int component) const {
    for (const AdjointField& one : added_inputs_.fields())
      if (component >= one.field.first && component < one.field.first + one.field.components()) return one.field.type;
    return Type::Real;
  }

  const std::vector<std::string> names_;
  const std::vector<SavedResult> saved_;
  const Pipeline old_;  // the forward pipeline
  const std::vector<Field> outputs_, by_;
  const AddedInputs added_inputs_;
  const InputMap input_map_;
  Pipeline new_;
  std::vector<AdjointField> fields_;  // the fields of new_
};

}  // namespace

Adjoint tangent_pipeline(const Pipeline& pipeline, const AdjointChoice& choice) {
  return TangentBuilder(pipeline, choice).run();
}

}  // namespace nbcc
