// Checks the options of a run; throws UsageError with the reason if they are invalid. Entry points: the check functions
// of SumState, which SumState::run calls before it reads or writes arrays.
#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "fmt/format.h"
#include "runtime/error.h"
#include "runtime/sum/plan/capabilities.h"
#include "runtime/sum/request/plural.h"
#include "runtime/sum/run/sum.h"

namespace nbcc {

void SumState::check_accumulate() const {
  for (std::size_t f = 0; f < fields().size(); ++f) {
    if (fields()[f].role != Role::Output || given_[f] == Given::Ignored) continue;
    const std::string refused = refusal(result_of(fields()[f]), Feature::Accumulate, source().pipeline);
    if (!refused.empty()) throw UsageError(fmt::format("{} {}", quoted(f), refused));
  }
}

namespace {

// Throws UsageError for an index that occurs twice in the list: two threads would store the sums of one i, and runs
// that accumulate would add both. Rising lists, the usual case, need no memory for the check.
void check_chosen_once(std::span<const std::int64_t> list, std::int64_t ni) {
  if (std::ranges::adjacent_find(list, std::greater_equal{}) == list.end()) return;
  std::vector<bool> seen(std::size_t(ni), false);
  for (std::size_t k = 0; k < list.size(); ++k) {
    if (!seen[std::size_t(list[k])]) {
      seen[std::size_t(list[k])] = true;
      continue;
    }
    throw UsageError(fmt::format("i_list[{}] is {}, as i_list[{}] is: an i-particle may be chosen once", k, list[k],
                                 std::ranges::find(list, list[k]) - list.begin()));
  }
}

}  // namespace

void SumState::check_choice(const RunChoice& choice, std::int64_t ni) const {
  if (choice.i_list) {
    if (choice.i_count < 0)
      throw UsageError(fmt::format("i_list: its i_count must be 0 or more, got {}", choice.i_count));
    if (!sum_.summation().can_read(choice.i_list)) return;
    for (std::int64_t k = 0; k < choice.i_count; ++k) {
      if (choice.i_list[k] < 0 || choice.i_list[k] >= ni) {
        throw UsageError(
            fmt::format("i_list[{}] is {}, but there are {}", k, choice.i_list[k], plural(ni, "i-particle")));
      }
    }
    check_chosen_once({choice.i_list, std::size_t(choice.i_count)}, ni);
  } else if (choice.i_begin < 0 || choice.i_begin > ni || choice.i_count > ni - choice.i_begin) {
    throw UsageError(fmt::format("the range of {} from {} on does not fit into {}",
                                 choice.i_count < 0 ? "all i" : plural(choice.i_count, "i-particle"), choice.i_begin,
                                 plural(ni, "i-particle")));
  }
}

SumState::IOfParts SumState::i_of_part(const SumRequest& request) const {
  IOfParts now{request.i_begin, request.i_count};
  now.over_lists = request.lists != nullptr;
  now.is_known = !request.i_list || sum_.summation().can_read(request.i_list);
  if (request.i_list && now.is_known) now.list.assign(request.i_list, request.i_list + request.i_count);
  return now;
}

// Checks a run over a part of the j. Lists and exclusions index the j arrays of the part. The sums of the earlier parts
// are kept in the order of the chosen i, over lists in the order of all i.
void SumState::check_part(const SumRequest& request, const std::optional<IOfParts>& begun) const {
  if (begins(request.j_part)) return;
  if (!begun)
    throw UsageError("part: there is no first part to continue, or the sum that it began has ended or failed");
  if (begun->count != request.i_count)
    throw UsageError(fmt::format("part: the first part was of {}, this one is of {}",
                                 plural(begun->count, "i-particle"), request.i_count));
  const IOfParts now = i_of_part(request);
  const auto i_at = [](const IOfParts& part, std::int64_t k) {
    return part.list.empty() ? part.begin + k : part.list[std::size_t(k)];
  };
  for (std::int64_t k = 0; k < now.count && now.is_known && begun->is_known; ++k)
    if (i_at(now, k) != i_at(*begun, k))
      throw UsageError(
          fmt::format("part: chosen i {} of the first part was {}, of this one it is {}: all parts have "
                      "the same i in the same order",
                      k, i_at(*begun, k), i_at(now, k)));
  if (now.over_lists != begun->over_lists && (request.i_list || request.i_count < request.ni))
    throw UsageError(
        fmt::format("part: the first part was {}over lists or batches, this one is{}: all parts of a sum "
                    "for some i, or with an i_list, are over lists or batches, or none is",
                    begun->over_lists ? "" : "not ", now.over_lists ? "" : " not"));
}

void SumState::check_params() const {
  for (std::size_t f = 0; f < fields().size(); ++f) {
    if (fields()[f].role == Role::Param && given_[f] == Given::No && !params_of_groups_.contains(f)) {
      throw UsageError(fmt::format("{} has no default and was not set", quoted(f)));
    }
    const FieldLayout& field = fields()[f];
    if (field.role != Role::Param || field.is_table() || params_of_groups_.contains(f)) continue;
    for (const double value : std::span(params_).subspan(std::size_t(field.first), std::size_t(field.components())))
      if (std::isnan(value)) throw UsageError(fmt::format("{} is NaN: expected a number", quoted(f)));  // a default
  }
}

void SumState::check_neighbours(std::string_view what) const {
  const KernelSource& kernel = source();
  if (kernel.search.axes > 0 || kernel.copies()) return;
  if (this->kernel().derived("nearest").obstacle.empty())
    throw UsageError(fmt::format("{}: pipeline '{}' has no reach, but looks for the nearest", what, kernel.pipeline));
  if (!kernel.search.bound.empty())
    throw UsageError(fmt::format("{}: pipeline '{}' has neighbours, {}, but this device does not search for them", what,
                                 kernel.pipeline, kernel.search.bound));
  throw UsageError(fmt::format("{}: it is not proved for pipeline '{}' that distant pairs add nothing{}", what,
                               kernel.pipeline, kernel.search.obstacle.empty() ? "" : "; " + kernel.search.obstacle));
}

void SumState::check_lists(Feature feature) const {
  if (source().sums_listed_pairs_only()) throw UsageError(refusal("input_pair", feature, source().pipeline));
}

void SumState::check_listed(const RunChoice& choice, std::int64_t ni, std::int64_t nj) const {
  if (source().sums_listed_pairs_only() && !listed_pairs_)
    throw UsageError(fmt::format(
        "pipeline '{}' has inputs or results of pairs (input_pair, output(pair)): it sums over listed pairs, and "
        "a program has to list them first",
        source().pipeline));
  if (const std::string refused = refusal(source(), request_of(choice, ni, nj)); !refused.empty())
    throw UsageError(refused);
  if (lists_) lists_->check_counts(ni, nj);
  if (listed_pairs_) listed_pairs_->check_counts(ni, nj);
  const bool searched = lists_ && lists_->are_batches && (source().search.axes > 0 || source().copies());
  if ((lists_ || listed_pairs_) && !searched && request_.pairs == PairChoice::Cutoff)
    throw UsageError(
        fmt::format("pairs = cutoff: the {} determine which pairs act", lists_ ? lists_->what : "listed pairs"));
  if (exclusions_) exclusion_rows_->check_counts(ni, nj);
  constexpr Role of_pairs[] = {Role::InputPair};
  const std::optional<std::int64_t> pairs = shared_count(of_pairs, "inputs and results of pairs", "pair");
  if (pairs && *pairs != std::int64_t(listed_pairs_->j.size()))
    throw UsageError(fmt::format("the inputs and results of pairs of pipeline '{}' are {}, but {} are listed",
                                 source().pipeline, *pairs, listed_pairs_->j.size()));
}

}  // namespace nbcc
