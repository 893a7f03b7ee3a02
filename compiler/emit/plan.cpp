// Pipeline -> Plan. Entry point: make_plan(). Independent of backends.
#include "compiler/emit/plan.h"

#include <algorithm>
#include <utility>

#include "compiler/passes/optimize/element_loops.h"
#include "compiler/passes/optimize/whole_exponents.h"
#include "compiler/text/own_stack.h"

namespace nbcc {
namespace {

// The nodes that the roots depend on, in topological order, without those in loops.
std::vector<NodeId> needed_for(const std::vector<NodeId>& roots, const Graph& graph) {
  const std::vector<bool> needed = reachable(graph, roots), in_loop = nodes_in_loops(graph);
  std::vector<NodeId> nodes;
  for (NodeId id = 0; id < graph.size(); ++id)
    if (needed[std::size_t(id)] && !in_loop[std::size_t(id)]) nodes.push_back(id);
  return nodes;
}

class Planner {
 public:
  Planner(const Pipeline& pipeline, const Options& options, bool tiles_loops)
      : pipeline_(pipeline), options_(options), tiles_loops_(tiles_loops) {}

  Plan run() {
    graph_ = pipeline_.pair;
    plan_.in_loop = nodes_in_loops(graph_);
    plan_.fuses_products = options_.math == Math::Fast;
    place_tables();
    find_cells();
    plan_outputs();
    choose_guard();
    find_stages();
    plan_side(plan_.i, Role::InputI, derived_i_);
    plan_side(plan_.j, Role::InputJ, derived_j_);
    plan_side(plan_.listed, Role::InputPair, {});
    find_for_within();
    return std::move(plan_);
  }

 private:
  void plan_outputs() {
    const std::vector<const Field*> fields = pipeline_.fields_of(Role::Output);
    for (std::size_t k = 0; k < fields.size(); ++k) {
      const Contribution& c = pipeline_.contributions[k];
      const Node& value = graph_[c.value];
      const Reduction reduction = held_as(fields[k]->reduction);
      const bool of_pair = fields[k]->is_of_pair();
      const bool fused = !of_pair && fields[k]->reduction == Reduction::Sum && options_.math == Math::Fast &&
                         value.op == Op::Mul && value.binding == Binding::Pair && value.type >= Type::Float;
      plan_.outputs.push_back({c, reduction, value.type, fused});
      plan_.outputs.back().of_pair = of_pair;
      plan_.outputs.back().of_j = pipeline_.first_reaction > 0 && int(k) >= pipeline_.first_reaction;
    }
    int histograms = 0;
    for (const Field& field : pipeline_.fields) {
      if (!field.is_histogram()) continue;
      for (int c = field.first; c < field.first + field.components(); ++c) {
        OutputPlan& output = plan_.outputs[std::size_t(c)];
        output.histogram = histograms;
        if (!field.is_total()) output.row_words = histogram_layout(field, output.type, options_.precision).row_words();
      }
      ++histograms;
    }
    for (OutputPlan& output : plan_.outputs)
      if (output.reduction == Reduction::Weighted) output.reference = reference_of(output);
    for (std::size_t k = 0; k < fields.size(); ++k)
      if (plan_.in_loop[std::size_t(plan_.outputs[k].value)]) add_to_array(*fields[k], int(k));
    plan_.choices = choices_of(pipeline_.fields);
    for (const Choice& choice : plan_.choices) {
      const auto mark = [&](int first, int count) {
        for (int k = first; k < first + count; ++k) plan_.outputs[std::size_t(k)].of_choice = true;
      };
      mark(choice.first, choice.slots);
      for (const Choice::Payload& payload : choice.payloads) mark(payload.first, choice.slots * payload.width);
    }
  }

  void add_to_array(const Field& field, int k) {
    OutputPlan& output = plan_.outputs[std::size_t(k)];
    output.of_array = true;
    if (!plan_.arrays.empty()) {
      OutputArray& last = plan_.arrays.back();
      const std::int64_t next = last.first + last.elements.first + last.elements.count;
      const bool continues = last.first == field.first && next == k && last.value == output.value;
      if (continues && last.guard == output.guard) return void(++last.elements.count);
    }
    plan_.arrays.push_back({field.first, {k - field.first, 1}, output.value, output.guard});
  }

  // The reduction of the accumulator. A count is a sum of ones.
  static Reduction held_as(Reduction reduction) {
    return reduction == Reduction::Count ? Reduction::Sum : is_exponential(reduction) ? Reduction::Weighted : reduction;
  }
  int reference_of(const OutputPlan& weighted) const {
    for (std::size_t k = 0; k < plan_.outputs.size(); ++k) {
      const OutputPlan& one = plan_.outputs[k];
      const bool is_its = one.value == weighted.logit && one.guard == weighted.guard;
      if (is_its && one.reduction == Reduction::Reference) return int(k);
    }
    return -1;
  }

  void place_tables() {
    std::int64_t offset = 0;
    for (const Precision precision : {options_.precision, Precision::Double})
      for (const Table& table : pipeline_.tables) {
        const Type type = type_of(table);
        const Element element = element_of(type, precision);
        plan_.tables.push_back({table, element, offset, size_of(element), columns_of(table) * size_of(element)});
        offset += (table.count * size_of(element) + 15) / 16 * 16;
      }
  }
  Type type_of(const Table& table) const { return pipeline_.field_of(Role::Param, table.first).type; }

  void find_cells() {
    for (const Graph* graph : {&pipeline_.pair, &pipeline_.finish})
      for (NodeId id = 0; id < graph->size(); ++id) {
        plan_.has_cells |= (*graph)[id].op == Op::Cell;
        plan_.has_bessel |= facts((*graph)[id].op).is_bessel;
        plan_.has_philox |= (*graph)[id].op == Op::Philox;
        plan_.has_exp2 |= (*graph)[id].op == Op::Exp || (*graph)[id].op == Op::Exp2;
        plan_.has_powers |= (*graph)[id].op == Op::Pow && (*graph)[id].payload == kMayBeWhole;
      }
    plan_.in_mixed_precision = options_.precision == Precision::Mixed;
    if (!plan_.in_mixed_precision) return;
    for (NodeId id = 0; id < graph_.size(); ++id)
      if (graph_[id].op == Op::Cell)
        for (const NodeId vector : graph_[id].args)
          plan_.shift_lengths.insert(graph_[vector].args.begin(), graph_[vector].args.end());
  }

  std::vector<NodeId> loop_roots() const {
    std::vector<NodeId> roots{plan_.any_guard};
    for (const OutputPlan& output : plan_.outputs) {
      roots.push_back(output.guard);
      if (!output.of_array) roots.push_back(output.value);
    }
    for (const OutputArray& array : plan_.arrays)
      for (const NodeId id : read_by_loop(graph_, plan_.in_loop, array.value)) roots.push_back(id);
    for (const OutputPlan& output : plan_.outputs)
      if (output.reduction == Reduction::Histogram) roots.push_back(output.logit);
    return roots;
  }

  // A value that is computed once per particle and stored in a column. Conditions are recomputed in the loop, which is
  // cheaper than a column. Vectors have no columns.
  bool is_derived(NodeId id) const {
    const Node& n = graph_[id];
    return (n.binding == Binding::I || n.binding == Binding::J) && arity(n.op) > 0 && n.type > Type::Bool;
  }

  // Walks from the loop's roots to their arguments and stops at nodes that are computed outside the loop.
  void find_stages() {
    std::vector<bool> in_loop(std::size_t(graph_.size()), false), uniform(std::size_t(graph_.size()), false);
    for (NodeId root : loop_roots())
      if (root != kNone) in_loop[std::size_t(root)] = true;
    const auto need = [this](const Node& n, std::vector<bool>& where) {
      if (is_loop(n.op)) {
        for (const NodeId read : read_by_loop(graph_, plan_.in_loop, n.args[0])) where[std::size_t(read)] = true;
        return;
      }
      for (NodeId arg : n.args)
        if (arg != kNone) where[std::size_t(arg)] = true;
    };
    for (NodeId id = graph_.size(); id-- > 0;) {
      const auto at = std::size_t(id);
      const Node& n = graph_[id];
      if (in_loop[at] && is_uniform(n.binding)) {
        in_loop[at] = false;
        uniform[at] = true;
      }
      if (uniform[at]) need(n, uniform);
      if (!in_loop[at] || is_derived(id)) continue;
      if (is_two_float(id)) plan_.two_float.insert(id);
      if (const auto shift = image_shift(graph_, id); shift && is_two_float(shift->difference)) add_shift(id, *shift);
      if (const auto shift = copy_shift(graph_, id); shift && is_two_float(shift->difference)) {
        plan_.copy_shifts.emplace(id, *shift);
        plan_.shifted.insert(shift->difference);
      }
      if (n.op == Op::Image)
        for (const NodeId d : graph_[n.args[0]].args)
          if (is_two_float(d)) plan_.shifted.insert(d);
      // The frames know the index of i itself in a tile and need no nodes for this comparison.
      if (!is_self_test(graph_, n)) need(n, in_loop);
    }
    for (NodeId id = 0; id < graph_.size(); ++id) {
      if (uniform[std::size_t(id)]) plan_.uniform.push_back(id);
      if (!in_loop[std::size_t(id)]) continue;
      if (is_derived(id)) (graph_[id].binding == Binding::I ? derived_i_ : derived_j_).push_back(id);
      plan_.pair.push_back(id);
      if (!is_loop(graph_[id].op) || graph_[id].binding != Binding::Pair) continue;
      if (tiles_loops_ && !reads_pair(graph_[id].args[0])) plan_.tiled_loops.push_back(id);
    }
    plan_.tiles_loops = tiles_loops_ && (!plan_.tiled_loops.empty() || !plan_.arrays.empty());
    for (NodeId id = 0; id < graph_.size(); ++id)
      if (plan_.in_loop[std::size_t(id)] && is_two_float(id)) plan_.two_float.insert(id);
    std::vector<NodeId> scales;
    for (const Contribution& c : pipeline_.contributions) scales.push_back(c.scale);
    plan_.scales = needed_for(scales, graph_);
    plan_.finish = needed_for(pipeline_.finished, pipeline_.finish);
    plan_.position_nodes = needed_for(pipeline_.positions, pipeline_.position_graph);
  }

  // True if the term of a loop reads a value of the pair, which a frame computes after the loops of a tile; or a
  // condition of one particle, which has no column.
  bool reads_pair(NodeId term) const {
    return std::ranges::any_of(read_by_loop(graph_, plan_.in_loop, term), [this](NodeId id) {
      return graph_[id].binding == Binding::Pair || (graph_[id].type == Type::Bool && !is_uniform(graph_[id].binding));
    });
  }

  void add_shift(NodeId id, const ImageShift& shift) {
    plan_.image_shifts.emplace(id, shift);
    plan_.shifted.insert(shift.difference);
    plan_.shift_lengths.insert(shift.length);
  }

  bool is_two_float(NodeId id) const {
    const Node& n = graph_[id];
    return options_.precision == Precision::Mixed && n.type == Type::Real &&
           (is_input_difference(graph_, id) || is_element_difference(n));
  }
  bool is_element_difference(const Node& n) const {
    if (n.op != Op::Sub) return false;
    const Op a = graph_[n.args[0]].op, b = graph_[n.args[1]].op;
    return (a == Op::ElementOfI && b == Op::ElementOfJ) || (a == Op::ElementOfJ && b == Op::ElementOfI);
  }

  void plan_side(SidePlan& side, Role role, const std::vector<NodeId>& derived) {
    const Op leaf = role == Role::InputI ? Op::InputI : role == Role::InputJ ? Op::InputJ : Op::InputPair;
    side.prepare = needed_for(derived, graph_);
    std::set<int> whole, low;
    const auto load = [&](const Graph& graph, const std::vector<NodeId>& nodes, std::set<int>& components) {
      for (NodeId id : nodes)
        if (graph[id].op == leaf) components.insert(int(graph[id].payload));
    };
    for (const auto* nodes : {&side.prepare, &plan_.pair, &plan_.scales}) load(graph_, *nodes, whole);
    const std::vector<const Field*> fields = pipeline_.fields_of(role);
    std::set<int> in_loops;
    if (role != Role::InputPair) {
      const Op element = role == Role::InputI ? Op::ElementOfI : Op::ElementOfJ;
      load_elements(element, in_loops, false);
      whole.insert(in_loops.begin(), in_loops.end());
      load_elements(element, low, true);
    }
    load(pipeline_.finish, plan_.finish, whole);
    load(pipeline_.position_graph, plan_.position_nodes, whole);
    for (NodeId id : plan_.two_float) load(graph_, {graph_[id].args[0], graph_[id].args[1]}, low);
    for (const auto& [id, copy] : plan_.copy_shifts) load(graph_, {copy.shift}, low);
    // All components of a field that loops read have the same parts, so that their columns are equidistant.
    for (const int component : in_loops) {
      const Field& field = *fields[std::size_t(component)];
      if (const auto first = low.lower_bound(field.first);
          first != low.end() && *first < field.first + field.components())
        for (int c = field.first; c < field.first + field.components(); ++c) low.insert(c);
    }
    const auto add = [&side](const Column& column) {
      side.columns.push_back(column);
      return int(side.columns.size()) - 1;
    };
    for (int component : whole) {
      const Element element = element_of(fields[std::size_t(component)]->type, options_.precision);
      const bool in_parts = low.count(component) > 0;
      side.whole[component] = add({component, element, in_parts ? Column::Part::High : Column::Part::Whole});
      if (in_parts) side.low[component] = add({component, element, Column::Part::Low});
    }
    for (NodeId id : derived)
      side.derived[id] = add({-1, element_of(graph_[id].type, options_.precision), Column::Part::Derived});
  }

  // Adds the components that loops read; those of two_float differences alone.
  void load_elements(Op element, std::set<int>& components, bool of_differences) const {
    std::set<NodeId> in_differences;
    for (const NodeId id : plan_.two_float) in_differences.insert(graph_[id].args.begin(), graph_[id].args.end());
    const auto load = [&](NodeId term, Elements elements) {
      for (const NodeId id : nodes_of_loop(graph_, plan_.in_loop, term))
        for (std::int64_t k = 0; k < elements.count && graph_[id].op == element; ++k)
          if (!of_differences || in_differences.contains(id))
            components.insert(int(graph_[id].payload + elements.first + k));
    };
    for (NodeId id = 0; id < graph_.size(); ++id)
      if (is_loop(graph_[id].op)) load(graph_[id].args[0], elements_of(graph_[id].payload));
    for (const OutputArray& array : plan_.arrays) load(array.value, array.elements);
  }

  void find_for_within() {
    plan_.within = pipeline_.within;
    if (plan_.within == kNone) return;
    std::vector<bool> needed(std::size_t(graph_.size()), false);
    needed[std::size_t(plan_.within)] = true;
    for (NodeId id = graph_.size(); id-- > 0;) {
      if (!needed[std::size_t(id)] || plan_.i.derived.contains(id) || plan_.j.derived.contains(id)) continue;
      for (const NodeId arg : graph_[id].args)
        if (arg != kNone) needed[std::size_t(arg)] = true;
    }
    for (NodeId id = 0; id < graph_.size(); ++id)
      if (needed[std::size_t(id)] && !plan_.in_loop[std::size_t(id)]) plan_.for_within.push_back(id);
  }

  // ---- cutoffs ----

  // A cutoff, which compares pair values, often fails for all pairs of a vector. A condition that excludes i itself,
  // such as r2 > 0, almost never does; testing it first would cost more than it saves.
  bool is_cutoff(const Node& n) const {
    if ((n.op != Op::Lt && n.op != Op::Le) || n.binding != Binding::Pair) return false;
    return !graph_.is_constant(n.args[0], 0) && !graph_.is_constant(n.args[1], 0);
  }

  // A weaker condition than the guard, built of cutoffs alone, that holds wherever the guard does; kNone if there is
  // none. Results are memoised, because conditions share nodes.
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
    const std::vector<NodeId> tested = needed_for({any}, graph_), all = needed_for(loop_roots(), graph_);
    const std::set<NodeId> before(tested.begin(), tested.end());
    const auto saved = std::count_if(
        all.begin(), all.end(), [&](NodeId id) { return graph_[id].binding == Binding::Pair && !before.count(id); });
    if (saved < 4) return;  // the branch itself costs about as much
    plan_.any_guard = any;
    plan_.before_guard = before;
  }

  const Pipeline& pipeline_;
  const Options& options_;
  const bool tiles_loops_;
  std::map<std::pair<NodeId, bool>, NodeId> cutoffs_;
  Plan plan_;
  Graph& graph_ = plan_.graph;
  std::vector<NodeId> derived_i_, derived_j_;
};

}  // namespace

std::vector<bool> excludes_single_pairs(const Graph& graph) {
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

Plan make_plan(const Pipeline& pipeline, const Options& options, bool tiles_loops) {
  Plan plan;
  // The search for cutoffs in a guard is recursive and needs a large stack.
  run_on_own_stack(kDeepStack, [&] { plan = Planner(pipeline, options, tiles_loops).run(); });
  return plan;
}

HistogramLayout histogram_layout(const FieldLayout& field, Type type, Precision precision) {
  HistogramLayout layout;
  layout.elements = field.length;
  layout.element = element_of(type, precision);
  layout.of_i = !field.is_total();
  if (layout.element == Element::Float) layout.words = kFloatWords, layout.digit = kFloatDigit;
  if (layout.element == Element::Double) layout.words = kDoubleWords, layout.digit = kDoubleDigit;
  return layout;
}

Element element_of(Type type, Precision precision) {
  if (type == Type::Real) type = precision == Precision::Double ? Type::Double : Type::Float;
  if (type < Type::Float) return type == Type::Index ? Element::Int64 : Element::Int32;
  return type == Type::Double ? Element::Double : Element::Float;
}

bool is_uniform(Binding binding) { return binding == Binding::Constant || binding == Binding::Param; }

bool is_self_test(const Graph& graph, const Node& node) {
  if (node.op != Op::Eq) return false;
  const Op a = graph[node.args[0]].op, b = graph[node.args[1]].op;
  return (a == Op::IIndex && b == Op::JIndex) || (a == Op::JIndex && b == Op::IIndex);
}

}  // namespace nbcc
