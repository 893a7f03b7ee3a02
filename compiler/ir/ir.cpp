// The members of Graph and Pipeline. Graph interns nodes, so that equal expressions become one node when they are
// built. Nothing is simplified here (fold does that) and nothing is checked (verify does that).
#include "compiler/ir/ir.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <set>
#include <utility>

#include "compiler/ir/limits.h"
#include "compiler/text/diagnostic.h"

namespace nbcc {
namespace {

std::uint64_t hash(const Node& node) {
  std::uint64_t h = (std::uint64_t(node.op) << 8) | std::uint64_t(node.type);
  const auto mix = [&h](std::uint64_t word) {
    h = (h ^ word) * 0x9e3779b97f4a7c15u;
    h ^= h >> 32;
  };
  for (NodeId arg : node.args) mix(std::uint64_t(arg));
  mix(std::uint64_t(node.payload));
  return h;
}

bool same(const Node& a, const Node& b) {
  return a.op == b.op && a.type == b.type && a.args == b.args && a.payload == b.payload;
}

}  // namespace

TooManyNodes::TooManyNodes(std::int32_t limit, const std::string& pipeline)
    : CompileError(Source{pipeline, {}}, {{Severity::Error,
                                           {},
                                           fmt::format("the pipeline grows beyond {} operations when it is optimized; "
                                                       "break it up, or keep its sums and products as they are "
                                                       "written (precise mathematics)",
                                                       limit)}}) {}

TooManyNodes::~TooManyNodes() = default;

std::string_view name(Binding binding) {
  constexpr std::array<std::string_view, 8> names{"constant", "param", "", "i", "", "j", "", "pair"};
  return names[std::size_t(binding)];
}

std::string_view name(Role role) {
  constexpr std::array<std::string_view, kRoles> names{"input_i", "input_j", "param", "output", "input_pair"};
  return names[std::size_t(role)];
}

std::string_view name(Reduction reduction) {
  constexpr std::array<std::string_view, 13> names{"sum",       "min",      "max",      "argmin", "argmax",
                                                   "logsumexp", "softmax",  "product",  "count",  "at",
                                                   "histogram", "weighted", "reference"};
  return names[std::size_t(reduction)];
}

std::string reduction_text(const FieldLayout& output) {
  const Reduction declared = output.reduction == Reduction::Histogram ? Reduction::Sum : output.reduction;
  if (output.is_of_pair()) return "pair";
  if (!output.is_total()) return std::string(name(declared));
  return declared == Reduction::Sum ? "total" : "total, " + std::string(name(declared));
}

// Hash table with linear probing, at most half full.
NodeId Graph::intern(Node node) {
  if (2 * nodes_.size() >= slots_.size()) grow();
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = hash(node) & mask;
  for (; slots_[slot] != kNone; slot = (slot + 1) & mask)
    if (same((*this)[slots_[slot]], node)) return slots_[slot];
  if (size() >= kMaxNodesInWork) throw TooManyNodes(kMaxNodesInWork);
  const NodeId id = size();
  nodes_.push_back(node);
  slots_[slot] = id;
  return id;
}

void Graph::grow() {
  slots_.assign(std::max<std::size_t>(64, 2 * slots_.size()), kNone);
  const std::size_t mask = slots_.size() - 1;
  for (NodeId id = 0; id < size(); ++id) {
    std::size_t slot = hash((*this)[id]) & mask;
    while (slots_[slot] != kNone) slot = (slot + 1) & mask;
    slots_[slot] = id;
  }
}

NodeId Graph::constant(double value, Type type, Location where) {
  return leaf(Op::Const, std::bit_cast<std::int64_t>(value), type, where);
}

NodeId Graph::leaf(Op op, std::int64_t payload, Type type, Location where) {
  return intern({.op = op, .type = type, .binding = facts(op).binding, .payload = payload, .where = where});
}

NodeId Graph::make(Op op, Type type, std::array<NodeId, 3> args, Location where, std::int64_t payload) {
  Node node{.op = op, .type = type, .binding = facts(op).binding, .args = args, .payload = payload, .where = where};
  for (NodeId arg : args) {
    // Invalid arguments are accepted here; verify() reports them with the pass that made them.
    if (arg >= 0 && arg < size()) node.binding = join(node.binding, (*this)[arg].binding);
  }
  return intern(node);
}

NodeId Graph::unary(Op op, NodeId a, Location where) {
  return make(op, gives_bool(op) ? Type::Bool : (*this)[a].type, {a, kNone, kNone}, where);
}

NodeId Graph::binary(Op op, NodeId a, NodeId b, Location where) {
  const Type joined = std::max((*this)[a].type, (*this)[b].type);
  return make(op, gives_bool(op) ? Type::Bool : joined, {a, b, kNone}, where);
}

NodeId Graph::select(NodeId condition, NodeId yes, NodeId no, Location where) {
  return make(Op::Select, std::max((*this)[yes].type, (*this)[no].type), {condition, yes, no}, where);
}

NodeId Graph::cast(NodeId a, Type type, Location where) {
  if ((*this)[a].type == type) return a;
  return make(Op::Cast, type, {a, kNone, kNone}, where);
}

bool Graph::is_constant(NodeId id, double value) const { return is_constant(id) && constant_value(id) == value; }

double Graph::constant_value(NodeId id) const { return std::bit_cast<double>((*this)[id].payload); }

std::vector<bool> reachable(const Graph& graph, const std::vector<NodeId>& roots) {
  std::vector<bool> needed(std::size_t(graph.size()), false);
  for (NodeId root : roots) {
    if (root != kNone) needed[std::size_t(root)] = true;
  }
  // Arguments precede their users, so one pass from the end visits every user before its arguments.
  for (NodeId id = graph.size() - 1; id >= 0; --id) {
    if (!needed[std::size_t(id)]) continue;
    for (NodeId arg : graph[id].args) {
      if (arg != kNone) needed[std::size_t(arg)] = true;
    }
  }
  return needed;
}

std::vector<int> count_uses(const Graph& graph, const std::vector<NodeId>& roots) {
  std::vector<int> uses(std::size_t(graph.size()), 0);
  const std::vector<bool> alive = reachable(graph, roots);
  for (NodeId id = 0; id < graph.size(); ++id)
    if (alive[std::size_t(id)])
      for (NodeId arg : graph[id].args)
        if (arg != kNone) ++uses[std::size_t(arg)];
  for (NodeId root : roots)
    if (root != kNone) ++uses[std::size_t(root)];
  return uses;
}

int Pipeline::components(Role role) const {
  int count = 0;
  for (const Field& field : fields) {
    if (field.role == role) count += field.components();
  }
  return count;
}

int Pipeline::params_by_value() const {
  int count = 0;
  for (const Field& field : fields)
    if (field.role == Role::Param && !field.is_table()) count += field.components();
  return count;
}

const Field* Pipeline::find(std::string_view field) const {
  const auto it = std::ranges::find(fields, field, &Field::name);
  return it == fields.end() ? nullptr : &*it;
}

std::string component_name(const FieldLayout& field, int component) {
  const int k = component - field.first;
  std::string result = field.name;
  const int element = k / field.width;
  if (field.columns > 0)
    result += fmt::format("[{}][{}]", element / field.columns, element % field.columns);
  else if (field.length > 0)
    result += fmt::format("[{}]", element);
  if (field.width > 1) result += fmt::format(".{}", "xyzw"[k % field.width]);
  return result;
}

const Field& Pipeline::field_of(Role role, int component) const {
  for (const Field& field : fields) {
    const bool holds = component >= field.first && component < field.first + field.components();
    if (field.role == role && holds) return field;
  }
  throw InternalError("no " + std::string(nbcc::name(role)) + " field holds component " + std::to_string(component));
}

std::vector<const Field*> Pipeline::fields_of(Role role) const {
  std::vector<const Field*> result(std::size_t(components(role)));
  for (const Field& field : fields) {
    if (field.role == role) std::fill_n(result.begin() + field.first, field.components(), &field);
  }
  return result;
}

bool Pipeline::becomes_nan(int output) const {
  const Field& field = field_of(Role::Output, output);
  const Reduction reduction = field.reduction;
  const Type type = pair[contributions[std::size_t(output)].value].type;
  if (reduction == Reduction::Histogram || field.is_of_pair()) return false;
  // NaN would make the integer of the entire run 0.
  if (field.is_total() && !is_floating(field.type)) return false;
  return is_sum(reduction) || (!keeps_index(reduction) && type != Type::Index);
}

bool Pipeline::has_pair_values() const { return std::ranges::any_of(fields, &Field::is_pair_result); }

std::vector<NodeId> Pipeline::roots() const {
  std::vector<NodeId> result;
  for (const Contribution& contribution : contributions) {
    for (NodeId root : {contribution.value, contribution.guard, contribution.scale, contribution.logit}) {
      if (root != kNone) result.push_back(root);
    }
  }
  if (within != kNone) result.push_back(within);
  return result;
}

Pipeline without_totals(Pipeline pipeline) {
  for (Field& field : pipeline.fields)
    if (field.kind == FieldKind::Total) field.kind = FieldKind::Particle;
  return pipeline;
}

int count_operations(const Pipeline& pipeline) {
  const std::vector<bool> needed = reachable(pipeline.pair, pipeline.roots());
  int count = int(pipeline.contributions.size());
  std::set<std::pair<NodeId, NodeId>> weights;  // (logit, guard): each costs a difference, an exponential and a sum
  const std::vector<const Field*> outputs = pipeline.fields_of(Role::Output);
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    const Contribution& c = pipeline.contributions[k];
    count += outputs[k]->reduction == Reduction::Softmax;  // its weight times its value
    if (!is_exponential(outputs[k]->reduction)) continue;
    const bool first = weights.emplace(c.logit == kNone ? c.value : c.logit, c.guard).second;
    count += first ? 3 : 0;
  }
  // A choice counts as one reduction, however many indices and payloads it has.
  for (const Choice& choice : choices_of(pipeline.fields)) {
    count -= choice.slots - 1;
    for (const Choice::Payload& payload : choice.payloads) count -= choice.slots * payload.width;
  }
  for (NodeId id = 0; id < pipeline.pair.size(); ++id) {
    const Node& node = pipeline.pair[id];
    if (needed[std::size_t(id)] && node.binding == Binding::Pair) count += facts(node.op).cost;
  }
  return count;
}

}  // namespace nbcc
