// Guards -> which of them hold but for rare pairs. Doors: find_rare_pairs(), hash_of_place().
#include "compiler/emit/cuda/cuda_rare_pairs.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/emit/cuda/cuda_expression.h"
#include "compiler/passes/same_place.h"

namespace nbcc {
namespace {

// What has to be looked for so that a guard is known to hold.
struct Tests {
  bool self = false;
  std::vector<NodeId> differences;
};

class Finder {
 public:
  Finder(const Graph& graph, const Plan& plan) : graph_(graph), plan_(plan) {}

  // Whether the condition is true unless one of `tests` is, to which it adds.
  bool mostly_true(NodeId id, Tests& tests) const {
    const Node& n = graph_[id];
    if (n.op == Op::Not) return mostly_false(n.args[0], tests);
    if (n.op == Op::And) return both(n, &Finder::mostly_true, tests);
    return n.op == Op::Or && either(n, &Finder::mostly_true, tests);
  }

 private:
  using Judge = bool (Finder::*)(NodeId, Tests&) const;

  bool mostly_false(NodeId id, Tests& tests) const {
    const Node& n = graph_[id];
    if (is_self_test(graph_, n)) {
      tests.self = true;
      return true;
    }
    if (const std::vector<NodeId> place = differences_tested(graph_, id); place.size() > 1) return add(place, tests);
    if (n.op == Op::Not) return mostly_true(n.args[0], tests);
    if (n.op == Op::Or) return both(n, &Finder::mostly_false, tests);
    return n.op == Op::And && either(n, &Finder::mostly_false, tests);
  }

  bool both(const Node& n, Judge judge, Tests& tests) const {
    Tests all = tests;
    if (!(this->*judge)(n.args[0], all) || !(this->*judge)(n.args[1], all)) return false;
    tests = all;
    return true;
  }
  bool either(const Node& n, Judge judge, Tests& tests) const {
    for (const NodeId arg : {n.args[0], n.args[1]}) {
      Tests all = tests;
      if (!(this->*judge)(arg, all)) continue;
      tests = all;
      return true;
    }
    return false;
  }

  // There is room for one kind of place. A difference of two parts may be 0 where the parts differ.
  bool add(const std::vector<NodeId>& place, Tests& tests) const {
    const auto of_parts = [this](NodeId id) { return plan_.two_float.count(id) != 0; };
    if (std::any_of(place.begin(), place.end(), of_parts)) return false;
    if (!tests.differences.empty() && tests.differences != place) return false;
    tests.differences = place;
    return true;
  }

  const Graph& graph_;
  const Plan& plan_;
};

// Two loops are twice the code. Beside much else, or behind functions, a test is little to save (logarithms in the
// plane: two loops take 10% more time).
bool is_short(const Graph& graph, const Plan& plan) {
  constexpr int kLong = 48;
  int pairs = 0;
  for (NodeId id : plan.pair) {
    if (graph[id].binding != Binding::Pair) continue;
    if (facts(graph[id].op).is_function) return false;
    ++pairs;
  }
  return pairs <= kLong;
}

}  // namespace

RarePairs find_rare_pairs(const Pipeline& pipeline, const Plan& plan) {
  RarePairs rare;
  if (plan.any_guard != kNone || !is_short(plan.graph, plan)) return rare;
  const Finder finder(plan.graph, plan);
  Tests tests;
  for (const Contribution& c : pipeline.contributions)
    if (c.guard != kNone && finder.mostly_true(c.guard, tests)) rare.guards.insert(c.guard);
  rare.self = tests.self;
  rare.differences = tests.differences;
  return rare;
}

std::string hash_of_place(const Graph& graph, const RarePairs& rare, const SidePlan& side, Op leaf,
                          const std::string& particle) {
  std::string text = "0";
  for (NodeId difference : rare.differences)
    for (NodeId arg : {graph[difference].args[0], graph[difference].args[1]})
      if (graph[arg].op == leaf)
        text = fmt::format("hashed({}, {}.c{})", text, particle, side.whole.at(int(graph[arg].payload)));
  return text;
}

}  // namespace nbcc
