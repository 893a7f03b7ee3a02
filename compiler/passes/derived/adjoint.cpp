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
#include "compiler/passes/derived/every_image.h"
#include "compiler/passes/derived/exchange.h"
#include "compiler/passes/derived/saved_results.h"
#include "compiler/passes/passes.h"
#include "compiler/text/own_stack.h"

namespace nbcc {
namespace {

constexpr int kMaxDerivatives = 1024;

bool is_real(const Field& field) { return is_floating(field.type); }

bool is_named(const std::vector<std::string>& names, const Field& field) {
  return names.empty() || std::ranges::find(names, field.name) != names.end();
}

void check_names(const Pipeline& pipeline, const std::vector<std::string>& names, bool outputs) {
  for (const std::string& name : names) {
    const Field* field = pipeline.find(name);
    if (field == nullptr || (field->role == Role::Output) != outputs)
      throw InvalidAdjoint{
          fmt::format("pipeline '{}' has no {} '{}'", pipeline.name, outputs ? "output" : "input or param", name)};
    if (!is_real(*field))
      throw InvalidAdjoint{fmt::format("'{}' has an integer type, and integers have no derivatives", name)};
  }
}

// Names of the outputs that L depends on; by default all real outputs, since counts and indices have derivative 0.
std::vector<std::string> names_of_outputs(const Pipeline& pipeline, const AdjointChoice& choice) {
  if (pipeline.dialect == Dialect::Cunbody)
    throw InvalidAdjoint{
        fmt::format("pipeline '{}' is in the dialect of CUNBODY-1; derivatives need named fields", pipeline.name)};
  if (!choice.of.empty()) return choice.of;
  std::vector<std::string> names;
  for (const Field& field : pipeline.fields)
    if (field.role == Role::Output && is_real(field)) names.push_back(field.name);
  return names;
}

enum class OfHistograms { Refused, LeftOut };

// The outputs with these names in a forward pipeline. Histograms have no derivatives, but may be made beside outputs
// that have.
std::vector<Field> chosen_outputs(const Pipeline& forward, const std::vector<std::string>& names,
                                  OfHistograms of_histograms = OfHistograms::Refused) {
  check_names(forward, names, true);
  std::vector<Field> result;
  std::string histogram;
  for (const Field& field : forward.fields) {
    if (field.role != Role::Output || std::ranges::find(names, field.name) == names.end()) continue;
    if (keeps_index(field.reduction) || field.reduction == Reduction::Count) continue;
    if (field.is_histogram()) {
      histogram = field.name;
      continue;
    }
    // The weight of a pair in a total logsumexp follows from the total alone, unless finish() adds values of i to it.
    const bool by_total =
        field.reduction == Reduction::Sum || (field.reduction == Reduction::LogSumExp && forward.finished.empty());
    if (field.is_of_pair())
      throw InvalidAdjoint{
          fmt::format("output '{}' is an output(pair), which nbcc does not differentiate", field.name)};
    // The j_index of a chosen pair does not tell its images apart.
    const bool is_chosen =
        field.reduction == Reduction::Min || field.reduction == Reduction::Max || field.reduction == Reduction::At;
    if (is_chosen && has_images(forward))
      throw InvalidAdjoint{
          fmt::format("output '{}' is an output({}) of a text with every_image(), which nbcc does not "
                      "differentiate",
                      field.name, reduction_text(field))};
    if (field.is_total() && !by_total)
      throw InvalidAdjoint{fmt::format("output '{}' is an output({}){}, which nbcc does not differentiate", field.name,
                                       reduction_text(field), is_exponential(field.reduction) ? " with finish()" : "")};
    result.push_back(field);
  }
  if (!histogram.empty() && (of_histograms == OfHistograms::Refused || result.empty()))
    throw InvalidAdjoint{fmt::format("output '{}' is a histogram, which nbcc does not differentiate", histogram)};
  if (result.empty()) throw InvalidAdjoint{fmt::format("pipeline '{}' has no output to differentiate", forward.name)};
  return result;
}

class Builder {
 public:
  Builder(const Pipeline& pipeline, const AdjointChoice& choice, AdjointSide side)
      : names_(names_of_outputs(pipeline, choice)),
        saved_(saved_results(pipeline, names_)),
        old_(with_saved_results(pipeline, saved_)),
        side_(side),
        outputs_(chosen_outputs(old_, names_)),
        added_inputs_(old_, outputs_, saved_),
        input_map_(old_, added_inputs_.fields(), raw_components(), side),
        fields_(input_map_.fields()) {
    check_names(pipeline, choice.by, false);
    refuse_pairs(choice);
    new_.name = pipeline.name + "_adjoint";
    for (const AdjointField& field : fields_) new_.fields.push_back(field.field);
    new_.tables = pipeline.tables;
    choose_by(choice);
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
    return {std::move(new_), std::move(fields_)};
  }

 private:
  // A field to differentiate by. Its components are leaves, or elements of a table that lookups read.
  struct Variable {
    Op op = Op::InputI;
    int first = 0, components = 1;  // in the old pipeline, within its role
    int table = -1;                 // index of the table; -1: no table
    std::vector<NodeId> leaves;     // for a table: all its lookups
  };

  // From the side of j, the listed pairs have another order, and so have their inputs; the caller must reorder them.
  void refuse_pairs(const AdjointChoice& choice) const {
    for (const Field& field : old_.fields) {
      if (field.role != Role::InputPair) continue;
      if (side_ == AdjointSide::OneSet)
        throw InvalidAdjoint{
            fmt::format("'{}' is an input of listed pairs, which are listed by i or by j; nbcc makes no "
                        "derivatives by inputs of both at once",
                        field.name)};
      if (!choice.by.empty() && is_named(choice.by, field))
        throw InvalidAdjoint{
            fmt::format("'{}' is an input of listed pairs; nbcc makes no derivatives by such inputs", field.name)};
    }
  }

  bool is_of_side(const Field& field) const {
    switch (field.role) {
      case Role::InputI:
        return side_ != AdjointSide::J;
      case Role::InputJ:
        return side_ != AdjointSide::I;
      case Role::Param:
        return side_ == AdjointSide::I;
      default:
        return false;
    }
  }

  void choose_by(const AdjointChoice& choice) {
    int count = 0;
    for (const Field& field : old_.fields) {
      if (!is_real(field) || !is_of_side(field) || !is_named(choice.by, field)) continue;
      if (side_ == AdjointSide::OneSet && field.role == Role::InputJ && partner_of(old_, field) != nullptr) continue;
      add_variable(field, choice);
      count += field.components();
    }
    if (by_.empty())
      throw InvalidAdjoint{fmt::format("pipeline '{}' has no input or param to differentiate by", old_.name)};
    if (count > kMaxDerivatives)
      throw InvalidAdjoint{fmt::format("{} derivatives at once; at most {} are made", count, kMaxDerivatives)};
  }

  void add_variable(const Field& field, const AdjointChoice& choice) {
    Variable variable{leaf_op(field.role), field.first, field.components(), -1, {}};
    for (std::size_t t = 0; t < old_.tables.size(); ++t) {
      const Table& table = old_.tables[t];
      if (field.role != Role::Param || table.first < field.first || table.first >= field.first + field.components())
        continue;
      if (table.power >= 0 || table.stride != 1)
        throw InvalidAdjoint{fmt::format(
            "'{}' is interpolated or a table of vectors; nbcc makes no derivatives by its elements", field.name)};
      variable.table = int(t);
    }
    Field output = field;
    output.name = "d_" + field.name;
    const auto is_taken = [&](const Field& other) { return other.name == output.name; };
    while (std::ranges::any_of(new_.fields, is_taken)) output.name = "d" + output.name;
    output.role = Role::Output;
    output.reduction = Reduction::Sum;
    const bool is_total = field.role == Role::Param && !choice.params_of_each_i;
    output.kind = is_total ? FieldKind::Total : FieldKind::Particle;
    output.columns = 0;
    output.defaults.clear();
    output.comment.clear();
    output.first = new_.components(Role::Output);
    new_.fields.push_back(output);
    fields_.push_back({output, AdjointMeaning::Derivative, field.name, ""});
    by_.push_back(variable);
  }

  static Op leaf_op(Role role) {
    return role == Role::InputI ? Op::InputI : role == Role::InputJ ? Op::InputJ : Op::Param;
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
  NodeId saved(SavedKind kind, int output, bool exchanged) {
    const std::optional<int> component = added_inputs_.saved(kind, output);
    if (!component) throw std::logic_error(fmt::format("an adjoint lacks a result of output component {}", output));
    return input_map_.added_input(new_.pair, *component, exchanged);
  }

  // dL/d(output component before finish()), as nodes of the pair graph: d_NAME, differentiated through finish() if
  // there is one.
  std::vector<NodeId> sums_adjoints(bool exchanged) {
    std::vector<NodeId> result(old_.contributions.size(), kNone);
    if (old_.finished.empty()) {
      for (const Field& field : outputs_)
        for (int c = field.first; c < field.first + field.components(); ++c)
          result[std::size_t(c)] = given(c, exchanged);
      return result;
    }
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
      for (int c = field.first; c < field.first + field.components(); ++c)
        seeds.push_back(
            {old_.finished[std::size_t(c)], finish.leaf(Op::InputPair, added_inputs_.given(c), field.type), kNone});
    return seeds;
  }

  void add_seeds(bool exchanged, std::vector<Weighted>& seeds) {
    const std::vector<NodeId> adjoints = sums_adjoints(exchanged);
    Exchange copy = input_map_.copy_of_pair(old_.pair, new_.pair, exchanged);
    Graph& graph = new_.pair;
    const std::vector<const Field*> fields = old_.fields_of(Role::Output);
    for (std::size_t c = 0; c < fields.size(); ++c) {
      const Field* field = fields[c];
      if (adjoints[c] == kNone) continue;
      const Contribution& contribution = old_.contributions[c];
      const NodeId value = copy(contribution.value);
      const NodeId guard = contribution.guard == kNone ? kNone : copy(contribution.guard);
      const auto times = [&](NodeId a, NodeId b) { return make_folded(graph, Op::Mul, a, b); };
      const auto raw = [&] { return saved(SavedKind::Raw, int(c), exchanged); };
      switch (field->reduction) {
        case Reduction::Sum:
          seeds.push_back({value, adjoints[c], guard});
          break;
        case Reduction::LogSumExp: {
          const NodeId weight = graph.unary(Op::Exp, make_folded(graph, Op::Sub, value, raw()));
          seeds.push_back({value, times(adjoints[c], weight), guard});
          break;
        }
        case Reduction::Softmax: {
          const NodeId logit = copy(contribution.logit);
          const NodeId log_weights = saved(SavedKind::LogWeights, int(c), exchanged);
          const NodeId softmax_weight = graph.unary(Op::Exp, make_folded(graph, Op::Sub, logit, log_weights));
          const NodeId weight = times(adjoints[c], softmax_weight);
          seeds.push_back({value, weight, guard});
          // If the pair has no weight, 0 times an infinite value would be NaN.
          const NodeId zero = graph.constant(0, graph[softmax_weight].type),
                       none = graph.binary(Op::Eq, softmax_weight, zero);
          const NodeId above = make_folded(graph, Op::Sub, value, raw());
          seeds.push_back(
              {logit, times(weight, graph.select(none, graph.constant(0, graph[above].type), above)), guard});
          break;
        }
        case Reduction::Product: {
          // The product of all other factors: 0 if another one is 0.
          const NodeId zeros = saved(SavedKind::Zeros, int(c), exchanged);
          const NodeId others = saved(SavedKind::OthersProduct, int(c), exchanged);
          const Type type = graph[value].type;
          const auto is = [&](NodeId node, double number) {
            return graph.binary(Op::Eq, node, graph.constant(number, graph[node].type));
          };
          const NodeId none = graph.constant(0, type);
          const NodeId of_zero = graph.select(is(zeros, 1), graph.cast(others, type), none);
          const NodeId of_others = graph.select(is(zeros, 0), make_folded(graph, Op::Div, others, value), none);
          seeds.push_back({value, times(adjoints[c], graph.select(is(value, 0), of_zero, of_others)), guard});
          break;
        }
        case Reduction::At:
        case Reduction::Min:
        case Reduction::Max: {
          const NodeId here = input_map_.j_index(graph, exchanged);
          const NodeId is_chosen = graph.binary(Op::Eq, here, saved(SavedKind::ChosenJ, int(c), exchanged));
          seeds.push_back(
              {value, graph.select(is_chosen, adjoints[c], graph.constant(0, graph[adjoints[c]].type)), guard});
          break;
        }
        default:
          throw InvalidAdjoint{
              fmt::format("finish() uses output '{}', an output({}), which nbcc does not differentiate", field->name,
                          name(field->reduction))};
      }
    }
    for (Variable& variable : by_) find_leaves(variable);
  }

  void find_leaves(Variable& variable) {
    Graph& graph = new_.pair;
    variable.leaves.clear();
    if (variable.table >= 0) {
      variable.leaves = lookups_of(graph, variable);
      return;
    }
    for (int c = 0; c < variable.components; ++c)
      variable.leaves.push_back(input_map_.variable(graph, variable.op, variable.first + c));
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

  static std::vector<NodeId> lookups_of(const Graph& graph, const Variable& variable) {
    std::vector<NodeId> result;
    for (NodeId id = 0; id < graph.size(); ++id)
      if (graph[id].op == Op::Lookup && graph[id].payload == variable.table) result.push_back(id);
    return result;
  }

  // The leaves of finish() for the components of the variable, or the lookups that read its table.
  std::vector<NodeId> leaves_of_finish(Graph& finish, const Variable& variable) const {
    if (variable.table >= 0) return lookups_of(finish, variable);
    const Role role = variable.op == Op::Param ? Role::Param : variable.op == Op::InputI ? Role::InputI : Role::InputJ;
    std::vector<NodeId> result;
    for (int c = variable.first; c < variable.first + variable.components; ++c)
      result.push_back(finish.leaf(variable.op, c, old_.field_of(role, c).type));
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
  Adjoint forward{with_saved_results(pipeline, saved_results(pipeline, names)), {}};
  chosen_outputs(forward.pipeline, names, OfHistograms::LeftOut);  // throws if a name is invalid
  for (const Field& field : forward.pipeline.fields) {
    const bool is_new = pipeline.find(field.name) == nullptr;
    forward.fields.push_back({field, is_new ? AdjointMeaning::Saved : AdjointMeaning::Value, field.name, ""});
  }
  return with_partners(pipeline, std::move(forward));
}

Adjoint adjoint_pipeline(const Pipeline& pipeline, const AdjointChoice& choice, AdjointSide side) {
  Adjoint adjoint;
  try {
    // Differentiation recurses along chains of operations.
    run_on_own_stack(kDeepStack, [&] { adjoint = Builder(pipeline, choice, side).run(); });
  } catch (const TooManyNodes&) {
    throw InvalidAdjoint{
        fmt::format("the derivatives of pipeline '{}' take more than {} operations", pipeline.name, kMaxNodes)};
  }
  return with_partners(pipeline, std::move(adjoint));
}

}  // namespace nbcc
