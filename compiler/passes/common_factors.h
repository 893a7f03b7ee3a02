// Terms of a sum -> the factor that most of them have, again and again, for Terms::factored(). What taking a factor out
// costs is the number of factors of the terms that have it, so that a sum of n terms takes about n log n steps.
// Part of derivative.cpp.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <unordered_map>

#include "compiler/passes/term.h"

namespace nbcc {

class CommonFactors {
 public:
  explicit CommonFactors(Sum sum);

  // The factor that most terms have. Of several, the one that is the last factor of most terms, since the rest of these
  // terms is the same for other components, too; of these, the first in the sum. kNone: no two terms have a factor in
  // common.
  NodeId best() const { return ranks_.empty() ? kNone : std::get<4>(*ranks_.begin()); }
  // Takes the terms that have the factor out of the sum, and the factor out of them.
  Sum take(NodeId factor);
  void put_first(Term term) { insert(--first_, std::move(term)); }
  std::size_t size() const { return terms_.size(); }
  Sum rest() const;  // the terms that are left, in their order

 private:
  using Place = std::int64_t;
  // The best factor has the least: minus the number of terms that have it, minus the number of terms that end with it,
  // the first of its terms, its place among that term's factors.
  using Rank = std::tuple<std::int64_t, std::int64_t, Place, std::int64_t, NodeId>;
  struct Holders {
    std::set<Place> terms;
    std::int64_t as_last = 0;
    std::optional<Rank> rank;
  };
  void insert(Place place, Term term);
  void rank(NodeId factor);

  std::map<Place, Term> terms_;
  Place first_ = 0;
  std::unordered_map<NodeId, Holders> holders_;
  std::set<Rank> ranks_;  // of factors that several terms have
};

}  // namespace nbcc
