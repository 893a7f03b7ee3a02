// Derivatives of choices: which branches were taken on the way from the value to a node, and values of several such
// paths joined by selections. Part of derivative.cpp.
//
// Paths are a tree: a path is the one that it continues, a condition and how that went. Nested choices so take steps in
// proportion to their number, not to the lengths of their paths.
//
//   always -- x > 1 -- x > 2       (of the value: first x > 1 held, then x > 2)
//                  \-- not x > 2
#pragma once
#include <map>
#include <tuple>
#include <vector>

#include "compiler/passes/derivative_terms.h"

namespace nbcc {

using PathId = int;
inline constexpr PathId kAlways = 0;

// Where the path does not lead, the value does not count.
struct Branch {
  PathId path;
  NodeId value;
};

class BranchPaths {
 public:
  BranchPaths(Graph& graph, Terms& terms) : graph_(graph), terms_(terms), steps_(1) {}

  PathId enter(PathId path, NodeId condition, bool taken);
  // The sum of values that have come by different paths, no two by the same.
  Branch join(const std::vector<Branch>& branches);
  // The value where the path beyond `from`, which it begins with, is taken, else 0.
  NodeId guarded(PathId path, PathId from, NodeId value);

 private:
  struct Step {
    PathId before = kAlways;
    int length = 0;
    NodeId condition = kNone;
    bool taken = true;
    NodeId all = kNone;  // all conditions from the beginning on, once they have been asked for
  };
  // A value that arrives at a path of the tree: by a step beyond it, or `by` itself where a branch ends there.
  struct Arrival {
    PathId by;
    Branch branch;
    std::size_t first;  // index of the first branch that is part of it
  };

  Branch merge(PathId path, const std::vector<Arrival>& arrivals);  // in the order of `first`
  NodeId all(NodeId a, NodeId b) { return a == kNone ? b : b == kNone ? a : terms_.make(Op::And, a, b); }
  NodeId any(NodeId a, NodeId b) { return a == kNone ? b : b == kNone ? a : terms_.make(Op::Or, a, b); }
  NodeId condition_of(const Step& step) { return step.taken ? step.condition : terms_.make(Op::Not, step.condition); }
  // The condition of the path's steps beyond `from`; kNone: there are none.
  NodeId condition_of(PathId path, PathId from);
  std::vector<PathId> beyond(PathId path, PathId from) const;  // the first step first

  Graph& graph_;
  Terms& terms_;
  std::vector<Step> steps_;  // by path: its last one
  std::map<std::tuple<PathId, NodeId, bool>, PathId> known_;
};

}  // namespace nbcc
