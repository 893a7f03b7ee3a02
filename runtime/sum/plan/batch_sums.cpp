// Splits a run over batches into one run over lists and one run for each batch that is searched. Entry point:
// BatchSums::method().
#include "runtime/sum/plan/batch_sums.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "fmt/format.h"
#include "runtime/error.h"
#include "runtime/first_failure.h"
#include "runtime/sum/request/overlap.h"

namespace nbcc {
namespace {

// The exclusions of one batch, with i and j counted from the batch's first particles. Excluded j of other batches are
// dropped, because only j of the same batch act.
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

const PairMethod& row_of(std::span<const PairMethod> methods, std::string_view name) {
  return *std::ranges::find(methods, name, &PairMethod::name);
}

}  // namespace

SumRequest request_of_batch(const KernelSource& source, std::int64_t batch, const SumRequest& all) {
  const auto b = std::size_t(batch);
  const std::int64_t i_begin = all.lists->i_first[b], j_begin = all.lists->j_begin[b];
  SumRequest request = all;
  request.i_begin = 0;
  request.ni = request.i_count = all.lists->i_first[b + 1] - i_begin;
  request.nj = all.lists->j_end[b] - j_begin;
  request.i_offset += i_begin;
  request.j_offset += j_begin;
  request.keep_j = false;
  request.reuse = JReuse::None;
  if (!all.params_of_groups.empty())
    request.params = all.params_of_groups.subspan(b * std::size_t(source.params), std::size_t(source.params));
  request.params_of_groups = {};
  request.may_be_captured = false;
  request.lists = nullptr;
  request.exclusions = nullptr;
  request.excluded_rows = nullptr;
  // Listed particles are numbered over all batches, so they do not apply to one batch.
  request.listed = nullptr;
  request.lists_chosen_i = false;
  return request;
}

void BatchInputs::bind(SumRequest& request, const KernelSource& source, std::int64_t batch, const SumRequest& all) {
  const auto b = std::size_t(batch);
  const std::int64_t i_begin = all.lists->i_first[b], j_begin = all.lists->j_begin[b];
  views_.assign(all.views.begin(), all.views.end());
  for (std::size_t f = 0; f < views_.size(); ++f) {
    ArrayView& view = views_[f];
    const bool of_j = source.fields[f].role == Role::InputJ;
    if (!view.data || source.fields[f].role == Role::Param) continue;
    view.data = static_cast<std::byte*>(view.data) + (of_j ? j_begin : i_begin) * view.stride;
    view.count = of_j ? request.nj : request.i_count;
  }
  request.views = views_;
  if (!all.excluded_rows) return;
  if (exclusion_number_ != all.excluded_rows->number) {
    excluded_ = rows_of(*all.excluded_rows, i_begin, all.lists->i_first[b + 1], j_begin, all.lists->j_end[b]);
    exclusions_ = std::make_unique<const Exclusions>(excluded_);
    exclusion_number_ = all.excluded_rows->number;
  }
  request.exclusions = exclusions_.get();
  request.excluded_rows = &excluded_;
}

PairMethod BatchSums::method() {
  PairMethod row;
  row.name = "batches";
  row.searches = true;
  row.estimate = [this](const SumRequest& request) { return estimate(request); };
  row.work = [this](const SumRequest& request) {
    std::vector<DeviceWork> all;
    for (const Searched& one : searched_) {
      const SumRequest of_batch = request_of_batch(kernel_.source, one.batch, request);
      for (DeviceWork& work : row_of(all_.methods(), "search").work(of_batch)) all.push_back(std::move(work));
    }
    if (!rest_) return all;
    SumRequest rest = request;
    rest.lists = &*rest_;
    for (DeviceWork& work : row_of(all_.methods(), "lists").work(rest)) all.push_back(std::move(work));
    return all;
  };
  row.steps = [this](const SumRequest& request) { return steps(request); };
  row.statistics = [this] { return statistics(); };
  return row;
}

// Returns no estimate if no batch is worth a search: then the pair method "lists" does the run.
std::optional<Estimate> BatchSums::estimate(const SumRequest& request) {
  if (!request.lists || !request.lists->are_batches || kernel_.source.search.axes == 0) return {};
  choose(request);
  if (searched_.empty()) return {};
  Estimate found{.cost = cost_};
  if (const auto shared = find_overlap(kernel_.source.fields, request.views, disjoint)) {
    found.obstacle = fmt::format(
        "output '{}' overlaps input '{}' in memory, and the results of a batch are stored before the next is searched",
        kernel_.source.fields[shared->output].name, kernel_.source.fields[shared->input].name);
  } else if (request.j_part != JPart::Whole) {
    found = {"the j come in parts", cost_, true};
  } else if (rest_ && request.accumulate && kernel_.source.has_finish) {
    // The run over lists stores all i: to each i of a searched batch it would add finish() of an empty sum.
    found = {"finish() would be applied twice", cost_, true};
  }
  return found;
}

// Decides which batches are searched, once for all runs over the same batches, by comparing the costs that the device's
// pair methods estimate from counts and params.
void BatchSums::choose(const SumRequest& request) {
  if (number_ == request.lists->number && choice_ == request.pairs) return;
  forget();
  const PairMethod &search = row_of(all_.methods(), "search"), &all_pairs = row_of(all_.methods(), "all pairs");
  std::vector<std::int64_t> numbers;
  bool all = true;
  for (std::int64_t batch = 0; batch < request.lists->groups(); ++batch) {
    const SumRequest one = request_of_batch(kernel_.source, batch, request);
    if (one.i_count == 0) continue;
    const std::optional<Estimate> searching = search.estimate(one);
    const double otherwise = all_pairs.estimate(one)->cost;
    const bool is_searched =
        request.pairs == PairChoice::Cutoff || (searching->obstacle.empty() && searching->cost <= otherwise);
    if (is_searched) numbers.push_back(batch);
    all = all && is_searched;
    cost_ += is_searched ? searching->cost : otherwise;
  }
  for (const std::int64_t batch : numbers) searched_.emplace_back().batch = batch;
  if (!all && !numbers.empty()) rest_ = without_j_of(*request.lists, numbers);
  number_ = request.lists->number;
  choice_ = request.pairs;
}

void BatchSums::forget() {
  searched_.clear();
  rest_.reset();
  number_ = 0;
  cost_ = 0;
}

std::vector<RunStep> BatchSums::steps(const SumRequest& all) {
  std::vector<RunStep> steps;
  if (rest_) {
    SumRequest rest = all;
    rest.lists = &*rest_;
    steps.push_back({&row_of(all_.methods(), "lists"), rest, "", rest_->pair_count()});
  }
  for (Searched& one : searched_) {
    RunPlan plan = plan_of(one, all);
    steps.push_back(std::move(plan.steps.front()));
  }
  return steps;
}

RunPlan BatchSums::plan_of(Searched& one, const SumRequest& all) const {
  if (!one.sum) one.sum = kernel_.start();
  SumRequest request = request_of_batch(kernel_.source, one.batch, all);
  one.inputs.bind(request, kernel_.source, one.batch, all);
  return plan_run(one.sum->methods(), request, Measure::Now);
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
    all.add(searched.sum->statistics());
  }
  return all;
}

}  // namespace nbcc
