// Terms are stored by their index in the sum, factors with the indices of the terms that have them. A factor's rank is
// recomputed when these indices change.
#include "compiler/passes/derive/common_factors.h"

#include <algorithm>
#include <utility>

namespace nbcc {

CommonFactors::CommonFactors(Sum sum) {
  for (std::size_t k = 0; k < sum.size(); ++k) insert(TermIndex(k), std::move(sum[k]));
}

void CommonFactors::insert(TermIndex term_index, Term term) {
  for (const NodeId factor : term.factors) holders_[factor].terms.insert(term_index);
  if (!term.factors.empty()) ++holders_[term.factors.back()].as_last;
  const Term& kept = terms_.emplace(term_index, std::move(term)).first->second;
  for (const NodeId factor : kept.factors) rank(factor);
}

void CommonFactors::rank(NodeId factor) {
  Holders& holders = holders_.at(factor);
  if (holders.rank) ranks_.erase(*std::exchange(holders.rank, std::nullopt));
  if (holders.terms.size() < 2) return;
  const TermIndex first = *holders.terms.begin();
  const std::vector<NodeId>& beside = terms_.at(first).factors;
  const auto index = std::ranges::find(beside, factor) - beside.begin();
  holders.rank = Rank{-std::int64_t(holders.terms.size()), -holders.as_last, first, index, factor};
  ranks_.insert(*holders.rank);
}

Sum CommonFactors::take(NodeId factor) {
  Sum taken;
  std::set<NodeId> changed;
  const std::set<TermIndex> term_indices = holders_.at(factor).terms;
  for (const TermIndex term_index : term_indices) {
    Term term = std::move(terms_.extract(term_index).mapped());
    --holders_.at(term.factors.back()).as_last;
    for (const NodeId id : term.factors) {
      holders_.at(id).terms.erase(term_index);
      changed.insert(id);
    }
    term.factors.erase(std::ranges::find(term.factors, factor));
    taken.push_back(std::move(term));
  }
  for (const NodeId id : changed) rank(id);
  return taken;
}

Sum CommonFactors::rest() const {
  Sum sum;
  for (const auto& [term_index, term] : terms_) sum.push_back(term);
  return sum;
}

}  // namespace nbcc
