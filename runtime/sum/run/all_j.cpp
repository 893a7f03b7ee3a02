// Settings of a sum -> whether a rank of MPI needs the j of all ranks. Entry point: SumState::needs_all_j().
#include <algorithm>
#include <string_view>

#include "compiler/nearest_facts.h"
#include "runtime/sum/run/sum.h"

namespace nbcc {

std::string_view SumState::setting_of_all_j() const {
  if (lists_) return features()[std::size_t(lists_->are_batches ? Feature::Batches : Feature::Lists)].name;
  if (listed_pairs_) return features()[std::size_t(Feature::ListedPairs)].name;
  if (exclusions_) return features()[std::size_t(Feature::Exclusions)].name;
  // A periodic sum without a cutoff has no copies of j, but a tolerance.
  const CopiesLayout* const copies = source().copies();
  const bool is_periodic_to_tolerance = copies && !copies->obstacle.empty() && may_be_to_tolerance();
  for (const std::string_view kind : kinds_of(source()))
    if (find_capability(kind)->to(Feature::Parts) == Answer::Refused &&
        !(is_periodic_to_tolerance && kind == "every_image()"))
      return kind;
  if (source().search.bound == kNearestBound && request_.pairs != PairChoice::All &&
      kernel().derived("nearest").obstacle.empty())
    return "nearest neighbours";
  return "";
}

bool SumState::may_be_to_tolerance() const {
  return request_.pairs == PairChoice::Auto && std::ranges::any_of(sum_.methods(), [](const PairMethod& method) {
           return method.name == "far field" || method.name == "matrix units";
         });
}

bool SumState::is_to_tolerance() const { return setting_of_all_j().empty() && may_be_to_tolerance(); }

std::string_view SumState::needs_all_j() const { return is_to_tolerance() ? "a tolerance" : setting_of_all_j(); }

}  // namespace nbcc
