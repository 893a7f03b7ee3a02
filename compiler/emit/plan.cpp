// Pipeline -> Plan. One door: make_plan(). It writes no text and knows no backend.
#include "compiler/emit/plan.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "compiler/text/own_stack.h"

namespace nbcc {
namespace {

bool is_leaf(Op op) { return arity(op) == 0; }

class Planner {
 public:
  Planner(Pipeline& pipeline, const Options& options)
      : pipeline_(pipeline),
        graph_(pipeline.pair),
        options_(options),
        inputs_i_(pipeline.fields_of(Role::InputI)),
        inputs_j_(pipeline.fields_of(Role::InputJ)) {}

  Plan run() {
    choose_guard();
    find_stages();
    plan_side(plan_.i, Binding::I, Op::InputI);
    plan_side(plan_.j, Binding::J, Op::InputJ);
    plan_finish();
    return std::move(plan_);
  }

 private:
  std::vector<NodeId> loop_roots() const {
    std::vector<NodeId> roots;
    for (const Contribution& c : pipeline_.contributions) {
      roots.push_back(c.value);
      roots.push_back(c.guard);
    }
    return roots;
  }

  // A value that is made once per particle and kept in a column. Conditions are made again in the loop: they are
  // cheap there, and a column of them is not.
  bool is_derived(NodeId id) const {
    const Node& n = graph_[id];
    return (n.binding == Binding::I || n.binding == Binding::J) && !is_leaf(n.op) && n.type != Type::Bool;
  }

  // Walks down from the loop's roots and stops at what is made elsewhere.
  void find_stages() {
    std::vector<bool> in_loop(std::size_t(graph_.size()), false), uniform(std::size_t(graph_.size()), false);
    for (NodeId root : loop_roots())
      if (root != kNone) in_loop[std::size_t(root)] = true;
    if (plan_.any_guard != kNone) in_loop[std::size_t(plan_.any_guard)] = true;
    for (NodeId id = graph_.size(); id-- > 0;) {
      const auto at = std::size_t(id);
      const Node& n = graph_[id];
      if (in_loop[at] && is_uniform(n.binding)) {
        in_loop[at] = false;
        uniform[at] = true;
      }
      if (uniform[at]) {
        for (NodeId arg : n.args)
          if (arg != kNone) uniform[std::size_t(arg)] = true;
        continue;
      }
      if (!in_loop[at] || is_derived(id)) continue;
      if (is_two_float(id)) plan_.two_float.insert(id);
      if (const auto shift = image_shift(graph_, id); shift && is_two_float(shift->difference)) add_shift(id, *shift);
      for (NodeId arg : n.args)
        if (arg != kNone) in_loop[std::size_t(arg)] = true;
    }
    for (NodeId id = 0; id < graph_.size(); ++id) {
      if (uniform[std::size_t(id)]) plan_.uniform.push_back(id);
      if (!in_loop[std::size_t(id)]) continue;
      if (is_derived(id)) (graph_[id].binding == Binding::I ? derived_i_ : derived_j_).push_back(id);
      plan_.pair.push_back(id);
    }
    std::vector<NodeId> scale_roots;
    for (const Contribution& c : pipeline_.contributions) scale_roots.push_back(c.scale);
    const std::vector<bool> scale = reachable(graph_, scale_roots);
    for (NodeId id = 0; id < graph_.size(); ++id)
      if (scale[std::size_t(id)]) plan_.scales.push_back(id);
  }

  void add_shift(NodeId id, const ImageShift& shift) {
    plan_.image_shifts.emplace(id, shift);
    plan_.shifted.insert(shift.difference);
    plan_.shift_lengths.insert(shift.length);
  }

  bool is_two_float(NodeId id) const {
    const Node& n = graph_[id];
    return options_.precision == Precision::Mixed && n.type == Type::Real && is_input_difference(graph_, id);
  }

  void plan_side(SidePlan& side, Binding binding, Op leaf) {
    const std::vector<NodeId>& derived = binding == Binding::I ? derived_i_ : derived_j_;
    const std::vector<bool> prepared = reachable(graph_, derived);
    std::set<int> whole, low;
    for (NodeId id = 0; id < graph_.size(); ++id) {
      if (prepared[std::size_t(id)]) side.prepare.push_back(id);
      if (prepared[std::size_t(id)] && graph_[id].op == leaf) whole.insert(int(graph_[id].payload));
    }
    for (NodeId id : plan_.pair)
      if (graph_[id].op == leaf) whole.insert(int(graph_[id].payload));
    for (NodeId id : plan_.two_float)
      for (int k = 0; k < 2; ++k)
        if (const Node& n = graph_[graph_[id].args[std::size_t(k)]]; n.op == leaf) low.insert(int(n.payload));
    if (binding == Binding::I)
      for (NodeId id : plan_.scales)
        if (graph_[id].op == leaf) whole.insert(int(graph_[id].payload));
    for (int component : whole) add_column(side, component, role(leaf), low.count(component) > 0);
    for (NodeId id : derived) {
      side.derived[id] = int(side.columns.size());
      side.columns.push_back({-1, element_of(graph_[id].type, options_.precision), Column::Part::Derived});
    }
  }

  static Role role(Op leaf) { return leaf == Op::InputI ? Role::InputI : Role::InputJ; }

  void add_column(SidePlan& side, int component, Role role, bool two_float) {
    if (side.whole.count(component)) return;
    const Field& field = *(role == Role::InputI ? inputs_i_ : inputs_j_)[std::size_t(component)];
    const Element element = element_of(field.type, options_.precision);
    side.whole[component] = int(side.columns.size());
    side.columns.push_back({component, element, two_float ? Column::Part::High : Column::Part::Whole});
    if (!two_float) return;
    side.low[component] = int(side.columns.size());
    side.columns.push_back({component, element, Column::Part::Low});
  }

  // finish() may read i inputs that no pair needs. Derived columns are moved behind what is added.
  void plan_finish() {
    std::set<int> wanted;
    const std::vector<bool> alive = reachable(pipeline_.finish, pipeline_.finished);
    for (NodeId id = 0; id < pipeline_.finish.size(); ++id) {
      if (!alive[std::size_t(id)]) continue;
      plan_.finish.push_back(id);
      if (pipeline_.finish[id].op == Op::InputI) wanted.insert(int(pipeline_.finish[id].payload));
    }
    SidePlan& side = plan_.i;
    std::vector<Column> derived;
    const std::size_t packed = side.columns.size() - side.derived.size();
    derived.assign(side.columns.begin() + std::ptrdiff_t(packed), side.columns.end());
    side.columns.resize(packed);
    for (int component : wanted) add_column(side, component, Role::InputI, false);
    const int shift = int(side.columns.size() - packed);
    for (auto& [node, column] : side.derived) column += shift;
    side.columns.insert(side.columns.end(), derived.begin(), derived.end());
  }

  // ---- cutoffs ----

  // A condition that compares pair values of the particles (a cutoff) often fails for a whole vector of pairs; one
  // that tells the particle from itself, or r2 > 0, almost never does, and testing for it would cost more than it
  // saves.
  bool is_cutoff(const Node& n) const {
    if ((n.op != Op::Lt && n.op != Op::Le) || n.binding != Binding::Pair) return false;
    return !graph_.is_constant(n.args[0], 0) && !graph_.is_constant(n.args[1], 0);
  }

  // What of a guard is worth testing first: a weaker condition, made of cutoffs alone, that holds wherever the guard
  // does. kNone: there is none. Conditions share parts, so what has been found is kept.
  NodeId cutoff_of(NodeId id, bool negated = false) {
    if (const auto known = cutoffs_.find({id, negated}); known != cutoffs_.end()) return known->second;
    return cutoffs_[{id, negated}] = find_cutoff(id, negated);
  }

  NodeId find_cutoff(NodeId id, bool negated) {
    const Node n = graph_[id];
    if (n.op == Op::Not) return cutoff_of(n.args[0], !negated);
    if (n.op == Op::And || n.op == Op::Or) {
      const NodeId a = cutoff_of(n.args[0], negated), b = cutoff_of(n.args[1], negated);
      const bool both = (n.op == Op::And) != negated;
      if (a == kNone || b == kNone) return both ? (a == kNone ? b : a) : kNone;
      return graph_.binary(both ? Op::And : Op::Or, a, b);
    }
    if (!is_cutoff(n)) return kNone;
    return negated ? graph_.unary(Op::Not, id) : id;
  }

  void choose_guard() {
    NodeId any = kNone;
    for (const Contribution& c : pipeline_.contributions) {
      const NodeId cutoff = c.guard == kNone ? kNone : cutoff_of(c.guard);
      if (cutoff == kNone) return;
      any = any == kNone || any == cutoff ? cutoff : graph_.binary(Op::Or, any, cutoff);
    }
    if (any == kNone) return;
    const std::vector<bool> before = reachable(graph_, {any});
    const std::vector<bool> all = reachable(graph_, loop_roots());
    int saved = 0;
    for (NodeId id = 0; id < graph_.size(); ++id)
      if (all[std::size_t(id)] && !before[std::size_t(id)] && graph_[id].binding == Binding::Pair) ++saved;
    if (saved < 4) return;  // the branch itself costs about as much
    plan_.any_guard = any;
    for (NodeId id = 0; id < graph_.size(); ++id)
      if (before[std::size_t(id)]) plan_.before_guard.insert(id);
  }

  Pipeline& pipeline_;
  Graph& graph_;
  const Options& options_;
  std::vector<const Field*> inputs_i_, inputs_j_;
  std::map<std::pair<NodeId, bool>, NodeId> cutoffs_;
  Plan plan_;
  std::vector<NodeId> derived_i_, derived_j_;
};

}  // namespace

std::vector<bool> sets_pairs_apart(const Graph& graph) {
  std::vector<bool> sets_apart(std::size_t(graph.size()), false);
  std::vector<bool> negation_does(sets_apart);
  for (NodeId id = 0; id < graph.size(); ++id) {
    const Node& n = graph[id];
    const auto both = [&](const std::vector<bool>& of) {
      return of[std::size_t(n.args[0])] && of[std::size_t(n.args[1])];
    };
    const auto at = std::size_t(id);
    if (n.op == Op::Eq) negation_does[at] = true;
    if (n.op == Op::And) sets_apart[at] = both(sets_apart);
    if (n.op == Op::Or) negation_does[at] = both(negation_does);
    if (n.op != Op::Not) continue;
    sets_apart[at] = negation_does[std::size_t(n.args[0])];
    negation_does[at] = sets_apart[std::size_t(n.args[0])];
  }
  return sets_apart;
}

Plan make_plan(Pipeline& pipeline, const Options& options) {
  Plan plan;
  // A guard is followed down to its comparisons.
  run_on_own_stack(kDeepStack, [&] { plan = Planner(pipeline, options).run(); });
  return plan;
}

Element element_of(Type type, Precision precision) {
  switch (type) {
    case Type::Bool:
    case Type::Int:
      return Element::Int32;
    case Type::Index:
      return Element::Int64;
    case Type::Float:
      return Element::Float;
    case Type::Real:
      return precision == Precision::Double ? Element::Double : Element::Float;
    case Type::Double:
      return Element::Double;
  }
  return Element::Double;
}

FieldLayout layout_of(const Field& field) {
  FieldLayout layout;
  layout.name = field.name;
  layout.role = FieldLayout::Role(int(field.role));
  layout.reduction = FieldLayout::Reduction(int(field.reduction));
  const std::string base = field.width > 1 ? fmt::format("vec{}", field.width) : std::string(name(field.type));
  layout.type = field.length ? fmt::format("{}[{}]", base, field.length) : base;
  layout.integral = field.type == Type::Int || field.type == Type::Index || field.type == Type::Bool;
  layout.length = field.length;
  layout.width = field.width;
  layout.first = field.first;
  layout.defaults = field.defaults;
  layout.comment = field.comment;
  return layout;
}

bool is_uniform(Binding binding) { return binding == Binding::Constant || binding == Binding::Param; }

bool is_self_test(const Graph& graph, const Node& node) {
  if (node.op != Op::Eq) return false;
  const Op a = graph[node.args[0]].op, b = graph[node.args[1]].op;
  return (a == Op::IIndex && b == Op::JIndex) || (a == Op::JIndex && b == Op::IIndex);
}

}  // namespace nbcc
