// Node of a pair -> a bound of it that a search for neighbours can use: one made of a number of i and a number of j
// alone. 2 * max(hi, hj), 0.5 * (hi + hj) and max(hi, hj) + skin are such bounds themselves; others are bounded from
// above, sqrt(hi * hj) by the mean of |hi| and |hj|. Tested by tests/unit/reach_test.cpp.
#pragma once
#include <optional>

#include "compiler/ir/ir.h"
#include "compiler/kernel_source.h"
#include "compiler/passes/signs.h"

namespace nbcc {

// How far a particle reaches. Where one of its numbers is NaN, the reach bounds nothing.
struct Reach {
  using Kind = SearchLayout::Reach;
  Kind kind = Kind::Uniform;
  NodeId uniform = kNone, of_i = kNone, of_j = kNone;
  bool operator==(const Reach&) const = default;
};

class Reaches {
 public:
  // Adds nodes to the graph.
  Reaches(Graph& graph, Signs& signs) : graph_(graph), signs_(signs) {}

  // Not less than the value (exponent 1), else than max(value, 0)^exponent; nothing where no such bound is known. The
  // exponent is positive.
  std::optional<Reach> power_above(NodeId id, double exponent);

  // Not less than both; than one of both; than their sum. Where both are made of one side's numbers, exactly these.
  Reach larger(const Reach& a, const Reach& b);
  Reach smaller(const Reach& a, const Reach& b);
  Reach sum(const Reach& a, const Reach& b);

 private:
  std::optional<Reach> scaled_above(NodeId id, NodeId factor);
  std::optional<Reach> both_above(NodeId a, NodeId b, NodeId factor,
                                  Reach (Reaches::*join)(const Reach&, const Reach&));
  std::optional<Reach> size_above(NodeId id);
  std::optional<Reach> root_above(NodeId id);
  std::optional<Reach> roots_of_squares(NodeId id);
  std::optional<Reach> mean_of_sizes(NodeId of_i, NodeId of_j);
  std::optional<Reach> separate(NodeId id) const;
  Reach increased(const Reach& reach, double exponent);
  Reach as_sum(const Reach& reach);

  template <typename Change>
  Reach each(Reach reach, const Change& change);
  NodeId make(Op op, NodeId a, NodeId b = kNone);
  NodeId number(double value, NodeId beside);
  NodeId joined(Op op, NodeId a, NodeId b);  // of which one may be kNone
  NodeId not_negative(NodeId id);
  NodeId size(NodeId id);

  Graph& graph_;
  Signs& signs_;
  int opened_ = 0;  // nodes, as often as they are met
};

}  // namespace nbcc
