// Entry points: ChosenLists::method(), ChosenLists::with().
#include "runtime/sum/plan/chosen_lists.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "runtime/error.h"
#include "runtime/sum/plan/capabilities.h"

namespace nbcc {

std::vector<std::int64_t> chosen_i(const SumRequest& request, const Summation& sum) {
  std::vector<std::int64_t> chosen(static_cast<std::size_t>(request.i_count));
  if (!request.i_list) {
    std::iota(chosen.begin(), chosen.end(), request.i_begin);
    return chosen;
  }
  if (!sum.can_read(request.i_list) && sum.is_captured(request.stream))
    throw DeviceError("i_list: the host reads which i are chosen, which cannot be captured");
  if (!sum.can_read(request.i_list)) sum.synchronize(request.stream);
  sum.fetch(chosen.data(), request.i_list, chosen.size() * sizeof(std::int64_t));
  return chosen;
}

const TablesOfGroups& tables_of(const SumRequest& request, std::int64_t group) {
  return *std::ranges::find_if(request.tables_of_groups, [group](const TablesOfGroups& one) {
    return std::ranges::binary_search(one.groups, group);
  });
}

RunStep ChosenLists::step(Some& some, const PairMethod& method, SumRequest request,
                          std::vector<std::int64_t> particles) {
  if (request.lists->on_device) throw UsageError("lists: those in the memory of a GPU cover all i");
  if (some.number != request.lists->number || some.particles != particles) {
    some.number = 0;  // until they are made
    some.lists = with_i_of(*request.lists, particles);
    some.number = request.lists->number;
    some.particles = std::move(particles);
  }
  request.lists = &*some.lists;
  request.i_begin = 0;
  request.i_list = some.particles.data();
  request.i_count = std::int64_t(some.particles.size());
  return {&method, request, "", some.lists->pair_count()};
}

std::vector<RunStep> ChosenLists::steps(const PairMethod& method, const SumRequest& request,
                                        std::vector<std::int64_t> particles) {
  some_.resize(std::max<std::size_t>(request.tables_of_groups.size(), 1));
  if (request.tables_of_groups.empty()) return {step(some_.front(), method, request, std::move(particles))};
  const Lists& lists = *request.lists;
  std::vector<std::size_t> group_of(std::size_t(lists.i_count()));
  for (std::size_t group = 0; group + 1 < lists.i_first.size(); ++group)
    for (auto slot = std::size_t(lists.i_first[group]); slot < std::size_t(lists.i_first[group + 1]); ++slot)
      group_of[lists.i_order.empty() ? slot : std::size_t(lists.i_order[slot])] = group;
  std::vector<std::size_t> set_of(std::size_t(lists.groups()));
  for (std::size_t set = 0; set < request.tables_of_groups.size(); ++set)
    for (const std::int64_t group : request.tables_of_groups[set].groups) set_of[std::size_t(group)] = set;
  std::vector<std::vector<std::int64_t>> of_set(some_.size());
  for (const std::int64_t i : particles) of_set[set_of[group_of.at(std::size_t(i))]].push_back(i);
  std::vector<RunStep> steps;
  for (std::size_t set = 0; set < some_.size(); ++set) {
    if (of_set[set].empty()) continue;
    SumRequest of_tables = request;
    of_tables.params = request.tables_of_groups[set].params;
    of_tables.tables = request.tables_of_groups[set].tables.get();
    of_tables.reuse = JReuse::None;  // columns of j may depend on tables
    steps.push_back(step(some_[set], method, of_tables, std::move(of_set[set])));
  }
  return steps;
}

PairMethod ChosenLists::method(PairMethod of_device, const Summation& sum) {
  of_device_ = std::move(of_device);
  PairMethod row = of_device_;
  row.steps = [this, &sum](const SumRequest& request) -> std::vector<RunStep> {
    if (!has(Feature::SomeI, request) && request.tables_of_groups.empty()) return {};
    std::vector<RunStep> made = steps(of_device_, request, chosen_i(request, sum));
    if (!request.tables_of_groups.empty()) return made;
    // A range of i needs no list, which the host would have to send.
    made.front().request.i_begin = request.i_begin;
    made.front().request.i_list = request.i_list;
    return made;
  };
  return row;
}

}  // namespace nbcc
