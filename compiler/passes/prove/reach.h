// Node of a pair -> an upper bound that a neighbour search can use, because it is computed from one value of i and one
// value of j. 2 * max(hi, hj), 0.5 * (hi + hj) and max(hi, hj) + skin are such bounds themselves; other nodes have a
// larger bound: sqrt(hi * hj) is at most the mean of |hi| and |hj|, and rc[ti][tj] at most the largest element of row
// ti, and of column tj. Tested by tests/unit/compiler/passes/prove/reach_test.cpp.
#pragma once
#include <optional>
#include <span>

#include "compiler/ir/ir.h"
#include "compiler/kernel_source.h"
#include "compiler/passes/facts/signs.h"

namespace nbcc {

// A cutoff distance: a uniform value, or the max, min or sum of of_i and of_j. If a value is NaN, it bounds nothing.
struct Reach {
  using Kind = SearchLayout::Reach;
  Kind kind = Kind::Uniform;
  NodeId uniform = kNone, of_i = kNone, of_j = kNone;
  bool operator==(const Reach&) const = default;
};

// The largest element of a row, of a column or of a table is a bound if there are at most as many: each is read for
// each particle, in one statement of the kernel. A param has at most 65536 numbers, so that rows or columns are not
// longer.
inline constexpr int kMaxComparedElements = 256;

class Reaches {
 public:
  // Adds nodes to the graph. `tables`: of the graph's lookups; lookups of other tables have no bound.
  Reaches(Graph& graph, Signs& signs, std::span<const Table> tables = {})
      : graph_(graph), signs_(signs), tables_(tables) {}

  // An upper bound of the value (exponent 1), else of max(value, 0)^exponent; empty if none is known. The exponent is
  // positive.
  std::optional<Reach> power_above(NodeId id, double exponent);

  // A lookup that power_above() has met and that is one of more than kMaxComparedElements elements; kNone: none. The
  // caller resets it.
  NodeId refused = kNone;

  // Upper bounds of max(a, b), of min(a, b), and of a + b. If a and b are of the same side, they are exact.
  Reach larger(const Reach& a, const Reach& b);
  Reach smaller(const Reach& a, const Reach& b);
  Reach sum(const Reach& a, const Reach& b);
  // The reach, a number of i and one of j, none of them negative, as a sum; kNone is 0.
  Reach longer(const Reach& reach, NodeId of_i, NodeId of_j);

 private:
  std::optional<Reach> scaled_above(NodeId id, NodeId factor);
  std::optional<Reach> both_above(NodeId a, NodeId b, NodeId factor,
                                  Reach (Reaches::*join)(const Reach&, const Reach&));
  std::optional<Reach> size_above(NodeId id);
  std::optional<Reach> root_above(NodeId id);
  std::optional<Reach> roots_of_squares(NodeId id);
  std::optional<Reach> mean_of_sizes(NodeId of_i, NodeId of_j);
  std::optional<Reach> element_above(NodeId lookup, bool of_size);
  NodeId largest_element(NodeId lookup, NodeId row, NodeId column, bool of_size);
  std::optional<Reach> separate(NodeId id) const;
  Reach increased(const Reach& reach, double exponent);
  Reach as_sum(const Reach& reach);

  template <typename Change>
  Reach each(Reach reach, const Change& change);
  NodeId make(Op op, NodeId a, NodeId b = kNone);
  bool is_at_least(NodeId a, NodeId b);
  NodeId number(double value, NodeId beside);
  NodeId joined(Op op, NodeId a, NodeId b);  // a or b may be kNone
  NodeId not_negative(NodeId id);
  NodeId size(NodeId id);

  Graph& graph_;
  Signs& signs_;
  std::span<const Table> tables_;
  int visited_ = 0;  // nodes visited; a shared node counts at each visit
};

}  // namespace nbcc
