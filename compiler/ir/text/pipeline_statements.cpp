// The contributions of a pipeline -> statements. Entry point: pipeline_statements(). The common condition of all guards
// comes first, as skip_if or as one `if`; then the outputs in order, with statements of the same guard in one block.
// contribution_terms.cpp splits contributions into terms, node_form.cpp writes values.
#include "compiler/ir/text/pipeline_statements.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace nbcc {
namespace {

// The common condition of all guards: a skip_if before all other statements, or one `if` around them. Both may be
// kNone.
struct Common {
  NodeId skipped = kNone;  // skip_if: the pair is skipped unless this holds
  NodeId block = kNone;    // the condition of the `if`
};

// Makes the statements of a pipeline's contributions, in blocks with a common guard.
class Planner {
 public:
  explicit Planner(const Pipeline& pipeline) : pipeline_(pipeline), graph_(pipeline.pair) {}

  void plan() {
    common_ = common_guard();
    for (const Field& field : pipeline_.fields) {
      if (field.role != Role::Output || field.reduction == Reduction::At) continue;
      if (keeps_index(field.reduction) && (field.length > 0 || has_payloads(field)))
        choose(field);
      else
        for (int c = 0; c < field.components(); ++c) contribute(field, field.first + c);
    }
  }

  std::vector<StatementBlock> blocks;

  // The conditions of skip_if, in their order.
  std::vector<Guard> skipped() const {
    if (common_.skipped == kNone) return {};
    const Node& n = graph_[common_.skipped];
    if (n.op != Op::Not) return {{common_.skipped, true}};
    std::vector<Guard> result;
    NodeId rest = n.args[0];
    for (; graph_[rest].op == Op::Or; rest = graph_[rest].args[0]) result.push_back({graph_[rest].args[1], false});
    result.push_back({rest, false});
    std::ranges::reverse(result);
    return result;
  }

 private:
  const Contribution& contribution(int component) const { return pipeline_.contributions.at(std::size_t(component)); }

  bool unwritten(const Field& field, int component) const {
    return !has_payloads(field) && field.reduction != Reduction::At &&
           is_unwritten(graph_, field, contribution(component));
  }

  bool has_payloads(const Field& chooser) const {
    return std::ranges::any_of(pipeline_.fields, [&](const Field& f) {
      return f.role == Role::Output && f.reduction == Reduction::At && f.follows == chooser.first;
    });
  }

  // The rest of a guard without the condition of skip_if.
  NodeId remaining(NodeId guard, NodeId skipped) const {
    if (skipped == kNone) return guard;
    return guard == skipped ? kNone : graph_[guard].args[1];
  }

  bool is_common(NodeId guard) const {
    return std::ranges::all_of(pipeline_.contributions, [&](const Contribution& c) {
      if (c.guard == guard) return true;
      return c.guard != kNone && graph_[c.guard].op == Op::And && graph_[c.guard].args[0] == guard;
    });
  }

  // Negated conditions become skip_if, and so does the guard of an output that has no statement, or has terms with
  // several guards. `if` is used for a condition that is the entire guard of every output.
  Common common_guard() const {
    if (pipeline_.contributions.empty() || pipeline_.contributions[0].guard == kNone) return {};
    const NodeId first = pipeline_.contributions[0].guard;
    bool all_same = true;
    for (int component = 0; component < int(pipeline_.contributions.size()); ++component) {
      const Contribution& c = contribution(component);
      const Field& field = pipeline_.field_of(Role::Output, component);
      const std::vector<OutputTerm> terms = terms_of(graph_, field, c.value, kNone);
      const bool joined = std::ranges::any_of(terms, [](const OutputTerm& t) { return !(t.guard == Guard{}); });
      if ((joined || unwritten(field, component)) && is_common(c.guard)) return {c.guard, kNone};
      all_same = all_same && c.guard == first;
    }
    const bool is_negated = graph_[first].op == Op::Not;
    if (const NodeId left = graph_[first].args[0];
        graph_[first].op == Op::And && graph_[left].op == Op::Not && is_common(left))
      return {left, kNone};
    if (all_same && !is_negated && !graph_.is_constant(first)) return {kNone, first};
    return is_common(first) && (all_same || is_negated) ? Common{first, kNone} : Common{};
  }

  // The guard of a component's statements, without the common condition.
  NodeId guard_of(int component) const {
    const NodeId guard = contribution(component).guard;
    return common_.block != kNone ? kNone : remaining(guard, common_.skipped);
  }

  Guard in_block(const Guard& guard) const {
    return guard.id == kNone && common_.block != kNone ? Guard{common_.block} : guard;
  }

  // Appends the statement to the first block with this guard, from block `from` on; it may thereby precede statements
  // of other outputs. Returns the block's index.
  std::size_t add(const Guard& guard, Statement statement, std::size_t from = 0) {
    const Guard whole = in_block(guard);
    auto block = std::find_if(blocks.begin() + std::ptrdiff_t(from), blocks.end(),
                              [&](const StatementBlock& b) { return b.guard == whole; });
    if (block == blocks.end()) block = blocks.insert(block, StatementBlock{whole, {}});
    block->statements.push_back(std::move(statement));
    return std::size_t(block - blocks.begin());
  }

  void contribute(const Field& field, int component) {
    const Contribution& c = contribution(component);
    const std::string out = component_name(field, component);
    if (c.scale != kNone)
      throw std::runtime_error(fmt::format("the scale of '{}' cannot be written: it is applied after the sum", out));
    const NodeId guard = guard_of(component);
    if (field.is_histogram()) return add_to_element(field, c, guard);
    if (guard == kNone && unwritten(field, component)) return;
    if (field.reduction == Reduction::Count) {
      for (const Guard& g : count_conditions(graph_, field, c.value, guard)) add({}, condition_of(g, out + " += ", ""));
      return;
    }
    std::size_t from = 0;
    for (const OutputTerm& term : terms_of(graph_, field, c.value, guard))
      from = add(term.guard, reduction(field, out, term, c.logit), from);
  }

  // Inverts Lowering::histogram_element() and add_to_element().
  void add_to_element(const Field& field, const Contribution& c, NodeId guard) {
    const auto without_cast = [&](NodeId id, Type type) {
      const Node& n = graph_[id];
      return n.op == Op::Cast && n.type == type && graph_[n.args[0]].type < Type::Float ? n.args[0] : id;
    };
    const NodeId element =
        graph_[c.logit].op == Op::Select ? without_cast(graph_[c.logit].args[1], Type::Int) : c.logit;
    const bool is_absent = graph_.is_constant(element, -1);  // no statement adds to the histogram
    if (is_absent) return;
    const NodeId value = field.type < Type::Float ? without_cast(c.value, Type::Index) : c.value;
    add(guard == kNone ? Guard{} : Guard{guard}, {field.name + "[@] += @", {{element}, {value}}});
  }

  Statement reduction(const Field& field, const std::string& out, const OutputTerm& term, NodeId logit) const {
    const RightSide right = term.negative ? RightSide{"@", term.value} : right_side(graph_, field, term.value);
    std::vector<Value> values;
    if (right.value != kNone) values.push_back({right.value});
    switch (field.reduction) {
      case Reduction::Sum:
        if (right.pattern == "@" && !term.negative && graph_[right.value].op == Op::Neg)
          return {out + " -= @", {{graph_[right.value].args[0]}}};
        if (right.pattern.starts_with('-')) return {fmt::format("{} -= {}", out, right.pattern.substr(1))};
        return {fmt::format("{} {} {}", out, term.negative ? "-=" : "+=", right.pattern), values};
      case Reduction::Product:
        return {fmt::format("{} *= {}", out, right.pattern), values};
      case Reduction::Softmax: {
        const Node& weight = graph_[logit];
        const Type type = graph_[term.value].type;
        values.insert(values.begin(), {weight.op == Op::Cast && weight.type == type ? weight.args[0] : logit});
        return {fmt::format("{0} = softmax({0}, @, {1})", out, right.pattern), values};
      }
      default:
        return {fmt::format("{0} = {1}({0}, {2})", out, name(field.reduction), right.pattern), values};
    }
  }

  // All indices of a choice have the same value; so has each component of a payload.
  void choose(const Field& field) {
    const NodeId value = contribution(field.first).value;
    for (int c = 1; c < field.components(); ++c)
      if (contribution(field.first + c).value != value)
        throw std::runtime_error(fmt::format("'{}' cannot be written: its elements differ", field.name));
    const Guard guard{guard_of(field.first)};
    if (!(field.length == 0 && guard.id == kNone && unwritten(field, field.first)))
      add(guard, reduction(field, field.name, {{}, value}, kNone));
    for (const Field& other : pipeline_.fields)
      if (other.role == Role::Output && other.reduction == Reduction::At && other.follows == field.first)
        add(guard, payload(other, field));
  }

  Statement payload(const Field& field, const Field& chooser) const {
    std::vector<NodeId> parts;
    for (int c = 0; c < field.width; ++c) parts.push_back(contribution(field.first + c).value);
    for (int c = 0; c < field.components(); ++c)
      if (contribution(field.first + c).value != parts[std::size_t(c % field.width)])
        throw std::runtime_error(fmt::format("'{}' cannot be written: its elements differ", field.name));
    std::string right;
    std::vector<Value> values;
    if (field.width > 1) {
      const Form form = Forms(pipeline_, graph_).vector(parts);
      right = form.pattern;
      for (const Form::Operand& operand : form.operands) values.push_back({operand.id, operand.least});
    } else {
      const RightSide number = right_side(graph_, field, parts[0]);
      right = number.pattern;
      if (number.value != kNone) values.push_back({number.value});
    }
    return {fmt::format("{} = at({}, {})", field.name, chooser.name, right), values};
  }

  const Pipeline& pipeline_;
  const Graph& graph_;
  Common common_;
};

}  // namespace

Statement condition_of(const Guard& guard, const std::string& before, const std::string& behind) {
  if (guard.id == kNone) return {before + "true" + behind};
  return {before + (guard.negated ? "!@" : "@") + behind,
          {{guard.id, guard.negated ? Precedence::Operand : Precedence::Choice}}};
}

PairStatements pipeline_statements(const Pipeline& pipeline) {
  Planner planner(pipeline);
  planner.plan();
  PairStatements result{{}, std::move(planner.blocks)};
  for (const Guard& guard : planner.skipped()) result.skips.push_back(condition_of(guard, "skip_if(", ")"));
  return result;
}

}  // namespace nbcc
