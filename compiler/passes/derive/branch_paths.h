// Derivatives of choices (Select, Min, Max): a path records which branches were taken from the value down to a node;
// the values of several paths are joined by selections. Part of derivative.cpp.
//
// Paths form a tree: a path is its parent path, a condition and the outcome of that condition. The cost of nested
// choices therefore grows with their number, not with the lengths of their paths.
//
//   always -- x > 1 -- x > 2       (from the value down: first x > 1 held, then x > 2)
//                  \-- not x > 2
#pragma once
#include <map>
#include <tuple>
#include <vector>

#include "compiler/passes/derive/derivative_terms.h"

namespace nbcc {

using PathId = int;
inline constexpr PathId kAlways = 0;

// A value that counts only where the path is taken.
struct Branch {
  PathId path;
  NodeId value;
};

class BranchPaths {
 public:
  BranchPaths(Graph& graph, Terms& terms) : graph_(graph), terms_(terms), steps_(1) {}

  PathId enter(PathId path, NodeId condition, bool taken);
  // The sum of the values of several branches, whose paths are all different.
  Branch join(const std::vector<Branch>& branches);
  // The value where the path beyond `from` is taken, else 0. `from` is `path` or one of its ancestors.
  NodeId guarded(PathId path, PathId from, NodeId value);

 private:
  struct Step {
    PathId before = kAlways;
    int length = 0;
    NodeId condition = kNone;
    bool taken = true;
    NodeId all = kNone;  // conjunction of all conditions from the root on, computed on demand
  };
  // A value that arrives at a path of the tree: from the child path `by`, or from a branch that ends at `by` itself.
  struct Arrival {
    PathId by;
    Branch branch;
    std::size_t first;  // index of the first branch that contributes to the value
  };

  Branch merge(PathId path, const std::vector<Arrival>& arrivals);  // sorted by `first`
  NodeId all(NodeId a, NodeId b) { return a == kNone ? b : b == kNone ? a : terms_.make(Op::And, a, b); }
  NodeId any(NodeId a, NodeId b) { return a == kNone ? b : b == kNone ? a : terms_.make(Op::Or, a, b); }
  NodeId condition_of(const Step& step) { return step.taken ? step.condition : terms_.make(Op::Not, step.condition); }
  // The conjunction of the path's conditions beyond `from`; kNone if there are none.
  NodeId condition_of(PathId path, PathId from);
  std::vector<PathId> beyond(PathId path, PathId from) const;  // sorted from `from` to `path`

  Graph& graph_;
  Terms& terms_;
  std::vector<Step> steps_;  // by path: its last step
  std::map<std::tuple<PathId, NodeId, bool>, PathId> known_;
};

}  // namespace nbcc
