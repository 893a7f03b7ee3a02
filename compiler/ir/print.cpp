// Pipeline or Graph -> text. Entry point: print(). Equal pipelines give equal text: dead nodes and locations in the
// user's text do not matter. Nothing parses this text.
#include "compiler/ir/print.h"

#include <fmt/format.h>

#include <bit>
#include <iterator>

namespace nbcc {
namespace {

using PrintedNumbers = std::vector<NodeId>;  // the printed number of each node, kNone for those not printed

PrintedNumbers number(const Graph& graph, const std::vector<NodeId>& roots) {
  const std::vector<bool> needed = reachable(graph, roots);
  PrintedNumbers names(needed.size(), kNone);
  NodeId next = 0;
  for (std::size_t id = 0; id < needed.size(); ++id) {
    if (needed[id]) names[id] = next++;
  }
  return names;
}

// [role][component]: the field with this component.
using Components = std::array<std::vector<const Field*>, kRoles>;

std::string leaf_name(const Components& components, const Node& node) {
  const auto role = facts(node.op).role;
  const auto component = std::size_t(node.payload);
  if (is_element(node.op) && component >= components[std::size_t(*role)].size()) return "";  // element 0 is not read
  return role ? ", " + component_name(*components[std::size_t(*role)].at(component), int(component)) : "";
}

// `components` may be null: leaves are then known by number only.
std::string print_nodes(const Graph& graph, const PrintedNumbers& names, const Components* components) {
  std::string result;
  for (NodeId id = 0; id < graph.size(); ++id) {
    const Node& node = graph[id];
    if (names[std::size_t(id)] == kNone) continue;
    std::array<NodeId, 3> args = node.args;
    for (NodeId& arg : args) arg = arg == kNone ? kNone : names[std::size_t(arg)];
    const std::string text = fmt::format("  %{} = {}", names[std::size_t(id)], print_operation(node, args));
    const std::string field = components == nullptr ? std::string() : leaf_name(*components, node);
    fmt::format_to(std::back_inserter(result), "{:<28} ; {}{}\n", text, name(node.binding), field);
  }
  return result;
}

std::string print_field(const Field& field) {
  std::string type(name(field.type));
  if (field.width > 1) type = fmt::format("{} vec{}", type, field.width);
  std::string role(name(field.role));
  if (field.role == Role::Output) role += fmt::format("({})", reduction_text(field));
  std::string result = fmt::format("{} {} {}", role, type, field.name);
  if (field.length > 0) result += fmt::format("[{}]", field.length);
  if (!field.defaults.empty()) result += fmt::format(" = {}", fmt::join(field.defaults, ", "));
  return result + '\n';
}

std::string print_contribution(const std::string& output, Reduction reduction, const std::string& into,
                               const Contribution& contribution, const PrintedNumbers& names) {
  const auto node = [&](NodeId id) {
    return id == kNone ? std::string("none") : fmt::format("%{}", names[std::size_t(id)]);
  };
  if (reduction == Reduction::Histogram)
    return fmt::format("  {}[{}] += {}{}\n", into, node(contribution.logit), node(contribution.value),
                       contribution.guard == kNone ? "" : " if " + node(contribution.guard));
  const bool is_operator = is_sum(reduction) || reduction == Reduction::Product;
  std::string result =
      is_operator
          ? fmt::format("  {} {}= {}", output, reduction == Reduction::Product ? '*' : '+', node(contribution.value))
          : fmt::format("  {} = {}({}, {}{})", output, name(reduction), into,
                        contribution.logit == kNone ? "" : node(contribution.logit) + ", ", node(contribution.value));
  if (contribution.guard != kNone) result += " if " + node(contribution.guard);
  if (contribution.scale != kNone) result += " times " + node(contribution.scale) + " after the sum";
  return result + '\n';
}

}  // namespace

std::string print_operation(const Node& node, const std::array<NodeId, 3>& args) {
  std::string result = fmt::format("{}.{}", name(node.op), name(node.type));
  if (node.op == Op::Const) return result + fmt::format(" {}", std::bit_cast<double>(node.payload));
  if (node.op == Op::Lookup || node.op == Op::ImageIndex || (node.op == Op::Pow && node.payload != 0))
    result += fmt::format(" {}", node.payload);
  if (is_loop(node.op)) {
    const auto [first, count] = elements_of(node.payload);
    result += fmt::format(" {}..{}", first, first + count - 1);
  }
  if (facts(node.op).role) return result + fmt::format(" {}", node.payload);
  for (int k = 0; k < arity(node.op); ++k) result += fmt::format(" %{}", args[std::size_t(k)]);
  return result;
}

std::string print(const Graph& graph, const std::vector<NodeId>& roots) {
  return print_nodes(graph, number(graph, roots), nullptr);
}

std::string print(const Pipeline& pipeline) {
  std::string result = fmt::format("pipeline {}\n", pipeline.name);
  for (const Field& field : pipeline.fields) result += print_field(field);
  if (pipeline.flops) result += fmt::format("flops {}\n", *pipeline.flops);

  Components components;
  for (const Role role : {Role::InputI, Role::InputJ, Role::InputPair, Role::Param, Role::Output})
    components[std::size_t(role)] = pipeline.fields_of(role);
  const std::vector<const Field*>& outputs = components[std::size_t(Role::Output)];
  const auto output = [&](std::size_t component) { return component_name(*outputs.at(component), int(component)); };
  const PrintedNumbers pair = number(pipeline.pair, pipeline.roots());
  result += "pair\n" + print_nodes(pipeline.pair, pair, &components);
  for (std::size_t c = 0; c < pipeline.contributions.size(); ++c) {
    const int chooser = outputs.at(c)->follows;
    result += print_contribution(output(c), outputs.at(c)->reduction,
                                 chooser < 0 ? output(c) : outputs.at(std::size_t(chooser))->name,
                                 pipeline.contributions[c], pair);
  }
  if (pipeline.finished.empty()) return result;

  const PrintedNumbers finish = number(pipeline.finish, pipeline.finished);
  result += "finish\n" + print_nodes(pipeline.finish, finish, &components);
  for (std::size_t c = 0; c < pipeline.finished.size(); ++c) {
    result += fmt::format("  {} = %{}\n", output(c), finish[std::size_t(pipeline.finished[c])]);
  }
  return result;
}

}  // namespace nbcc
