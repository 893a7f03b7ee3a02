// The value of a total after finish(), a chain of combinations and selections that begins at the value before it:
//
//   total += a;                             combine(select(c, combine(combine(total, a), b), combine(total, a)), d)
//   if (c) total += b;        <--
//   total += d;
//
// Entry point: total_statements(). Other outputs are assigned; pipeline_text.cpp writes these.
#include "compiler/ir/text/total_statements.h"

#include <fmt/format.h>

#include <stdexcept>

namespace nbcc {
namespace {

class TotalWriter {
 public:
  TotalWriter(const Pipeline& pipeline, int component, NodeId root)
      : graph_(pipeline.finish),
        field_(pipeline.field_of(Role::Output, component)),
        name_(component_name(field_, component)),
        links_(std::size_t(root) + 1) {
    for (NodeId id = 0; id <= root; ++id) link(id, component);
  }

  std::vector<Statement> statements;

  // The statements that make `to` of `from`, a node before it in the chain.
  void write(NodeId from, NodeId to, const std::string& indent) {
    std::vector<NodeId> chain;
    for (NodeId id = to; id != from; id = link_of(id).before) chain.push_back(id);
    for (auto id = chain.rbegin(); id != chain.rend(); ++id) {
      const Link& link = link_of(*id);
      if (link.term != kNone)
        statements.push_back(combination(link, indent));
      else
        write_selection(graph_[*id], link.before, indent);
    }
  }

  NodeId first() const { return first_; }

 private:
  // A node of the chain. before: the node that it continues; kNone: not in the chain, or its first node. term: the
  // value that is combined; kNone: a selection between two continuations.
  struct Link {
    bool is_in_chain = false;
    NodeId before = kNone, term = kNone;
    bool subtracts = false;
  };

  bool is_in_chain(NodeId id) const { return id != kNone && links_[std::size_t(id)].is_in_chain; }

  const Link& link_of(NodeId id) const {
    if (!is_in_chain(id) || links_[std::size_t(id)].before == kNone) throw cannot_be_written();
    return links_[std::size_t(id)];
  }

  std::runtime_error cannot_be_written() const {
    return std::runtime_error(fmt::format("finish() cannot be written: it does more to the total '{}' than to {}",
                                          field_.name, "combine it with values of i"));
  }

  void link(NodeId id, int component) {
    const Node& n = graph_[id];
    Link& link = links_[std::size_t(id)];
    if (n.op == Op::Output && n.payload == component) {
      link.is_in_chain = true;
      first_ = id;
    } else if (field_.reduction != Reduction::LogSumExp && n.op == combining_operation(field_.reduction) &&
               is_in_chain(n.args[0]) != is_in_chain(n.args[1])) {
      const bool is_second = is_in_chain(n.args[1]);
      link = {true, n.args[is_second ? 1 : 0], n.args[is_second ? 0 : 1]};
    } else if (n.op == Op::Sub && field_.reduction == Reduction::Sum && is_in_chain(n.args[0])) {
      link = {true, n.args[0], n.args[1], true};
    } else if (n.op == Op::Select && is_in_chain(n.args[1]) && is_in_chain(n.args[2])) {
      link = {true, common(n.args[1], n.args[2]), kNone};
    } else if (n.op == Op::Add && field_.reduction == Reduction::LogSumExp) {
      link_logarithm(id);
    }
  }

  // The last node that two continuations of one chain share.
  NodeId common(NodeId a, NodeId b) const {
    while (a != b) {
      NodeId& later = a > b ? a : b;
      later = link_of(later).before;
    }
    return a;
  }

  // largest + log(exp(x - largest) + exp(y - largest)), where x is in the chain: logsumexp(x, y).
  void link_logarithm(NodeId id) {
    for (const int k : {0, 1}) {
      const NodeId largest = graph_[id].args[std::size_t(k)];
      const Node& log = graph_[graph_[id].args[std::size_t(1 - k)]];
      if (log.op != Op::Log || graph_[log.args[0]].op != Op::Add) continue;
      const Node& sum = graph_[log.args[0]];
      const NodeId x = exponent(sum.args[0], largest), y = exponent(sum.args[1], largest);
      if (is_in_chain(x) != is_in_chain(y) && x != kNone && y != kNone)
        links_[std::size_t(id)] = {true, is_in_chain(x) ? x : y, is_in_chain(x) ? y : x};
    }
  }

  // x of exp(x - largest); kNone for other nodes.
  NodeId exponent(NodeId id, NodeId largest) const {
    if (graph_[id].op != Op::Exp) return kNone;
    const Node& difference = graph_[graph_[id].args[0]];
    return difference.op == Op::Sub && difference.args[1] == largest ? difference.args[0] : kNone;
  }

  Statement combination(const Link& link, const std::string& indent) const {
    const std::string out = indent + name_;
    const auto [right, values] = right_side(link);
    switch (field_.reduction) {
      case Reduction::Sum:
      case Reduction::Count:
        return {fmt::format("{} {} {};", out, link.subtracts ? "-=" : "+=", right), values};
      case Reduction::Product:
        return {fmt::format("{} *= {};", out, right), values};
      default:
        return {fmt::format("{} = {}({}, {});", out, name(field_.reduction), name_, right), values};
    }
  }

  // A term without the conversion to the type of the total, which the statement implies. `-=` converts the negated
  // term, so that there a conversion before the subtraction is written.
  Statement right_side(const Link& link) const {
    const NodeId term = link.term;
    const Node& n = graph_[term];
    if (n.op == Op::Const) {
      const double value = graph_.constant_value(term);
      if (field_.reduction == Reduction::Count) return {value != 0 ? "true" : "false"};
      return {literal(value, n.type, Typed::FromContext).text};
    }
    const bool drops = n.op == Op::Cast && is_integral(n.type) && is_floating(graph_[n.args[0]].type);
    return {"@", {{n.op == Op::Cast && !drops && !link.subtracts ? n.args[0] : term}}};
  }

  void write_selection(const Node& n, NodeId before, const std::string& indent) {
    const auto condition = [&](bool negated) {
      statements.push_back(condition_of({n.args[0], negated}, indent + "if (", ") {"));
    };
    condition(n.args[1] == before);
    if (n.args[1] != before) write(before, n.args[1], indent + "  ");
    if (n.args[1] != before && n.args[2] != before) statements.push_back({indent + "} else {"});
    if (n.args[2] != before) write(before, n.args[2], indent + "  ");
    statements.push_back({indent + "}"});
  }

  const Graph& graph_;
  const Field& field_;
  std::string name_;
  std::vector<Link> links_;  // [node]
  NodeId first_ = kNone;
};

}  // namespace

std::vector<Statement> total_statements(const Pipeline& pipeline, int component, NodeId root) {
  TotalWriter writer(pipeline, component, root);
  writer.write(writer.first(), root, "  ");
  return std::move(writer.statements);
}

}  // namespace nbcc
