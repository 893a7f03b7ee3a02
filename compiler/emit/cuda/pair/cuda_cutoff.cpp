// The condition of a cutoff -> an expression whose highest bit is 1 for a rejected pair. Entry point:
// find_reject_bit(). The sign bit of a difference is such a bit: one instruction shifts it into a reject mask, where a
// condition would take three. If one side is a sum of products, the difference costs nothing: the sum begins with the
// other side.
#include "compiler/emit/cuda/pair/cuda_cutoff.h"

#include <fmt/core.h>

#include <algorithm>
#include <vector>

namespace nbcc {
namespace {

// Limits of one expression; a longer condition is computed by statements of its nodes. The expression repeats shared
// subexpressions, and compilers limit the depth of an expression.
constexpr int kMaxComparisons = 32;
constexpr int kMaxProducts = 32;  // of one sum

class CutoffText {
 public:
  CutoffText(const Graph& graph, const Plan& plan, const CudaScalars& scalars)
      : graph_(graph), plan_(plan), scalars_(scalars), comparisons_(std::size_t(graph.size()), 1) {
    for (NodeId id = 0; id < graph.size(); ++id) {
      const Node& n = graph[id];
      int& count = comparisons_[std::size_t(id)];
      if (n.op == Op::Not) count = comparisons(n.args[0]);
      if (n.op == Op::And || n.op == Op::Or)
        count = std::min(kMaxComparisons + 1, comparisons(n.args[0]) + comparisons(n.args[1]));
    }
  }

  std::string reject_bit(NodeId id, bool negated) {
    const Node& n = graph_[id];
    if (n.op == Op::Not) return reject_bit(n.args[0], !negated);
    if ((n.op == Op::And || n.op == Op::Or) && comparisons(id) <= kMaxComparisons) {
      const bool both = (n.op == Op::And) != negated;
      const std::string a = reject_bit(n.args[0], negated), b = reject_bit(n.args[1], negated);
      return fmt::format("({} {} {})", a, both ? "|" : "&", b);
    }
    if (!is_float_comparison(n)) {
      reads_.insert(id);
      return fmt::format("(t{} ? {} : {})", id, negated ? "0x80000000u" : "0u", negated ? "0u" : "0x80000000u");
    }
    // Equality and NaN count as hits, because hits are tested again.
    return negated ? below(n.args[0], n.args[1]) : below(n.args[1], n.args[0]);
  }

  std::set<NodeId> reads() const { return reads_; }

 private:
  int comparisons(NodeId id) const { return comparisons_[std::size_t(id)]; }

  bool is_float_comparison(const Node& n) const {
    return (n.op == Op::Lt || n.op == Op::Le) && scalars_.resolved(graph_[n.args[0]].type) == Type::Float &&
           scalars_.resolved(graph_[n.args[1]].type) == Type::Float;
  }

  // An expression whose highest bit is 1 if a < b.
  std::string below(NodeId a, NodeId b) {
    if (is_chain(b)) return fmt::format("sign({})", chain(b, "-", name(a)));
    if (is_chain(a)) return fmt::format("sign({})", chain(a, "", "-" + name(b)));
    return fmt::format("sign({} - {})", name(a), name(b));
  }

  bool is_chain(NodeId id) const {
    const Node& n = graph_[id];
    return n.binding == Binding::Pair && (n.op == Op::Fma || n.op == Op::Mul) && !plan_.image_shifts.count(id);
  }
  // start + node, or start - node if `minus` is "-", as a chain of fused multiply-adds.
  std::string chain(NodeId id, const char* minus, const std::string& start, int products = kMaxProducts) {
    const Node& n = graph_[id];
    if (products == 0 || !is_chain(id)) return fmt::format("{} {} {}", start, *minus ? "-" : "+", name(id));
    const std::string from = n.op == Op::Mul ? start : chain(n.args[2], minus, start, products - 1);
    return fmt::format("fmaf({}{}, {}, {})", minus, name(n.args[0]), name(n.args[1]), from);
  }
  std::string name(NodeId id) {
    reads_.insert(id);
    return fmt::format("t{}", id);
  }

  const Graph& graph_;
  const Plan& plan_;
  const CudaScalars& scalars_;
  std::vector<int> comparisons_;  // [node] comparisons of its expression, counted with repetitions
  std::set<NodeId> reads_;
};

}  // namespace

RejectBit find_reject_bit(const Graph& graph, const Plan& plan, NodeId cutoff, const CudaScalars& scalars) {
  CutoffText text(graph, plan, scalars);
  RejectBit bit;
  bit.text = text.reject_bit(cutoff, false);
  bit.reads = text.reads();
  return bit;
}

}  // namespace nbcc
