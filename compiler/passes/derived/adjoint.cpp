// Fields and seeds of adjoint pipelines; derivative.h differentiates, exchange.h copies graphs with i and j exchanged.
// Entry points: forward_pipeline(), adjoint_pipeline().
#include "compiler/passes/derived/adjoint.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <optional>
#include <stdexcept>

#include "compiler/ir/limits.h"
#include "compiler/passes/derive/derivative.h"
#include "compiler/passes/derived/added_inputs.h"
#include "compiler/passes/derived/differentiated.h"
#include "compiler/passes/derived/exchange.h"
#include "compiler/passes/derived/output_terms.h"
#include "compiler/passes/derived/saved_results.h"
#include "compiler/passes/derived/tangent.h"
#include "compiler/passes/passes.h"
#include "compiler/text/own_stack.h"

namespace nbcc {
namespace {

class Builder {
 public:
  Builder(const Pipeline& pipeline, const AdjointChoice& choice, AdjointSide side)
      : names_(names_of_outputs(pipeline, choice)),
        saved_(saved_results(pipeline, names_)),
        old_(side == AdjointSide::J && choice.params_of_each_i
                 ? with_params_of_i(with_saved_results(pipeline, saved_), choice.by)
                 : with_saved_results(pipeline, saved_)),
        side_(side),
        outputs_(outputs_of_adjoint()),
        added_inputs_(old_, outputs_, saved_),
        input_map_(old_, added_inputs_.fields(), raw_components(), side),
        fields_(input_map_.fields()) {
    new_.name = pipeline.name + "_adjoint";
    for (const AdjointField& field : fields_) new_.fields.push_back(field.field);
    new_.tables = pipeline.tables;
    new_.tables.insert(new_.tables.end(), input_map_.added_tables().begin(), input_map_.added_tables().end());
    for (const Field& field : chosen_variables(old_, choice, side)) add_variable(field, choice);
  }

  Adjoint run() {
    std::vector<Weighted> seeds;
    for (const bool exchanged : {false, true}) {
      if (exchanged && side_ != AdjointSide::OneSet) break;
      add_seeds(exchanged, seeds);
    }
    const NodeId guard = common_guard(seeds);
    std::vector<NodeId> variables;
    for (const Variable& variable : by_)
      variables.insert(variables.end(), variable.leaves.begin(), variable.leaves.end());
    std::ranges::sort(variables);
    variables.erase(std::unique(variables.begin(), variables.end()), variables.end());
    const std::vector<NodeId> found = gradient(new_.pair, seeds, variables);
    for (const Variable& variable : by_)
      for (int c = 0; c < variable.components; ++c)
        new_.contributions.push_back({.value = value_of(variable, c, variables, found), .guard = guard});
    add_finish();
    fold(new_);
    return {std::move(new_), std::move(fields_), side_};
  }

 private:
  // The derivative by a total that reduces values of i is the caller's: it is one of the saved values.
  std::vector<Field> outputs_of_adjoint() const {
    std::vector<Field> outputs = chosen_outputs(old_, names_);
    for (const Field& field : outputs) {
      if (field.kind == FieldKind::HistogramOfI && field.length > kMaxDerivatives)
        throw InvalidAdjoint{
            fmt::format("output '{}' is a histogram of each i of {} elements; one of at most {} is "
                        "differentiated",
                        field.name, field.length, kMaxDerivatives)};
      for (const SavedResult& one : saved_)
        if (one.kind == SavedKind::ValueOfI && one.output == field.first)
          throw InvalidAdjoint{fmt::format(
              "output '{}' is an output({}): give '{}', its values of each i in the forward pipeline, instead",
              field.name, reduction_text(field), one.result)};
    }
    return outputs;
  }

  // A field to differentiate by. Its components are leaves, or elements of a table that lookups read.
  struct Variable {
    Role role = Role::InputI;
    int first = 0, components = 1;  // in the old pipeline, within its role
    int table = -1;                 // index of the table; -1: no table
    std::vector<NodeId> leaves;     // for a table: all its lookups
  };

  void add_variable(const Field& field, const AdjointChoice& choice) {
    const Variable variable{field.role, field.first, field.components(), table_of(old_, field), {}};
    Field output = field;
    output.name = "d_" + field.name;
    const auto is_taken = [&](const Field& other) { return other.name == output.name; };
    while (std::ranges::any_of(new_.fields, is_taken)) output.name = "d" + output.name;
    output.role = Role::Output;
    output.reduction = Reduction::Sum;
    const bool is_total = field.role == Role::Param && !choice.params_of_each_i;
    output.kind = is_total ? FieldKind::Total : field.role == Role::InputPair ? FieldKind::Pair : FieldKind::Particle;
    output.columns = 0;
    output.defaults.clear();
    output.comment.clear();
    output.first = new_.components(Role::Output);
    new_.fields.push_back(output);
    fields_.push_back({output, AdjointMeaning::Derivative, field.name, ""});
    by_.push_back(variable);
  }

  std::vector<int> raw_components() const {
    std::vector<int> result;
    for (int c = 0; c < int(old_.contributions.size()); ++c)
      result.push_back(added_inputs_.saved(SavedKind::Raw, c).value_or(-1));
    return result;
  }

  NodeId given(int output, bool exchanged) {
    return input_map_.added_input(new_.pair, added_inputs_.given(output), exchanged);
  }
  // dL/d(output component before finish()), as nodes of the pair graph: d_NAME, differentiated through finish() if
  // there is one.
  std::vector<NodeId> sums_adjoints(bool exchanged) {
    std::vector<NodeId> result(old_.contributions.size(), kNone);
    const bool finishes = !old_.finished.empty();
    for (const Field& field : outputs_)
      for (int c = field.first; c < field.first + field.components(); ++c)
        // The elements of a histogram have one derivative each, which OutputTerms reads; finish() does not change them.
        if (field.is_histogram() || !finishes)
          result[std::size_t(c)] = field.is_histogram() ? new_.pair.constant(1, field.type) : given(c, exchanged);
    if (!finishes) return result;
    Graph finish = old_.finish;
    std::vector<NodeId> leaves;
    for (const Field* field : old_.fields_of(Role::Output))
      leaves.push_back(finish.leaf(Op::Output, std::int64_t(leaves.size()), result_type(*field)));
    const std::vector<NodeId> by = gradient(finish, finish_seeds(finish), leaves);
    Exchange copy = input_map_.copy_of_finish(finish, new_.pair, exchanged);
    for (std::size_t c = 0; c < by.size(); ++c)
      if (by[c] != kNone && is_floating(finish[by[c]].type)) result[c] = copy(by[c]);
    return result;
  }

  // In the graph of finish(), the adjoints of the results are InputPair leaves, which finish() itself does not use.
  std::vector<Weighted> finish_seeds(Graph& finish) const {
    std::vector<Weighted> seeds;
    for (const Field& field : outputs_)
      for (int c = field.first; !field.is_histogram() && c < field.first + field.components(); ++c)
        seeds.push_back(
            {old_.finished[std::size_t(c)], finish.leaf(Op::InputPair, added_inputs_.given(c), field.type), kNone});
    return seeds;
  }

  void add_seeds(bool exchanged, std::vector<Weighted>& seeds) {
    const std::vector<NodeId> adjoints = sums_adjoints(exchanged);
    Exchange copy = input_map_.copy_of_pair(old_.pair, new_.pair, exchanged);
    OutputTerms terms(old_, added_inputs_, input_map_, new_.pair);
    for (std::size_t c = 0; c < adjoints.size(); ++c)
      if (adjoints[c] != kNone) terms.add(int(c), adjoints[c], copy, exchanged, seeds);
    for (Variable& variable : by_) find_leaves(variable);
  }

  void find_leaves(Variable& variable) {
    Graph& graph = new_.pair;
    variable.leaves.clear();
    if (variable.table >= 0) {
      variable.leaves = lookups_of(graph, variable.table);
      return;
    }
    for (int c = 0; c < variable.components; ++c)
      variable.leaves.push_back(input_map_.variable(graph, variable.role, variable.first + c));
  }

  // If all seeds have the same guard, it becomes the guard of the sums; otherwise each seed keeps its guard, and the
  // sums are guarded by the disjunction of all guards.
  NodeId common_guard(std::vector<Weighted>& seeds) {
    NodeId any = kNone;
    bool always = seeds.empty(), same = true;
    for (const Weighted& seed : seeds) {
      always = always || seed.guard == kNone;
      same = same && seed.guard == seeds[0].guard;
    }
    if (same) {
      const NodeId guard = seeds.empty() ? kNone : seeds[0].guard;
      for (Weighted& seed : seeds) seed.guard = kNone;
      return guard;
    }
    if (always) return kNone;
    std::vector<NodeId> guards;
    for (const Weighted& seed : seeds)
      if (std::ranges::find(guards, seed.guard) == guards.end()) guards.push_back(seed.guard);
    for (const NodeId guard : guards) any = any == kNone ? guard : new_.pair.binary(Op::Or, any, guard);
    return any;
  }

  NodeId value_of(const Variable& variable, int c, const std::vector<NodeId>& variables,
                  const std::vector<NodeId>& found) {
    const NodeId by = derivative_by(new_.pair, variable, variable.leaves, c, variables, found);
    return by == kNone ? new_.pair.constant(0) : by;
  }

  // The derivative by component c of the variable; kNone: 0. `found` holds the derivatives by `variables`. An element
  // of a table is read by every lookup whose index is c.
  static NodeId derivative_by(Graph& graph, const Variable& variable, const std::vector<NodeId>& leaves, int c,
                              const std::vector<NodeId>& variables, const std::vector<NodeId>& found) {
    const auto derivative = [&](NodeId leaf) {
      return found[std::size_t(std::ranges::find(variables, leaf) - variables.begin())];
    };
    if (leaves.empty()) return kNone;
    if (variable.table < 0) return derivative(leaves[std::size_t(c)]);
    NodeId sum = kNone;
    for (const NodeId lookup : leaves) {
      const NodeId by = derivative(lookup);
      if (by == kNone) continue;
      const auto [row, column, none] = graph[lookup].args;
      const NodeId element = make_folded(graph, Op::Add, row, column);
      const NodeId is_this = graph.binary(Op::Eq, element, graph.constant(c, graph[element].type));
      const NodeId part = graph.select(is_this, by, graph.constant(0, graph[by].type));
      sum = sum == kNone ? part : make_folded(graph, Op::Add, sum, part);
    }
    return sum;
  }

  // The leaves of finish() for the components of the variable, or the lookups that read its table; empty: none.
  std::vector<NodeId> leaves_of_finish(Graph& finish, const Variable& variable) const {
    if (variable.table >= 0) return lookups_of(finish, variable.table);
    std::vector<NodeId> result;
    if (variable.role == Role::InputPair) return result;  // which finish() does not read
    for (int c = variable.first; c < variable.first + variable.components; ++c)
      result.push_back(finish.leaf(leaf_op(variable.role), c, old_.field_of(variable.role, c).type));
    return result;
  }

  // Results of finish() also depend on some inputs and params directly; that derivative is added once per i.
  void add_finish() {
    if (old_.finished.empty() || side_ == AdjointSide::J) return;
    Graph finish = old_.finish;
    std::vector<std::vector<NodeId>> leaves;  // by variable
    std::vector<NodeId> variables;
    for (const Variable& variable : by_) {
      leaves.push_back(leaves_of_finish(finish, variable));
      variables.insert(variables.end(), leaves.back().begin(), leaves.back().end());
    }
    const std::vector<NodeId> found = gradient(finish, finish_seeds(finish), variables);
    if (std::ranges::all_of(found, [](NodeId id) { return id == kNone; })) return;
    std::vector<NodeId> by;  // by output component
    for (std::size_t k = 0; k < by_.size(); ++k)
      for (int c = 0; c < by_[k].components; ++c)
        by.push_back(derivative_by(finish, by_[k], leaves[k], c, variables, found));
    Exchange copy = input_map_.copy_of_finish(finish, new_.finish, false);
    const std::vector<const Field*> outputs = new_.fields_of(Role::Output);
    for (std::size_t c = 0; c < by.size(); ++c) {
      const NodeId sum = new_.finish.leaf(Op::Output, std::int64_t(c), result_type(*outputs[c]));
      new_.finished.push_back(by[c] == kNone ? sum : make_folded(new_.finish, Op::Add, sum, copy(by[c])));
    }
  }

  const std::vector<std::string> names_;  // names of outputs_
  const std::vector<SavedResult> saved_;
  const Pipeline old_;  // the forward pipeline
  const AdjointSide side_;
  const std::vector<Field> outputs_;
  const AddedInputs added_inputs_;
  const InputMap input_map_;
  Pipeline new_;
  std::vector<AdjointField> fields_;  // the fields of new_
  std::vector<Variable> by_;
};

Adjoint with_partners(const Pipeline& first, Adjoint adjoint) {
  for (AdjointField& one : adjoint.fields) {
    if (one.meaning != AdjointMeaning::Value) continue;
    const Field* const partner = partner_of(first, *first.find(one.of));
    one.partner = partner != nullptr ? partner->name : "";
  }
  return adjoint;
}

}  // namespace

Adjoint forward_pipeline(const Pipeline& pipeline, const AdjointChoice& choice) {
  const std::vector<std::string> names = names_of_outputs(pipeline, choice);
  const std::vector<SavedResult> saved = saved_results(pipeline, names);
  Adjoint forward{with_saved_results(pipeline, saved), {}, AdjointSide::I};
  chosen_outputs(forward.pipeline, names);  // throws if a name is invalid
  for (const Field& field : forward.pipeline.fields) {
    const bool is_new = pipeline.find(field.name) == nullptr;
    forward.fields.push_back({field, is_new ? AdjointMeaning::Saved : AdjointMeaning::Value, field.name, ""});
  }
  forward = with_partners(pipeline, std::move(forward));
  for (const SavedResult& one : saved)
    for (AdjointField& field : forward.fields)
      if (one.kind == SavedKind::ValueOfI && field.of == one.result)
        field.partner = pipeline.field_of(Role::Output, one.output).name;
  return forward;
}

Adjoint adjoint_pipeline(const Pipeline& pipeline, const AdjointChoice& choice, AdjointSide side) {
  Adjoint adjoint;
  try {
    // Differentiation recurses along chains of operations.
    run_on_own_stack(kDeepStack, [&] {
      adjoint =
          side == AdjointSide::Tangent ? tangent_pipeline(pipeline, choice) : Builder(pipeline, choice, side).run();
    });
  } catch (const TooManyNodes&) {
    throw InvalidAdjoint{
        fmt::format("the derivatives of pipeline '{}' take more than {} operations", pipeline.name, kMaxNodes)};
  }
  return with_partners(pipeline, std::move(adjoint));
}

}  // namespace nbcc
