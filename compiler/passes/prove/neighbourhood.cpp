// Pipeline -> neighbourhood, or the obstacle to its proof. Entry point: prove_neighbourhood(). This file combines facts
// about conditions, guards and outputs; cutoff.h reads what one comparison implies for the distance.
#include "compiler/passes/prove/neighbourhood.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "compiler/ir/rewrite.h"
#include "compiler/passes/passes.h"
#include "compiler/passes/prove/cutoff.h"
#include "compiler/passes/prove/sites.h"
#include "compiler/text/own_stack.h"

namespace nbcc {
namespace {

// Dataflow fact about the pairs for which a condition holds: how their distance is bounded.
struct DistanceFact {
  enum class At : std::uint8_t { Never, WithinCutoff, AnyDistance };
  At at = At::AnyDistance;
  Cutoff cutoff;
  std::optional<NeighbourhoodObstacle> obstacle;  // for AnyDistance
  NodeId within = kNone;  // for WithinCutoff: the distance comparisons that the condition implies
};

using At = DistanceFact::At;

// Pairs of sites of two molecules whose least distance one comparison may bound: eight sites each.
constexpr std::size_t kMaxLeast = 64;

bool is_sum_of_squares(Graph& graph, NodeId id) {
  const LinearSum sum = read_sum(graph, id);
  return sum.constant == 0 && std::all_of(sum.terms.begin(), sum.terms.end(), [&](const auto& term) {
           const Node n = graph[term.first];
           return term.second > 0 && n.op == Op::Mul && n.args[0] == n.args[1] && read_axis(graph, n.args[0]);
         });
}

// True if the node is arithmetic on `distance` and on values that are the same for all pairs.
bool is_made_of(const Graph& graph, NodeId id, NodeId distance) {
  constexpr int kMaxVisited = 32;
  std::vector<NodeId> open{id};
  bool met = false;
  for (int k = 0; k < kMaxVisited; ++k) {
    if (open.empty()) return met;
    const NodeId next = open.back();
    const Node& n = graph[next];
    open.pop_back();
    met = met || next == distance;
    if (next == distance || n.binding <= Binding::Param) continue;
    if (arity(n.op) == 0 || n.type == Type::Bool) return false;
    for (const NodeId arg : n.args)
      if (arg != kNone) open.push_back(arg);
  }
  return false;
}

class Prover {
 public:
  explicit Prover(Pipeline pipeline) : pipeline_(std::move(pipeline)) {}

  NeighbourhoodProof run() {
    cse(pipeline_);
    look_past_coincidence();
    DistanceFact all{At::Never, {}, {}};
    for (int k = 0; k < int(pipeline_.contributions.size()); ++k) {
      // The payload of a choice changes only where the choice does.
      if (pipeline_.field_of(Role::Output, k).reduction == Reduction::At) continue;
      const DistanceFact one = fact_of_output(k);
      // Signs implied by the guard of one output need not hold for another output.
      signs_.forget();
      all = either(all, one, pipeline_.field_of(Role::Output, k).where);
      if (all.at == At::AnyDistance) return {{}, obstacle_of(k, one.at == At::AnyDistance ? one : all)};
    }
    if (all.at == At::Never) return {};
    Cutoff& cutoff = all.cutoff;
    return {Neighbourhood{std::move(graph_), std::move(cutoff.axes), cutoff.reach, cutoff.of_sites, cutoff.strict,
                          all.within},
            {}};
  }

 private:
  // `r2 > 0 ? sqrt(r2) : 0` is read as sqrt(r2). Where r2 is 0 the source compares the constant, which is not negative,
  // in place of the distance 0; if the comparison holds for the constant, the bound is not below the distance.
  void look_past_coincidence() {
    rewrite(pipeline_, [](Graph& target, const Node& old, std::array<NodeId, 3> args) {
      const auto [condition, yes, no] = args;
      if (old.op == Op::Select && is_floating(old.type) && target.is_constant(no) && target.constant_value(no) >= 0) {
        const Node test = target[condition];
        const bool apart = test.op == Op::Lt && target.is_constant(test.args[0], 0);
        if (apart && is_sum_of_squares(target, test.args[1]) && is_made_of(target, yes, test.args[1])) return yes;
      }
      return copy_node(target, old, args);
    });
  }

  // ---- facts about the contribution to one output

  DistanceFact fact_of_output(int output) {
    const Contribution& c = pipeline_.contributions[std::size_t(output)];
    signs_.forget();
    conditions_.clear();
    changes_.clear();
    DistanceFact guarded;
    if (c.guard != kNone) {
      assume_signs_of_guard(c.guard);
      guarded = fact_if(c.guard, false);
    }
    if (guarded.at != At::AnyDistance) return guarded;
    if (pipeline_.field_of(Role::Output, output).reduction == Reduction::Histogram) return guarded;
    // A weight is 0 where its logit is -infinity, as in logsumexp.
    if (c.logit != kNone) return both(guarded, changed_by(c.logit, Reduction::LogSumExp));
    return both(guarded, changed_by(c.value, pipeline_.field_of(Role::Output, output).reduction));
  }

  // Other conditions of a guard imply signs: skip_if(h <= 0 || r / h >= 2).
  void assume_signs_of_guard(NodeId guard) {
    std::vector<std::pair<NodeId, bool>> open{{guard, false}};
    while (!open.empty()) {
      const auto [id, negated] = open.back();
      open.pop_back();
      const Node& n = graph_[id];
      if (n.op == Op::Not) open.emplace_back(n.args[0], !negated);
      if (n.op == (negated ? Op::Or : Op::And))
        for (const NodeId arg : {n.args[0], n.args[1]}) open.emplace_back(arg, negated);
      if (n.op != Op::Lt && n.op != Op::Le) continue;
      const NodeId small = n.args[negated ? 1 : 0], large = n.args[negated ? 0 : 1];
      const bool strict = (n.op == Op::Lt) != negated;
      if (graph_.is_constant(small) && graph_.constant_value(small) >= 0)
        signs_.assume(large, strict || graph_.constant_value(small) > 0 ? kPositive : kZero | kPositive);
      if (graph_.is_constant(large) && graph_.constant_value(large) <= 0)
        signs_.assume(small, strict || graph_.constant_value(large) < 0 ? kNegative : kZero | kNegative);
    }
  }

  // The fact that holds where a value differs from the identity of its reduction.
  DistanceFact changed_by(NodeId id, Reduction reduction) {
    if (const auto known = changes_.find(id); known != changes_.end()) return known->second;
    DistanceFact fact = find_change(id, reduction);
    return changes_[id] = std::move(fact);
  }

  DistanceFact find_change(NodeId id, Reduction reduction) {
    if (is_identity(id, reduction)) return {At::Never, {}, {}};
    const Node n = graph_[id];
    const bool sum = is_sum(reduction), product = reduction == Reduction::Product;
    const auto arg = [&](int k) { return changed_by(n.args[std::size_t(k)], reduction); };
    if (n.op == Op::Select) {
      const auto branch = [&](int k) {
        const DistanceFact change = arg(k);
        return change.at == At::Never ? change : both(fact_if(n.args[0], k == 2), change);
      };
      return either(branch(1), branch(2), location_of(id));
    }
    if (n.op == Op::Cast && is_floating(graph_[n.args[0]].type)) return arg(0);
    if (sum && n.op == Op::Neg) return arg(0);
    // 0 times infinity is not 0, so that only a constant may multiply a value that may be 0.
    if (sum && (n.op == Op::Mul || n.op == Op::Div) && is_finite_constant(n.args[1])) return arg(0);
    if (sum && n.op == Op::Mul && is_finite_constant(n.args[0])) return arg(1);
    const Op extreme = is_minimum(reduction) ? Op::Min : Op::Max;
    const bool joins = sum ? n.op == Op::Add || n.op == Op::Sub : n.op == (product ? Op::Mul : extreme);
    return joins ? either(arg(0), arg(1), location_of(id)) : DistanceFact{};
  }

  bool is_identity(NodeId id, Reduction reduction) const {
    const Node& n = graph_[id];
    if (!graph_.is_constant(id)) return false;
    const double value = graph_.constant_value(id);
    if (is_sum(reduction)) return value == 0;
    if (reduction == Reduction::Product) return value == 1;
    const double extreme = is_floating(n.type) ? HUGE_VAL : 0x1p63;
    return value == (is_minimum(reduction) ? extreme : -extreme);
  }

  bool is_finite_constant(NodeId id) const {
    return graph_.is_constant(id) && std::isfinite(graph_.constant_value(id)) && graph_.constant_value(id) != 0;
  }

  // ---- conditions

  // The fact that holds where the condition, or its negation, is true.
  DistanceFact fact_if(NodeId id, bool negated) {
    if (const auto known = conditions_.find({id, negated}); known != conditions_.end()) return known->second;
    DistanceFact fact = find(id, negated);
    return conditions_[{id, negated}] = std::move(fact);
  }

  DistanceFact find(NodeId id, bool negated) {
    const Node n = graph_[id];
    const auto arg = [&](int k) { return fact_if(n.args[std::size_t(k)], negated); };
    switch (n.op) {
      case Op::Const:
        if ((graph_.constant_value(id) != 0) == negated) return {At::Never, {}, {}};
        return {};
      case Op::Not:
        return fact_if(n.args[0], !negated);
      case Op::And:
      case Op::Or: {
        const DistanceFact a = arg(0), b = arg(1);
        return (n.op == Op::And) != negated ? both(a, b) : either(a, b, location_of(id));
      }
      case Op::Select:
        return either(both(fact_if(n.args[0], false), arg(1)), both(fact_if(n.args[0], true), arg(2)), location_of(id));
      case Op::Lt:
      case Op::Le:
        return compare(id, negated);
      default:
        return {};
    }
  }

  DistanceFact compare(NodeId id, bool negated) {
    const Node n = graph_[id];
    if (n.binding != Binding::Pair) return {};
    const NodeId holds = negated ? graph_.unary(Op::Not, id, n.where) : id;
    return compare(n.args[negated ? 1 : 0], n.args[negated ? 0 : 1], (n.op == Op::Lt) != negated, holds);
  }

  // The fact that holds where small < large if `strict`, else where small <= large; `holds`: the node that says so.
  DistanceFact compare(NodeId small, NodeId large, bool strict, NodeId holds) {
    // min(a, b) < large, and sqrt(min(a, b)) < large, is a condition on either.
    const NodeId bare = look_through_casts(graph_, small);
    const bool is_root = graph_[bare].op == Op::Sqrt;
    const std::vector<NodeId> least = arguments_of_minima(is_root ? graph_[bare].args[0] : bare);
    if (least.size() == 1) return compare_one(small, large, strict, holds);
    DistanceFact fact{At::Never, {}, {}};
    for (const NodeId arg : least) {
      const NodeId one = is_root ? make_folded(graph_, Op::Sqrt, arg) : arg;
      fact = either(fact, compare_one(one, large, strict, holds), location_of(holds));
      if (least.size() <= kMaxLeast) continue;
      if (fact.at != At::WithinCutoff) return {};
      const std::string limit = fmt::format("this is the minimum of more than {} distances", kMaxLeast);
      return {At::AnyDistance, {}, NeighbourhoodObstacle{location_of(holds), limit, true}};
    }
    return fact;
  }

  // The arguments of nested minima, or the node itself if it is no minimum; at most one more than kMaxLeast.
  std::vector<NodeId> arguments_of_minima(NodeId id) {
    std::vector<NodeId> open{id}, found;
    while (!open.empty() && found.size() <= kMaxLeast) {
      const NodeId next = look_through_casts(graph_, open.back());
      open.pop_back();
      if (graph_[next].op != Op::Min)
        found.push_back(next);
      else
        open.insert(open.end(), {graph_[next].args[1], graph_[next].args[0]});
    }
    return found;
  }

  DistanceFact compare_one(NodeId small, NodeId large, bool strict, NodeId holds) {
    CutoffReading reading = cutoffs_.read(small, large, strict);
    if (reading.cutoff) has_cutoff_ = true;
    if (reading.cutoff) return {At::WithinCutoff, std::move(*reading.cutoff), {}, holds};
    if (reading.obstacle.empty()) return {};
    return {
        At::AnyDistance, {}, NeighbourhoodObstacle{location_of(holds), std::move(reading.obstacle), reading.is_limit}};
  }

  // Both facts hold.
  DistanceFact both(const DistanceFact& a, const DistanceFact& b) {
    if (a.at == At::Never || b.at == At::Never) return {At::Never, {}, {}};
    if (a.at == At::AnyDistance && b.at == At::AnyDistance) return a.obstacle ? a : b;
    if (a.at == At::AnyDistance || b.at == At::AnyDistance) return a.at == At::AnyDistance ? b : a;
    const NodeId within = joined(Op::And, a.within, b.within);
    if (a.cutoff.axes != b.cutoff.axes) {
      DistanceFact chosen = a.cutoff.axes.size() < b.cutoff.axes.size() ? b : a;
      chosen.within = within;
      return chosen;
    }
    Cutoff cutoff{a.cutoff.axes, reaches_.smaller(a.cutoff.reach, b.cutoff.reach), a.cutoff.strict && b.cutoff.strict};
    if (a.cutoff.of_sites || b.cutoff.of_sites) {
      cutoff.of_sites = reaches_.smaller(a.cutoff.as_written(), b.cutoff.as_written());
      cutoff.sites = a.cutoff.sites.empty() ? b.cutoff.sites : a.cutoff.sites;
    }
    return {At::WithinCutoff, std::move(cutoff), {}, within};
  }

  // At least one of the two facts holds; `where` is the source location that joins them.
  DistanceFact either(const DistanceFact& a, const DistanceFact& b, Location where) {
    if (a.at == At::Never || b.at == At::Never) return a.at == At::Never ? b : a;
    if (a.at == At::AnyDistance || b.at == At::AnyDistance) {
      const DistanceFact& any = a.at == At::AnyDistance ? a : b;
      if (a.obstacle || b.obstacle) return a.obstacle ? a : b;
      if (a.at == b.at) return any;
      return {
          At::AnyDistance, {}, NeighbourhoodObstacle{where, "one side of this bounds a distance, the other does not"}};
    }
    // A distance along more axes is not less than a distance along fewer.
    Cutoff cutoff{{}, reaches_.larger(a.cutoff.reach, b.cutoff.reach), a.cutoff.strict && b.cutoff.strict};
    for (const Axis& axis : a.cutoff.axes)
      if (std::find(b.cutoff.axes.begin(), b.cutoff.axes.end(), axis) != b.cutoff.axes.end())
        cutoff.axes.push_back(axis);
    keep_complete_images(cutoff.axes);
    if (a.cutoff.of_sites || b.cutoff.of_sites) {
      cutoff.of_sites = reaches_.larger(a.cutoff.as_written(), b.cutoff.as_written());
      cutoff.sites = a.cutoff.sites;
      cutoff.sites.insert(b.cutoff.sites.begin(), b.cutoff.sites.end());
    }
    if (cutoff.axes.empty())
      if (std::optional<Cutoff> all = between_sites(graph_, reaches_, a.cutoff, b.cutoff)) cutoff = std::move(*all);
    if (cutoff.axes.empty())
      return {At::AnyDistance, {}, NeighbourhoodObstacle{where, "this bounds two distances without a common axis"}};
    return {At::WithinCutoff, std::move(cutoff), {}, joined(Op::Or, a.within, b.within)};
  }

  NodeId joined(Op op, NodeId a, NodeId b) { return a == b ? a : graph_.binary(op, a, b); }

  // ---- obstacles

  // The obstacle for an output that changes at any distance.
  std::optional<NeighbourhoodObstacle> obstacle_of(int output, const DistanceFact& fact) {
    if (fact.obstacle) return fact.obstacle;
    const Field& field = pipeline_.field_of(Role::Output, output);
    if (has_cutoff_) return {{field.where, fmt::format("output '{}' is changed at any distance", field.name)}};
    const NodeId chosen = mask_in(pipeline_.contributions[std::size_t(output)].value);
    if (chosen == kNone) return {};
    const std::string changed = fmt::format("output '{}' is changed at any distance", field.name);
    if (!is_sum(field.reduction)) return {{location_of(chosen), changed}};
    return {{location_of(chosen),
             "this makes a factor 0, and 0 times infinity is not: " + changed + "; put the change under an if"}};
  }

  // A comparison that bounds a distance and selects 0 beyond it; kNone: there is none.
  NodeId mask_in(NodeId value) {
    const std::vector<bool> needed = reachable(graph_, {value});
    for (NodeId id = 0; id < NodeId(needed.size()); ++id) {
      const Node n = graph_[id];
      if (!needed[std::size_t(id)] || n.op != Op::Select) continue;
      for (const int zero : {1, 2})
        if (graph_.is_constant(n.args[std::size_t(zero)], 0) && fact_if(n.args[0], zero == 1).at == At::WithinCutoff)
          return n.args[0];
    }
    return kNone;
  }

  // The location of the node, or of the first node below it that has a location: conditions made by joining branches
  // have none.
  Location location_of(NodeId id) const {
    const Node& n = graph_[id];
    if (n.where.line > 0) return n.where;
    for (const NodeId arg : n.args)
      if (arg != kNone)
        if (const Location location = location_of(arg); location.line > 0) return location;
    return {};
  }

  Pipeline pipeline_;
  Graph& graph_ = pipeline_.pair;
  Signs signs_{graph_};
  Reaches reaches_{graph_, signs_, pipeline_.tables};
  CutoffReader cutoffs_{pipeline_.fields, pipeline_.tables, graph_, signs_};
  bool has_cutoff_ = false;  // some comparison bounds a distance
  std::map<std::pair<NodeId, bool>, DistanceFact> conditions_;
  std::map<NodeId, DistanceFact> changes_;
};

}  // namespace

NeighbourhoodProof prove_neighbourhood(const Pipeline& pipeline) {
  NeighbourhoodProof proof;
  // Pairs that the caller lists are not searched for.
  if (pipeline.components(Role::InputPair) > 0 || pipeline.has_pair_values()) return proof;
  // The proof recurses along chains of operations.
  run_on_own_stack(kDeepStack, [&] { proof = Prover(pipeline).run(); });
  return proof;
}

Pipeline with_within(Pipeline pipeline, const Neighbourhood& neighbourhood) {
  const std::vector<bool> needed = reachable(neighbourhood.graph, {neighbourhood.within});
  std::vector<NodeId> new_ids(needed.size(), kNone);
  for (NodeId id = 0; id < NodeId(needed.size()); ++id)
    if (needed[std::size_t(id)]) new_ids[std::size_t(id)] = copy_node(pipeline.pair, neighbourhood.graph[id], new_ids);
  pipeline.within = new_ids[std::size_t(neighbourhood.within)];
  return pipeline;
}

}  // namespace nbcc
