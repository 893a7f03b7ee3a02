// Counts undecided pairs from the error bounds of their values. Entry point: UndecidedPairs.
#include "particles/error_bounds/undecided_pairs.h"

#include <algorithm>
#include <utility>

namespace nbcc {

UndecidedPairs::UndecidedPairs(const Pipeline& pipeline, const std::vector<std::vector<int>>& sums) {
  for (const Field& field : pipeline.fields) {
    if (field.role != Role::Output) continue;
    Decisions& decisions = decisions_.emplace_back();
    std::vector<NodeId> roots;
    for (int c = field.first; c < field.first + field.components(); ++c)
      for (const int sum : sums[std::size_t(c)]) {
        const Contribution& contribution = pipeline.contributions[std::size_t(sum)];
        for (const NodeId root : {contribution.value, contribution.logit})
          if (root != kNone) roots.push_back(root);
        contribution.guard == kNone ? void(decisions.always = true) : decisions.guards.push_back(contribution.guard);
      }
    const std::vector<bool> needed = reachable(pipeline.pair, roots);
    for (NodeId id = 0; id < pipeline.pair.size(); ++id) {
      const Node& node = pipeline.pair[id];
      if (!needed[std::size_t(id)] || arity(node.op) == 0) continue;
      if (node.op == Op::Select) decisions.others.push_back(node.args[0]);
      if (node.op == Op::Cast && !is_floating(node.type)) decisions.others.push_back(id);
    }
  }
  undecided_.resize(decisions_.size());
}

void UndecidedPairs::count(const RunningError& exact, const RunningError& rounded, int count) {
  for (std::size_t field = 0; field < decisions_.size(); ++field) {
    const Decisions& decisions = decisions_[field];
    for (int k = 0; k < count; ++k) {
      const auto is_open = [&](NodeId id) {
        const RunningError::Number a = exact.at(id, k), b = rounded.at(id, k);
        return a.error != 0 || b.error != 0 || a.value != b.value;
      };
      const bool open = std::ranges::any_of(decisions.guards, is_open);
      const bool acts = decisions.always || open ||
                        std::ranges::any_of(decisions.guards, [&](NodeId id) { return exact.at(id, k).value != 0; });
      undecided_[field] += open || (acts && std::ranges::any_of(decisions.others, is_open));
    }
  }
}

std::vector<std::int64_t> UndecidedPairs::take() {
  return std::exchange(undecided_, std::vector<std::int64_t>(decisions_.size()));
}

}  // namespace nbcc
