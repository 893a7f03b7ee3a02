// Pipeline -> Pipeline. Entry point: with_accumulators(). The backends write the statements of a pair.
#include "compiler/emit/accumulators.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "compiler/ir/rewrite.h"

namespace nbcc {
namespace {

class Accumulating {
 public:
  explicit Accumulating(Pipeline pipeline) : pipeline_(std::move(pipeline)) {
    for (const Field* field : pipeline_.fields_of(Role::Output)) {
      types_.push_back(result_type(*field));
      reductions_.push_back(field->reduction);
    }
  }

  Pipeline run() {
    for (std::size_t c = 0; c < reductions_.size(); ++c)
      if (is_exponential(reductions_[c])) weigh(int(c));
    for (std::size_t c = 0; c < reductions_.size(); ++c)
      if (is_exponential(reductions_[c])) divide(int(c));
    // All references come last, because they must be combined after the components that refer to them.
    for (auto& [key, group] : groups_)
      group.reference = add("nbcc_reference", Reduction::Reference, {key.logit, key.guard});
    finish();
    return std::move(pipeline_);
  }

 private:
  struct Key {
    NodeId logit, guard;
    auto operator<=>(const Key&) const = default;
  };
  struct Group {
    int total = -1, reference = -1;  // components
  };

  Group& group_of(int output) { return groups_[keys_.at(output)]; }

  // A logsumexp accumulates the sum of the weights itself.
  void weigh(int output) {
    Contribution& c = pipeline_.contributions[std::size_t(output)];
    if (reductions_[std::size_t(output)] == Reduction::LogSumExp) {
      c.logit = c.value;
      c.value = pipeline_.pair.constant(1, pipeline_.pair[c.logit].type);
    }
    keys_[output] = {c.logit, c.guard};
    if (reductions_[std::size_t(output)] == Reduction::LogSumExp) group_of(output).total = output;
  }

  void divide(int output) {
    Group& group = group_of(output);
    if (group.total >= 0) return;
    const Contribution& c = pipeline_.contributions[std::size_t(output)];
    const NodeId one = pipeline_.pair.constant(1, pipeline_.pair[c.logit].type);
    group.total = add("nbcc_weight", Reduction::Weighted, {one, c.guard, kNone, c.logit});
  }

  int add(const char* name, Reduction reduction, const Contribution& contribution) {
    Field field;
    field.name = name;
    field.role = Role::Output;
    field.type = Type::Double;
    field.reduction = reduction;
    field.first = pipeline_.components(Role::Output);
    pipeline_.fields.push_back(field);
    pipeline_.contributions.push_back(contribution);
    return field.first;
  }

  // The value of a component before finish(), converted to the type that finish() reads.
  NodeId result(Graph& graph, int output) {
    const auto at = std::size_t(output);
    return graph.cast(unrounded(graph, output), at < types_.size() ? types_[at] : Type::Double);
  }

  // The same in double precision, computed from the accumulators.
  NodeId unrounded(Graph& graph, int output) {
    const auto at = std::size_t(output);
    const auto held = [&](int component) { return graph.leaf(Op::Output, component, Type::Double); };
    if (at >= reductions_.size()) return held(output);
    if (!is_exponential(reductions_[at])) return graph.leaf(Op::Output, output, types_[at]);
    const Group& group = group_of(output);
    return reductions_[at] == Reduction::Softmax
               ? graph.binary(Op::Div, held(output), held(group.total))
               : graph.binary(Op::Add, graph.unary(Op::Log, held(output)), held(group.reference));
  }

  void finish() {
    if (pipeline_.finished.empty())
      for (std::size_t c = 0; c < reductions_.size(); ++c)
        pipeline_.finished.push_back(pipeline_.finish.leaf(Op::Output, std::int64_t(c), types_[c]));
    // As with other outputs, an output that finish() does not change is not rounded to float.
    std::vector<int> alone;
    for (int c = 0; c < int(reductions_.size()); ++c) {
      const Node& root = pipeline_.finish[pipeline_.finished[std::size_t(c)]];
      const bool is_float = is_exponential(reductions_[std::size_t(c)]) && types_[std::size_t(c)] == Type::Float;
      if (is_float && root.op == Op::Output && root.payload == c) alone.push_back(c);
    }
    // In the graph of pairs there are no Output leaves, so that it is copied unchanged.
    rewrite(pipeline_, [&](Graph& target, const Node& old, std::array<NodeId, 3> args) {
      return old.op == Op::Output ? result(target, int(old.payload)) : copy_node(target, old, args);
    });
    for (int c = int(pipeline_.finished.size()); c < pipeline_.components(Role::Output); ++c)
      pipeline_.finished.push_back(result(pipeline_.finish, c));
    for (const int c : alone) pipeline_.finished[std::size_t(c)] = unrounded(pipeline_.finish, c);
  }

  Pipeline pipeline_;
  std::vector<Type> types_;
  std::vector<Reduction> reductions_;  // as the source declares them
  std::map<int, Key> keys_;            // by output
  std::map<Key, Group> groups_;
};

}  // namespace

Pipeline with_accumulators(Pipeline pipeline) {
  const bool any = std::ranges::any_of(pipeline.fields, [](const Field& field) {
    return field.role == Role::Output && is_exponential(field.reduction);
  });
  return any ? Accumulating(std::move(pipeline)).run() : pipeline;
}

}  // namespace nbcc
