// Names and indices of fields, and the rules for signs; nothing is differentiated here. Entry points: Exchange,
// InputMap.
#include "compiler/passes/derived/exchange.h"

#include <fmt/core.h>

#include <algorithm>

#include "compiler/ir/rewrite.h"
#include "compiler/passes/passes.h"

namespace nbcc {

// ---- Exchange

NodeId Exchange::operator()(NodeId id) {
  if (done_[std::size_t(id)].id == kNone) {
    const std::vector<bool> needed = reachable(from_, {id});
    for (NodeId n = 0; n <= id; ++n)
      if (needed[std::size_t(n)] && done_[std::size_t(n)].id == kNone) done_[std::size_t(n)] = copy(from_[n]);
  }
  return plain(done_[std::size_t(id)]);
}

NodeId Exchange::plain(Signed value) {
  return value.negative
             ? fold_node(to_, {.op = Op::Neg, .type = to_[value.id].type, .binding = {}, .args = {}, .where = {}},
                         {value.id, kNone, kNone})
             : value.id;
}

// As plain(), for operations that see the sign of a zero: the opposite of a - b is b - a, which is 0 and not -0 if a =
// b.
NodeId Exchange::exact(Signed value) {
  const Node node = to_[value.id];
  return value.negative && node.op == Op::Sub ? to_.make(Op::Sub, node.type, {node.args[1], node.args[0], kNone})
                                              : plain(value);
}

NodeId Exchange::make(const Node& node, std::array<NodeId, 3> args) {
  return numbers_in(node.type) > 1 ? copy_node(to_, node, args) : fold_node(to_, node, args);
}

Exchange::Signed Exchange::copy(const Node& node) {
  if (node.op == Op::Const) return {copy_node(to_, node, node.args), false};
  // Seen from j, the image of i is moved by the opposite multiples.
  if (node.op == Op::ImageIndex) return {copy_node(to_, node, node.args), swaps_};
  if (arity(node.op) == 0) return {leaf_(node), false};
  if (node.op == Op::EveryImage) return copy_image(node);
  const bool is_of_image = arity(node.op) == 1 && from_[node.args[0]].op == Op::EveryImage;
  if (signs_ || is_of_image) return copy_signed(node);
  std::array<NodeId, 3> args{kNone, kNone, kNone};
  for (std::size_t k = 0; k < std::size_t(arity(node.op)); ++k) args[k] = plain(done_[std::size_t(node.args[k])]);
  return {make(node, args), false};
}

bool Exchange::is_in_target(Op op, Type type, NodeId a, NodeId b) {
  for (; known_end_ < to_.size(); ++known_end_) {
    const Node& node = to_[known_end_];
    if (arity(node.op) == 2) known_.emplace(node.op, node.type, node.args[0], node.args[1]);
  }
  return known_.contains({op, type, a, b});
}

// In both pipelines the node's vector is the difference j - i.
Exchange::Signed Exchange::copy_image(const Node& node) {
  const Signed vector = done_[std::size_t(node.args[0])];
  NodeId forward = vector.id;
  if (vector.negative != swaps_) {
    std::array<NodeId, 3> parts = to_[vector.id].args;
    // A component 0, which a real difference has two of, stays 0: the text has one every_image() for both directions.
    for (NodeId& part : parts)
      if (!to_.is_constant(part, 0)) part = plain({part, true});
    forward = to_.make(Op::Vector, Type::Vector, parts);
  }
  return {to_.make(node.op, node.type, {forward, done_[std::size_t(node.args[1])].id, kNone}, node.where), swaps_};
}

Exchange::Signed Exchange::copy_signed(const Node& node) {
  const auto arg = [&](int k) { return done_[std::size_t(node.args[std::size_t(k)])]; };
  const auto of = [&](NodeId a, NodeId b = kNone, NodeId c = kNone) { return make(node, {a, b, c}); };
  switch (node.op) {
    case Op::Neg:
      return {arg(0).id, !arg(0).negative};
    case Op::Sub: {
      const NodeId a = plain(arg(0)), b = plain(arg(1));
      if (is_in_target(Op::Sub, node.type, b, a)) return {to_.make(Op::Sub, node.type, {b, a, kNone}), true};
      if (arg(0).negative && arg(1).negative) return {of(arg(0).id, arg(1).id), true};
      return {of(a, b), false};
    }
    case Op::Add:
      if (arg(0).negative && arg(1).negative) return {of(arg(0).id, arg(1).id), true};
      break;
    case Op::Mul:
      return {of(arg(0).id, arg(1).id), arg(0).negative != arg(1).negative};
    case Op::Div:
      return {of(arg(0).id, exact(arg(1))), arg(0).negative};
    case Op::Atan2:
    case Op::CopySign:
      return {of(exact(arg(0)), exact(arg(1))), false};
    case Op::Select: {
      // 0 has either sign.
      const auto is_zero = [&](int k) { return to_.is_constant(arg(k).id, 0); };
      if ((arg(1).negative || is_zero(1)) && (arg(2).negative || is_zero(2)) && !(is_zero(1) && is_zero(2)))
        return {of(plain(arg(0)), arg(1).id, arg(2).id), true};
      break;
    }
    case Op::Sin:
    case Op::Tan:
    case Op::Erf:
    case Op::Tanh:
    case Op::Rint:
    case Op::Round:
    case Op::Trunc:
    case Op::X:
    case Op::Y:
    case Op::Z:
      return {of(arg(0).id), arg(0).negative};
    case Op::Image:
      return {of(arg(0).id, plain(arg(1))), arg(0).negative};
    case Op::Abs:
      // Not folded, which would drop the sign.
      if (is_differentiated_) return {copy_node(to_, node, std::array{exact(arg(0)), kNone, kNone}), false};
      return {of(arg(0).id), false};
    case Op::Cos:
      return {of(arg(0).id), false};
    case Op::Vector:
      if (arg(0).negative && arg(1).negative && arg(2).negative) return {of(arg(0).id, arg(1).id, arg(2).id), true};
      break;
    default:
      break;
  }
  std::array<NodeId, 3> args{kNone, kNone, kNone};
  for (std::size_t k = 0; k < std::size_t(arity(node.op)); ++k) args[k] = plain(arg(int(k)));
  const bool keeps_order = is_differentiated_ && (node.op == Op::Min || node.op == Op::Max);
  if (facts(node.op).commutes && !keeps_order && arity(node.op) == 2 &&
      is_in_target(node.op, node.type, args[1], args[0]))
    std::swap(args[0], args[1]);
  return {make(node, args), false};
}

// ---- InputMap

// The first input of the other side that has the same type and size, and one of the names that a partner may have.
static const Field* likely_partner(const Pipeline& pipeline, const Field& field) {
  const bool is_i = field.role == Role::InputI;
  if (!is_i && field.role != Role::InputJ) return nullptr;
  const char own = is_i ? 'i' : 'j', others = is_i ? 'j' : 'i';
  std::vector<std::string> names{field.name + "_" + others};
  if (pipeline.dialect == Dialect::Cunbody) names = {is_i ? "INPUT_J" : "INPUT_I"};
  if (field.name.size() > 1 && field.name.back() == own) {
    names.push_back(field.name);
    names.back().back() = others;
  }
  if (field.name.size() > 2 && field.name.ends_with(std::string("_") + own))
    names.push_back(field.name.substr(0, field.name.size() - 2));
  for (const std::string& name : names) {
    const Field* other = pipeline.find(name);
    if (other != nullptr && other->role == (is_i ? Role::InputJ : Role::InputI) && other->type == field.type &&
        other->length == field.length && other->width == field.width)
      return other;
  }
  return nullptr;
}

const Field* partner_of(const Pipeline& pipeline, const Field& field) {
  const Field* const other = likely_partner(pipeline, field);
  if (other == nullptr) return nullptr;
  const Field* const back = likely_partner(pipeline, *other);
  return back != nullptr && back->name == field.name ? other : nullptr;
}

Op leaf_op(Role role) {
  return role == Role::InputI   ? Op::InputI
         : role == Role::InputJ ? Op::InputJ
         : role == Role::Param  ? Op::Param
                                : Op::InputPair;
}

std::string free_name(const std::string& name, const std::function<bool(const std::string&)>& is_taken) {
  std::string free = name;
  for (int k = 2; is_taken(free); ++k) free = fmt::format("{}_{}", name, k);
  return free;
}

InputMap::InputMap(const Pipeline& pipeline, const std::vector<AdjointField>& added_inputs, std::vector<int> raw,
                   AdjointSide side)
    : old_(pipeline), added_inputs_(added_inputs), raw_(std::move(raw)), side_(side) {
  for (const AdjointField& added_input : added_inputs)
    added_leaves_.resize(added_leaves_.size() + std::size_t(added_input.field.components()),
                         {added_input.field.role, 0, added_input.field.type});
  for (int c = 0; c < pipeline.components(Role::InputI); ++c) new_component_of_i_.push_back(c);
  for (int c = 0; c < pipeline.components(Role::InputJ); ++c) new_component_of_j_.push_back(c);
  if (side == AdjointSide::OneSet)
    merge_sides();
  else
    keep_sides();
  for (const Field& field : pipeline.fields)
    if (field.role == Role::Param || field.role == Role::InputPair)
      fields_.push_back({field, AdjointMeaning::Value, field.name, ""});
  append_added(Role::Param, Role::Param);
  append_added(Role::InputPair, Role::InputPair);
}

void InputMap::keep_sides() {
  for (const Role now : {Role::InputI, Role::InputJ}) {
    const Role was = i_stays(false) ? now : now == Role::InputI ? Role::InputJ : Role::InputI;
    for (Field field : old_.fields)
      if (field.role == was) {
        field.role = now;
        fields_.push_back({field, AdjointMeaning::Value, field.name, ""});
      }
    append_added(was, now);
  }
}

// Adds the added inputs whose role was `was`, after the first pipeline's fields of that role.
void InputMap::append_added(Role was, Role now) {
  int next = old_.components(was);
  for (AdjointField added : added_inputs_) {
    if (added.field.role != was) continue;
    const int begin = added.field.first;
    added.field.role = now, added.field.first = next;
    if (added.field.is_table()) added_tables_.push_back({next, 1, added.field.length, added.field.columns, -1});
    for (int c = 0; c < added.field.components(); ++c) {
      AddedLeaf& leaf = added_leaves_[std::size_t(begin + c)];
      leaf.role = now, leaf.component = next++;
    }
    fields_.push_back(added);
  }
}

// Both sides have all fields, in the same order.
void InputMap::merge_sides() {
  int next = 0;
  std::vector<AdjointField> of_i, of_j;
  const auto is_taken = [&](const std::string& name) {
    const auto has_name = [&](const AdjointField& one) { return one.field.name == name; };
    return old_.find(name) != nullptr || std::ranges::any_of(added_inputs_, has_name) ||
           std::ranges::any_of(of_i, has_name) || std::ranges::any_of(of_j, has_name);
  };
  // Null: the side has no such field.
  const auto add = [&](const AdjointField& one, const Field* own_i, const Field* own_j) {
    const std::string name_i = own_i ? own_i->name : free_name(one.field.name + "_i", is_taken);
    const std::string name_j = own_j ? own_j->name : free_name(one.field.name + "_j", is_taken);
    AdjointField made = one;
    made.field.first = next;
    next += made.field.components();
    made.field.role = Role::InputI, made.field.name = name_i;
    if (own_i && made.meaning == AdjointMeaning::Value) made.of = own_i->name;
    of_i.push_back(made);
    made.field.role = Role::InputJ, made.field.name = name_j;
    made.field.comment.clear();
    if (own_j && made.meaning == AdjointMeaning::Value) made.of = own_j->name;
    of_j.push_back(made);
  };
  const auto map_components = [&](std::vector<int>& new_component_of, const Field& field, int first) {
    for (int c = 0; c < field.components(); ++c) new_component_of[std::size_t(field.first + c)] = first + c;
  };
  for (const Field& field : old_.fields) {
    if (field.role != Role::InputI) continue;
    const Field* other = partner_of(old_, field);
    map_components(new_component_of_i_, field, next);
    if (other != nullptr) map_components(new_component_of_j_, *other, next);
    add({field, AdjointMeaning::Value, field.name, ""}, &field, other);
  }
  for (const Field& field : old_.fields) {
    if (field.role != Role::InputJ || partner_of(old_, field) != nullptr) continue;
    map_components(new_component_of_j_, field, next);
    add({field, AdjointMeaning::Value, field.name, ""}, nullptr, &field);
  }
  for (const AdjointField& added_input : added_inputs_) {
    if (added_input.field.role != Role::InputI) continue;
    for (int c = 0; c < added_input.field.components(); ++c)
      added_leaves_[std::size_t(added_input.field.first + c)].component = next + c;
    add(added_input, &added_input.field, nullptr);
  }
  fields_ = std::move(of_i);
  fields_.insert(fields_.end(), of_j.begin(), of_j.end());
}

NodeId InputMap::added_input(Graph& graph, int component, bool exchanged) const {
  const AddedLeaf& leaf = added_leaves_[std::size_t(component)];
  const Role role = !exchanged || leaf.role != Role::InputI ? leaf.role : Role::InputJ;
  return graph.leaf(leaf_op(role), leaf.component, leaf.type);
}

int InputMap::table_of_added(int component) const {
  const int first = added_leaves_[std::size_t(component)].component;
  const auto found = std::ranges::find(added_tables_, first, &Table::first);
  return int(old_.tables.size()) + int(found - added_tables_.begin());
}

NodeId InputMap::j_index(Graph& graph, bool exchanged) const {
  return graph.leaf(i_stays(exchanged) ? Op::JIndex : Op::IIndex, 0, Type::Index);
}

NodeId InputMap::variable(Graph& graph, Role role, int component) const {
  const Type type = old_.field_of(role, component).type;
  if (role == Role::Param || role == Role::InputPair || side_ == AdjointSide::Tangent)
    return graph.leaf(leaf_op(role), component, type);
  return graph.leaf(Op::InputI,
                    (role == Role::InputI ? new_component_of_i_ : new_component_of_j_)[std::size_t(component)], type);
}

NodeId InputMap::leaf(Graph& graph, const Node& node, bool exchanged) const {
  const bool stays = i_stays(exchanged);
  const auto k = std::size_t(node.payload);
  switch (node.op) {
    case Op::InputI:
      return graph.leaf(stays ? Op::InputI : Op::InputJ, new_component_of_i_[k], node.type, node.where);
    case Op::InputJ:
      return graph.leaf(stays ? Op::InputJ : Op::InputI, new_component_of_j_[k], node.type, node.where);
    case Op::IIndex:
    case Op::JIndex:
      return graph.leaf((node.op == Op::IIndex) == stays ? Op::IIndex : Op::JIndex, 0, node.type, node.where);
    default:
      return graph.leaf(node.op, node.payload, node.type, node.where);
  }
}

Exchange InputMap::copy_of_pair(const Graph& from, Graph& to, bool exchanged) const {
  const auto rule = [this, &to, exchanged](const Node& node) { return leaf(to, node, exchanged); };
  return {from, to, rule, exchanged, !i_stays(exchanged), true};
}

Exchange InputMap::copy_of_finish(const Graph& from, Graph& to, bool exchanged) const {
  const auto rule = [this, &to, exchanged](const Node& node) {
    if (node.op == Op::InputPair && node.payload < 0) return to.leaf(Op::Output, -1 - node.payload, node.type);
    if (node.op == Op::InputPair) return added_input(to, int(node.payload), exchanged);
    if (node.op == Op::Output) return added_input(to, raw_[std::size_t(node.payload)], exchanged);
    return leaf(to, node, exchanged);
  };
  return {from, to, rule, false, !i_stays(exchanged)};
}

}  // namespace nbcc
