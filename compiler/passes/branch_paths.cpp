// A fork of the tree becomes a selection, and what comes by different forks a sum.
#include "compiler/passes/branch_paths.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

namespace nbcc {

namespace {
// Selections around one value. More conditions are joined to one, which all paths that begin alike share.
constexpr int kMostSelections = 8;
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
  // A path's condition from the root on is that of the path that it continues, and its last step.
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
  if (steps_[std::size_t(path)].length - steps_[std::size_t(from)].length > kMostSelections)
    return terms_.select(condition_of(path, from), value, zero);
  for (; path != from; path = steps_[std::size_t(path)].before) {
    const Step step = steps_[std::size_t(path)];
    value = step.taken ? terms_.select(step.condition, value, zero) : terms_.select(step.condition, zero, value);
  }
  return value;
}

Branch BranchPaths::join(const std::vector<Branch>& branches) {
  Forks forks;
  // The longest path last; each is cut until one is left, with which all begin.
  std::set<std::pair<int, PathId>> open;
  const auto reach = [&](PathId path, std::size_t number) -> Fork& {
    open.emplace(steps_[std::size_t(path)].length, path);
    const auto [found, is_new] = forks.try_emplace(path);
    found->second.first = is_new ? number : std::min(found->second.first, number);
    return found->second;
  };
  for (std::size_t k = 0; k < branches.size(); ++k) {
    Fork& end = reach(branches[k].path, k);
    end.value = branches[k].value;
    end.own = k;
  }
  while (open.size() > 1) {
    const PathId path = std::prev(open.end())->second;
    open.erase(std::prev(open.end()));
    reach(steps_[std::size_t(path)].before, forks.at(path).first).next.push_back(path);
  }
  return join_at(open.begin()->second, forks);
}

Branch BranchPaths::join_at(PathId path, const Forks& forks) {
  const Fork& fork = forks.at(path);
  struct Choice {
    NodeId condition = kNone;  // kNone: the branch that ends here
    std::array<PathId, 2> next{kAlways, kAlways};
  };
  std::map<NodeId, std::size_t> first;  // by condition: of all branches
  for (const PathId next : fork.next) {
    const std::size_t number = forks.at(next).first;
    const auto [found, is_new] = first.emplace(steps_[std::size_t(next)].condition, number);
    if (!is_new) found->second = std::min(found->second, number);
  }
  std::map<std::size_t, Choice> choices;  // in the order of the branches
  if (fork.value != kNone) choices[fork.own] = {};
  for (const PathId next : fork.next) {
    const Step& step = steps_[std::size_t(next)];
    Choice& choice = choices[first.at(step.condition)];
    choice.condition = step.condition;
    choice.next[step.taken ? 0 : 1] = next;
  }
  if (choices.size() == 1) {
    const Choice& only = choices.begin()->second;
    if (only.condition == kNone) return {path, fork.value};
    if (only.next[0] == kAlways || only.next[1] == kAlways)
      return join_at(only.next[0] == kAlways ? only.next[1] : only.next[0], forks);
  }
  NodeId sum = kNone, somewhere = kNone;  // that one of several conditions holds
  bool always = false;
  const auto one_more = [&](NodeId value) { sum = sum == kNone ? value : terms_.make(Op::Add, sum, value); };
  for (const auto& [number, choice] : choices) {
    if (choice.condition == kNone) {
      always = true;
      one_more(fork.value);
      continue;
    }
    // `inner`: where a value comes by this side, once the condition holds or fails. kNone: everywhere.
    std::array<NodeId, 2> inner{kNone, kNone}, values{kNone, kNone};
    for (const std::size_t k : {0, 1}) {
      if (choice.next[k] == kAlways) continue;
      const Branch branch = join_at(choice.next[k], forks);
      inner[k] = condition_of(branch.path, choice.next[k]);
      values[k] = guarded(branch.path, choice.next[k], branch.value);
    }
    const bool by_yes = values[0] != kNone, by_no = values[1] != kNone;
    if (by_yes && by_no && inner[0] == kNone && inner[1] == kNone) {
      always = true;
    } else {
      if (by_yes) somewhere = any(somewhere, all(choice.condition, inner[0]));
      if (by_no) somewhere = any(somewhere, all(terms_.make(Op::Not, choice.condition), inner[1]));
    }
    const Type type = graph_[by_yes ? values[0] : values[1]].type;
    const auto or_zero = [&](NodeId value) { return value == kNone ? graph_.constant(0, type) : value; };
    one_more(terms_.select(choice.condition, or_zero(values[0]), or_zero(values[1])));
  }
  return {always ? path : enter(path, somewhere, true), sum};
}

}  // namespace nbcc
