// Guard of all contributions -> Select on one node. One door: absorb_guard(). It proves by structure, never by trying
// values: with the node cut out, only additions and products of finite numbers may remain.
#include "compiler/absorb_guard.h"

#include <algorithm>

#include "compiler/rewrite.h"

namespace nbcc {
namespace {

class Absorption {
 public:
  explicit Absorption(Pipeline& pipeline) : pipeline_(pipeline), graph_(pipeline.pair) {}

  void run() {
    guard_ = pipeline_.contributions.empty() ? kNone : pipeline_.contributions[0].guard;
    if (guard_ == kNone || !sets_apart(guard_, false) || !all_are_sums_under_one_guard()) return;
    for (NodeId id = 0; id < graph_.size(); ++id) {
      if (!is_reciprocal(graph_[id]) || !serves(id)) continue;
      replace(id);
      return;
    }
  }

 private:
  // Equalities that fail for all but exceptional pairs, joined so that the guard holds where none is met.
  bool sets_apart(NodeId id, bool negated) const {
    const Node& n = graph_[id];
    if (n.op == Op::Not) return sets_apart(n.args[0], !negated);
    if (n.op == Op::And || n.op == Op::Or)
      return (n.op == Op::And) != negated && sets_apart(n.args[0], negated) && sets_apart(n.args[1], negated);
    return n.op == Op::Eq && negated;
  }

  bool all_are_sums_under_one_guard() const {
    for (std::size_t k = 0; k < pipeline_.contributions.size(); ++k)
      if (pipeline_.contributions[k].guard != guard_ ||
          pipeline_.field_of(Role::Output, int(k)).reduction != Reduction::Sum)
        return false;
    return true;
  }

  bool is_reciprocal(const Node& n) const {
    if (n.binding != Binding::Pair || n.type < Type::Float) return false;
    return n.op == Op::RsqrtEstimate || n.op == Op::Rsqrt || n.op == Op::Div;
  }

  // True if every contribution is 0 and finite on the way once `zero` is 0.
  bool serves(NodeId zero) const {
    const std::vector<bool> of_guard = reachable(graph_, {guard_});
    if (of_guard[std::size_t(zero)]) return false;
    std::vector<bool> vanishes(std::size_t(graph_.size()), false), finite(std::size_t(graph_.size()), false);
    for (NodeId id = 0; id < graph_.size(); ++id) {
      const Node& n = graph_[id];
      const auto at = [&](const std::vector<bool>& v, int k) { return v[std::size_t(n.args[std::size_t(k)])]; };
      bool all_finite = true;
      for (int k = 0; k < arity(n.op); ++k) all_finite = all_finite && at(finite, k);
      const auto self = std::size_t(id);
      if (id == zero) {
        vanishes[self] = finite[self] = true;
        continue;
      }
      switch (n.op) {
        case Op::Mul:
          vanishes[self] = at(vanishes, 0) || at(vanishes, 1);
          break;
        case Op::Add:
        case Op::Sub:
          vanishes[self] = at(vanishes, 0) && at(vanishes, 1);
          break;
        case Op::Fma:
          vanishes[self] = (at(vanishes, 0) || at(vanishes, 1)) && at(vanishes, 2);
          break;
        case Op::Neg:
          vanishes[self] = at(vanishes, 0);
          break;
        case Op::Cast:
        case Op::Abs:
        case Op::Min:
        case Op::Max:
        case Op::Select:
          break;
        default:
          all_finite = arity(n.op) == 0;
          break;
      }
      // What is made once per particle or is a constant is taken as it is, like an input.
      finite[self] = all_finite || n.binding != Binding::Pair;
    }
    return std::all_of(pipeline_.contributions.begin(), pipeline_.contributions.end(), [&](const Contribution& c) {
      return vanishes[std::size_t(c.value)] && finite[std::size_t(c.value)];
    });
  }

  void replace(NodeId zero) {
    const NodeId guard = guard_;
    // The guard stands behind the node in the old order, perhaps; so it is made first, from a copy of its own.
    Graph target;
    std::vector<NodeId> made(std::size_t(graph_.size()), kNone);
    const auto copy = [&](NodeId id) {
      const Node& n = graph_[id];
      std::array<NodeId, 3> args{kNone, kNone, kNone};
      for (int k = 0; k < arity(n.op); ++k) args[std::size_t(k)] = made[std::size_t(n.args[std::size_t(k)])];
      return copy_node(target, n, args);
    };
    const std::vector<bool> of_guard = reachable(graph_, {guard});
    for (NodeId id = 0; id < graph_.size(); ++id)
      if (of_guard[std::size_t(id)]) made[std::size_t(id)] = copy(id);
    const std::vector<bool> alive = reachable(graph_, pipeline_.roots());
    for (NodeId id = 0; id < graph_.size(); ++id) {
      if (!alive[std::size_t(id)] || of_guard[std::size_t(id)]) continue;
      made[std::size_t(id)] = copy(id);
      if (id != zero) continue;
      const NodeId plain = made[std::size_t(id)];
      made[std::size_t(id)] = target.select(made[std::size_t(guard)], plain, target.constant(0, graph_[zero].type));
    }
    for (Contribution& c : pipeline_.contributions) {
      c.value = made[std::size_t(c.value)];
      c.guard = kNone;
      if (c.scale != kNone) c.scale = made[std::size_t(c.scale)];
    }
    graph_ = std::move(target);
  }

  Pipeline& pipeline_;
  Graph& graph_;
  NodeId guard_ = kNone;
};

}  // namespace

void absorb_guard(Pipeline& pipeline) { Absorption(pipeline).run(); }

}  // namespace nbcc
