// Terms of a sum -> the factor that most terms have, repeatedly, for Terms::factored(). Removing a factor costs one
// step for each factor of each term that has it, so that a sum of n terms takes about n log n steps. Part of
// derivative.cpp.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <unordered_map>

#include "compiler/passes/derive/term.h"

namespace nbcc {

class CommonFactors {
 public:
  explicit CommonFactors(Sum sum);

  // The factor that most terms have. Ties are broken by the number of terms that have it as their last factor (the
  // other factors of such a term also occur in other components), then by the order of the sum. kNone: no two terms
  // have a common factor.
  NodeId best() const { return ranks_.empty() ? kNone : std::get<4>(*ranks_.begin()); }
  // Removes the terms that have the factor from the sum, and returns them without the factor.
  Sum take(NodeId factor);
  void put_first(Term term) { insert(--first_, std::move(term)); }
  std::size_t size() const { return terms_.size(); }
  Sum rest() const;  // the remaining terms, in order

 private:
  using TermIndex = std::int64_t;
  // Sort key; the best factor has the least key: minus the number of terms that have the factor, minus the number of
  // terms that end with it, the index of the first term that has it, its index among that term's factors.
  using Rank = std::tuple<std::int64_t, std::int64_t, TermIndex, std::int64_t, NodeId>;
  struct Holders {
    std::set<TermIndex> terms;
    std::int64_t as_last = 0;
    std::optional<Rank> rank;
  };
  void insert(TermIndex term_index, Term term);
  void rank(NodeId factor);

  std::map<TermIndex, Term> terms_;
  TermIndex first_ = 0;
  std::unordered_map<NodeId, Holders> holders_;
  std::set<Rank> ranks_;  // of the factors that at least two terms have
};

}  // namespace nbcc
