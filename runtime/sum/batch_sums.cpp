// A run over batches -> a run for each of them. Doors: those of BatchSums.
#include "runtime/sum/batch_sums.h"

#include <algorithm>
#include <variant>

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
    request.params = all.params_of_groups.subspan(b * std::size_t(kernel_.source.params),
                                                  std::size_t(kernel_.source.params));
  request.params_of_groups = {};
  return request;
}

bool BatchSums::outputs_lie_apart(const SumRequest& request) const {
  const std::vector<FieldLayout>& fields = kernel_.source.fields;
  for (std::size_t out = 0; out < fields.size(); ++out) {
    if (fields[out].role != Role::Output || !request.views[out].data) continue;
    for (std::size_t in = 0; in < fields.size(); ++in) {
      const bool is_input = fields[in].role == Role::InputI || fields[in].role == Role::InputJ;
      if (is_input && !disjoint(request.views[in], fields[in].components(), request.views[out],
                                fields[out].components()))
        return false;
    }
  }
  return true;
}

bool BatchSums::pays(const SumRequest& request, PairChoice pairs, const Summation& sum) const {
  if (pairs == PairChoice::All || kernel_.source.search.axes == 0) return false;
  if (!outputs_lie_apart(request)) return false;
  if (pairs == PairChoice::Cutoff) return true;
  SumRequest largest;
  for (std::int64_t batch = 0; batch < batches_.groups(); ++batch) {
    const SumRequest one = request_of(batch, request);
    if (double(one.i_count) * double(one.nj) >= double(largest.i_count) * double(largest.nj)) largest = one;
  }
  return std::holds_alternative<Neighbours>(dispatch(kernel_.source, pairs, largest.i_count, largest.nj)) &&
         sum.search_may_pay(largest);
}

void BatchSums::run(const SumRequest& all, PairChoice pairs, const PairRows* left_out) {
  kept_.resize(std::size_t(batches_.groups()));
  for (std::int64_t batch = 0; batch < batches_.groups(); ++batch) {
    const auto b = std::size_t(batch);
    SumRequest request = request_of(batch, all);
    if (request.i_count == 0) continue;
    Batch& kept = kept_[b];
    if (!kept.sum) kept.sum = kernel_.start();
    const std::int64_t i_begin = batches_.i_first[b], j_begin = batches_.j_begin[b];
    kept.views.assign(all.views.begin(), all.views.end());
    for (std::size_t f = 0; f < kept.views.size(); ++f) {
      ArrayView& view = kept.views[f];
      const Role role = kernel_.source.fields[f].role;
      if (!view.data || role == Role::Param) continue;
      view.data = static_cast<std::byte*>(view.data) + (role == Role::InputJ ? j_begin : i_begin) * view.stride;
      view.count = role == Role::InputJ ? request.nj : request.i_count;
    }
    request.views = kept.views;
    if (left_out && kept.left_out_number != left_out->number) {
      kept.left_out = std::make_unique<const LeftOut>(
          rows_of(*left_out, i_begin, batches_.i_first[b + 1], j_begin, batches_.j_end[b]));
      kept.left_out_number = left_out->number;
    }
    request.left_out = left_out ? kept.left_out.get() : nullptr;
    std::visit([&](const auto which) { kept.sum->run(request, which); },
               dispatch(kernel_.source, pairs, request.i_count, request.nj));
  }
}

void BatchSums::wait() {
  for (Batch& batch : kept_)
    if (batch.sum) batch.sum->wait();
}

SumStatistics BatchSums::statistics() const {
  SumStatistics all;
  for (const Batch& batch : kept_) {
    if (!batch.sum) continue;
    const SumStatistics one = batch.sum->statistics();
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
