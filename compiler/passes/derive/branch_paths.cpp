// Joins values of different paths: a fork of the tree becomes a selection, several forks become a sum.
#include "compiler/passes/derive/branch_paths.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

namespace nbcc {

namespace {
// Maximum number of nested selections around one value. The conditions of a longer path are joined to one condition,
// which all paths with the same beginning share.
constexpr int kMaxNestedSelections = 8;
}  // namespace

PathId BranchPaths::enter(PathId path, NodeId condition, bool taken) {
  const auto [found, is_new] = known_.emplace(std::tuple(path, condition, taken), PathId(steps_.size()));
  if (is_new) steps_.push_back({path, steps_[std::size_t(path)].length + 1, condition, taken});
  return found->second;
}

std::vector<PathId> BranchPaths::beyond(PathId path, PathId from) const {
  std::vector<PathId> steps;
  for (; path != from; path = steps_[std::size_t(path)].before) steps.push_back(path);
  std::ranges::reverse(steps);
  return steps;
}

NodeId BranchPaths::condition_of(PathId path, PathId from) {
  if (from != kAlways) {
    NodeId condition = kNone;
    for (const PathId step : beyond(path, from)) condition = all(condition, condition_of(steps_[std::size_t(step)]));
    return condition;
  }
  // The condition of a path from the root on is the condition of its parent and the condition of its last step.
  std::vector<PathId> unknown;
  for (PathId p = path; p != kAlways && steps_[std::size_t(p)].all == kNone; p = steps_[std::size_t(p)].before)
    unknown.push_back(p);
  for (; !unknown.empty(); unknown.pop_back()) {
    Step& step = steps_[std::size_t(unknown.back())];
    step.all = all(steps_[std::size_t(step.before)].all, condition_of(step));
  }
  return steps_[std::size_t(path)].all;
}

NodeId BranchPaths::guarded(PathId path, PathId from, NodeId value) {
  const NodeId zero = graph_.constant(0, graph_[value].type);
  if (steps_[std::size_t(path)].length - steps_[std::size_t(from)].length > kMaxNestedSelections)
    return terms_.select(condition_of(path, from), value, zero);
  for (; path != from; path = steps_[std::size_t(path)].before) {
    const Step step = steps_[std::size_t(path)];
    value = step.taken ? terms_.select(step.condition, value, zero) : terms_.select(step.condition, zero, value);
  }
  return value;
}

// Merges the tree from its leaves up, like the phi functions of a control flow graph: the values that arrive at a path
// become one value, which arrives at the parent path.
Branch BranchPaths::join(const std::vector<Branch>& branches) {
  std::map<std::pair<int, PathId>, std::vector<Arrival>> open;  // by length and path: the longest path is last
  const auto arrive = [&](PathId path, Arrival arrival) {
    open[{steps_[std::size_t(path)].length, path}].push_back(arrival);
  };
  for (std::size_t k = 0; k < branches.size(); ++k) arrive(branches[k].path, {branches[k].path, branches[k], k});
  while (true) {
    const auto longest = open.extract(std::prev(open.end()));
    const PathId path = longest.key().second;
    std::vector<Arrival> arrivals = longest.mapped();
    std::ranges::sort(arrivals, {}, &Arrival::first);
    const Branch merged = arrivals.size() == 1 ? arrivals[0].branch : merge(path, arrivals);
    if (open.empty()) return merged;
    arrive(steps_[std::size_t(path)].before, {path, merged, arrivals[0].first});
  }
}

Branch BranchPaths::merge(PathId path, const std::vector<Arrival>& arrivals) {
  std::map<NodeId, std::array<const Arrival*, 2>> sides;  // by condition: [0] where it holds, [1] where it fails
  for (const Arrival& arrival : arrivals)
    if (const Step& step = steps_[std::size_t(arrival.by)]; arrival.by != path)
      sides[step.condition][step.taken ? 0 : 1] = &arrival;
  NodeId sum = kNone, any_condition = kNone;  // disjunction of the conditions
  bool always = false;
  const auto add_value = [&](NodeId value) { sum = sum == kNone ? value : terms_.make(Op::Add, sum, value); };
  for (const Arrival& arrival : arrivals) {
    if (arrival.by == path) {
      always = true;
      add_value(arrival.branch.value);
      continue;
    }
    const NodeId condition = steps_[std::size_t(arrival.by)].condition;
    const auto both = sides.extract(condition);
    if (both.empty()) continue;
    // `inner`: the condition under which a value arrives from this side, once the fork's condition holds or fails.
    // kNone: always.
    std::array<NodeId, 2> inner{kNone, kNone}, values{kNone, kNone};
    for (const std::size_t k : {0, 1})
      if (const Arrival* const side = both.mapped()[k]) {
        inner[k] = condition_of(side->branch.path, side->by);
        values[k] = guarded(side->branch.path, side->by, side->branch.value);
      }
    const bool by_yes = values[0] != kNone, by_no = values[1] != kNone;
    if (by_yes && by_no && inner[0] == kNone && inner[1] == kNone) {
      always = true;
    } else {
      if (by_yes) any_condition = any(any_condition, all(condition, inner[0]));
      if (by_no) any_condition = any(any_condition, all(terms_.make(Op::Not, condition), inner[1]));
    }
    const Type type = graph_[by_yes ? values[0] : values[1]].type;
    const auto or_zero = [&](NodeId value) { return value == kNone ? graph_.constant(0, type) : value; };
    add_value(terms_.select(condition, or_zero(values[0]), or_zero(values[1])));
  }
  return {always ? path : enter(path, any_condition, true), sum};
}

}  // namespace nbcc
