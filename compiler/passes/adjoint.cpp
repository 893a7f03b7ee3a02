// Fields and seeds of adjoint pipelines; the derivatives themselves are derivative.h's. Doors: forward_pipeline(),
// adjoint_pipeline(). How a graph is copied with its particles exchanged is in exchange.h.
#include "compiler/passes/adjoint.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <optional>
#include <stdexcept>

#include "compiler/passes/derivative.h"
#include "compiler/passes/exchange.h"
#include "compiler/passes/passes.h"

namespace nbcc {
namespace {

constexpr int kMostAdjoints = 1024;

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
      throw InvalidAdjoint{fmt::format("'{}' is of whole numbers, which have no derivatives", name)};
  }
}

// Outputs that L depends on. Counts and indices do not change with the inputs.
std::vector<Field> chosen_outputs(const Pipeline& pipeline, const AdjointChoice& choice) {
  if (pipeline.dialect == Dialect::Cunbody)
    throw InvalidAdjoint{fmt::format(
        "pipeline '{}' is in the dialect of CUNBODY-1; derivatives are made of named fields", pipeline.name)};
  check_names(pipeline, choice.of, true);
  std::vector<Field> result;
  for (const Field& field : pipeline.fields) {
    if (field.role != Role::Output || !is_real(field) || !is_named(choice.of, field)) continue;
    if (keeps_index(field.reduction) || field.reduction == Reduction::Count) continue;
    if (field.reduction == Reduction::Product || field.reduction == Reduction::At)
      throw InvalidAdjoint{fmt::format("output '{}' is an output({}), of which nbcc makes no derivative", field.name,
                                       name(field.reduction))};
    result.push_back(field);
  }
  if (result.empty()) throw InvalidAdjoint{fmt::format("pipeline '{}' has no output to differentiate", pipeline.name)};
  return result;
}

// What an adjoint must know of i beside the first pipeline's inputs, as fields of i.
class Extras {
 public:
  Extras(const Pipeline& pipeline, const std::vector<Field>& outputs) {
    for (const Field& field : outputs) add("d_", field, field.type);
    for (const Field& field : pipeline.fields) {
      if (field.role != Role::Output) continue;
      // finish() may make any output of any other.
      const bool finishes = !pipeline.finished.empty();
      const bool needed = finishes || std::ranges::find(outputs, field.name, &Field::name) != outputs.end();
      if (finishes || (needed && is_exponential(field.reduction))) add("raw_", field, result_type(field));
      if (needed && field.reduction == Reduction::Softmax) add("z_", field, field.type);
      if (needed && is_real(field) && (field.reduction == Reduction::Min || field.reduction == Reduction::Max))
        add("at_", field, Type::Index);
    }
  }

  const std::vector<Field>& fields() const { return fields_; }
  // What fields()[k] is to which component of the outputs, its first.
  const std::string& prefix(std::size_t k) const { return origins_[k].first; }
  int output(std::size_t k) const { return origins_[k].second; }
  // Component among the extras of that of an output; none: it is not there.
  std::optional<int> component(const std::string& prefix, int output) const {
    const auto found = at_.find({prefix, output});
    return found == at_.end() ? std::nullopt : std::optional(found->second);
  }

 private:
  // An array of indices would be one choice of several places: each component has a field of its own.
  void add(const std::string& prefix, const Field& output, Type type) {
    const int fields = type == Type::Index && prefix == "at_" ? output.components() : 1;
    for (int k = 0; k < fields; ++k) {
      Field field;
      field.name = prefix + output.name;
      field.type = type;
      field.first = next_;
      if (fields > 1) field.name += fmt::format("_{}", k);
      if (fields == 1) field.length = output.length, field.width = output.width;
      for (int c = 0; c < field.components(); ++c) at_[{prefix, output.first + k + c}] = next_ + c;
      next_ += field.components();
      fields_.push_back(field);
      origins_.emplace_back(prefix, output.first + k);
    }
  }

  std::vector<Field> fields_;
  std::vector<std::pair<std::string, int>> origins_;
  std::map<std::pair<std::string, int>, int> at_;
  int next_ = 0;
};

class Builder {
 public:
  Builder(const Pipeline& pipeline, const AdjointChoice& choice, AdjointSide side)
      : old_(pipeline),
        side_(side),
        outputs_(chosen_outputs(pipeline, choice)),
        extras_(pipeline, outputs_),
        sites_(pipeline, extras_.fields(), raw_components(), side) {
    check_names(pipeline, choice.by, false);
    refuse_pairs(choice);
    new_.name = pipeline.name + "_adjoint";
    new_.fields = sites_.fields();
    new_.tables = pipeline.tables;
    choose_by(choice);
  }

  Pipeline run() {
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
    return std::move(new_);
  }

 private:
  // What is differentiated by: a field's components are leaves, or are looked up.
  struct Variable {
    Op op = Op::InputI;
    int first = 0, components = 1;  // in the old pipeline, of its role
    int table = -1;                 // a table's number
    std::vector<NodeId> leaves;     // of a table: all lookups of it
  };

  // Seen from j, the pairs are listed in another order, and so are their inputs: that is the caller's to do.
  void refuse_pairs(const AdjointChoice& choice) const {
    for (const Field& field : old_.fields) {
      if (field.role != Role::InputPair) continue;
      if (side_ == AdjointSide::OneSet)
        throw InvalidAdjoint{
            fmt::format("'{}' is an input of listed pairs, which are those of i or those of j; no "
                        "derivatives by inputs of both are made at once",
                        field.name)};
      if (!choice.by.empty() && is_named(choice.by, field))
        throw InvalidAdjoint{
            fmt::format("'{}' is an input of listed pairs, by which no derivatives are made", field.name)};
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
      if (side_ == AdjointSide::OneSet && sites_.is_second_name(field)) continue;
      add_variable(field);
      count += field.components();
    }
    if (by_.empty()) throw InvalidAdjoint{fmt::format("pipeline '{}' has nothing to differentiate by", old_.name)};
    if (count > kMostAdjoints)
      throw InvalidAdjoint{fmt::format("{} derivatives at once; at most {} are made", count, kMostAdjoints)};
  }

  void add_variable(const Field& field) {
    Variable variable{leaf_op(field.role), field.first, field.components(), -1, {}};
    for (std::size_t t = 0; t < old_.tables.size(); ++t) {
      const Table& table = old_.tables[t];
      if (field.role != Role::Param || table.first < field.first || table.first >= field.first + field.components())
        continue;
      if (table.power >= 0 || table.stride != 1)
        throw InvalidAdjoint{
            fmt::format("'{}' is interpolated or of vectors; no derivative by its elements is made", field.name)};
      variable.table = int(t);
    }
    Field output = field;
    output.name = "d_" + field.name;
    const auto is_taken = [&](const Field& other) { return other.name == output.name; };
    while (std::ranges::any_of(new_.fields, is_taken)) output.name = "d" + output.name;
    output.role = Role::Output;
    output.reduction = Reduction::Sum;
    output.is_table = false;
    output.columns = 0;
    output.defaults.clear();
    output.comment.clear();
    output.first = new_.components(Role::Output);
    new_.fields.push_back(output);
    by_.push_back(variable);
  }

  static Op leaf_op(Role role) {
    return role == Role::InputI ? Op::InputI : role == Role::InputJ ? Op::InputJ : Op::Param;
  }

  std::vector<int> raw_components() const {
    std::vector<int> result;
    for (int c = 0; c < int(old_.contributions.size()); ++c)
      result.push_back(extras_.component("raw_", c).value_or(-1));
    return result;
  }

  NodeId extra(const std::string& prefix, int output, bool exchanged) {
    const std::optional<int> component = extras_.component(prefix, output);
    if (!component) throw std::logic_error(fmt::format("an adjoint has no {} of output component {}", prefix, output));
    return sites_.extra(new_.pair, *component, exchanged);
  }

  // dL/d(the sum itself), as nodes of the pair graph: d_NAME, through finish() if there is one.
  std::vector<NodeId> sums_adjoints(bool exchanged) {
    std::vector<NodeId> result(old_.contributions.size(), kNone);
    if (old_.finished.empty()) {
      for (const Field& field : outputs_)
        for (int c = field.first; c < field.first + field.components(); ++c)
          result[std::size_t(c)] = extra("d_", c, exchanged);
      return result;
    }
    Graph finish = old_.finish;
    std::vector<NodeId> leaves;
    for (const Field* field : old_.fields_of(Role::Output))
      leaves.push_back(finish.leaf(Op::Output, std::int64_t(leaves.size()), result_type(*field)));
    const std::vector<NodeId> by = gradient(finish, finish_seeds(finish), leaves);
    Exchange copy = sites_.copy_of_finish(finish, new_.pair, exchanged);
    for (std::size_t c = 0; c < by.size(); ++c)
      if (by[c] != kNone && is_floating(finish[by[c]].type)) result[c] = copy(by[c]);
    return result;
  }

  // In finish() the adjoints of the results are leaves that it has no use for: inputs of a pair.
  std::vector<Weighted> finish_seeds(Graph& finish) const {
    std::vector<Weighted> seeds;
    for (const Field& field : outputs_)
      for (int c = field.first; c < field.first + field.components(); ++c)
        seeds.push_back({old_.finished[std::size_t(c)],
                         finish.leaf(Op::InputPair, *extras_.component("d_", c), field.type), kNone});
    return seeds;
  }

  void add_seeds(bool exchanged, std::vector<Weighted>& seeds) {
    const std::vector<NodeId> adjoints = sums_adjoints(exchanged);
    Exchange copy = sites_.copy_of_pair(old_.pair, new_.pair, exchanged);
    Graph& graph = new_.pair;
    const std::vector<const Field*> fields = old_.fields_of(Role::Output);
    for (std::size_t c = 0; c < fields.size(); ++c) {
      const Field* field = fields[c];
      if (adjoints[c] == kNone) continue;
      const Contribution& contribution = old_.contributions[c];
      const NodeId value = copy(contribution.value);
      const NodeId guard = contribution.guard == kNone ? kNone : copy(contribution.guard);
      const auto times = [&](NodeId a, NodeId b) { return make_folded(graph, Op::Mul, a, b); };
      const auto raw = [&] { return extra("raw_", int(c), exchanged); };
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
          const NodeId share = graph.unary(Op::Exp, make_folded(graph, Op::Sub, logit, extra("z_", int(c), exchanged)));
          const NodeId weight = times(adjoints[c], share);
          seeds.push_back({value, weight, guard});
          // 0 times an infinite value would be NaN where the pair has no weight.
          const NodeId zero = graph.constant(0, graph[share].type), none = graph.binary(Op::Eq, share, zero);
          const NodeId above = make_folded(graph, Op::Sub, value, raw());
          seeds.push_back(
              {logit, times(weight, graph.select(none, graph.constant(0, graph[above].type), above)), guard});
          break;
        }
        case Reduction::Min:
        case Reduction::Max: {
          const NodeId here = sites_.j_index(graph, exchanged);
          const NodeId is_chosen = graph.binary(Op::Eq, here, extra("at_", int(c), exchanged));
          seeds.push_back(
              {value, graph.select(is_chosen, adjoints[c], graph.constant(0, graph[adjoints[c]].type)), guard});
          break;
        }
        default:
          throw InvalidAdjoint{
              fmt::format("finish() makes results of output '{}', an output({}), of which nbcc makes no "
                          "derivative",
                          field->name, name(field->reduction))};
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
      variable.leaves.push_back(sites_.variable(graph, variable.op, variable.first + c));
  }

  // If all seeds have one guard it becomes that of the sums; else each keeps its own, and the sums are guarded by any.
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

  // The derivative by component c of the variable; kNone: 0. `found` are the derivatives by `variables`. An element of
  // a table is read by every lookup whose index is c.
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

  // The leaves of finish() that the variable's components are, or that read them.
  std::vector<NodeId> leaves_of_finish(Graph& finish, const Variable& variable) const {
    if (variable.table >= 0) return lookups_of(finish, variable);
    const Role role = variable.op == Op::Param ? Role::Param : variable.op == Op::InputI ? Role::InputI : Role::InputJ;
    std::vector<NodeId> result;
    for (int c = variable.first; c < variable.first + variable.components; ++c)
      result.push_back(finish.leaf(variable.op, c, old_.field_of(role, c).type));
    return result;
  }

  // Results of finish() depend on some inputs and params directly: that is added once per i.
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
    Exchange copy = sites_.copy_of_finish(finish, new_.finish, false);
    const std::vector<const Field*> outputs = new_.fields_of(Role::Output);
    for (std::size_t c = 0; c < by.size(); ++c) {
      const NodeId sum = new_.finish.leaf(Op::Output, std::int64_t(c), result_type(*outputs[c]));
      new_.finished.push_back(by[c] == kNone ? sum : make_folded(new_.finish, Op::Add, sum, copy(by[c])));
    }
  }

  const Pipeline& old_;
  const AdjointSide side_;
  const std::vector<Field> outputs_;
  const Extras extras_;
  const Sites sites_;
  Pipeline new_;
  std::vector<Variable> by_;
};

}  // namespace

Pipeline forward_pipeline(const Pipeline& pipeline, const AdjointChoice& choice) {
  const std::vector<Field> outputs = chosen_outputs(pipeline, choice);
  const Extras extras(pipeline, outputs);
  Pipeline result = pipeline;
  std::map<int, int> raw_of;  // by an output's first component: that of its value before finish()
  for (std::size_t k = 0; k < extras.fields().size(); ++k) {
    const std::string& prefix = extras.prefix(k);
    // Without finish() a value before it is the output itself.
    if (prefix == "d_" || (prefix == "raw_" && pipeline.finished.empty())) continue;
    const Field& of = pipeline.field_of(Role::Output, extras.output(k));
    Field field = extras.fields()[k];
    field.role = Role::Output;
    field.first = result.components(Role::Output);
    field.type = prefix == "raw_" ? of.type : field.type;
    field.reduction = prefix == "raw_" ? of.reduction
                      : prefix == "z_" ? Reduction::LogSumExp
                                       : (is_minimum(of.reduction) ? Reduction::ArgMin : Reduction::ArgMax);
    for (int c = 0; c < field.components(); ++c) {
      Contribution contribution = pipeline.contributions[std::size_t(extras.output(k) + c)];
      if (prefix == "z_") contribution = {.value = contribution.logit, .guard = contribution.guard};
      result.contributions.push_back(contribution);
      if (!result.finished.empty())
        result.finished.push_back(result.finish.leaf(Op::Output, field.first + c, result_type(field)));
    }
    if (prefix == "raw_") raw_of[of.first] = field.first;
    result.fields.push_back(field);
  }
  // What goes along with a choice does so before finish(), too.
  for (Field& field : result.fields) {
    const bool is_new = field.role == Role::Output && field.first >= pipeline.components(Role::Output);
    if (is_new && field.reduction == Reduction::At)
      field.follows = raw_of.at(pipeline.find(field.name.substr(4))->follows);
  }
  return result;
}

Pipeline adjoint_pipeline(const Pipeline& pipeline, const AdjointChoice& choice, AdjointSide side) {
  return Builder(pipeline, choice, side).run();
}

}  // namespace nbcc
