// A run over batches -> one over lists, and one for each batch that is searched. Doors: those of BatchSums.
#include "runtime/sum/batch_sums.h"

#include <string>
#include <utility>
#include <variant>

#include "fmt/format.h"
#include "runtime/error.h"
#include "runtime/first_failure.h"
#include "runtime/sum/overlap.h"

namespace nbcc {
namespace {

// The excluded j of the i of a batch, counted within it; nobody of another batch acts anyway.
PairRows rows_of(const PairRows& all, std::int64_t i_begin, std::int64_t i_end, std::int64_t j_begin,
                 std::int64_t j_end) {
  PairRows rows;
  rows.what = all.what;
  rows.number = all.number;
  rows.first = {0};
  for (std::int64_t i = i_begin; i < i_end; ++i) {
    for (const int j : all.of(i))
      if (j >= j_begin && j < j_end) rows.j.push_back(int(j - j_begin));
    rows.first.push_back(std::int64_t(rows.j.size()));
  }
  return rows;
}

// The names of an output and of an input in its memory, if there are such.
std::optional<std::pair<std::string, std::string>> shared_memory(const KernelSource& source,
                                                                 const SumRequest& request) {
  const std::vector<FieldLayout>& fields = source.fields;
  for (std::size_t out = 0; out < fields.size(); ++out) {
    if (fields[out].role != Role::Output || !request.views[out].data) continue;
    for (std::size_t in = 0; in < fields.size(); ++in) {
      if (fields[in].role != Role::InputI && fields[in].role != Role::InputJ) continue;
      if (!disjoint(request.views[in], fields[in].components(), request.views[out], fields[out].components()))
        return std::pair(fields[out].name, fields[in].name);
    }
  }
  return {};
}

}  // namespace

// Without its views.
SumRequest BatchSums::request_of(std::int64_t batch, const SumRequest& all) const {
  const auto b = std::size_t(batch);
  const std::int64_t i_begin = batches_.i_first[b], j_begin = batches_.j_begin[b];
  SumRequest request = all;
  request.i_begin = 0;
  request.i_count = batches_.i_first[b + 1] - i_begin;
  request.nj = batches_.j_end[b] - j_begin;
  request.i_offset += i_begin;
  request.j_offset += j_begin;
  request.keep_j = false;
  request.reuse = JReuse::None;
  if (!all.params_of_groups.empty())
    request.params =
        all.params_of_groups.subspan(b * std::size_t(kernel_.source.params), std::size_t(kernel_.source.params));
  request.params_of_groups = {};
  request.may_be_captured = false;
  // Listed particles have the numbers that they have among all.
  request.listed = nullptr;
  request.lists_chosen_i = false;
  return request;
}

void BatchSums::choose(const SumRequest& request, PairChoice pairs, const Summation& over_lists) {
  chosen_ = true;
  std::vector<std::int64_t> numbers;
  bool all = true;
  for (std::int64_t batch = 0; batch < batches_.groups(); ++batch) {
    const SumRequest one = request_of(batch, request);
    if (one.i_count == 0) continue;
    const bool is_large = std::holds_alternative<Neighbours>(dispatch(kernel_.source, pairs, one.i_count, one.nj)) &&
                          (pairs == PairChoice::Cutoff || over_lists.search_may_pay(one));
    if (is_large) numbers.push_back(batch);
    all = all && is_large;
  }
  for (const std::int64_t batch : numbers) searched_.emplace_back().batch = batch;
  if (!all && !numbers.empty()) rest_ = without_j_of(batches_, numbers);
}

bool BatchSums::searches_any(const SumRequest& request, PairChoice pairs, const Summation& over_lists) {
  if (pairs == PairChoice::All || kernel_.source.search.axes == 0) return false;
  if (!chosen_) choose(request, pairs, over_lists);
  if (searched_.empty()) return false;
  if (const auto shared = shared_memory(kernel_.source, request)) {
    if (pairs != PairChoice::Cutoff) return false;
    throw UsageError(
        fmt::format("pairs = cutoff: output '{}' is in the memory of input '{}', and batches are searched and stored "
                    "one after the other",
                    shared->first, shared->second));
  }
  // Those that are searched would be given what finish() makes of nothing, beside their results.
  return !(rest_ && request.accumulate && kernel_.source.has_finish);
}

void BatchSums::run(const SumRequest& all, PairChoice pairs, const PairRows* left_out, Summation& over_lists) {
  const auto stages = double(searched_.size() + (rest_ ? 1 : 0));
  double stage = 0;
  const auto begin_stage = [&] {
    if (all.progress) all.progress->set_stage(stage / stages, (stage + 1) / stages);
    stage += 1;
  };
  if (rest_) {
    begin_stage();
    over_lists.run(all, Listed{&*rest_});
  }
  for (Searched& one : searched_) {
    begin_stage();
    run(one, all, pairs, left_out);
  }
}

void BatchSums::run(Searched& one, const SumRequest& all, PairChoice pairs, const PairRows* left_out) const {
  const auto b = std::size_t(one.batch);
  const std::int64_t i_begin = batches_.i_first[b], j_begin = batches_.j_begin[b];
  SumRequest request = request_of(one.batch, all);
  if (!one.sum) one.sum = kernel_.start();
  one.views.assign(all.views.begin(), all.views.end());
  for (std::size_t f = 0; f < one.views.size(); ++f) {
    ArrayView& view = one.views[f];
    const bool of_j = kernel_.source.fields[f].role == Role::InputJ;
    if (!view.data || kernel_.source.fields[f].role == Role::Param) continue;
    view.data = static_cast<std::byte*>(view.data) + (of_j ? j_begin : i_begin) * view.stride;
    view.count = of_j ? request.nj : request.i_count;
  }
  request.views = one.views;
  if (left_out && one.left_out_number != left_out->number) {
    one.left_out = std::make_unique<const LeftOut>(
        rows_of(*left_out, i_begin, batches_.i_first[b + 1], j_begin, batches_.j_end[b]));
    one.left_out_number = left_out->number;
  }
  request.left_out = left_out ? one.left_out.get() : nullptr;
  one.sum->run(request, Neighbours{pairs == PairChoice::Cutoff});
}

void BatchSums::wait(Progress* progress) {
  FirstFailure failure;
  for (Searched& one : searched_)
    if (one.sum) failure.attempt([&] { one.sum->wait(progress); });
  failure.rethrow();
}

SumStatistics BatchSums::statistics() const {
  SumStatistics all;
  for (const Searched& searched : searched_) {
    if (!searched.sum) continue;
    const SumStatistics one = searched.sum->statistics();
    all.pairs_tested += one.pairs_tested;
    all.searches += one.searches;
    all.runs += one.runs;
    all.pairs_within += one.pairs_within;
    all.seconds.locate += one.seconds.locate;
    all.seconds.sort += one.seconds.sort;
    all.seconds.lists += one.seconds.lists;
    all.seconds.sums += one.seconds.sums;
  }
  return all;
}

}  // namespace nbcc
